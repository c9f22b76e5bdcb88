//! Picked rows whose columns are not gathered yet: a fold looks at versions where they were decoded, and gathers rows of
//! the result alone.

use arrow_array::ArrayRef;
use paimon_meta::{Error, Result};

use crate::gather::Segments;

/// Columns that were decoded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// By the key pass.
    Early,
    /// By the row filter.
    Filtered,
    /// By the value pass.
    Late,
    /// Columns that come from no file.
    Constant,
}

impl Set {
    /// How many there are.
    pub(crate) const COUNT: usize = 4;
}

/// A column of every source of its set.
#[derive(Debug)]
pub(crate) struct SourceColumn {
    pub(crate) set: Set,
    pub(crate) sources: Vec<ArrayRef>,
}

/// A batch whose columns are not gathered yet.
#[derive(Debug)]
pub(crate) struct Ungathered {
    rows: u32,
    columns: Vec<SourceColumn>,
    /// The rows of each set.
    segments: [Segments; Set::COUNT],
}

impl Ungathered {
    pub(crate) fn new(rows: u32) -> Self {
        let mut constant = Segments::default();
        constant.push(0, 0, rows);
        Self {
            rows,
            columns: Vec::new(),
            segments: [
                Segments::default(),
                Segments::default(),
                Segments::default(),
                constant,
            ],
        }
    }

    /// Adds a column that was decoded.
    pub(crate) fn add_column(&mut self, set: Set, sources: Vec<ArrayRef>) {
        self.columns.push(SourceColumn { set, sources });
    }

    /// Adds a column that has a value for each row.
    pub(crate) fn add_constant(&mut self, column: ArrayRef) {
        self.add_column(Set::Constant, vec![column]);
    }

    /// Says which rows of its sources the rows of a set are.
    pub(crate) fn add_segments(&mut self, set: Set, segments: Segments) {
        if let Some(slot) = self.segments.get_mut(set as usize) {
            *slot = segments;
        }
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Number of decoded batches that the rows come from.
    pub(crate) fn source_count(&self) -> usize {
        let sources = self.columns.iter().map(|column| column.sources.len());
        sources.max().unwrap_or(0)
    }

    /// A column.
    ///
    /// # Errors
    /// `Internal` if there are fewer.
    pub(crate) fn column(&self, index: usize) -> Result<&SourceColumn> {
        let column = self.columns.get(index);
        column.ok_or_else(|| Error::internal(format!("no column {index} of the versions")))
    }

    /// The rows of a set.
    pub(crate) fn segments(&self, set: Set) -> Result<&Segments> {
        let segments = self.segments.get(set as usize);
        segments.ok_or_else(|| Error::internal("rows of no set"))
    }
}
