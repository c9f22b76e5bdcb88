//! What a record does to its key.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Kind of a record, stored as one byte (RP-003).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(i8)]
pub enum RowKind {
    /// `+I`.
    Insert = 0,
    /// `-U`, the row before an update.
    UpdateBefore = 1,
    /// `+U`, the row after an update.
    UpdateAfter = 2,
    /// `-D`.
    Delete = 3,
}

impl RowKind {
    /// The kind of a stored byte.
    ///
    /// # Errors
    /// `Corrupt` for any byte but 0 to 3 (ME-001).
    pub fn from_byte(byte: i8) -> Result<Self> {
        match byte {
            0 => Ok(Self::Insert),
            1 => Ok(Self::UpdateBefore),
            2 => Ok(Self::UpdateAfter),
            3 => Ok(Self::Delete),
            other => Err(Error::corrupt(format!(
                "row kind is {other}, expected 0 to 3"
            ))),
        }
    }

    /// Adds put a row in place (`+I`, `+U`); the others retract one (ME-002).
    pub fn is_add(self) -> bool {
        matches!(self, Self::Insert | Self::UpdateAfter)
    }

    /// `+I`, `-U`, `+U` or `-D`.
    pub fn short(self) -> &'static str {
        match self {
            Self::Insert => "+I",
            Self::UpdateBefore => "-U",
            Self::UpdateAfter => "+U",
            Self::Delete => "-D",
        }
    }
}

impl fmt::Display for RowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn kinds_are_four_bytes_and_no_other() {
        // RP-003, ME-001, ME-002
        let kinds = [0, 1, 2, 3].map(|byte| RowKind::from_byte(byte).unwrap());
        assert_eq!(kinds.map(|kind| kind.to_string()), ["+I", "-U", "+U", "-D"]);
        assert_eq!(kinds.map(RowKind::is_add), [true, false, true, false]);
        for byte in [-1, 4, i8::MIN] {
            assert_eq!(
                RowKind::from_byte(byte).unwrap_err().kind(),
                ErrorKind::Corrupt
            );
        }
    }
}
