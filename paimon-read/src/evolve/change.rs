//! From values of a file's type to values of the table's, nested ones from the outside in. Facts: table-format 8.4.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray, new_null_array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType as ArrowType, FieldRef, Fields};
use paimon_meta::{DataField, DataType, Error, Frame, Result, ResultExt, StringLayout, TypeKind};

use crate::cast::{Cast, Faults, Zone};

/// What is done to the values of a column, or of a part of one.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Nothing.
    Keep,
    Cast(Box<Cast>),
    /// Children are matched by id; each has its own change.
    Row(Vec<Child>, Fields),
    List(Box<Change>, FieldRef),
    /// Of the values; keys stay.
    Map(Box<Change>, FieldRef),
}

/// Where a child of a row comes from.
#[derive(Clone, Debug)]
pub(super) enum Child {
    /// The file's rows do not have it.
    Null,
    /// From the child of that index.
    Of(usize, Change),
}

/// What to read of a file's type to get values of the table's: children by id, in the order of the table. `None` where
/// that leaves a row without children: it is null as a whole, and so is a list or map of such rows (TF-097).
pub(super) fn pruned(table: &DataType, file: &DataType) -> Option<DataType> {
    let kind = match (&table.kind, &file.kind) {
        (TypeKind::Row(wanted), TypeKind::Row(written)) => {
            let children = wanted.iter().filter_map(|wanted| {
                let written = written.iter().find(|written| written.id == wanted.id)?;
                Some(DataField {
                    data_type: pruned(&wanted.data_type, &written.data_type)?,
                    ..written.clone()
                })
            });
            let children: Vec<DataField> = children.collect();
            if children.is_empty() {
                return None;
            }
            TypeKind::Row(children)
        }
        (TypeKind::Array(wanted), TypeKind::Array(written)) => {
            TypeKind::Array(Box::new(pruned(wanted, written)?))
        }
        (TypeKind::Map(key, value), TypeKind::Map(written_key, written_value)) => TypeKind::Map(
            Box::new(pruned(key, written_key)?),
            Box::new(pruned(value, written_value)?),
        ),
        (wanted, written) => read_as(wanted, written),
    };
    Some(DataType {
        kind,
        nullable: file.nullable,
    })
}

/// Timestamps are read no finer than is wanted: what has microseconds may be of any year. Text shows all digits.
fn read_as(wanted: &TypeKind, written: &TypeKind) -> TypeKind {
    match (wanted, written) {
        (
            TypeKind::Timestamp(7..) | TypeKind::LocalZonedTimestamp(7..) | TypeKind::VarChar(_),
            _,
        ) => written.clone(),
        (_, TypeKind::Timestamp(7..)) => TypeKind::Timestamp(6),
        (_, TypeKind::LocalZonedTimestamp(7..)) => TypeKind::LocalZonedTimestamp(6),
        _ => written.clone(),
    }
}

impl Change {
    /// From values of a [`pruned`] type of the file to values of the table's, whose Arrow form is `to`.
    ///
    /// # Errors
    /// `Corrupt` if no change of the schema leads from one to the other.
    pub(super) fn new(
        table: &DataType,
        file: &DataType,
        to: &ArrowType,
        strings: StringLayout,
        zone: Zone,
    ) -> Result<Self> {
        let from = file.to_arrow(strings)?;
        if same_values(table, file) && from == *to {
            return Ok(Self::Keep);
        }
        Ok(match (&table.kind, &file.kind, to) {
            (TypeKind::Row(table), TypeKind::Row(file), ArrowType::Struct(fields)) => {
                let child = |(field, to): (&DataField, &FieldRef)| {
                    let found = file.iter().position(|written| written.id == field.id);
                    let Some((index, written)) = found.and_then(|at| Some((at, file.get(at)?)))
                    else {
                        return Ok(Child::Null);
                    };
                    let (table, file) = (&field.data_type, &written.data_type);
                    let change = Self::new(table, file, to.data_type(), strings, zone)
                        .at(|| Frame::Field(field.name.clone()))?;
                    Ok(Child::Of(index, change))
                };
                let children = table.iter().zip(fields).map(child);
                Self::Row(children.collect::<Result<_>>()?, fields.clone())
            }
            (TypeKind::Array(table), TypeKind::Array(file), ArrowType::List(element)) => {
                let change = Self::new(table, file, element.data_type(), strings, zone)?;
                Self::List(Box::new(change), Arc::clone(element))
            }
            (
                TypeKind::Map(table_key, table),
                TypeKind::Map(file_key, file),
                ArrowType::Map(entries, _),
            ) => {
                if !same_values(table_key, file_key) {
                    return Err(Error::corrupt(format!(
                        "map written with keys {file_key}, expected {table_key}"
                    )));
                }
                let to = value_type(entries)?;
                let change = Self::new(table, file, to, strings, zone)?;
                Self::Map(Box::new(change), Arc::clone(entries))
            }
            _ => Self::Cast(Box::new(Cast::new(file, table, to.clone(), zone)?)),
        })
    }

    /// The values in the table's type.
    ///
    /// # Errors
    /// `Internal` if the array is not of the type that was planned for.
    pub(super) fn apply(&self, array: &ArrayRef, faults: &mut Faults) -> Result<ArrayRef> {
        match self {
            Self::Keep => Ok(Arc::clone(array)),
            Self::Cast(cast) => cast.apply(array, faults),
            Self::Row(children, fields) => row(array, children, fields, faults),
            Self::List(element, field) => list(array, element, field, faults),
            Self::Map(value, entries) => map(array, value, entries, faults),
        }
    }
}

/// Whether values of the file's type are values of the table's, names and what may be null aside.
fn same_values(table: &DataType, file: &DataType) -> bool {
    match (&table.kind, &file.kind) {
        (TypeKind::Array(a), TypeKind::Array(b))
        | (TypeKind::Multiset(a), TypeKind::Multiset(b)) => same_values(a, b),
        (TypeKind::Map(key_a, a), TypeKind::Map(key_b, b)) => {
            same_values(key_a, key_b) && same_values(a, b)
        }
        (TypeKind::Row(a), TypeKind::Row(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|(a, b)| a.id == b.id && same_values(&a.data_type, &b.data_type))
        }
        (a, b) => a == b,
    }
}

fn value_type(entries: &FieldRef) -> Result<&ArrowType> {
    match entries.data_type() {
        ArrowType::Struct(fields) => match &fields[..] {
            [_, value] => Ok(value.data_type()),
            _ => Err(Error::internal("map entries without a value")),
        },
        _ => Err(Error::internal("map without entries")),
    }
}

fn row(
    array: &ArrayRef,
    children: &[Child],
    fields: &Fields,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let row = array.as_struct_opt().ok_or_else(|| unexpected(array))?;
    let known = faults.len();
    let mut columns = Vec::with_capacity(children.len());
    for (child, field) in children.iter().zip(fields) {
        columns.push(match child {
            Child::Null => new_null_array(field.data_type(), row.len()),
            Child::Of(index, change) => {
                let column = row.columns().get(*index);
                let first = faults.len();
                let column = change.apply(column.ok_or_else(|| unexpected(array))?, faults)?;
                faults.at(first, || Frame::Field(field.name().clone()));
                column
            }
        });
    }
    // What stands below a row that is null is no value.
    faults.move_rows(known, |at| row.is_valid(at).then_some(at));
    let built = StructArray::try_new(fields.clone(), columns, row.nulls().cloned());
    Ok(Arc::new(built.map_err(not_of_the_type)?))
}

fn list(
    array: &ArrayRef,
    element: &Change,
    field: &FieldRef,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let list = array
        .as_list_opt::<i32>()
        .ok_or_else(|| unexpected(array))?;
    let (offsets, first, length) = rebased(list.offsets());
    let values = list.values().slice(first, length);
    let values = changed(&values, element, (&offsets, list.nulls()), faults)?;
    let built = ListArray::try_new(Arc::clone(field), offsets, values, list.nulls().cloned());
    Ok(Arc::new(built.map_err(not_of_the_type)?))
}

fn map(
    array: &ArrayRef,
    value: &Change,
    entries: &FieldRef,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let map = array.as_map_opt().ok_or_else(|| unexpected(array))?;
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(unexpected(array));
    };
    let (offsets, first, length) = rebased(map.offsets());
    let keys = map.keys().slice(first, length);
    let values = map.values().slice(first, length);
    let values = changed(&values, value, (&offsets, map.nulls()), faults)?;
    let built =
        StructArray::try_new(fields.clone(), vec![keys, values], None).map_err(not_of_the_type)?;
    let nulls = map.nulls().cloned();
    let built = MapArray::try_new(Arc::clone(entries), offsets, built, nulls, false);
    Ok(Arc::new(built.map_err(not_of_the_type)?))
}

/// Changes the elements of lists; faults are then of the rows that hold them.
fn changed(
    values: &ArrayRef,
    change: &Change,
    (offsets, nulls): (&OffsetBuffer<i32>, Option<&NullBuffer>),
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let known = faults.len();
    let values = change.apply(values, faults)?;
    faults.move_rows(known, |element| {
        let starts = offsets
            .partition_point(|start| usize::try_from(*start).is_ok_and(|start| start <= element));
        let row = starts.checked_sub(1)?;
        nulls.is_none_or(|nulls| nulls.is_valid(row)).then_some(row)
    });
    Ok(values)
}

/// Offsets that begin with 0, the first element they are of, and how many elements there are.
fn rebased(offsets: &OffsetBuffer<i32>) -> (OffsetBuffer<i32>, usize, usize) {
    let first = offsets.first().copied().unwrap_or(0);
    let last = offsets.last().copied().unwrap_or(0);
    let size = |count: i32| usize::try_from(count).unwrap_or(0);
    let rebased = if first == 0 {
        offsets.clone()
    } else {
        let starts = offsets.iter().map(|start| start - first);
        OffsetBuffer::new(starts.collect::<Vec<_>>().into())
    };
    (rebased, size(first), size(last - first))
}

fn unexpected(array: &ArrayRef) -> Error {
    Error::internal(format!("evolved column came as {}", array.data_type()))
}

fn not_of_the_type(error: ArrowError) -> Error {
    Error::internal("evolved values do not fit their type").with_source(error)
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{Int32Array, StringViewArray};
    use arrow_schema::Field;
    use paimon_meta::{FieldId, parse_type};

    use super::*;

    fn field(id: i32, name: &str, data_type: &str) -> DataField {
        DataField {
            id: FieldId(id),
            name: name.to_owned(),
            data_type: parse_type(data_type).unwrap(),
            description: None,
            default_value: None,
        }
    }

    fn row_of(fields: Vec<DataField>) -> DataType {
        TypeKind::Row(fields).nullable()
    }

    fn change(table: &DataType, file: &DataType) -> (DataType, Change) {
        let read = pruned(table, file).unwrap();
        let to = table.to_arrow(StringLayout::View).unwrap();
        let change = Change::new(table, &read, &to, StringLayout::View, Zone::default());
        (read, change.unwrap())
    }

    fn row_array(texts: [Option<&str>; 3], valid: [bool; 3]) -> ArrayRef {
        let fields = Fields::from(vec![Field::new("old", ArrowType::Utf8View, true)]);
        let texts: ArrayRef = Arc::new(StringViewArray::from(texts.to_vec()));
        let nulls = NullBuffer::from(valid.to_vec());
        Arc::new(StructArray::new(fields, vec![texts], Some(nulls)))
    }

    #[test]
    fn children_are_matched_by_id_and_what_is_below_a_null_row_is_no_value() {
        // table-format 8.4
        let file = row_of(vec![field(5, "old", "STRING"), field(6, "gone", "INT")]);
        let table = row_of(vec![field(9, "added", "DATE"), field(5, "now", "INT")]);
        let (read, change) = change(&table, &file);
        assert_eq!(read, row_of(vec![field(5, "old", "STRING")]));
        let mut faults = Faults::default();
        let rows = row_array([Some("7"), Some("bad"), None], [true, false, true]);
        let rows = change.apply(&rows, &mut faults).unwrap();
        faults.check(|_| true).unwrap();
        assert_eq!(
            rows.data_type(),
            &table.to_arrow(StringLayout::View).unwrap()
        );
        let rows = rows.as_struct();
        assert_eq!(rows.column(0).null_count(), 3);
        let now = rows.column_by_name("now").unwrap();
        assert_eq!(now.as_ref(), &Int32Array::from(vec![Some(7), None, None]));
        let bad = row_array([Some("7"), Some("bad"), None], [true; 3]);
        change.apply(&bad, &mut faults).unwrap();
        let error = faults.check(|row| row == 1).unwrap_err();
        assert_eq!(error.frames().next(), Some(&Frame::Field("now".to_owned())));
        faults.check(|row| row != 1).unwrap();
    }

    #[test]
    fn row_without_old_children_is_null_as_a_whole() {
        // TF-097
        let file = row_of(vec![field(5, "old", "INT")]);
        let table = row_of(vec![field(6, "old", "INT")]);
        assert_eq!(pruned(&table, &file), None);
        let list = |row: DataType| TypeKind::Array(Box::new(row)).nullable();
        assert_eq!(pruned(&list(table.clone()), &list(file.clone())), None);
        let map = |row: DataType| {
            let key = parse_type("INT NOT NULL").unwrap();
            TypeKind::Map(Box::new(key), Box::new(row)).nullable()
        };
        assert_eq!(pruned(&map(table), &map(file)), None);
    }

    #[test]
    fn faults_of_elements_are_of_the_rows_that_hold_them() {
        let list = |element: &str| {
            let element = parse_type(element).unwrap();
            TypeKind::Array(Box::new(element)).nullable()
        };
        let (_, change) = change(&list("INT"), &list("STRING"));
        let texts = StringViewArray::from(vec!["x", "1", "2", "bad", "3"]);
        let field = Arc::new(Field::new("element", ArrowType::Utf8View, true));
        let offsets = OffsetBuffer::new(vec![0, 1, 3, 3, 5].into());
        let lists = ListArray::new(field, offsets, Arc::new(texts), None);
        let mut faults = Faults::default();
        // Without the first row, whose element stays in the values of the slice.
        let lists: ArrayRef = Arc::new(lists.slice(1, 3));
        let changed = change.apply(&lists, &mut faults).unwrap();
        let changed = changed.as_list::<i32>();
        assert_eq!(
            changed.value(0).as_primitive::<Int32Type>().values(),
            &[1, 2]
        );
        assert_eq!(changed.value(1).len(), 0);
        faults.check(|row| row < 2).unwrap();
        faults.check(|row| row == 2).unwrap_err();
    }

    #[test]
    fn keys_of_maps_do_not_change() {
        // TF-098
        let map = |key: &str| {
            let (key, value) = (parse_type(key).unwrap(), parse_type("INT").unwrap());
            TypeKind::Map(Box::new(key), Box::new(value)).nullable()
        };
        let (table, file) = (map("BIGINT NOT NULL"), map("INT NOT NULL"));
        let to = table.to_arrow(StringLayout::View).unwrap();
        let error = Change::new(&table, &file, &to, StringLayout::View, Zone::default());
        assert_eq!(error.unwrap_err().kind(), paimon_meta::ErrorKind::Corrupt);
    }

    #[test]
    fn timestamps_are_read_no_finer_than_wanted() {
        let read = |table: &str, file: &str| {
            pruned(&parse_type(table).unwrap(), &parse_type(file).unwrap()).unwrap()
        };
        for (table, file, expected) in [
            ("DATE", "TIMESTAMP(9)", "TIMESTAMP(6)"),
            ("TIMESTAMP(0)", "TIMESTAMP(7)", "TIMESTAMP(6)"),
            ("TIMESTAMP(8)", "TIMESTAMP(9)", "TIMESTAMP(9)"),
            ("STRING", "TIMESTAMP(9)", "TIMESTAMP(9)"),
            ("TIMESTAMP(9)", "TIMESTAMP(3)", "TIMESTAMP(3)"),
        ] {
            assert_eq!(read(table, file), parse_type(expected).unwrap(), "{table}");
        }
    }
}
