//! What rows a table has, by the plainest means: a map from key to versions for each partition and bucket.
//!
//! Nothing here is shared with a reader. The [writer](crate::WrittenTable) feeds it in commit order, and uses its merge
//! for flushes and compactions; the reference, which runs the same histories, keeps both honest.
//!
//! ```text
//! flush ──▶ versions of level 0 ──compaction──▶ one version per key on a level
//!                        └────── rows: all versions of a key, merged ──────┘
//! ```

#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "the engines that use them come with the next change"
    )
)]
mod functions;
mod merge;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use paimon_meta::{BinaryRow, Datum, FieldId, Result, TableSchema};

use crate::cell::Cell;
use crate::json::JsonRow;

pub(crate) use merge::{MergeRules, Record};

/// A partition and bucket.
pub(crate) type Place = (BinaryRow, i32);

/// The rows of a table at one snapshot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Oracle {
    buckets: BTreeMap<Place, Bucket>,
}

/// The versions of each key, oldest first, with their level; rows without a key are on level 0 of the empty key.
type Bucket = BTreeMap<Key, Vec<(i32, Record)>>;

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
    /// Versions up to this level were merged.
    pub(crate) up_to: i32,
    /// They are on this level now.
    pub(crate) output: i32,
    /// Keys whose merged version retracts are gone.
    pub(crate) drop_deletes: bool,
    /// With deletion vectors: what was higher of their keys was merged too.
    pub(crate) lookup: bool,
}

impl Oracle {
    /// Rows that were flushed together: for a key, one version comes out of them.
    pub(crate) fn write(&mut self, place: &Place, records: &[Record], rules: &MergeRules) {
        let bucket = self.buckets.entry(place.clone()).or_default();
        let mut batch: BTreeMap<Key, Vec<Record>> = BTreeMap::new();
        for record in records {
            let key = Key::of(record, &rules.key);
            batch.entry(key).or_default().push(record.clone());
        }
        for (key, versions) in batch {
            let merged = if rules.key.is_empty() {
                versions
            } else {
                rules.merge(versions).into_iter().collect()
            };
            let versions = merged.into_iter().map(|record| (0, record));
            bucket.entry(key).or_default().extend(versions);
        }
    }

    /// Versions that a compaction merged become one.
    pub(crate) fn compact(&mut self, place: &Place, done: Compacted, rules: &MergeRules) {
        let Some(bucket) = self
            .buckets
            .get_mut(place)
            .filter(|_| !rules.key.is_empty())
        else {
            return;
        };
        for versions in bucket.values_mut() {
            let touched = versions.iter().any(|(level, _)| *level <= done.up_to);
            let (merged, kept): (Vec<_>, Vec<_>) = std::mem::take(versions)
                .into_iter()
                .partition(|(level, _)| touched && (done.lookup || *level <= done.up_to));
            *versions = kept;
            let merged = rules.merge(merged.into_iter().map(|(_, record)| record).collect());
            let merged = merged.filter(|record| record.kind.is_add() || !done.drop_deletes);
            versions.extend(merged.map(|record| (done.output, record)));
        }
        bucket.retain(|_, versions| !versions.is_empty());
    }

    /// The rows of another are here too; both have none of the same key.
    pub(crate) fn absorb(&mut self, other: Self) {
        for (place, bucket) in other.buckets {
            self.buckets.entry(place).or_default().extend(bucket);
        }
    }

    /// All rows of a partition are gone.
    pub(crate) fn clear(&mut self, partition: &BinaryRow) {
        self.buckets.retain(|(other, _), _| other != partition);
    }

    /// The rows that a read sees; `from_level` is 1 where level 0 is hidden.
    ///
    /// # Errors
    /// `Internal` if a value has no JSON form.
    pub(crate) fn rows(
        &self,
        schema: &TableSchema,
        rules: &MergeRules,
        from_level: i32,
    ) -> Result<Vec<JsonRow>> {
        let mut rows = Vec::new();
        for versions in self.buckets.values().flat_map(BTreeMap::values) {
            let seen = versions.iter().filter(|(level, _)| *level >= from_level);
            let seen = seen.map(|(_, record)| record.clone()).collect();
            let winners = if rules.key.is_empty() {
                seen
            } else {
                rules.merge(seen).into_iter().collect()
            };
            for record in winners.iter().filter(|record| record.kind.is_add()) {
                let cells = schema.fields.iter();
                let cells = cells.map(|field| record.cell(field.id).to_json(&field.data_type));
                rows.push(cells.collect::<Result<_>>()?);
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
}
