//! Who reads, and how each is started.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::Command;

use paimon_testkit::Reference;

use crate::case::Case;
use crate::peer::Peer;

/// A reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The Parquet library alone.
    Plain,
    /// This reader.
    Ours,
    /// The crate `paimon` 0.4.0.
    PaimonRust,
    /// DuckDB over the data files.
    DuckDb,
    /// Apache Paimon in Java.
    Java,
    /// This reader below DataFusion 55.
    OursSql,
    /// The crate `paimon-datafusion` 0.4.0: DataFusion 54 above `paimon`.
    PaimonDataFusion,
}

impl Reader {
    /// All that are no SQL engines of this language.
    pub const ALL: [Self; 5] = [
        Self::Plain,
        Self::Ours,
        Self::PaimonRust,
        Self::DuckDb,
        Self::Java,
    ];

    /// Those that are compared in SQL.
    pub const SQL: [Self; 3] = [Self::Ours, Self::OursSql, Self::PaimonDataFusion];

    /// Name on the command line.
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Ours => "ours",
            Self::PaimonRust => "paimon-rust",
            Self::DuckDb => "duckdb",
            Self::Java => "java",
            Self::OursSql => "paimon-sql",
            Self::PaimonDataFusion => "paimon-datafusion",
        }
    }

    /// Name in the results.
    pub fn title(self) -> &'static str {
        match self {
            Self::Plain => "plain decode",
            Self::Ours => "this reader",
            Self::PaimonRust => "paimon 0.4.0",
            Self::DuckDb => "DuckDB",
            Self::Java => "Java 1.4.2",
            Self::OursSql => "paimon-sql",
            Self::PaimonDataFusion => "paimon-datafusion 0.4.0",
        }
    }

    /// The reader of a name.
    pub fn of(name: &str) -> Option<Self> {
        let mut readers = Self::ALL.into_iter().chain(Self::SQL);
        readers.find(|reader| reader.name() == name)
    }

    /// Whether it has such a read.
    pub fn does(self, case: Case) -> bool {
        match self {
            Self::Plain => case == Case::Full,
            Self::DuckDb => case != Case::Plan,
            Self::OursSql | Self::PaimonDataFusion => Case::QUERIES.contains(&case),
            Self::Ours | Self::PaimonRust | Self::Java => true,
        }
    }
}

/// Starts readers.
pub struct Readers {
    java: Option<Reference>,
}

impl Readers {
    /// Those that can be started; `warehouse` keeps what is built for Java, if that is among the readers.
    pub fn new(warehouse: &Path, readers: &[Reader]) -> Result<Self, Box<dyn Error>> {
        let java = readers.contains(&Reader::Java);
        let java = java.then(|| Reference::build(&warehouse.join("reference")));
        Ok(Self {
            java: java.transpose()?,
        })
    }

    /// A new process.
    pub fn start(&self, reader: Reader) -> Result<Peer, Box<dyn Error>> {
        let mut command = match (reader, &self.java) {
            (Reader::Java, Some(java)) => java.java(&["-Xmx4g"], "reference.Timed"),
            (Reader::Java, None) => return Err("Java is not built".into()),
            (Reader::DuckDb, _) => {
                let mut command = Command::new("python3");
                command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/duckdb_peer.py"));
                command
            }
            _ => {
                let mut command = Command::new(env::current_exe()?);
                command.arg(reader.name());
                command
            }
        };
        Peer::start(&mut command)
    }
}
