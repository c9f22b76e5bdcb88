//! Why a split must be merged, worked out when somebody asks.

use std::ops::Range;

use paimon_meta::{BinaryRowRef, DataType, Datum, Result};
use serde::{Deserialize, Serialize};

use crate::plan::PlannedSplit;

/// What keeps a bucket from being read raw as a whole (RP-120). Files by their index in the plan, in order; they may be in
/// other splits of the bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Obstacle {
    /// Files on level 0, which may overlap any other.
    LevelZero(Vec<u32>),
    /// Files with rows that delete.
    DeleteRows(Vec<u32>),
    /// Files on several levels, ascending.
    SeveralLevels(Vec<i32>),
}

/// Two files that may hold versions of the same keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// The section of the split, counted from 0.
    pub section: usize,
    /// The files by their index in the plan.
    pub files: [u32; 2],
    /// First key that both may hold, column by column in key order.
    pub from: Vec<Option<Datum>>,
    /// Last key that both may hold.
    pub to: Vec<Option<Datum>>,
}

impl PlannedSplit<'_> {
    /// What keeps the bucket from being read raw as a whole; nothing for append tables and for buckets that are raw.
    pub fn obstacles(&self) -> Vec<Obstacle> {
        let table = &self.plan.table;
        if table.key.is_empty() {
            return Vec::new();
        }
        let files = &self.plan.files;
        let bucket = self.bucket_files();
        let of = |keep: &dyn Fn(usize) -> bool| {
            let kept = bucket.clone().filter(|file| keep(*file));
            kept.filter_map(|file| u32::try_from(file).ok())
                .collect::<Vec<_>>()
        };
        let mut levels: Vec<i32> = bucket.clone().map(|file| files.level(file)).collect();
        levels.sort_unstable();
        levels.dedup();
        let levels_matter = !table.settings.deletion_vectors && !table.settings.first_row;
        let level_zero = of(&|file| files.level(file) == 0);
        let deletes = of(&|file| files.delete_row_count(file).is_some_and(|count| count > 0));
        [
            (!level_zero.is_empty()).then_some(Obstacle::LevelZero(level_zero)),
            (!deletes.is_empty()).then_some(Obstacle::DeleteRows(deletes)),
            (levels_matter && levels.len() > 1).then_some(Obstacle::SeveralLevels(levels)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// All files of the split's bucket: those of the splits beside it of the same partition and bucket.
    fn bucket_files(&self) -> Range<usize> {
        let Range { start: first, .. } = self.files();
        let files = &self.plan.files;
        let same = |other: &PlannedSplit<'_>| {
            other.files().next().is_some_and(|file| {
                files.partition_id(file) == files.partition_id(first)
                    && files.bucket(file) == files.bucket(first)
            })
        };
        if self.files().is_empty() {
            return self.files();
        }
        let at = |index: &usize| self.plan.get(*index).is_some_and(|split| same(&split));
        let start = (0..self.index())
            .rev()
            .take_while(at)
            .last()
            .unwrap_or(self.index());
        let end = (self.index()..self.plan.len())
            .take_while(at)
            .last()
            .unwrap_or(self.index());
        let files_of = |index| {
            self.plan
                .get(index)
                .map(|split| split.files())
                .unwrap_or_default()
        };
        files_of(start).start..files_of(end).end
    }

    /// Pairs of files of the split that may hold versions of the same keys, section by section. They are found one by one,
    /// and a section of `n` files has up to `n²/2`: take only as many as are needed.
    ///
    /// # Errors
    /// Each item is `Corrupt` if keys do not hold the key columns.
    pub fn overlaps(&self) -> impl Iterator<Item = Result<Overlap>> {
        let split = *self;
        self.sections()
            .into_iter()
            .enumerate()
            .flat_map(move |(section, runs)| {
                let files: Vec<usize> = runs.into_iter().flatten().collect();
                let pairs = files.clone().into_iter().enumerate();
                pairs.flat_map(move |(position, a)| {
                    let later: Vec<usize> = files.get(position + 1..).unwrap_or_default().to_vec();
                    later
                        .into_iter()
                        .filter_map(move |b| split.overlap(section, a, b).transpose())
                })
            })
    }

    fn overlap(&self, section: usize, a: usize, b: usize) -> Result<Option<Overlap>> {
        let files = &self.plan.files;
        let types: Vec<&DataType> = self
            .plan
            .table
            .key
            .iter()
            .map(|(_, data_type)| data_type)
            .collect();
        let row = |serialized| BinaryRowRef::from_serialized(serialized);
        let (min_a, min_b) = (row(files.min_key(a))?, row(files.min_key(b))?);
        let (max_a, max_b) = (row(files.max_key(a))?, row(files.max_key(b))?);
        let from = if min_a.compare(min_b, &types)?.is_ge() {
            min_a
        } else {
            min_b
        };
        let to = if max_a.compare(max_b, &types)?.is_le() {
            max_a
        } else {
            max_b
        };
        if from.compare(to, &types)?.is_gt() {
            return Ok(None);
        }
        let index = |file| u32::try_from(file).unwrap_or(u32::MAX);
        Ok(Some(Overlap {
            section,
            files: [index(a), index(b)],
            from: from.datums(&types)?,
            to: to.datums(&types)?,
        }))
    }
}
