//! Files by bucket to splits in the order of the plan, kept compactly (RP-110, RP-120, RP-160).

use std::cmp::Ordering;

use paimon_meta::{BinaryRow, BinaryRowRef, DataType, Error, FileTable, Frame, Result, ResultExt};

use crate::generate::{
    FileShape, SplitSettings, SplitShape, append_splits, append_splits_for_streaming,
    merge_tree_splits, merge_tree_splits_for_streaming,
};
use crate::limit::RowLimit;
use crate::plan::{PlannedVectors, SplitEntry};
use crate::section::{KeyRange, Section, interval_partition};

/// How buckets become splits.
#[derive(Clone, Debug)]
pub(crate) struct LayoutRules<'a> {
    pub(crate) settings: SplitSettings,
    /// Types of the trimmed key columns; `None` for append tables.
    pub(crate) key_types: Option<Vec<&'a DataType>>,
    /// Types of the partition columns if partitions come in their order, else in that of their first files.
    pub(crate) sort_partitions: Option<Vec<&'a DataType>>,
    /// A row limit, if splits can be dropped by it.
    pub(crate) limit: Option<u64>,
    /// Deletion vectors of the files, where they are applied.
    pub(crate) vectors: Option<&'a PlannedVectors>,
    /// Buckets stay in their order, whatever partitions they are of.
    pub(crate) as_given: bool,
    /// Splits of one snapshot's changes (RP-150, RP-161); `None` for splits of a state.
    pub(crate) streaming: Option<Streaming>,
}

/// How buckets become streaming splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Streaming {
    /// Buckets mean nothing in this table, so files of one may be read apart.
    pub(crate) unaware_bucket: bool,
}

/// Splits in the order of the plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    /// Files of the table in the order of the plan.
    pub(crate) order: Vec<u32>,
    pub(crate) splits: Vec<SplitEntry>,
    /// Where each run ends, in the order of files.
    pub(crate) run_ends: Vec<u32>,
    /// Where each section ends, in the ends of runs.
    pub(crate) section_ends: Vec<u32>,
}

/// Makes the splits of buckets. Buckets come in the order of their first files and leave partition by partition.
///
/// # Errors
/// `Corrupt` if keys do not hold the key columns, with the file at fault.
pub(crate) fn lay_out(
    files: &FileTable,
    mut buckets: Vec<Vec<u32>>,
    rules: &LayoutRules<'_>,
) -> Result<Layout> {
    let ranks = partition_ranks(files, &buckets, rules.sort_partitions.as_deref())?;
    let rank = |bucket: &Vec<u32>| {
        let partition = bucket
            .first()
            .map(|file| files.partition_id(*file as usize) as usize);
        partition
            .and_then(|partition| ranks.get(partition))
            .copied()
    };
    if !rules.as_given {
        buckets.sort_by_key(rank); // stable: buckets of a partition stay in their order
    }
    let mut all = Layout::default();
    let mut enough = Layout::default();
    let mut limit = rules.limit.map(RowLimit::new);
    for bucket in &buckets {
        let shapes: Vec<FileShape> = bucket.iter().map(|file| shape(files, *file)).collect();
        let splits = match (&rules.key_types, rules.streaming) {
            (None, None) => append_splits(&shapes, &rules.settings),
            (None, Some(streaming)) => {
                append_splits_for_streaming(&shapes, &rules.settings, streaming.unaware_bucket)
            }
            (Some(types), None) => {
                merge_tree_splits(&shapes, &rules.settings, || sections(files, bucket, types))?
            }
            (Some(_), Some(_)) => merge_tree_splits_for_streaming(&shapes)
                .into_iter()
                .collect(),
        };
        let total_buckets = bucket
            .first()
            .map_or(0, |file| files.total_buckets(*file as usize));
        for split in &splits {
            all.push(bucket, split, total_buckets);
            if let (Some(limit), Some(rows)) =
                (&mut limit, known_rows(files, bucket, split, rules.vectors))
            {
                enough.push(bucket, split, total_buckets);
                if limit.is_reached_with(rows) {
                    return Ok(enough); // RP-187: splits of an unknown count before are dropped too
                }
            }
        }
    }
    Ok(all)
}

/// Rows of a raw split; a missing delete row count makes them unknown (RP-700), so does a vector of unknown cardinality.
fn known_rows(
    files: &FileTable,
    bucket: &[u32],
    split: &SplitShape,
    vectors: Option<&PlannedVectors>,
) -> Option<u64> {
    split.why.is_raw().then_some(())?;
    split.files.iter().try_fold(0u64, |sum, position| {
        let file = *bucket.get(*position as usize)? as usize;
        files.delete_row_count(file).filter(|count| *count == 0)?;
        let deleted = vectors.map_or(Some(0), |vectors| vectors.deleted_rows(file))?;
        sum.checked_add(files.row_count(file).checked_sub(deleted)?)
    })
}

impl Layout {
    fn push(&mut self, bucket: &[u32], split: &SplitShape, total_buckets: i32) {
        let mut end = length(&self.order);
        for section in &split.sections {
            for run in section {
                end = end.saturating_add(*run);
                self.run_ends.push(end);
            }
            self.section_ends.push(length(&self.run_ends));
        }
        self.order.extend(
            split
                .files
                .iter()
                .filter_map(|position| bucket.get(*position as usize)),
        );
        self.splits.push(SplitEntry {
            files_end: length(&self.order),
            runs_end: length(&self.run_ends),
            sections_end: length(&self.section_ends),
            total_buckets,
            why: split.why,
        });
    }
}

/// A length that fits, for a file table holds no more files than that.
fn length<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

fn shape(files: &FileTable, file: u32) -> FileShape {
    let file = file as usize;
    FileShape {
        file_size: files.file_size(file),
        level: files.level(file),
        delete_row_count: files.delete_row_count(file),
        min_sequence_number: files.min_sequence_number(file),
    }
}

/// The place of each partition in the plan.
fn partition_ranks(
    files: &FileTable,
    buckets: &[Vec<u32>],
    types: Option<&[&DataType]>,
) -> Result<Vec<usize>> {
    let partitions = files.partitions();
    let mut order: Vec<usize> = Vec::new();
    let mut seen = vec![false; partitions.len()];
    for file in buckets.iter().filter_map(|bucket| bucket.first()) {
        let partition = files.partition_id(*file as usize) as usize;
        if let Some(seen) = seen.get_mut(partition)
            && !std::mem::replace(seen, true)
        {
            order.push(partition);
        }
    }
    if let Some(types) = types {
        for row in partitions {
            check_row(row.as_ref(), types, "_PARTITION")?;
        }
        let row = |partition: usize| partitions.get(partition).map(BinaryRow::as_ref);
        order.sort_by(|a, b| match (row(*a), row(*b)) {
            (Some(a), Some(b)) => checked_order(a, b, types),
            _ => Ordering::Equal,
        });
    }
    let mut ranks = vec![usize::MAX; partitions.len()];
    for (rank, partition) in order.into_iter().enumerate() {
        if let Some(slot) = ranks.get_mut(partition) {
            *slot = rank;
        }
    }
    Ok(ranks)
}

/// Checks that every field of a row can be read.
fn check_row(row: BinaryRowRef<'_>, types: &[&DataType], field: &str) -> Result<()> {
    row.compare(row, types)
        .map(|_| ())
        .at(|| Frame::Field(field.to_owned()))
}

/// The order of two rows that [`check_row`] has passed.
pub(crate) fn checked_order(
    a: BinaryRowRef<'_>,
    b: BinaryRowRef<'_>,
    types: &[&DataType],
) -> Ordering {
    a.compare(b, types).unwrap_or(Ordering::Equal)
}

/// A file, however it is named, with its keys.
pub(crate) struct Keyed<'a, F> {
    pub(crate) file: F,
    pub(crate) min: BinaryRowRef<'a>,
    pub(crate) max: BinaryRowRef<'a>,
}

impl<'a, F> KeyRange for Keyed<'a, F> {
    type Key = BinaryRowRef<'a>;

    fn min_key(&self) -> &Self::Key {
        &self.min
    }

    fn max_key(&self) -> &Self::Key {
        &self.max
    }
}

/// The sections of a bucket, files as positions in it.
fn sections(files: &FileTable, bucket: &[u32], types: &[&DataType]) -> Result<Vec<Section<u32>>> {
    let keyed = (0u32..).zip(bucket).map(|(position, file)| {
        let file = *file as usize;
        Keyed::of(position, files, file, types)
    });
    let sections = interval_partition(keyed.collect::<Result<_>>()?, |a, b| {
        checked_order(*a, *b, types)
    });
    let positions = |run: Vec<Keyed<'_, u32>>| run.into_iter().map(|file| file.file).collect();
    Ok(sections
        .into_iter()
        .map(|section| section.into_iter().map(positions).collect())
        .collect())
}

impl<'a, F> Keyed<'a, F> {
    /// The `number`-th of the files, named `file`.
    ///
    /// # Errors
    /// As [`checked_range`], with the file.
    pub(crate) fn of(
        file: F,
        files: &'a FileTable,
        number: usize,
        types: &[&DataType],
    ) -> Result<Self> {
        let (min, max) = checked_range(files.min_key(number), files.max_key(number), types)
            .at(|| Frame::File(files.file_name(number).to_owned()))?;
        Ok(Self { file, min, max })
    }
}

/// The keys of a file, which then compare.
///
/// # Errors
/// `Corrupt` if they do not hold the key columns or are in the wrong order.
pub(crate) fn checked_range<'a>(
    min: &'a [u8],
    max: &'a [u8],
    types: &[&DataType],
) -> Result<(BinaryRowRef<'a>, BinaryRowRef<'a>)> {
    let row = |serialized, field: &str| {
        let row =
            BinaryRowRef::from_serialized(serialized).at(|| Frame::Field(field.to_owned()))?;
        check_row(row, types, field).map(|()| row)
    };
    let (min, max) = (row(min, "_MIN_KEY")?, row(max, "_MAX_KEY")?);
    if checked_order(min, max, types).is_gt() {
        return Err(Error::corrupt("smallest key is above the largest key")
            .at(Frame::Field("_MIN_KEY".to_owned())));
    }
    Ok((min, max))
}

#[cfg(test)]
mod tests;
