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
    /// The columns `i1` and `l1` of the rows with `i1 < 10`; in SQL their sum and maximum.
    Aggregate,
    /// The number of rows.
    Count,
    /// The plan alone: its files count as rows.
    Plan,
}

impl Case {
    /// The reads of rows.
    pub const READS: [Self; 4] = [Self::Full, Self::Filter, Self::OneColumn, Self::Count];

    /// The reads that are queries as well.
    pub const QUERIES: [Self; 3] = [Self::Count, Self::Aggregate, Self::Full];

    /// Name on the wire and in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Filter => "filter",
            Self::OneColumn => "one-column",
            Self::Aggregate => "aggregate",
            Self::Count => "count",
            Self::Plan => "plan",
        }
    }

    /// The case of a name.
    pub fn of(name: &str) -> Option<Self> {
        let mut cases = Self::READS.into_iter().chain([Self::Aggregate, Self::Plan]);
        cases.find(|case| case.name() == name)
    }

    /// The columns that are read; `None` for all.
    pub fn columns(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Full | Self::Filter | Self::Plan => None,
            Self::OneColumn => Some(&["i1"]),
            Self::Aggregate => Some(&["i1", "l1"]),
            Self::Count => Some(&[]),
        }
    }

    /// Whether it is of the rows with `i1 < 10` alone.
    pub fn is_filtered(self) -> bool {
        matches!(self, Self::Filter | Self::Aggregate)
    }

    /// The read as a query of the table `t`. All but the full one give one row: how many rows there are, and the sum of
    /// `i1`.
    #[cfg(feature = "sql")]
    pub fn sql(self) -> &'static str {
        match self {
            Self::Full => "SELECT * FROM t",
            Self::Filter => "SELECT * FROM t WHERE i1 < 10",
            Self::OneColumn => "SELECT count(i1), sum(i1) FROM t",
            Self::Aggregate => "SELECT count(*), sum(i1), max(l1) FROM t WHERE i1 < 10",
            Self::Count | Self::Plan => "SELECT count(*) FROM t",
        }
    }
}
