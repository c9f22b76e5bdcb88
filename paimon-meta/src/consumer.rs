//! Consumers: how far named streaming reads have come. Facts: table-format section 1.1.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::json;

/// One consumer file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Consumer {
    /// The snapshot that the consumer reads next.
    pub next_snapshot: i64,
}

impl Consumer {
    /// A consumer from its file.
    ///
    /// # Errors
    /// `Corrupt`, naming the member at fault.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        json::from_json(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumer_reads_back() {
        assert_eq!(
            Consumer::from_json(b"{\"nextSnapshot\":5}").unwrap(),
            Consumer { next_snapshot: 5 }
        );
        let error = Consumer::from_json(b"{}").unwrap_err();
        assert_eq!(
            error.to_string(),
            "corrupt: missing field `nextSnapshot` [field nextSnapshot]"
        );
    }
}
