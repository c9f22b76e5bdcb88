//! The reader that is to be proved.

use std::path::Path;

use paimon_meta::Result;
use serde_json::Value;

use crate::golden::{GoldenRequest, GoldenRows, GoldenSplit};

/// Anything that reads tables: a library, a command, a service. Whoever implements this is driven through the golden suite
/// ([`check_read`](crate::check_read)), the laws (`check_laws`, feature `strategies`) and past the reference
/// ([`Reference::judge`](crate::Reference::judge)).
///
/// One method is needed. What the reader does not do yet, it says with an error of kind `Unsupported` that names the feature:
/// that never counts as a right answer, nor as a wrong one.
pub trait Reader {
    /// The columns and all rows that a request gives of the table in a directory. Order is free unless the request has
    /// kinds.
    ///
    /// # Errors
    /// Those of planning and reading. A read that fails must do so before its first row.
    fn rows(&self, table: &Path, request: &GoldenRequest) -> Result<GoldenRows>;

    /// The splits of each plan of a request: one plan, or several for a stream. `None` if this reader has none to show;
    /// then only rows are compared.
    ///
    /// # Errors
    /// Those of planning.
    fn plan(
        &self,
        _table: &Path,
        _request: &GoldenRequest,
    ) -> Result<Option<Vec<Vec<GoldenSplit>>>> {
        Ok(None)
    }

    /// The content of a sketch (`rbm32`, `rbm64`, `hll`, `theta`) in the form of the golden tables. `None` if this
    /// reader cannot look into it; then only nulls are compared.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are no such sketch.
    fn decode(&self, _kind: &str, _sketch: &[u8]) -> Result<Option<Value>> {
        Ok(None)
    }
}
