//! Errors of object stores as errors of a read.

use std::error::Error as StdError;
use std::io;

use paimon_meta::{Error, ErrorKind, Result};

/// The error of a request for `location`: [`ErrorKind::NotFound`] if there is no such file, else
/// [`ErrorKind::Storage`], retryable if the fault may pass.
pub(crate) fn storage_error(location: &str, error: object_store::Error) -> Error {
    if has_numbered_suffix(location)
        && matches!(
            error,
            object_store::Error::Generic {
                store: "LocalFileSystem",
                ..
            }
        )
    {
        return Error::unsupported(format!(
            "local file {location}, whose name ends in # and digits"
        ));
    }
    let io_error = find::<io::Error>(&error);
    match (&error, io_error) {
        (_, Some(io)) if io.kind() == io::ErrorKind::IsADirectory => is_directory(location),
        (object_store::Error::NotFound { .. }, Some(io)) if io.get_ref().is_some() => {
            is_directory(location)
        }
        (object_store::Error::NotFound { .. }, _) => {
            Error::not_found(format!("{location} does not exist"))
        }
        // A file stands where the location has a directory.
        (_, Some(io)) if io.kind() == io::ErrorKind::NotADirectory => {
            Error::not_found(format!("{location} does not exist"))
        }
        (_, Some(io)) => Error::storage(
            format!("cannot read {location}"),
            copy(io),
            is_transient(io.kind()),
        ),
        (object_store::Error::InvalidPath { .. }, None) => {
            Error::invalid_input(format!("location {location:?} is no path")).with_source(error)
        }
        _ => {
            let retryable = is_transient_answer(&error);
            Error::storage(format!("cannot read {location}"), error, retryable)
        }
    }
}

/// `None` in place of an error that says that the thing does not exist.
pub(crate) fn if_found<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_directory(location: &str) -> Error {
    Error::not_found(format!("{location} is a directory, expected a file"))
}

/// `LocalFileSystem` gives names of this form to files that are being written and cannot open them.
fn has_numbered_suffix(location: &str) -> bool {
    let name = location.rsplit('/').next().unwrap_or(location);
    let suffix = name.split_once('#').map(|(_, suffix)| suffix);
    suffix.is_some_and(|suffix| {
        !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The system's error without the words that were put around it.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

fn is_transient(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::WouldBlock
            | io::ErrorKind::TimedOut
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ResourceBusy
            | io::ErrorKind::StaleNetworkFileHandle
    )
}

/// Whether a server's answer, or the lack of one, may be different next time. The store has tried again by itself before.
#[cfg(any(feature = "s3", feature = "gcs", feature = "azure", feature = "http"))]
fn is_transient_answer(error: &object_store::Error) -> bool {
    use object_store::client::{HttpError, HttpErrorKind};
    if let Some(error) = find::<HttpError>(error) {
        return !matches!(error.kind(), HttpErrorKind::Decode | HttpErrorKind::Unknown);
    }
    // The type that holds the status is private to object_store, its text is not.
    let text = error.to_string();
    let status = text
        .split_once("status code: ")
        .map_or("", |(_, status)| status);
    status.starts_with('5') || status.starts_with("408") || status.starts_with("429")
}

#[cfg(not(any(feature = "s3", feature = "gcs", feature = "azure", feature = "http")))]
fn is_transient_answer(_error: &object_store::Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(source: impl StdError + Send + Sync + 'static) -> object_store::Error {
        object_store::Error::Generic {
            store: "fake",
            source: Box::new(source),
        }
    }

    #[test]
    fn faults_that_may_pass_are_retryable_and_others_are_not() {
        for (kind, retryable) in [
            (io::ErrorKind::TimedOut, true),
            (io::ErrorKind::ConnectionReset, true),
            (io::ErrorKind::PermissionDenied, false),
        ] {
            let error = storage_error("/t/x", generic(io::Error::from(kind)));
            assert_eq!(
                (error.kind(), error.is_retryable()),
                (ErrorKind::Storage, retryable),
                "{error}"
            );
            assert!(error.message().contains("/t/x"));
        }
    }

    #[test]
    fn file_in_the_place_of_a_directory_is_not_found() {
        let error = storage_error(
            "/t/x",
            generic(io::Error::from(io::ErrorKind::NotADirectory)),
        );
        assert_eq!(error.to_string(), "not found: /t/x does not exist");
    }

    #[test]
    fn only_digits_after_the_mark_make_a_numbered_suffix() {
        for (location, expected) in [
            ("/t/a#1", true),
            ("/t/a#", false),
            ("/t/a#x1", false),
            ("/t#1/a", false),
            ("/t/a1", false),
        ] {
            assert_eq!(has_numbered_suffix(location), expected, "{location}");
        }
    }

    #[test]
    fn if_found_lets_other_errors_pass() {
        assert_eq!(if_found(Ok(1)).unwrap(), Some(1));
        assert_eq!(if_found::<u8>(Err(Error::not_found("x"))).unwrap(), None);
        assert!(if_found::<u8>(Err(Error::corrupt("x"))).is_err());
    }
}
