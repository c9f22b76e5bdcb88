//! Errors of the reader as errors of DataFusion.

use datafusion::error::DataFusionError;
use paimon_meta::{Error, ErrorKind};

/// Keeps the error as the cause; what the pool refuses is an error that DataFusion knows.
pub(crate) fn external(error: Error) -> DataFusionError {
    if error.kind() == ErrorKind::ResourcesExhausted {
        DataFusionError::ResourcesExhausted(error.to_string())
    } else {
        DataFusionError::External(Box::new(error))
    }
}
