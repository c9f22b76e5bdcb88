//! The columns of versions, and what is gathered of them.
//!
//! ```text
//! decoded sources ──▶ merged versions ──▶ function ──▶ chosen or computed ─┐
//!        │            (keys of several)                                    ▼
//!        └───────────▶ lone versions ─────────────────────────────────▶ one gather ──▶ column of rows
//! ```
//!
//! Versions are numbered among the merged ones. Rows of the result are gathered from where they were decoded; which rows
//! these are is found once for all columns that choose alike.

use std::sync::OnceLock;

use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_select::take::take;
use paimon_meta::{Error, Result};

use super::columns::Fault;
use crate::functions::{AggregateFunction, Merged, Step, Versions};
use crate::gather::{Segments, SourceNulls, interleaved, replaced};
use crate::merge::KeyGroups;
use crate::ungathered::{Set, SourceColumn, Ungathered};

/// Segments of each set, found when they are first needed.
type BySet = [OnceLock<Segments>; Set::COUNT];

/// The columns of a batch of versions.
#[derive(Debug)]
pub(super) struct VersionColumns<'a> {
    versions: &'a Ungathered,
    groups: &'a KeyGroups,
    /// Columns before those that are merged.
    before: usize,
    /// Source and row of the merged versions.
    merged: [OnceLock<Vec<(usize, usize)>>; Set::COUNT],
    /// Lone versions, and results of merged keys from a source of their own.
    computed: BySet,
    newest: Chosen,
    /// The merged keys, counted over the batch.
    keys: OnceLock<Vec<usize>>,
}

/// One version for each merged key, null where the row has null.
#[derive(Debug)]
pub(super) struct Chosen {
    versions: UInt32Array,
    rows: BySet,
}

impl Chosen {
    pub(super) fn new(versions: UInt32Array) -> Self {
        Self {
            versions,
            rows: BySet::default(),
        }
    }
}

/// Where the row of a merged key comes from.
enum Place {
    /// The merged version of that number.
    Version(u32),
    /// Row of a source that is added behind the decoded ones.
    Added(u32),
}

impl<'a> VersionColumns<'a> {
    /// `before` columns are not merged.
    pub(super) fn new(versions: &'a Ungathered, groups: &'a KeyGroups, before: usize) -> Self {
        let newest = groups.merged_keys().map(|group| group.last());
        Self {
            versions,
            groups,
            before,
            merged: Default::default(),
            computed: BySet::default(),
            newest: Chosen::new(newest.collect()),
            keys: OnceLock::new(),
        }
    }

    /// The groups of the versions.
    pub(super) fn groups(&self) -> &'a KeyGroups {
        self.groups
    }

    /// Which merged versions are not null; `None` if all are.
    pub(super) fn validity(&self, column: usize) -> Result<Option<NullBuffer>> {
        let column = self.column(column)?;
        let Some(nulls) = SourceNulls::of(&column.sources) else {
            return Ok(None);
        };
        let pairs = self.merged_rows(column.set)?;
        let is_valid = |version| pairs.get(version).is_none_or(|pair| nulls.is_valid(*pair));
        let valid = BooleanBuffer::collect_bool(pairs.len(), is_valid);
        Ok(Some(NullBuffer::new(valid)).filter(|nulls| nulls.null_count() > 0))
    }

    /// The values of the merged versions.
    pub(super) fn merged(&self, column: usize) -> Result<ArrayRef> {
        let column = self.column(column)?;
        interleaved(&column.sources, self.merged_rows(column.set)?)
    }

    /// Rows that have the values of the newest versions.
    pub(super) fn newest(&self, column: usize) -> Result<ArrayRef> {
        self.gather(self.column(column)?, &self.newest)
    }

    /// The same for a column that is not merged.
    pub(super) fn newest_before(&self, column: usize) -> Result<ArrayRef> {
        self.gather(self.versions.column(column)?, &self.newest)
    }

    /// Rows that have the newest values that are not null; null where all are.
    pub(super) fn newest_non_null(&self, column: usize) -> Result<ArrayRef> {
        let column = self.column(column)?;
        let Some(nulls) = SourceNulls::of(&column.sources) else {
            return self.gather(column, &self.newest);
        };
        let merged = self.merged_rows(column.set)?;
        let valid = |version: u32| {
            let pair = merged.get(version as usize);
            pair.filter(|pair| nulls.is_valid(**pair))
        };
        let (mut keys, mut older) = (Vec::new(), Vec::new());
        for group in self.groups.merged_keys() {
            if valid(group.last()).is_some() {
                continue;
            }
            if let Some(pair) = group.rows().rev().find_map(valid) {
                keys.push(group.key);
                older.push(*pair);
            }
        }
        if keys.is_empty() {
            return self.gather(column, &self.newest);
        }
        if is_number(column) {
            let newest = self.gather(column, &self.newest)?;
            let older = interleaved(&column.sources, &older)?;
            return replaced(newest, &older, &keys).ok_or_else(not_numbers);
        }
        let mut pairs = self.chosen_rows(column, &self.newest)?.pairs().to_vec();
        for (key, pair) in keys.into_iter().zip(older) {
            if let Some(slot) = pairs.get_mut(key) {
                *slot = pair;
            }
        }
        interleaved(&column.sources, &pairs)
    }

    /// Rows that have the values of chosen versions.
    pub(super) fn chosen(&self, column: usize, chosen: &Chosen) -> Result<ArrayRef> {
        self.gather(self.column(column)?, chosen)
    }

    /// What a function makes of a column.
    pub(super) fn apply(
        &self,
        column: usize,
        function: &dyn AggregateFunction,
        steps: &[Step],
    ) -> Result<ArrayRef, Fault> {
        let versions = Versions::new(self.groups.offsets(), steps)?;
        let nulls = self.validity(column)?;
        if let Some(chosen) = function.choose(nulls.as_ref(), &versions) {
            return Ok(self.chosen(column, &Chosen::new(chosen?))?);
        }
        let values = self.merged(column)?;
        match function.merge(&values, &versions)? {
            // A copy of the values costs less than finding their rows once more.
            Merged::Chosen(rows) if values.data_type().is_primitive() => {
                let results = take(&values, &rows, None);
                let results = results.map_err(|error| {
                    Error::internal("cannot take chosen values").with_source(error)
                })?;
                Ok(self.computed(column, results)?)
            }
            Merged::Chosen(rows) => Ok(self.chosen(column, &Chosen::new(rows))?),
            Merged::Computed(results) => Ok(self.computed(column, results)?),
        }
    }

    /// One value, that of a merged version.
    pub(super) fn value(&self, column: usize, version: usize) -> Option<ArrayRef> {
        let row = self.groups.row_of(u32::try_from(version).ok()?)?;
        let column = self.column(column).ok()?;
        let mut rows = Segments::default();
        let all = self.versions.segments(column.set).ok()?;
        all.cursor().copy(row..row + 1, &mut rows);
        rows.gather(&column.sources).ok()
    }

    /// Lone versions, and the results of merged keys.
    fn computed(&self, column: usize, results: ArrayRef) -> Result<ArrayRef> {
        let column = self.column(column)?;
        if is_number(column) {
            // Where the newest versions lie is known to all columns: lone ones are right, and the others are replaced.
            let newest = self.gather(column, &self.newest)?;
            let keys = self
                .keys
                .get_or_init(|| self.groups.merged_keys().map(|group| group.key).collect());
            return replaced(newest, &results, keys).ok_or_else(not_numbers);
        }
        let slot = self.computed.get(column.set as usize);
        let slot = slot.ok_or_else(no_set)?;
        let added = |key: usize| Place::Added(u32::try_from(key).unwrap_or(u32::MAX));
        let rows = found(slot, || self.place(column, added))?;
        rows.gather(&with(&column.sources, results))
    }

    fn gather(&self, column: &SourceColumn, chosen: &Chosen) -> Result<ArrayRef> {
        let nulls = chosen.versions.null_count() > 0;
        // Sequences often rise with time: then the newest versions are chosen, whose rows are known.
        let newest = !nulls && chosen.versions.values() == self.newest.versions.values();
        let chosen = if newest { &self.newest } else { chosen };
        let rows = self.chosen_rows(column, chosen)?;
        if !nulls {
            return rows.gather(&column.sources);
        }
        let data_type = column.sources.first().map(|source| source.data_type());
        let null = new_null_array(data_type.ok_or_else(no_set)?, 1);
        rows.gather(&with(&column.sources, null))
    }

    fn chosen_rows<'b>(&self, column: &SourceColumn, chosen: &'b Chosen) -> Result<&'b Segments> {
        let slot = chosen.rows.get(column.set as usize).ok_or_else(no_set)?;
        let versions = chosen.versions.values();
        let nulls = chosen.versions.nulls();
        let place = |key: usize| match versions.get(key) {
            Some(version) if nulls.is_none_or(|nulls| nulls.is_valid(key)) => {
                Place::Version(*version)
            }
            _ => Place::Added(0),
        };
        found(slot, || self.place(column, place))
    }

    /// Lone versions as they are, and what `of` says of each merged key.
    fn place(&self, column: &SourceColumn, of: impl Fn(usize) -> Place) -> Result<Segments> {
        let added = u32::try_from(column.sources.len());
        let added = added.map_err(|_| Error::internal("2^32 sources in a batch"))?;
        let mut cursor = self.versions.segments(column.set)?.cursor();
        let mut rows = Segments::default();
        let mut next = 0;
        for group in self.groups.merged_keys() {
            cursor.copy(next..group.row, &mut rows);
            match of(group.number) {
                Place::Version(version) => {
                    let row = group.row + (version - group.first);
                    cursor.copy(row..row + 1, &mut rows);
                }
                Place::Added(row) => rows.push(added, row, 1),
            }
            next = group.row + group.length;
        }
        cursor.copy(next..self.versions.rows(), &mut rows);
        Ok(rows)
    }

    fn merged_rows(&self, set: Set) -> Result<&[(usize, usize)]> {
        let slot = self.merged.get(set as usize).ok_or_else(no_set)?;
        let rows = found(slot, || {
            let mut cursor = self.versions.segments(set)?.cursor();
            let mut rows = Vec::with_capacity(self.groups.merged_rows() as usize);
            for group in self.groups.merged_keys() {
                let versions = group.row..group.row + group.length;
                cursor.each(versions, |source, start, length| {
                    let (source, start) = (source as usize, start as usize);
                    rows.extend((start..start + length as usize).map(|row| (source, row)));
                });
            }
            Ok(rows)
        })?;
        Ok(rows)
    }

    fn column(&self, column: usize) -> Result<&'a SourceColumn> {
        self.versions.column(self.before + column)
    }
}

/// What stands in a slot, found first if need be.
fn found<T>(slot: &OnceLock<T>, find: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(rows) = slot.get() {
        return Ok(rows);
    }
    let rows = find()?;
    Ok(slot.get_or_init(|| rows))
}

fn with(sources: &[ArrayRef], added: ArrayRef) -> Vec<ArrayRef> {
    let mut sources = sources.to_vec();
    sources.push(added);
    sources
}

/// Whether values can be replaced in a column.
fn is_number(column: &SourceColumn) -> bool {
    let source = column.sources.first();
    source.is_some_and(|source| source.data_type().is_primitive())
}

fn not_numbers() -> Error {
    Error::internal("results of another type than their column")
}

fn no_set() -> Error {
    Error::internal("columns of no set")
}
