//! What rows a table has, by the plainest means: a map from key to versions for each partition and bucket.
//!
//! Nothing here is shared with a reader. The [writer](crate::WrittenTable) feeds it in commit order, and uses its merge
//! for flushes and compactions; the reference, which runs the same histories, keeps both honest.
//!
//! ```text
//! flush ──▶ versions of level 0 ──compaction──▶ one version per key on a level
//!                        └────── rows: all versions of a key, merged ──────┘
//! ```

mod aggregation;
mod first_row;
mod functions;
mod merge;
mod partial_update;
mod sequence_group;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use paimon_meta::{BinaryRow, DataField, Datum, FieldId, Result, TableSchema};

use crate::cell::Cell;
use crate::json::JsonRow;

pub(crate) use merge::{MergeRules, Record, Version};

/// A partition and bucket.
pub(crate) type Place = (BinaryRow, i32);

/// The rows of a table at one snapshot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Oracle {
    buckets: BTreeMap<Place, Bucket>,
}

/// The versions of each key, oldest first, with their level; rows without a key are on level 0 of the empty key.
type Bucket = BTreeMap<Key, Vec<Version>>;

/// Values of a key, in the order of keys: field by field, nulls first.
#[derive(Clone, Debug)]
pub(crate) struct Key(pub(crate) Vec<Option<Datum>>);

impl Key {
    pub(crate) fn of(record: &Record, fields: &[FieldId]) -> Self {
        let value = |field: &FieldId| record.cell(*field).datum().cloned();
        Self(fields.iter().map(value).collect())
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        pairs
            .map(|(a, b)| order(a.as_ref(), b.as_ref()))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

/// Values in order, null before all others (TF-063).
pub(crate) fn order(a: Option<&Datum>, b: Option<&Datum>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.compare(b).unwrap_or(Ordering::Equal),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

/// What a compaction did to the levels of a bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compacted {
    /// Versions up to this level were compacted.
    pub(crate) up_to: i32,
    /// They are on this level now.
    pub(crate) output: i32,
    pub(crate) rewriting: Rewriting,
    /// Versions of higher levels, of keys that were on level 0, are deleted (deletion vectors).
    pub(crate) deletes_higher: bool,
}

/// What a compaction does to versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rewriting {
    /// Nothing: the file is on another level, with its deletes.
    None,
    /// Merges them; with `drop_deletes`, keys are gone whose merged version retracts.
    Merged { drop_deletes: bool },
    /// Merges also lone ones, and with those of level 0 what is on a higher level.
    LookedUp { drop_deletes: bool },
}

impl Rewriting {
    /// What a compaction makes of the versions of a key. `higher` is its version on the next higher level.
    ///
    /// # Errors
    /// Those of the merge engine.
    pub(crate) fn merge(
        self,
        inputs: Vec<Version>,
        higher: Option<&Version>,
        rules: &MergeRules,
    ) -> Result<Option<Record>> {
        match self {
            Self::None => Ok(inputs.into_iter().next().map(|(_, record)| record)),
            Self::Merged { .. } => rules.merge(inputs),
            Self::LookedUp { .. } => {
                let higher = higher.filter(|_| is_new(&inputs)).cloned();
                rules.merge_looking_up(inputs, higher)
            }
        }
    }

    /// Whether it writes what it made.
    pub(crate) fn keeps(self, merged: &Record) -> bool {
        match self {
            Self::None => true,
            Self::Merged { drop_deletes } | Self::LookedUp { drop_deletes } => {
                merged.kind.is_add() || !drop_deletes
            }
        }
    }
}

/// Whether all versions are of level 0, so that a higher one is looked up.
pub(crate) fn is_new(versions: &[Version]) -> bool {
    versions.iter().all(|(level, _)| *level == 0)
}

impl Oracle {
    /// Rows that were flushed together for a snapshot: for a key, one version comes out of them.
    ///
    /// # Errors
    /// Those of the merge engine.
    pub(crate) fn write(
        &mut self,
        place: &Place,
        (records, snapshot): (&[Record], i64),
        rules: &MergeRules,
    ) -> Result<()> {
        let bucket = self.buckets.entry(place.clone()).or_default();
        let mut batch: BTreeMap<Key, Vec<Version>> = BTreeMap::new();
        for record in records {
            let key = Key::of(record, &rules.key);
            batch.entry(key).or_default().push((0, record.clone()));
        }
        for (key, versions) in batch {
            let merged: Vec<Version> = if rules.key.is_empty() {
                versions
            } else {
                let merged = rules.merge(versions)?.into_iter();
                merged
                    .map(|record| (0, rules.numbered(record, snapshot)))
                    .collect()
            };
            bucket.entry(key).or_default().extend(merged);
        }
        Ok(())
    }

    /// Versions that a compaction merged become one.
    ///
    /// # Errors
    /// Those of the merge engine.
    pub(crate) fn compact(
        &mut self,
        place: &Place,
        done: Compacted,
        rules: &MergeRules,
    ) -> Result<()> {
        let Some(bucket) = self
            .buckets
            .get_mut(place)
            .filter(|_| !rules.key.is_empty())
        else {
            return Ok(());
        };
        for versions in bucket.values_mut() {
            let all = std::mem::take(versions).into_iter();
            let (inputs, mut kept): (Vec<_>, Vec<_>) =
                all.partition(|(level, _)| *level <= done.up_to);
            if !inputs.is_empty() {
                let deletes_higher = done.deletes_higher && is_new(&inputs);
                let higher = kept.iter().min_by_key(|(level, _)| *level);
                let merged = done.rewriting.merge(inputs, higher, rules)?;
                let written = merged.filter(|record| done.rewriting.keeps(record));
                if deletes_higher {
                    kept.clear();
                }
                kept.extend(written.map(|record| (done.output, record)));
            }
            *versions = kept;
        }
        bucket.retain(|_, versions| !versions.is_empty());
        Ok(())
    }

    /// The rows of another are here too; both have none of the same key.
    pub(crate) fn absorb(&mut self, other: Self) {
        for (place, bucket) in other.buckets {
            self.buckets.entry(place).or_default().extend(bucket);
        }
    }

    /// Rows of a bucket without keys are gone that satisfy a test.
    ///
    /// # Errors
    /// Those of the test.
    pub(crate) fn delete(
        &mut self,
        place: &Place,
        test: impl Fn(&Record) -> Result<bool>,
    ) -> Result<()> {
        for versions in self
            .buckets
            .get_mut(place)
            .into_iter()
            .flat_map(BTreeMap::values_mut)
        {
            let mut kept = Vec::new();
            for version in std::mem::take(versions) {
                if !test(&version.1)? {
                    kept.push(version);
                }
            }
            *versions = kept;
        }
        Ok(())
    }

    /// All rows of a partition are gone.
    pub(crate) fn clear(&mut self, partition: &BinaryRow) {
        self.buckets.retain(|(other, _), _| other != partition);
    }

    /// The rows that a read sees; `from_level` is 1 where level 0 is hidden.
    ///
    /// # Errors
    /// Those of the merge engine, `Internal` if a value has no JSON form.
    pub(crate) fn rows(
        &self,
        schema: &TableSchema,
        rules: &MergeRules,
        from_level: i32,
    ) -> Result<Vec<JsonRow>> {
        let mut rows = Vec::new();
        for versions in self.buckets.values().flat_map(BTreeMap::values) {
            let seen = versions.iter().filter(|(level, _)| *level >= from_level);
            let seen: Vec<Version> = seen.cloned().collect();
            let winners: Vec<Record> = if rules.key.is_empty() {
                seen.into_iter().map(|(_, record)| record).collect()
            } else {
                rules.merge(seen)?.into_iter().collect()
            };
            for record in winners.iter().filter(|record| record.kind.is_add()) {
                rows.push(record.row(&schema.fields)?);
            }
        }
        Ok(rows)
    }
}

impl Record {
    /// The value of a field; null where the record is older than the field.
    pub(crate) fn cell(&self, field: FieldId) -> &Cell {
        self.cells.get(&field).unwrap_or(&Cell::Null)
    }

    /// The values of columns.
    ///
    /// # Errors
    /// `Internal` if a value has no JSON form.
    pub(crate) fn row(&self, fields: &[DataField]) -> Result<JsonRow> {
        let cells = fields.iter();
        let cells = cells.map(|field| self.cell(field.id).to_json(&field.data_type));
        cells.collect()
    }
}
