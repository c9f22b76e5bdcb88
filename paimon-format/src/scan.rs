//! What to read of a file.

use paimon_meta::{DataType, StringLayout};

/// A column of a data file.
///
/// Found by the file's own name. Names alone do not tell a timestamp's unit or zone, so the type is that of the *file's
/// schema* (nested fields with the file's names, pruned to those wanted).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileColumn {
    /// Name in the file.
    pub name: String,
    /// Type in the file's schema; batches come in its Arrow form.
    pub data_type: DataType,
}

/// What to read of a file, shared by all its row groups.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanSpec {
    /// The columns, in the order of the batches, none twice; may be none at all, then batches only count rows.
    pub columns: Vec<FileColumn>,
    /// Most rows in a batch, at least 1.
    pub batch_size: usize,
    /// Layout of text and bytes in the batches.
    pub strings: StringLayout,
    /// Bytes of a row group that are asked for at a time, and about half of what is held of it. A group of less than four
    /// times as much comes in one piece, and so do those of ORC and Avro. See [`ScanSpec::WINDOW_BYTES`].
    pub window_bytes: u64,
}

impl ScanSpec {
    /// A window that is large enough for a store far away, and so small that a merge of many runs stays small.
    pub const WINDOW_BYTES: u64 = 4 << 20;
}

impl Default for ScanSpec {
    /// No column, batches of 8192 rows.
    fn default() -> Self {
        Self {
            columns: Vec::new(),
            batch_size: 8192,
            strings: StringLayout::default(),
            window_bytes: Self::WINDOW_BYTES,
        }
    }
}
