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
}
