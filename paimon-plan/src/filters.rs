//! Dividing a condition by what each part of it can prune (RP-052, RP-053, RP-060).
//!
//! ```text
//! p = 1 AND k = 7 AND v > 3 AND (p = 1 OR k = 9)          p partition, k key, v value column
//! partition  p = 1                                        answered exactly
//! key        k = 7                                        every version of a key passes or none does
//! value      k = 7 AND v > 3 AND (p = 1 OR k = 9)         only where no older version can come back
//! ```

use paimon_meta::{DataField, FieldId, Predicate, Result, TablePredicate, TableSchema};

use crate::conjunct::ConjunctUse;
use crate::pruning::PruneStep;

/// A condition, divided.
#[derive(Clone, Debug)]
pub(crate) struct Filters {
    /// On partition columns; every row of a partition passes or none does.
    pub(crate) partition: Option<TablePredicate>,
    /// On trimmed key columns, for primary-key tables (RP-053).
    pub(crate) key: Option<TablePredicate>,
    /// All conjuncts that use another column than those of the partition.
    pub(crate) value: Option<TablePredicate>,
    /// The whole condition, from which buckets are derived; `None` where buckets say nothing of keys.
    pub(crate) bucket: Option<TablePredicate>,
    /// What each conjunct does.
    pub(crate) uses: Vec<ConjunctUse>,
}

impl Filters {
    /// Divides the condition of a read. `partitions` is a choice of partitions, which takes the place of what the
    /// condition says of partitions (RP-034). `buckets_by_key` says whether a row's bucket follows from its key.
    ///
    /// # Errors
    /// `InvalidInput` if the condition does not fit the schema.
    pub(crate) fn divide(
        schema: &TableSchema,
        predicate: Option<&TablePredicate>,
        partitions: Option<TablePredicate>,
        buckets_by_key: bool,
    ) -> Result<Self> {
        let ids = |fields: Vec<&DataField>| fields.iter().map(|field| field.id).collect::<Vec<_>>();
        let partition_ids = ids(schema.partition_fields()?);
        let key_ids = if schema.has_primary_key() {
            ids(schema.key_fields()?)
        } else {
            Vec::new()
        };
        let bucket_keys = if buckets_by_key {
            ids(schema.bucket_fields()?)
        } else {
            Vec::new()
        };
        let everything = Predicate::Constant(Some(true));
        let predicate = predicate.unwrap_or(&everything);
        predicate.check(&schema.fields)?;

        let (projected, data) = predicate.split_partition(&partition_ids);
        let key: Vec<_> = data
            .iter()
            .filter_map(|conjunct| conjunct.project(&mut |c| key_ids.contains(c)))
            .collect();
        let columns = predicate.columns();
        let by_bucket =
            !bucket_keys.is_empty() && bucket_keys.iter().all(|key| columns.contains(&key));
        let divided = Divided {
            partition_ids: &partition_ids,
            key_ids: &key_ids,
            bucket_keys: if by_bucket { &bucket_keys } else { &[] },
            chosen: partitions.is_some(),
        };
        let uses = predicate
            .conjuncts()
            .into_iter()
            .map(|conjunct| divided.use_of(conjunct))
            .collect();
        Ok(Self {
            partition: partitions.or(projected),
            key: (!key.is_empty()).then(|| Predicate::and(key)),
            value: (!data.is_empty()).then(|| Predicate::and(data)),
            bucket: by_bucket.then(|| predicate.clone()),
            uses,
        })
    }
}

struct Divided<'a> {
    partition_ids: &'a [FieldId],
    key_ids: &'a [FieldId],
    bucket_keys: &'a [FieldId],
    /// Whether the partitions were chosen apart from the condition.
    chosen: bool,
}

impl Divided<'_> {
    fn use_of(&self, conjunct: &TablePredicate) -> ConjunctUse {
        let columns = conjunct.columns();
        let only_partition = conjunct.uses_only(&mut |column| self.partition_ids.contains(column));
        let says = |ids: &[FieldId]| {
            !columns.is_empty()
                && conjunct
                    .project(&mut |column| ids.contains(column))
                    .is_some()
        };
        let prunes = [
            (
                PruneStep::Partition,
                !self.chosen && says(self.partition_ids),
            ),
            (PruneStep::Bucket, says(self.bucket_keys)),
            (PruneStep::Key, !only_partition && says(self.key_ids)),
            (PruneStep::Value, !only_partition),
        ];
        ConjunctUse {
            predicate: conjunct.clone(),
            exact: only_partition && !self.chosen,
            prunes: prunes
                .into_iter()
                .filter_map(|(step, used)| used.then_some(step))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests;
