//! How a command fails: what is said, and with which exit code.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;

use paimon_meta::{Error, ErrorKind, Frame};

use crate::paper::{WIDTH, visible};

/// Exit codes, as in `paimon --help`.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const NOT_SUPPORTED: u8 = 3;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong, whatever the table.
    Usage(Error),
    /// The table cannot be read as asked.
    Read(Error),
    /// The output cannot be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Failure {
    /// A failure of a library that writes; the cause may be the output below it.
    pub(crate) fn of_writer(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<io::Error>() {
                return Self::Output(io::Error::new(error.kind(), error.to_string()));
            }
            cause = error.source();
        }
        Self::Read(Error::unsupported("rows of this sort in this format").with_source(error))
    }

    /// Whether the reader of the output has gone, which is no error.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The process's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            _ if self.is_broken_pipe() => 0,
            Self::Usage(_) => USAGE,
            Self::Read(error) if error.kind() == ErrorKind::Unsupported => NOT_SUPPORTED,
            Self::Read(_) | Self::Output(_) => FAILED,
        }
    }

    /// What a person reads, with a line feed at its end.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Usage(error) | Self::Read(error) => error_text(error),
            Self::Output(error) => format!("error: cannot write the output: {error}\n"),
        }
    }
}

/// What happened, then where, why and what to do, each under a word in front.
fn error_text(error: &Error) -> String {
    let mut text = String::from("error: ");
    let table = error.frames().find_map(|frame| match frame {
        Frame::Table(location) => Some(location.as_str()),
        _ => None,
    });
    text.push_str(&opening(error.kind(), table));
    text.push_str(&visible(error.message()));
    text.push('\n');
    let places: Vec<String> = error.frames().map(Frame::to_string).collect();
    detail(&mut text, "at", &places, " › ");
    if let Some(source) = error.source() {
        detail(&mut text, "cause", &[source.to_string()], "");
    }
    let hint = match error.hint() {
        Some(hint) => Some(hint),
        None => general_hint(error),
    };
    if let Some(hint) = hint {
        detail(&mut text, "try", &[hint.to_owned()], "");
    }
    text
}

fn opening(kind: ErrorKind, table: Option<&str>) -> String {
    let name = table.map(table_name).filter(|name| !name.is_empty());
    match (kind, name) {
        (ErrorKind::Unsupported, _) => "not supported: ".to_owned(),
        (ErrorKind::Internal, _) => "a fault of this program: ".to_owned(),
        (ErrorKind::InvalidInput, _) | (_, None) => String::new(),
        (_, Some(name)) => format!("cannot read {name}: "),
    }
}

/// The last name of a location.
fn table_name(location: &str) -> &str {
    location
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default()
}

fn general_hint(error: &Error) -> Option<&'static str> {
    match error.kind() {
        _ if error.is_retryable() => Some("the same again: the store may have been busy"),
        ErrorKind::ResourcesExhausted => Some("fewer tasks at once: -j 1"),
        ErrorKind::Internal => Some("reporting it, with the table's metadata if you can"),
        _ => None,
    }
}

/// One line under the error, wrapped between parts.
fn detail(text: &mut String, word: &str, parts: &[String], between: &str) {
    if parts.is_empty() {
        return;
    }
    let _infallible = write!(text, "  {word:<7}");
    let mut column = 9;
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        let length = part.chars().count() + if last { 0 } else { between.chars().count() };
        if index > 0 && column + length > WIDTH {
            trim_end(text);
            text.push_str("\n         ");
            column = 9;
        }
        text.push_str(&visible(part));
        if !last {
            text.push_str(between);
        }
        column += length;
    }
    trim_end(text);
    text.push('\n');
}

fn trim_end(text: &mut String) {
    let length = text.trim_end().len();
    text.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_and_what_to_do() {
        let error = Error::corrupt("row count is -3, expected 0 or more")
            .with_hint("an older snapshot: --snapshot 41")
            .at(Frame::Field("_ROW_COUNT".into()))
            .at(Frame::Entry(7))
            .at(Frame::Manifest(
                "manifest-7f3a0b1c-0000-4000-8000-000000000000-0".into(),
            ))
            .at(Frame::Snapshot(42))
            .at(Frame::Table("/lake/db/orders".into()));
        let failure = Failure::from(error);
        assert_eq!(failure.exit_code(), 1);
        assert_eq!(
            failure.text(),
            "error: cannot read orders: row count is -3, expected 0 or more\n\
             \x20 at     table /lake/db/orders › snapshot 42 ›\n\
             \x20        manifest manifest-7f3a0b1c-0000-4000-8000-000000000000-0 › entry 7 › field _ROW_COUNT\n\
             \x20 try    an older snapshot: --snapshot 41\n"
        );
    }

    #[test]
    fn what_is_not_supported_is_named_and_exits_with_3() {
        let failure = Failure::from(Error::unsupported("merge engine first-row"));
        assert_eq!(failure.exit_code(), 3);
        assert_eq!(
            failure.text(),
            "error: not supported: merge engine first-row\n"
        );
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let failure = Failure::from(Error::invalid_input("no column \u{1b}[2J"));
        assert_eq!(failure.text(), "error: no column \\u{1b}[2J\n");
    }

    #[test]
    fn a_gone_reader_is_no_error_also_below_a_writer() {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(Failure::from(gone()).exit_code(), 0);
        let arrow = arrow_schema::ArrowError::from(gone());
        assert!(Failure::of_writer(arrow).is_broken_pipe());
        let parquet = parquet::errors::ParquetError::from(gone());
        assert!(Failure::of_writer(parquet).is_broken_pipe());
        let full = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.exit_code(), 1);
    }
}
