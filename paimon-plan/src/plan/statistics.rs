//! What is known of the rows of a plan, for planners of queries.

use std::cmp::Ordering;

use paimon_meta::{
    BinaryRowRef, DataField, DataType, Datum, FieldId, Frame, ResolvedTable, Result, ResultExt,
    StatsRef, TextList, TypeKind,
};
use serde::{Deserialize, Serialize};

use crate::plan::Plan;

/// A number or value, and how far to trust it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision<T> {
    /// It is so.
    Exact(T),
    /// Not above the truth for minima, not below it for maxima and counts.
    Inexact(T),
    /// Nothing is known.
    #[default]
    Absent,
}

impl<T> Precision<T> {
    fn of(value: Option<T>, exact: bool) -> Self {
        match value {
            None => Self::Absent,
            Some(value) if exact => Self::Exact(value),
            Some(value) => Self::Inexact(value),
        }
    }
}

/// What is known of the rows that reading a plan gives, after its condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanStatistics {
    /// Number of rows.
    pub rows: Precision<u64>,
    /// Size of the files in bytes.
    pub bytes: u64,
    /// The columns of the schema to read with, in its order.
    pub columns: Vec<ColumnSummary>,
}

/// What is known of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnSummary {
    /// The column.
    pub column: FieldId,
    /// Smallest value.
    pub min: Precision<Datum>,
    /// Largest value.
    pub max: Precision<Datum>,
    /// Nulls.
    pub nulls: Precision<u64>,
}

impl Plan {
    /// What is known of the rows that reading the plan gives. Columns are known only if the request kept statistics.
    ///
    /// Exact are rows and columns only if no condition is left to evaluate and every row of the files is known to be
    /// returned; bounds of text, bytes, floats and times never are, because writers cut, round and skip them (RP-066,
    /// section 4.6).
    ///
    /// # Errors
    /// `Corrupt` if statistics do not hold what they say, with the file at fault.
    pub fn statistics(&self, table: &ResolvedTable) -> Result<PlanStatistics> {
        let rows = self.exact_row_count().filter(|_| self.residual().is_none());
        let sum =
            |of: &dyn Fn(usize) -> u64| (0..self.files.len()).map(of).fold(0, u64::saturating_add);
        let physical = sum(&|file| self.files.row_count(file));
        let all_returned = rows == Some(physical);
        let columns = table.schema.fields.iter().map(|field| {
            let mut column = Column::new(field, all_returned);
            for file in 0..self.files.len() {
                let place = self.place(table, field, file);
                column
                    .add(&place, self.files.row_count(file))
                    .at(|| Frame::Column(field.name.clone()))
                    .at(|| Frame::File(self.files.file_name(file).to_owned()))?;
            }
            Ok(column.finish())
        });
        Ok(PlanStatistics {
            rows: Precision::of(Some(rows.unwrap_or(physical)), rows.is_some()),
            bytes: sum(&|file| self.files.file_size(file)),
            columns: columns.collect::<Result<_>>()?,
        })
    }

    /// Where the statistics of a table's column are in a file.
    fn place<'a>(&'a self, table: &'a ResolvedTable, field: &DataField, file: usize) -> Place<'a> {
        let partition = table
            .schema
            .partition_keys
            .iter()
            .position(|key| *key == field.name);
        if let Some(index) = partition {
            return Place::Partition(self.files.partition(file).as_ref(), index);
        }
        let Some(schema) = table.schemas.get(&self.files.schema_id(file)) else {
            return Place::Unknown;
        };
        let Some(index) = schema.fields.iter().position(|other| other.id == field.id) else {
            return Place::Missing;
        };
        let index_in = |names: Option<TextList<'_>>, name: &str| match names {
            None => Some(index),
            Some(names) => names.iter().position(|listed| listed == name),
        };
        let written = schema.fields.get(index);
        match (self.files.value_stats(file), written) {
            (Some(stats), Some(written)) if self.files.write_cols(file).is_none() => {
                match index_in(self.files.value_stats_cols(file), &written.name) {
                    Some(index) => Place::Stats(stats, index, &written.data_type),
                    None => Place::Unknown,
                }
            }
            _ => Place::Unknown,
        }
    }
}

/// Where the statistics of a column are.
enum Place<'a> {
    /// The column is constant, in this field of the row.
    Partition(BinaryRowRef<'a>, usize),
    /// The file does not have the column: it is null.
    Missing,
    /// Nothing is known.
    Unknown,
    /// At this index, with the file's type.
    Stats(StatsRef<'a>, usize, &'a DataType),
}

/// A column over the files so far.
struct Column<'a> {
    field: &'a DataField,
    bounds: Option<(Datum, Datum)>,
    bounds_known: bool,
    nulls: Option<u64>,
    exact: bool,
}

impl<'a> Column<'a> {
    fn new(field: &'a DataField, exact: bool) -> Self {
        Self {
            field,
            bounds: None,
            bounds_known: true,
            nulls: Some(0),
            exact,
        }
    }

    fn add(&mut self, place: &Place<'_>, row_count: u64) -> Result<()> {
        let (bounds, nulls) = match place {
            Place::Unknown => (Bounds::Unknown, None),
            Place::Missing => (Bounds::NoValue, Some(row_count)),
            Place::Partition(row, index) => match row.datum(*index, &self.field.data_type)? {
                Some(value) => (Bounds::Values(value.clone(), value), Some(0)),
                None => (Bounds::NoValue, Some(row_count)),
            },
            Place::Stats(stats, index, written) => {
                let nulls = stats.null_count(*index);
                let bounds = self.stats_bounds(*stats, *index, written)?;
                (
                    if nulls == Some(row_count) {
                        Bounds::NoValue
                    } else {
                        bounds
                    },
                    nulls,
                )
            }
        };
        self.nulls = self
            .nulls
            .zip(nulls)
            .map(|(sum, nulls)| sum.saturating_add(nulls));
        match bounds {
            Bounds::Unknown => self.bounds_known = false,
            Bounds::NoValue => {}
            Bounds::Values(min, max) => self.widen(min, max),
        }
        Ok(())
    }

    /// Bounds as values of the table's type; unknown where the file's type does not become it without loss.
    fn stats_bounds(
        &self,
        stats: StatsRef<'_>,
        index: usize,
        written: &DataType,
    ) -> Result<Bounds> {
        let value = |serialized| {
            let row = BinaryRowRef::from_serialized(serialized)?;
            if written.kind.is_scalar() && index < row.arity() {
                row.datum(index, written)
            } else {
                Ok(None)
            }
        };
        let wanted = &self.field.data_type;
        let widens = written
            .kind
            .integer_bits()
            .zip(wanted.kind.integer_bits())
            .is_some_and(|(from, to)| from <= to);
        match (value(stats.min)?, value(stats.max)?) {
            (Some(min), Some(max)) if written.same_kind(wanted) => Ok(Bounds::Values(min, max)),
            (Some(min), Some(max)) if widens => Ok(min
                .cast_to(wanted)
                .zip(max.cast_to(wanted))
                .map_or(Bounds::Unknown, |(min, max)| Bounds::Values(min, max))),
            _ => Ok(Bounds::Unknown),
        }
    }

    fn widen(&mut self, min: Datum, max: Datum) {
        let (low, high) = self
            .bounds
            .take()
            .unwrap_or_else(|| (min.clone(), max.clone()));
        let low = if min.compare(&low) == Some(Ordering::Less) {
            min
        } else {
            low
        };
        let high = if max.compare(&high) == Some(Ordering::Greater) {
            max
        } else {
            high
        };
        self.bounds = Some((low, high));
    }

    fn finish(self) -> ColumnSummary {
        let kind = &self.field.data_type.kind;
        let attained =
            matches!(kind, TypeKind::Boolean | TypeKind::Date) || kind.integer_bits().is_some();
        let (min, max) = self.bounds.filter(|_| self.bounds_known).unzip();
        ColumnSummary {
            column: self.field.id,
            min: Precision::of(min, self.exact && attained),
            max: Precision::of(max, self.exact && attained),
            nulls: Precision::of(self.nulls, self.exact),
        }
    }
}

enum Bounds {
    Unknown,
    /// Every value is null.
    NoValue,
    Values(Datum, Datum),
}
