//! Rows of a history to records of partitions and buckets.

use std::collections::BTreeMap;

use paimon_meta::{
    BucketFunction, DataField, DataType, Datum, Error, Options, Result, TableSchema, encode_row,
};
use serde_json::Value;

use crate::cell::Cell;
use crate::history::HistoryRow;
use crate::oracle::{MergeRules, Place, Record};

/// Where rows go, and which sequence number is next there.
pub(super) struct Batcher<'a> {
    pub(super) schema: &'a TableSchema,
    pub(super) options: &'a Options,
    pub(super) rules: &'a MergeRules,
    /// Bucket of rows that do not name their own.
    pub(super) bucket: Option<i32>,
    /// Buckets of the table; not positive where they are not fixed.
    pub(super) total_buckets: i32,
    pub(super) next_sequence: BTreeMap<Place, i64>,
}

impl Batcher<'_> {
    /// The records of one batch, in the order of its rows. `first` gives the first sequence number of a bucket.
    pub(super) fn records(
        &mut self,
        rows: &[HistoryRow],
        first: &dyn Fn(&Place) -> i64,
    ) -> Result<BTreeMap<Place, Vec<Record>>> {
        let mut batch: BTreeMap<Place, Vec<Record>> = BTreeMap::new();
        for row in rows {
            let (place, mut record) = self.record(row)?;
            if !self.rules.takes(record.kind) {
                continue;
            }
            let next = self
                .next_sequence
                .entry(place.clone())
                .or_insert_with(|| first(&place));
            record.sequence = *next;
            *next += 1;
            batch.entry(place).or_default().push(record);
        }
        Ok(batch)
    }

    fn record(&self, row: &HistoryRow) -> Result<(Place, Record)> {
        let fields = &self.schema.fields;
        let wrong = || {
            Error::invalid_input(format!(
                "row has {} values, expected {} and perhaps a bucket",
                row.values.len(),
                fields.len()
            ))
        };
        let Some((values, rest)) = row.values.split_at_checked(fields.len()) else {
            return Err(wrong());
        };
        let bucket = match rest {
            [] => self.bucket,
            [bucket] => {
                let bucket = bucket
                    .as_i64()
                    .and_then(|bucket| i32::try_from(bucket).ok());
                Some(bucket.ok_or_else(wrong)?)
            }
            _ => return Err(wrong()),
        };
        let cells = fields.iter().zip(values).map(|(field, value)| {
            // Writers, and nobody else, put defaults in (TF-032).
            let default = field.default_value.as_deref().map(Value::from);
            let value = default
                .as_ref()
                .filter(|_| value.is_null())
                .unwrap_or(value);
            Ok((field.id, Cell::from_json(value, &field.data_type)?))
        });
        let mut record = Record {
            kind: row.kind,
            sequence: 0,
            cells: cells.collect::<Result<_>>()?,
        };
        record.kind = self.rules.kind(&record)?;
        let partition = row_of(&self.schema.partition_fields()?, &record);
        let partition = encode_row(&partition.0, &partition.1)?;
        let bucket = bucket.map_or_else(|| self.bucket_of(&record), Ok)?;
        Ok(((partition, bucket), record))
    }

    fn bucket_of(&self, record: &Record) -> Result<i32> {
        if self.total_buckets <= 0 {
            return Ok(0);
        }
        let (types, values) = row_of(&self.schema.bucket_fields()?, record);
        let function: BucketFunction = self.options.value(&Options::BUCKET_FUNCTION_TYPE)?;
        let bucket = function.hash(&types, &values)?.bucket(self.total_buckets);
        bucket.ok_or_else(|| Error::internal("no bucket for a row"))
    }
}

/// Types and values of some fields of a record.
fn row_of<'a>(
    fields: &[&'a DataField],
    record: &Record,
) -> (Vec<&'a DataType>, Vec<Option<Datum>>) {
    let pairs = fields.iter();
    pairs
        .map(|field| (&field.data_type, record.cell(field.id).datum().cloned()))
        .unzip()
}
