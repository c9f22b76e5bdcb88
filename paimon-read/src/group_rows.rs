//! Which rows of a row group a read comes to, and the counters of those that it leaves out.

use paimon_format::{Pruned, RowRanges};
use paimon_io::{Counter, Metrics};
use paimon_meta::Result;

use crate::open::OpenFile;

/// Pages that a condition may tell apart, in row groups that may match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    pub(crate) all: u64,
    /// Those that are left out.
    pub(crate) dropped: u64,
}

impl Pages {
    pub(crate) fn of(pruned: &Pruned) -> Self {
        Self {
            all: pruned.pages + pruned.pages_kept,
            dropped: pruned.pages,
        }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            dropped: self.dropped + other.dropped,
        }
    }

    /// Counts them.
    pub(crate) fn count(self, metrics: &Metrics) {
        metrics.add(Counter::Pages, self.all);
        metrics.add(Counter::PagesSkipped, self.dropped);
    }
}

/// Rows of one row group.
#[derive(Debug)]
pub(crate) struct GroupRows {
    /// Rows that the first pass reads: none is deleted.
    pub(crate) first: RowRanges,
    /// Rows of the part that is read.
    pub(crate) in_part: u64,
    /// Those of them that may satisfy every condition, the deleted ones among them.
    pub(crate) may_match: u64,
    /// The same without those that are deleted.
    pub(crate) left: u64,
}

impl GroupRows {
    /// Counts the row group and what is left out of it.
    pub(crate) fn count(&self, metrics: &Metrics) {
        if self.in_part == 0 {
            return;
        }
        metrics.add(Counter::RowGroups, 1);
        metrics.add(Counter::RowGroupsSkipped, u64::from(self.left == 0));
        metrics.add(Counter::RowsSkipped, self.in_part - self.may_match);
    }
}

impl OpenFile {
    /// The rows of a part, or of the whole file, that may match.
    pub(crate) fn rows_of_part(&self, part: Option<&RowRanges>) -> RowRanges {
        part.map_or_else(
            || self.may_match.clone(),
            |part| part.intersect(&self.may_match),
        )
    }

    /// The rows of a row group, of which those in `first` are read first; all rows of the file are its part without one.
    ///
    /// # Errors
    /// As [`OpenFile::group`].
    pub(crate) fn rows_of_group(
        &self,
        group: usize,
        part: Option<&RowRanges>,
        first: &RowRanges,
    ) -> Result<GroupRows> {
        let group = self.group(group)?;
        let rows = group.first_row..group.first_row + u64::from(group.row_count);
        let in_part = part.map_or(u64::from(group.row_count), |part| {
            part.clip(rows.clone()).row_count()
        });
        let first = first.clip(rows);
        let may_match = first.intersect(&self.may_match.clip(first.span()));
        // A merge reads keys of rows too that cannot match.
        let same = may_match.row_count() == first.row_count();
        let (may_match, of_match) = (may_match.row_count(), (!same).then_some(may_match));
        let first = self.deletions.left_of(first);
        let left = of_match.map_or(first.row_count(), |rows| first.intersect(&rows).row_count());
        Ok(GroupRows {
            first,
            in_part,
            may_match,
            left,
        })
    }
}
