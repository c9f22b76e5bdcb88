//! What is read.

/// One kind of read, which every reader does on its own terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// All columns of the merged table.
    Full,
    /// All columns of the rows with `i1 < 10`, a hundredth of them.
    Filter,
    /// The column `i1` alone.
    OneColumn,
    /// The number of rows.
    Count,
    /// The plan alone: its files count as rows.
    Plan,
}

impl Case {
    /// The reads of rows.
    pub const READS: [Self; 4] = [Self::Full, Self::Filter, Self::OneColumn, Self::Count];

    /// Name on the wire and in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Filter => "filter",
            Self::OneColumn => "one-column",
            Self::Count => "count",
            Self::Plan => "plan",
        }
    }

    /// The case of a name.
    pub fn of(name: &str) -> Option<Self> {
        let mut cases = Self::READS.into_iter().chain([Self::Plan]);
        cases.find(|case| case.name() == name)
    }

    /// The columns that are read; `None` for all.
    pub fn columns(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Full | Self::Filter | Self::Plan => None,
            Self::OneColumn => Some(&["i1"]),
            Self::Count => Some(&[]),
        }
    }
}
