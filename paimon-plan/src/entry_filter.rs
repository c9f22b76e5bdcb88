//! Which entries of the manifests a plan looks at: by partition and bucket, the same for whole manifests (RP-031, RP-051,
//! RP-060).

use std::collections::HashMap;

use paimon_meta::{
    BinaryRowRef, BucketFunction, BucketHash, ColumnBounds, DataType, Datum, ErrorKind, FieldId,
    Frame, Result, ResultExt, SimpleStats, TablePredicate, TableSchema, may_match,
};

/// The tests, made ready. Immutable, so that manifests are filtered in parallel.
#[derive(Clone, Debug)]
pub(crate) struct EntryFilter {
    /// Partition columns, in partition order.
    partition_fields: Vec<(FieldId, DataType)>,
    partition: Option<TablePredicate>,
    /// The only bucket to read.
    bucket: Option<i32>,
    /// Whether buckets below 0, which hold rows that wait for a compaction, are left out (RP-170).
    only_real_buckets: bool,
    by_key: Option<BucketKeys>,
}

/// Finding buckets by the keys that a condition leaves possible.
#[derive(Clone, Debug)]
pub(crate) struct BucketKeys {
    pub(crate) predicate: TablePredicate,
    pub(crate) keys: Vec<(FieldId, DataType)>,
    pub(crate) function: BucketFunction,
}

/// Bounds that a manifest list gives of a manifest's entries.
pub(crate) struct EntryBounds<'a> {
    pub(crate) partition: &'a SimpleStats,
    pub(crate) entries: u64,
    pub(crate) buckets: (Option<i32>, Option<i32>),
}

impl EntryFilter {
    pub(crate) fn new(schema: &TableSchema, partition: Option<TablePredicate>) -> Result<Self> {
        let fields = schema.partition_fields()?;
        Ok(Self {
            partition_fields: fields
                .into_iter()
                .map(|field| (field.id, field.data_type.clone()))
                .collect(),
            partition,
            bucket: None,
            only_real_buckets: false,
            by_key: None,
        })
    }

    #[must_use]
    pub(crate) fn with_buckets(
        mut self,
        bucket: Option<i32>,
        only_real_buckets: bool,
        by_key: Option<BucketKeys>,
    ) -> Self {
        (self.bucket, self.only_real_buckets, self.by_key) = (bucket, only_real_buckets, by_key);
        self
    }

    /// Whether partitions are tested.
    pub(crate) fn tests_partitions(&self) -> bool {
        self.partition.is_some()
    }

    /// Whether buckets are tested.
    pub(crate) fn tests_buckets(&self) -> bool {
        self.bucket.is_some() || self.only_real_buckets || self.by_key.is_some()
    }

    /// Whether a manifest may have entries that pass. A bound that is missing cannot skip it (RP-031, RP-526).
    ///
    /// # Errors
    /// `Corrupt` if the partition statistics do not hold the partition columns.
    pub(crate) fn may_pass(&self, bounds: &EntryBounds<'_>) -> Result<bool> {
        let (min_bucket, max_bucket) = bounds.buckets;
        let below = |bucket: i32| max_bucket.is_some_and(|max| max < bucket);
        let above = |bucket: i32| min_bucket.is_some_and(|min| bucket < min);
        if self.only_real_buckets && below(0) {
            return Ok(false);
        }
        if self
            .bucket
            .is_some_and(|bucket| below(bucket) || above(bucket))
        {
            return Ok(false);
        }
        self.partition_may_pass(bounds)
    }

    fn partition_may_pass(&self, bounds: &EntryBounds<'_>) -> Result<bool> {
        let Some(predicate) = &self.partition else {
            return Ok(true);
        };
        let types: Vec<&DataType> = self
            .partition_fields
            .iter()
            .map(|(_, data_type)| data_type)
            .collect();
        let min = bounds.partition.min_values.as_ref().datums(&types)?;
        let max = bounds.partition.max_values.as_ref().datums(&types)?;
        let null_count = |index: usize| {
            let counts = bounds.partition.null_counts.as_ref()?;
            u64::try_from((*counts.get(index)?)?).ok()
        };
        Ok(may_match(predicate, &mut |column| {
            let index = self
                .partition_fields
                .iter()
                .position(|(id, _)| id == column);
            index.map_or_else(
                || ColumnBounds::unknown(bounds.entries),
                |index| ColumnBounds {
                    min: min.get(index).cloned().flatten(),
                    max: max.get(index).cloned().flatten(),
                    null_count: null_count(index),
                    row_count: bounds.entries,
                },
            )
        }))
    }

    /// The tests of the entries of one manifest.
    pub(crate) fn entries(&self) -> EntryTests<'_> {
        EntryTests {
            filter: self,
            partitions: HashMap::new(),
            known: Vec::new(),
            last: None,
        }
    }
}

/// The tests of single entries, with what was found out of their partitions.
pub(crate) struct EntryTests<'a> {
    filter: &'a EntryFilter,
    partitions: HashMap<Vec<u8>, usize>,
    known: Vec<Partition>,
    /// Entries of a partition mostly stand together.
    last: Option<(Vec<u8>, usize)>,
}

/// What is known of a partition.
struct Partition {
    passes: bool,
    /// Keys that the condition leaves possible; `None` if it says nothing of buckets.
    keys: Option<Vec<BucketHash>>,
    /// Buckets of the keys by the number of buckets, ascending.
    buckets: HashMap<i32, Vec<i32>>,
}

/// What the tests say of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryVerdict {
    /// It passes.
    Pass,
    /// Its partition does not.
    Partition,
    /// Its bucket does not.
    Bucket,
}

impl EntryTests<'_> {
    /// Tests an addition.
    ///
    /// # Errors
    /// `Corrupt` if the partition's row does not hold the partition columns.
    pub(crate) fn test_added(
        &mut self,
        partition: &[u8],
        bucket: i32,
        total_buckets: i32,
    ) -> Result<EntryVerdict> {
        let verdict = self.test_deleted(partition, bucket)?;
        if verdict != EntryVerdict::Pass || self.filter.by_key.is_none() {
            return Ok(verdict);
        }
        let index = self.partition(partition)?;
        let holds = self
            .known
            .get_mut(index)
            .is_none_or(|partition| partition.may_hold(bucket, total_buckets));
        Ok(if holds {
            EntryVerdict::Pass
        } else {
            EntryVerdict::Bucket
        })
    }

    /// Tests a deletion: by what its addition has in common with it for certain. Buckets by keys depend on the number of
    /// buckets, which is not part of the identity (RP-044, RP-706).
    ///
    /// # Errors
    /// As [`Self::test_added`].
    pub(crate) fn test_deleted(&mut self, partition: &[u8], bucket: i32) -> Result<EntryVerdict> {
        if self.filter.partition.is_some() {
            let index = self.partition(partition)?;
            if self
                .known
                .get(index)
                .is_some_and(|partition| !partition.passes)
            {
                return Ok(EntryVerdict::Partition);
            }
        }
        let passes = !(self.filter.only_real_buckets && bucket < 0)
            && self.filter.bucket.is_none_or(|only| only == bucket);
        Ok(if passes {
            EntryVerdict::Pass
        } else {
            EntryVerdict::Bucket
        })
    }

    /// Index of a partition in `known`.
    fn partition(&mut self, serialized: &[u8]) -> Result<usize> {
        if let Some((last, index)) = &self.last
            && last == serialized
        {
            return Ok(*index);
        }
        let index = match self.partitions.get(serialized) {
            Some(index) => *index,
            None => {
                self.known.push(Partition::new(self.filter, serialized)?);
                self.partitions
                    .insert(serialized.to_vec(), self.known.len() - 1);
                self.known.len() - 1
            }
        };
        self.last = Some((serialized.to_vec(), index));
        Ok(index)
    }
}

impl Partition {
    fn new(filter: &EntryFilter, serialized: &[u8]) -> Result<Self> {
        let types: Vec<&DataType> = filter
            .partition_fields
            .iter()
            .map(|(_, data_type)| data_type)
            .collect();
        let values = BinaryRowRef::from_serialized(serialized)
            .and_then(|row| row.datums(&types))
            .at(|| Frame::Field("_PARTITION".to_owned()))?;
        let value = |column: FieldId| -> Option<Option<Datum>> {
            let index = filter
                .partition_fields
                .iter()
                .position(|(id, _)| *id == column)?;
            values.get(index).cloned()
        };
        let passes = filter.partition.as_ref().is_none_or(|predicate| {
            predicate.evaluate_row(&mut |column| value(*column).flatten()) == Some(true)
        });
        let keys = match &filter.by_key {
            Some(by_key) if passes => by_key.hashes(&mut |column| value(column))?,
            _ => None,
        };
        Ok(Self {
            passes,
            keys,
            buckets: HashMap::new(),
        })
    }

    /// Whether a bucket may hold one of the keys. The number of buckets is that of the entry (RP-557); without one
    /// (postponed rows) any bucket may.
    fn may_hold(&mut self, bucket: i32, total_buckets: i32) -> bool {
        let Some(keys) = &self.keys else { return true };
        if total_buckets <= 0 {
            return true;
        }
        let buckets = self.buckets.entry(total_buckets).or_insert_with(|| {
            let mut buckets: Vec<i32> = keys
                .iter()
                .filter_map(|key| key.bucket(total_buckets))
                .collect();
            buckets.sort_unstable();
            buckets
        });
        buckets.binary_search(&bucket).is_ok()
    }
}

impl BucketKeys {
    fn hashes(
        &self,
        partition: &mut dyn FnMut(FieldId) -> Option<Option<Datum>>,
    ) -> Result<Option<Vec<BucketHash>>> {
        let ids: Vec<FieldId> = self.keys.iter().map(|(id, _)| *id).collect();
        let types: Vec<&DataType> = self.keys.iter().map(|(_, data_type)| data_type).collect();
        let Some(tuples) = self.predicate.bucket_keys(&ids, partition) else {
            return Ok(None);
        };
        let hash = |tuple: Vec<Datum>| {
            let values: Vec<Option<Datum>> = tuple.into_iter().map(Some).collect();
            self.function.hash(&types, &values)
        };
        match tuples.into_iter().map(hash).collect::<Result<Vec<_>>>() {
            // A key that the bucket function does not take only prunes nothing.
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
            hashes => hashes.map(Some),
        }
    }
}

#[cfg(test)]
mod tests;
