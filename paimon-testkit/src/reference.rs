//! Apache Paimon itself as the judge: `reference/` beside this crate, a Maven project that writes histories and reads
//! tables with the Java implementation.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use paimon_meta::{Error, Frame, Result, ResultExt};
use serde::Serialize;
use serde_json::Value;

use crate::golden::{GoldenCase, Verdict, check_read};
use crate::reader::Reader;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/pom.xml");

/// The Java implementation, built and ready to be asked.
#[derive(Clone, Debug)]
pub struct Reference {
    class_path: String,
}

/// One table for the reference: written by it or read by it.
#[derive(Clone, Debug, Serialize)]
pub struct ReferenceJob {
    /// Name of the job and of its folder.
    pub name: String,
    /// Where the table comes from.
    #[serde(flatten)]
    pub table: ReferenceTable,
    /// What is read of it, as the golden tables' README writes requests.
    pub reads: Vec<Value>,
}

/// Where a table comes from.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ReferenceTable {
    /// It is there.
    Written {
        /// The table's directory.
        table_dir: PathBuf,
    },
    /// The reference writes this history: a table definition and its steps.
    History(Value),
}

impl Reference {
    /// Builds the project in a directory, where later builds find what is done. Needs `java` 17 or later, `mvn`, and
    /// Maven Central for the first build.
    ///
    /// # Errors
    /// `NotFound` if a command is missing, `InvalidInput` with what Maven printed if the build fails.
    pub fn build(directory: &Path) -> Result<Self> {
        let classes = directory.join("classes");
        let jars = directory.join("jars");
        run(Command::new("mvn")
            .args(["-q", "-B", "-f", PROJECT, "compile"])
            .arg("dependency:copy-dependencies")
            .arg(format!("-Dkit.target={}", directory.display()))
            .arg(format!("-DoutputDirectory={}", jars.display())))?;
        let class_path = format!("{}:{}/*", classes.display(), jars.display());
        Ok(Self { class_path })
    }

    /// What runs a class of the project, with options for the virtual machine; the class's own arguments are to be added.
    pub fn java(&self, options: &[&str], class: &str) -> Command {
        let mut command = Command::new("java");
        command
            .args(["-Xmx2g", "-Duser.timezone=UTC"])
            .args(["--add-opens", "java.base/java.lang=ALL-UNNAMED"])
            .args(["--add-opens", "java.base/java.nio=ALL-UNNAMED"])
            .args(["--add-opens", "java.base/java.util=ALL-UNNAMED"])
            .args(options)
            .args(["-cp", &self.class_path, class]);
        command
    }

    /// Runs jobs in one process and gives the answers in their order. `out` gets a folder a job, with the table and
    /// `expected.json`.
    ///
    /// # Errors
    /// `InvalidInput` with what Java printed if a history cannot be written; a read that the reference refuses is an answer.
    pub fn answer(&self, jobs: &[ReferenceJob], out: &Path) -> Result<Vec<GoldenCase>> {
        let file = out.join("jobs.json");
        let text = serde_json::to_vec(jobs)
            .map_err(|error| Error::internal("jobs are JSON").with_source(error))?;
        fs::create_dir_all(out)
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| Error::invalid_input("cannot write there").with_source(error))
            .at(|| Frame::File(file.display().to_string()))?;
        // For many small tables; the better compiler would cost more than it gains.
        let quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
        run(self.java(&quick, "reference.Main").args([&file, out]))?;
        let folders = jobs.iter().map(|job| out.join(&job.name));
        folders.map(|folder| GoldenCase::load(&folder)).collect()
    }

    /// Runs jobs as [`Self::answer`] does, and compares a reader with each answer: name of the job, number of its read, and
    /// how it compares.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub fn judge(
        &self,
        jobs: &[ReferenceJob],
        out: &Path,
        reader: &dyn Reader,
    ) -> Result<Vec<(String, usize, Verdict)>> {
        let mut verdicts = Vec::new();
        for case in self.answer(jobs, out)? {
            for (number, read) in case.reads.iter().enumerate() {
                let verdict = check_read(&case, read, reader);
                verdicts.push((case.case.clone(), number, verdict));
            }
        }
        Ok(verdicts)
    }
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .output()
        .map_err(|error| Error::not_found(format!("cannot run {program}")).with_source(error))?;
    if status.success() {
        return Ok(());
    }
    let (stdout, stderr) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    Err(Error::invalid_input(format!(
        "{program} ended with {status}:\n{stdout}{stderr}"
    )))
}
