//! Counts by the values of columns: of partition columns they are known without reading a row.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use paimon_meta::{BinaryRow, DataField, DataType, Error, FieldId, Result, TableSchema};
use paimon_testkit::{JsonRows, datum_to_json};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Counted;
use crate::names::column_text;

/// The columns of groups.
#[derive(Debug)]
pub(super) struct By {
    fields: Vec<DataField>,
    types: Vec<DataType>,
    /// Types of the partition columns, with the place of each field among them; `None` if a field is none of them.
    partition: Option<(Vec<DataType>, Vec<usize>)>,
}

impl By {
    /// Groups by columns of a table.
    ///
    /// # Errors
    /// `InvalidInput` for a column that the table does not have.
    pub(super) fn columns(schema: &TableSchema, names: &[String]) -> Result<Self> {
        let fields = names.iter().map(|name| schema.field(name).cloned());
        let fields: Vec<DataField> = fields.collect::<Result<_>>()?;
        let keys = schema.partition_fields()?;
        let place = |field: &DataField| keys.iter().position(|key| key.id == field.id);
        let places: Option<Vec<usize>> = fields.iter().map(place).collect();
        let types = keys.iter().map(|key| key.data_type.clone()).collect();
        Ok(Self {
            types: fields.iter().map(|field| field.data_type.clone()).collect(),
            partition: places.map(|places| (types, places)),
            fields,
        })
    }

    /// Whether the columns must be read.
    pub(super) fn reads(&self) -> bool {
        self.partition.is_none()
    }

    /// Columns to read.
    pub(super) fn read(&self) -> Vec<FieldId> {
        let fields = self.fields.iter().filter(|_| self.reads());
        fields.map(|field| field.id).collect()
    }

    /// How the groups are found.
    pub(super) fn words(&self) -> String {
        let names: Vec<String> = self
            .fields
            .iter()
            .map(|field| column_text(&field.name))
            .collect();
        let how = match (self.reads(), names.len()) {
            (false, _) => "a group is a partition or several, known without reading",
            (true, 1) => "no partition column, so it was read",
            (true, _) => "not partition columns alone, so they were read",
        };
        format!("by {}: {how}", names.join(", "))
    }

    /// The group of all rows of a partition.
    ///
    /// # Errors
    /// `Corrupt` for a partition that does not decode.
    pub(super) fn of_partition(&self, partition: Option<&BinaryRow>) -> Result<String> {
        let (Some((types, places)), Some(partition)) = (&self.partition, partition) else {
            return Err(Error::internal("a group of a split without a partition"));
        };
        let types: Vec<&DataType> = types.iter().collect();
        let values = partition.as_ref().datums(&types)?;
        let texts = places.iter().map(|place| {
            let (value, data_type) = (values.get(*place), types.get(*place));
            let (Some(value), Some(data_type)) = (value, data_type) else {
                return Err(Error::internal("a group by a column that is not there"));
            };
            datum_to_json(value.as_ref(), data_type).map(|value| value.to_string())
        });
        Ok(texts.collect::<Result<Vec<_>>>()?.join(","))
    }
}

/// Counts by group, in the order in which groups were met. A group is told by its values as JSON with commas between.
#[derive(Debug, Default)]
pub(super) struct Groups {
    places: HashMap<String, usize>,
    counts: Vec<(String, Counted)>,
}

/// A group in the answer.
#[derive(Debug, Serialize)]
pub(super) struct Group {
    /// Its values by column, in the order asked for.
    #[serde(serialize_with = "as_object")]
    by: Vec<(String, Value)>,
    pub(super) rows: u64,
    #[serde(flatten)]
    pub(super) counted: Counted,
}

impl Groups {
    /// Adds rows to a group.
    pub(super) fn add(&mut self, group: String, counted: Counted) {
        let place = *self.places.entry(group).or_insert_with_key(|group| {
            self.counts.push((group.clone(), Counted::default()));
            self.counts.len() - 1
        });
        if let Some((_, sum)) = self.counts.get_mut(place) {
            sum.add(counted);
        }
    }

    /// Adds the groups of a split.
    pub(super) fn append(&mut self, other: Self) {
        for (group, counted) in other.counts {
            self.add(group, counted);
        }
    }

    /// Adds rows that were read; `before` columns stand before those of the groups.
    ///
    /// # Errors
    /// Those of values that have no text.
    pub(super) fn add_rows(&mut self, by: &By, batch: &RecordBatch, before: usize) -> Result<()> {
        let columns: Vec<usize> = (before..batch.num_columns()).collect();
        let values = batch
            .project(&columns)
            .map_err(|error| Error::internal("columns of groups").with_source(error))?;
        let rows = JsonRows::new(&values, &by.types)?;
        let one = Counted {
            from_metadata: 0,
            from_reading: 1,
        };
        let mut text = Vec::new();
        for row in 0..rows.len() {
            text.clear();
            for column in 0..by.types.len() {
                if column > 0 {
                    text.push(b',');
                }
                rows.write_value(row, column, &mut text)?;
            }
            let place = std::str::from_utf8(&text)
                .ok()
                .and_then(|text| self.places.get(text));
            match place.and_then(|place| self.counts.get_mut(*place)) {
                Some((_, sum)) => sum.add(one),
                None => self.add(String::from_utf8_lossy(&text).into_owned(), one),
            }
        }
        Ok(())
    }

    /// The groups for the answer.
    ///
    /// # Errors
    /// `Internal` if values are not told as JSON.
    pub(super) fn into_list(self, by: &By) -> Result<Vec<Group>> {
        let groups = self
            .counts
            .into_iter()
            .filter(|(_, counted)| counted.rows() > 0);
        let group = |(group, counted): (String, Counted)| {
            let values: Vec<Value> = serde_json::from_str(&format!("[{group}]"))
                .map_err(|error| Error::internal("a group is no JSON").with_source(error))?;
            let names = by.fields.iter().map(|field| field.name.clone());
            Ok(Group {
                by: names.zip(values).collect(),
                rows: counted.rows(),
                counted,
            })
        };
        groups.map(group).collect()
    }
}

fn as_object<S: Serializer>(by: &[(String, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(by.iter().map(|(name, value)| (name, value)))
}

impl Group {
    /// The group as text.
    pub(super) fn name(&self) -> String {
        let values = self.by.iter();
        let values: Vec<String> = values
            .map(|(name, value)| format!("{} = {value}", column_text(name)))
            .collect();
        values.join(", ")
    }
}
