//! One split of a plan, looked at in place.

use std::ops::Range;

use paimon_meta::{
    BinaryRow, DataFileMeta, DataSplit, DeletionFile, IncrementalSplit, Result, Split,
    bucket_directory,
};

use crate::generate::Why;
use crate::plan::{Plan, SplitEntry};

/// A split of a [`Plan`], looked at in place. Files are told by their index in [`Plan::files`].
#[derive(Clone, Copy, Debug)]
pub struct PlannedSplit<'a> {
    pub(super) plan: &'a Plan,
    index: usize,
}

impl<'a> PlannedSplit<'a> {
    pub(super) fn new(plan: &'a Plan, index: usize) -> Self {
        Self { plan, index }
    }

    /// Its place in the plan.
    pub fn index(&self) -> usize {
        self.index
    }

    fn entry(&self) -> SplitEntry {
        self.plan.splits.get(self.index).copied().unwrap_or(NOTHING)
    }

    /// The entry before, where this one begins.
    fn before(&self) -> SplitEntry {
        let before = self
            .index
            .checked_sub(1)
            .and_then(|index| self.plan.splits.get(index));
        before.copied().unwrap_or(NOTHING)
    }

    /// The rule that made the split raw or not.
    pub fn why(&self) -> Why {
        self.entry().why
    }

    /// Whether it can be read without merging.
    pub fn raw_convertible(&self) -> bool {
        self.why().is_raw()
    }

    /// Its files.
    pub fn files(&self) -> Range<usize> {
        clamped(
            self.before().files_end,
            self.entry().files_end,
            self.plan.files.len(),
        )
    }

    /// The runs of its sections, each as its files. Empty where key ranges were not looked at: append tables, and buckets
    /// that are raw as a whole.
    pub fn sections(&self) -> Vec<Vec<Range<usize>>> {
        let (before, entry) = (self.before(), self.entry());
        let sections = clamped(
            before.sections_end,
            entry.sections_end,
            self.plan.section_ends.len(),
        );
        let ends = self.plan.section_ends.get(sections).unwrap_or_default();
        let mut run = before.runs_end;
        let mut file = before.files_end;
        let section = |end: &u32| {
            let runs = clamped(
                std::mem::replace(&mut run, *end),
                *end,
                self.plan.run_ends.len(),
            );
            let ends = self.plan.run_ends.get(runs).unwrap_or_default();
            let run = |end: &u32| {
                clamped(
                    std::mem::replace(&mut file, *end),
                    *end,
                    self.plan.files.len(),
                )
            };
            ends.iter().map(run).collect()
        };
        ends.iter().map(section).collect()
    }

    /// Partition values, in partition order.
    pub fn partition(&self) -> Option<&'a BinaryRow> {
        self.files()
            .next()
            .map(|file| self.plan.files.partition(file))
    }

    /// Bucket; -2 is the postpone bucket.
    pub fn bucket(&self) -> i32 {
        self.files()
            .next()
            .map_or(0, |file| self.plan.files.bucket(file))
    }

    /// Number of buckets when the bucket's first file was written (RP-573).
    pub fn total_buckets(&self) -> i32 {
        self.entry().total_buckets
    }

    /// Directory of the bucket, relative to the table's root.
    pub fn bucket_path(&self) -> String {
        let partition = self
            .files()
            .next()
            .map(|file| self.plan.files.partition_id(file) as usize);
        let parent = partition.and_then(|partition| self.plan.bucket_parents.get(partition));
        format!(
            "{}{}",
            parent.map_or("", String::as_str),
            bucket_directory(self.bucket())
        )
    }

    /// Physical rows; counts duplicates and deletes (RP-183).
    pub fn row_count(&self) -> u64 {
        self.files()
            .map(|file| self.plan.files.row_count(file))
            .fold(0, u64::saturating_add)
    }

    /// Size of the files in bytes.
    pub fn file_size(&self) -> u64 {
        self.files()
            .map(|file| self.plan.files.file_size(file))
            .fold(0, u64::saturating_add)
    }

    /// The reference's merged row count: known for raw splits whose vectors have a known cardinality. Trusts files whose
    /// delete row count is unknown (RP-180, RP-181); for a number that is never wrong see [`Self::exact_row_count`].
    pub fn merged_row_count(&self) -> Option<u64> {
        self.raw_convertible().then_some(())?;
        let deleted = match self.has_vectors() {
            true => self.files().try_fold(0u64, |sum, file| {
                sum.checked_add(self.plan.deleted_rows(file)?)
            })?,
            false => 0,
        };
        self.row_count().checked_sub(deleted)
    }

    /// Whether its rows are changes: those of its files as they were written (RP-303), or what two states differ in
    /// ([`Why::TwoStates`]). Nothing that is done to the table makes such a split raw.
    pub fn is_changes(&self) -> bool {
        self.plan.streaming || self.why() == Why::TwoStates
    }

    /// Whether vectors are applied: a streaming split has none (RP-113).
    fn has_vectors(&self) -> bool {
        self.plan.vectors.is_some() && !self.plan.streaming
    }

    /// Rows that a read returns, if metadata alone tells it for certain, also of a split that must be merged.
    pub fn exact_row_count(&self) -> Option<u64> {
        self.section_row_counts()
            .into_iter()
            .try_fold(0u64, |sum, rows| sum.checked_add(rows?))
    }

    /// The same section by section: certain where a section has one run, and of every file it is known that it has no
    /// delete rows (RP-700) and how many rows its deletion vector takes away (RP-182). A split whose sections were not looked
    /// at counts as one. Of a split of changes every row of its files counts.
    pub fn section_row_counts(&self) -> Vec<Option<u64>> {
        if self.why() == Why::TwoStates {
            return vec![None];
        }
        if self.plan.streaming {
            return vec![Some(self.row_count())];
        }
        match self.sections() {
            sections if sections.is_empty() => vec![self.rows_without_deletes(self.files())],
            sections => sections
                .into_iter()
                .map(|runs| match <[_; 1]>::try_from(runs) {
                    Ok([run]) => self.rows_without_deletes(run),
                    Err(_) => None,
                })
                .collect(),
        }
    }

    fn rows_without_deletes(&self, mut files: Range<usize>) -> Option<u64> {
        let table = &self.plan.files;
        files.try_fold(0u64, |sum, file| match table.delete_row_count(file) {
            Some(0) => {
                let deleted = self.plan.deleted_rows(file)?;
                sum.checked_add(table.row_count(file).checked_sub(deleted)?)
            }
            _ => None,
        })
    }

    /// Whether it is one of the branch that the table falls back to (RP-537).
    pub fn is_fallback(&self) -> bool {
        let fallback = self.plan.fallback;
        fallback.is_some_and(|fallback| self.index >= fallback.first)
    }

    /// Its files of the earlier state, if it is one of two states; the others are those of the later state.
    pub fn files_before(&self) -> Option<Range<usize>> {
        let start = *self.plan.after_starts.get(self.index)? as usize;
        let files = self.files();
        Some(files.start..start.clamp(files.start, files.end))
    }

    /// The split on its own.
    ///
    /// # Errors
    /// `Corrupt` if a plan from outside does not hold what it says.
    pub fn to_split(&self) -> Result<Split> {
        let partition = self.partition().cloned().unwrap_or_default();
        let total_buckets = Some(self.total_buckets());
        if let Some(before) = self.files_before() {
            return Ok(Split::Incremental(IncrementalSplit {
                snapshot_id: self.plan.snapshot_id.unwrap_or(0),
                partition,
                bucket: self.bucket(),
                bucket_path: self.bucket_path(),
                total_buckets,
                before: self.metas(before.clone())?,
                before_deletion_files: self.deletion_files(before.clone()),
                after: self.metas(before.end..self.files().end)?,
                after_deletion_files: self.deletion_files(before.end..self.files().end),
                streaming: self.plan.streaming,
            }));
        }
        let fallback = self.plan.fallback.filter(|_| self.is_fallback());
        let snapshot_id = match fallback {
            Some(fallback) => fallback.snapshot_id,
            None => self.plan.snapshot_id.unwrap_or(0),
        };
        let split = DataSplit {
            snapshot_id,
            partition,
            bucket: self.bucket(),
            bucket_path: self.bucket_path(),
            total_buckets,
            files: self.metas(self.files())?,
            deletion_files: self.deletion_files(self.files()),
            streaming: self.plan.streaming,
            raw_convertible: self.raw_convertible(),
        };
        Ok(match fallback {
            Some(_) => Split::Fallback(split),
            None => Split::Data(split),
        })
    }

    /// One slot a file; `None` where deletion vectors are off or the split is a streaming one (RP-113).
    fn deletion_files(&self, files: Range<usize>) -> Option<Vec<Option<DeletionFile>>> {
        let vectors = || files.map(|file| self.plan.deletion_file(file)).collect();
        self.has_vectors().then(vectors)
    }

    fn metas(&self, files: Range<usize>) -> Result<Vec<DataFileMeta>> {
        files.map(|file| self.plan.files.file(file)).collect()
    }
}

/// Where the first split begins.
const NOTHING: SplitEntry = SplitEntry {
    files_end: 0,
    runs_end: 0,
    sections_end: 0,
    total_buckets: 0,
    why: Why::AppendTable,
};

/// A range inside a list; a plan from outside may say more than it holds.
fn clamped(start: u32, end: u32, length: usize) -> Range<usize> {
    let end = (end as usize).min(length);
    (start as usize).min(end)..end
}
