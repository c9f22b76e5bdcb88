//! Entries of manifests as lines.

use paimon_meta::{
    BinaryRowRef, DataField, Datum, EntryKind, Error, Frame, IndexManifestEntry, ManifestBatch,
    Options, ResolvedTable, Result, ResultExt, SimpleStats, bucket_directory,
    parse_partition_value,
};

use crate::args::Selection;
use crate::human::{count, size};
use crate::keys::{KeyTypes, key_text, range_text};

/// How entries are shown, and which.
pub(super) struct Entries<'a> {
    keys: Option<KeyTypes<'a>>,
    partition: Vec<&'a DataField>,
    /// Values that some partition columns must have, by their place.
    chosen: Vec<(usize, Option<Datum>)>,
    bucket: Option<i32>,
    /// Entries of one manifest at most.
    limit: u64,
}

impl<'a> Entries<'a> {
    /// # Errors
    /// `InvalidInput` for a choice of partitions that does not fit the table.
    pub(super) fn new(table: &'a ResolvedTable, selection: &Selection) -> Result<Self> {
        let partition = table.schema.partition_fields()?;
        let default_name: String = table.options.value(&Options::PARTITION_DEFAULT_NAME)?;
        let chosen = selection.partitions.iter().map(|(name, text)| {
            let place = partition.iter().position(|field| field.name == *name);
            let (place, field) = place
                .and_then(|place| Some((place, partition.get(place)?)))
                .ok_or_else(|| {
                    Error::invalid_input(format!("no partition column {name:?}"))
                        .at(Frame::Column(name.clone()))
                })?;
            Ok((place, parse_partition_value(text, field, &default_name)?))
        });
        Ok(Self {
            keys: KeyTypes::of(table)?,
            chosen: chosen.collect::<Result<_>>()?,
            partition,
            bucket: selection.bucket,
            limit: selection.limit.unwrap_or(u64::MAX),
        })
    }

    /// Adds the lines of a batch, as far as there is room; the others are counted.
    pub(super) fn lines(
        &self,
        batch: &ManifestBatch,
        lines: &mut Vec<String>,
        left_out: &mut u64,
    ) -> Result<()> {
        for row in 0..batch.len() {
            let frame = || Frame::Entry(batch.first_entry() + row as u64);
            let values = self.values(batch.partition(row)).at(frame)?;
            if !self.wants(&values, batch.bucket(row)) {
                continue;
            }
            if lines.len() as u64 >= self.limit {
                *left_out += 1;
            } else {
                lines.push(self.line(batch, row, &values).at(frame)?);
            }
        }
        Ok(())
    }

    fn values(&self, partition: &[u8]) -> Result<Vec<Option<Datum>>> {
        let types: Vec<_> = self
            .partition
            .iter()
            .map(|field| &field.data_type)
            .collect();
        BinaryRowRef::from_serialized(partition)
            .and_then(|row| row.datums(&types))
            .at(|| Frame::Field("_PARTITION".to_owned()))
    }

    fn wants(&self, values: &[Option<Datum>], bucket: i32) -> bool {
        self.bucket.is_none_or(|wanted| wanted == bucket)
            && self
                .chosen
                .iter()
                .all(|(place, wanted)| values.get(*place) == Some(wanted))
    }

    fn line(&self, batch: &ManifestBatch, row: usize, values: &[Option<Datum>]) -> Result<String> {
        let sign = match batch.kind(row) {
            EntryKind::Add => '+',
            EntryKind::Delete => '-',
        };
        let mut facts = vec![
            format!(
                "{sign} {}{}",
                self.partition_text(values),
                bucket_directory(batch.bucket(row))
            ),
            format!("level {}", batch.level(row)),
            batch.file_name(row).to_owned(),
            count(batch.row_count(row), "row"),
            size(batch.file_size(row)),
        ];
        facts.push(match batch.delete_row_count(row) {
            Some(deletes) => count(deletes, "delete"),
            None => "deletes unknown".to_owned(),
        });
        if let Some(keys) = &self.keys {
            let key = |serialized| keys.text(BinaryRowRef::from_serialized(serialized)?);
            let range = range_text(&key(batch.min_key(row))?, &key(batch.max_key(row))?);
            facts.push(format!("keys {range}"));
        }
        let (min, max) = (
            batch.min_sequence_number(row),
            batch.max_sequence_number(row),
        );
        facts.push(format!(
            "sequence {}",
            range_text(&min.to_string(), &max.to_string())
        ));
        facts.push(format!("schema {}", batch.schema_id(row)));
        Ok(facts.join(", "))
    }

    /// `name=value/` for each column.
    fn partition_text(&self, values: &[Option<Datum>]) -> String {
        let named = self.partition.iter().zip(values);
        named
            .map(|(field, value)| {
                format!("{}={}/", field.name, key_text(std::slice::from_ref(value)))
            })
            .collect()
    }

    /// The partitions that a manifest may hold.
    pub(super) fn partitions(&self, stats: &SimpleStats) -> Option<String> {
        if self.partition.is_empty() {
            return None;
        }
        let text = |row: &paimon_meta::BinaryRow| {
            self.values(row.as_serialized())
                .map(|values| key_text(&values))
        };
        // Bounds only prune: what they do not say is not told.
        let (min, max) = text(&stats.min_values)
            .ok()
            .zip(text(&stats.max_values).ok())?;
        Some(format!("partitions {}", range_text(&min, &max)))
    }

    /// An index file.
    pub(super) fn index_line(&self, file: &IndexManifestEntry) -> Result<String> {
        let values = self.values(file.partition.as_serialized())?;
        let of = match (file.index_type.as_str(), &file.deletion_vectors) {
            (_, Some(vectors)) => count(vectors.len() as u64, "vector"),
            _ => count(file.row_count, "entry"),
        };
        Ok(format!(
            "{}{}, {} {}, {}, {of}",
            self.partition_text(&values),
            bucket_directory(file.bucket),
            file.index_type,
            file.file_name,
            size(file.file_size)
        ))
    }
}
