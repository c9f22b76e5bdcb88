//! The command, run over golden tables.

#[cfg(test)]
mod count;
#[cfg(test)]
mod count_cost;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod diff;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod guide;
#[cfg(test)]
mod info;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod scan;
#[cfg(test)]
mod system;

#[cfg(test)]
mod command {
    use std::path::PathBuf;
    use std::process::{Command, Stdio};

    /// What a run of the command gave.
    pub(crate) struct Run {
        pub(crate) code: i32,
        pub(crate) stdout: Vec<u8>,
        pub(crate) stderr: String,
    }

    impl Run {
        /// The output of a run that must succeed, and have nothing to say beside it.
        pub(crate) fn ok(self) -> String {
            assert_eq!((self.code, self.stderr.as_str()), (0, ""));
            String::from_utf8(self.stdout).unwrap()
        }

        /// The exit code and errors of a run that must print nothing else.
        pub(crate) fn failed(self) -> (i32, String) {
            assert_eq!(String::from_utf8_lossy(&self.stdout), "");
            (self.code, self.stderr)
        }
    }

    /// The command, in UTC and away from any terminal.
    pub(crate) fn command(arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_paimon"));
        command
            .args(arguments)
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(arguments: &[&str]) -> Run {
        let output = command(arguments).output().unwrap();
        Run {
            code: output.status.code().unwrap(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The table of a golden case.
    pub(crate) fn golden(case: &str) -> String {
        let path: PathBuf = [paimon_testkit::GOLDEN, case, "table"].iter().collect();
        assert!(path.is_dir(), "{}", path.display());
        path.into_os_string().into_string().unwrap()
    }
}
