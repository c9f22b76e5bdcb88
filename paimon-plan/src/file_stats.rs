//! Testing files by their statistics, also files of another schema (RP-054, RP-063, RP-085 to RP-090).

use std::cell::RefCell;

use paimon_meta::{
    BinaryRowRef, ColumnBounds, DataField, DataType, Datum, ErrorKind, FieldId, FileIndex, Frame,
    Predicate, Result, ResultExt, StatsRef, TablePredicate, TableSchema, TextList, TypeKind,
    may_match,
};

/// A condition made ready for the statistics of the files of one schema.
#[derive(Clone, Debug)]
pub(crate) struct StatsTest {
    /// With the tests that these files can answer, against their types.
    predicate: TablePredicate,
    places: Vec<(FieldId, Place)>,
}

/// Where the statistics of a column are.
#[derive(Clone, Debug)]
enum Place {
    /// The files do not have the column: every value is null.
    Missing,
    /// The statistics do not cover it.
    Unknown,
    /// At this position among the columns of the schema, or by name where statistics list their columns.
    Column {
        position: usize,
        name: String,
        data_type: DataType,
    },
}

impl Place {
    fn is_float(&self) -> bool {
        match self {
            Self::Column { data_type, .. } => {
                matches!(data_type.kind, TypeKind::Float | TypeKind::Double)
            }
            Self::Missing | Self::Unknown => false,
        }
    }
}

/// Whether the bounds of floats cover NaN. Those of ORC files do not: a file may hold NaN, the largest of values, above
/// its maximum (table-format 4.6; the reference loses such rows).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nan {
    Counted,
    Skipped,
}

impl Nan {
    /// What the writer of a file of that name did.
    pub(crate) fn in_file(name: &str) -> Self {
        if name.ends_with(".orc") {
            Self::Skipped
        } else {
            Self::Counted
        }
    }
}

/// What to take the bounds of floats for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nans {
    AsStored,
    /// NaN and nothing else.
    Only,
    /// All values from the smallest on, and NaN.
    Largest,
}

impl Nans {
    fn put_into(self, mut bounds: ColumnBounds) -> ColumnBounds {
        let nan = match bounds.max {
            Some(Datum::Float(_)) => Datum::Float(f32::NAN),
            Some(Datum::Double(_)) => Datum::Double(f64::NAN),
            _ => return bounds,
        };
        if self == Self::Only {
            bounds.min = Some(nan.clone());
        }
        if self != Self::AsStored {
            bounds.max = Some(nan);
        }
        bounds
    }
}

impl StatsTest {
    /// A test by the statistics of value columns.
    pub(crate) fn of_values(
        predicate: &TablePredicate,
        table: &TableSchema,
        file: &TableSchema,
    ) -> Self {
        let fields: Vec<&DataField> = file.fields.iter().collect();
        Self::new(predicate, table, file, &fields, Place::Missing)
    }

    /// A test by the statistics of the trimmed key columns.
    ///
    /// # Errors
    /// `Corrupt` if a key column of the file's schema is no column.
    pub(crate) fn of_keys(
        predicate: &TablePredicate,
        table: &TableSchema,
        file: &TableSchema,
    ) -> Result<Self> {
        Ok(Self::new(
            predicate,
            table,
            file,
            &file.key_fields()?,
            Place::Unknown,
        ))
    }

    fn new(
        predicate: &TablePredicate,
        table: &TableSchema,
        file: &TableSchema,
        fields: &[&DataField],
        absent: Place,
    ) -> Self {
        let predicate = if table.id == file.id {
            predicate.clone()
        } else {
            Predicate::and(predicate.bind_to_statistics(&file.fields))
        };
        let place = |column: FieldId| match fields.iter().position(|field| field.id == column) {
            Some(position) => fields
                .get(position)
                .map_or(Place::Unknown, |field| Place::Column {
                    position,
                    name: field.name.clone(),
                    data_type: field.data_type.clone(),
                }),
            None => absent.clone(),
        };
        let places = predicate
            .columns()
            .into_iter()
            .map(|column| (*column, place(*column)))
            .collect();
        Self { predicate, places }
    }

    /// Whether some row of a file may match, by the file's own indexes.
    ///
    /// # Errors
    /// `Corrupt` if they are broken, `Unsupported` for another version of them.
    pub(crate) fn index_may_match(&self, index: &[u8], row_count: u64) -> Result<bool> {
        let place = |column: &FieldId| {
            let mut places = self.places.iter();
            match places.find(|(id, _)| id == column) {
                Some((
                    _,
                    Place::Column {
                        name, data_type, ..
                    },
                )) => Some((name.as_str(), data_type)),
                _ => None,
            }
        };
        FileIndex::decode(index)?.may_match(&self.predicate, &place, row_count)
    }

    /// Whether some row of a file may match. `listed` names the columns that the statistics are of, in their order; `None`
    /// means all of the file's schema (RP-089).
    ///
    /// # Errors
    /// `Corrupt` if the statistics do not hold what they say, with the field at fault.
    pub(crate) fn may_match(
        &self,
        stats: StatsRef<'_>,
        listed: Option<TextList<'_>>,
        row_count: u64,
        nan: Nan,
    ) -> Result<bool> {
        let matches = |nans| self.test(stats, listed, row_count, nans);
        let floats = self.places.iter().filter(|(_, place)| place.is_float());
        match floats.count() {
            0 => matches(Nans::AsStored),
            _ if nan == Nan::Counted => matches(Nans::AsStored),
            // One at a time, so that files whose values and NaN alike do not match are pruned as the reference does.
            1 => Ok(matches(Nans::AsStored)? || matches(Nans::Only)?),
            _ => matches(Nans::Largest),
        }
    }

    fn test(
        &self,
        stats: StatsRef<'_>,
        listed: Option<TextList<'_>>,
        row_count: u64,
        nans: Nans,
    ) -> Result<bool> {
        let min = BinaryRowRef::from_serialized(stats.min)
            .at(|| Frame::Field("_MIN_VALUES".to_owned()))?;
        let max = BinaryRowRef::from_serialized(stats.max)
            .at(|| Frame::Field("_MAX_VALUES".to_owned()))?;
        let fault = RefCell::new(None);
        let matches = may_match(&self.predicate, &mut |column| {
            let unknown = ColumnBounds::unknown(row_count);
            let place = self
                .places
                .iter()
                .find(|(id, _)| id == column)
                .map(|(_, place)| place);
            let (position, data_type) = match place {
                Some(Place::Missing) => return ColumnBounds::all_null(row_count),
                Some(Place::Column {
                    position,
                    name,
                    data_type,
                }) => {
                    let place = match listed {
                        None => Some(*position),
                        Some(names) => names.iter().position(|listed| listed == name),
                    };
                    match place {
                        Some(position) if position < min.arity().min(max.arity()) => {
                            (position, data_type)
                        }
                        _ => return unknown,
                    }
                }
                _ => return unknown,
            };
            let value = |name: &str, row: BinaryRowRef<'_>| match row.datum(position, data_type) {
                Err(error) if error.kind() != ErrorKind::Unsupported => {
                    fault
                        .borrow_mut()
                        .get_or_insert(error.at(Frame::Field(name.to_owned())));
                    None
                }
                value => value.ok().flatten(),
            };
            nans.put_into(ColumnBounds {
                min: value("_MIN_VALUES", min),
                max: value("_MAX_VALUES", max),
                null_count: stats.null_count(position),
                row_count,
            })
        });
        match fault.into_inner() {
            Some(error) => Err(error),
            None => Ok(matches),
        }
    }
}

#[cfg(test)]
mod tests;
