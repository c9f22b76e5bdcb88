//! How the command fails: what is said, and with which exit code.

use std::error::Error as StdError;
use std::io::{self, Write};
use std::process::ExitCode;

use datafusion::error::DataFusionError;
use paimon_meta::{Error, ErrorKind};

/// Exit codes, those of the command `paimon`.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const NOT_SUPPORTED: u8 = 3;

/// Why the command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// A statement cannot be run.
    Query(Box<DataFusionError>),
    /// The output cannot be written.
    Output(Box<dyn StdError + Send + Sync>),
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Self {
        Self::Query(Box::new(error))
    }
}

impl Failure {
    /// The command line is wrong.
    pub(crate) fn usage(message: &str) -> Self {
        Self::Usage(message.to_owned())
    }

    /// A file of statements that cannot be read.
    pub(crate) fn input(file: &str, error: io::Error) -> Self {
        Self::Usage(format!("cannot read {file}: {error}"))
    }

    /// A failure of a library that writes rows.
    pub(crate) fn output(error: impl StdError + Send + Sync + 'static) -> Self {
        Self::Output(Box::new(error))
    }

    /// Says what is wrong.
    pub(crate) fn tell(&self) -> ExitCode {
        let _gone = io::stderr().write_all(self.text().as_bytes());
        ExitCode::from(self.exit_code())
    }

    fn text(&self) -> String {
        match self {
            Self::Usage(message) => format!("error: {message}\n"),
            Self::Output(error) => format!("error: cannot write the output: {error}\n"),
            Self::Query(error) => match own(error) {
                None => format!("error: {}\n", error.strip_backtrace()),
                Some(error) => {
                    let hint = error.hint().map(|hint| format!("  try    {hint}\n"));
                    let hint = hint.or_else(|| Some(format!("  {}\n", left_out(error)?)));
                    format!("error: {error}\n{}", hint.unwrap_or_default())
                }
            },
        }
    }

    fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            Self::Output(_) => FAILED,
            Self::Query(error) => match (own(error), error.find_root()) {
                (Some(error), _) if error.kind() == ErrorKind::Unsupported => NOT_SUPPORTED,
                (None, DataFusionError::NotImplemented(_)) => NOT_SUPPORTED,
                _ => FAILED,
            },
        }
    }
}

/// What is said of an object store that this build could have.
fn left_out(error: &Error) -> Option<String> {
    let feature = match error.feature()?.strip_prefix("object store ")? {
        "s3" => "s3",
        "gs" => "gcs",
        "az" => "azure",
        "http" => "http",
        _ => return None,
    };
    Some(format!("built without the feature {feature}"))
}

/// The reader's own error, if that is the cause.
fn own(error: &DataFusionError) -> Option<&Error> {
    match error.find_root() {
        DataFusionError::External(cause) => cause.downcast_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_reader(error: Error) -> Failure {
        DataFusionError::External(Box::new(error))
            .context("scan")
            .into()
    }

    #[test]
    fn an_error_of_the_reader_is_shown_as_it_is_with_its_hint() {
        let failure = of_reader(Error::not_found("no snapshot 7").with_hint("snapshot 6"));
        assert_eq!(
            failure.text(),
            "error: not found: no snapshot 7\n  try    snapshot 6\n"
        );
        assert_eq!(failure.exit_code(), FAILED);
    }

    #[test]
    fn a_store_that_could_be_built_in_names_its_feature() {
        let of_store = |scheme| of_reader(Error::unsupported(format!("object store {scheme}")));
        let text = of_store("gs").text();
        assert!(
            text.ends_with("\n  built without the feature gcs\n"),
            "{text}"
        );
        let text = of_store("hdfs").text();
        assert!(!text.contains("built without"), "{text}");
    }

    #[test]
    fn what_is_not_supported_exits_with_3() {
        let failure = of_reader(Error::unsupported("file format csv"));
        assert_eq!(failure.exit_code(), NOT_SUPPORTED);
        let failure = Failure::from(DataFusionError::NotImplemented("PIVOT".to_owned()));
        assert_eq!(failure.exit_code(), NOT_SUPPORTED);
    }
}
