//! Errors of the `parquet` crate as ours.

use arrow_schema::ArrowError;
use paimon_meta::Error;
use parquet::errors::ParquetError;

/// `Corrupt`, or `Unsupported` where the library says that it lacks something.
pub(super) fn corrupt(message: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::NYI(feature) => Error::unsupported(format!("Parquet: {feature}")),
        error => Error::corrupt(message).with_source(error),
    }
}

/// As [`corrupt`], for errors that came through Arrow, where only the text tells them apart.
pub(super) fn corrupt_arrow(message: &str, error: ArrowError) -> Error {
    match &error {
        ArrowError::ParquetError(text) if text.starts_with("NYI: ") => {
            Error::unsupported(format!("Parquet: {text}"))
        }
        _ => Error::corrupt(message).with_source(error),
    }
}
