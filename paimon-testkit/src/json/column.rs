//! One column of a batch, seen as what its rows are written from.

use arrow_array::StringViewArray;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    Array, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, PrimitiveArray,
};
use arrow_array::{ArrowPrimitiveType, BinaryViewArray, GenericBinaryArray, GenericStringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{DataType, Error, Result, RowKind, TypeKind};

use super::{scalar, variant};

/// Values and which of them are null.
pub(super) struct Column<'a> {
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    Kinds(&'a Int8Array),
    Boolean(&'a BooleanArray),
    Int8(&'a Int8Array),
    Int16(&'a Int16Array),
    Int32(&'a Int32Array),
    Int64(&'a Int64Array),
    Float32(&'a Float32Array),
    Float64(&'a Float64Array),
    Decimal(&'a Decimal128Array, u8),
    Text(Text<'a>),
    Bytes(Bytes<'a>),
    Date(&'a [i32]),
    Time(&'a [i32]),
    Timestamp {
        counts: &'a [i64],
        per_second: i64,
        instant: bool,
    },
    List {
        offsets: &'a [i32],
        element: Box<Column<'a>>,
    },
    Vector {
        length: usize,
        element: Box<Column<'a>>,
    },
    Map {
        offsets: &'a [i32],
        key: Box<Column<'a>>,
        value: Box<Column<'a>>,
    },
    Row(Vec<Column<'a>>),
    Variant {
        value: Bytes<'a>,
        metadata: Bytes<'a>,
    },
}

/// Text in one of the three layouts.
enum Text<'a> {
    View(&'a StringViewArray),
    Offset32(&'a GenericStringArray<i32>),
    Offset64(&'a GenericStringArray<i64>),
}

impl<'a> Text<'a> {
    fn new(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            ArrowType::Utf8View => Self::View(array.as_string_view_opt()?),
            ArrowType::Utf8 => Self::Offset32(array.as_string_opt()?),
            _ => Self::Offset64(array.as_string_opt()?),
        })
    }

    fn get(&self, row: usize) -> &'a str {
        match self {
            Self::View(array) => array.value(row),
            Self::Offset32(array) => array.value(row),
            Self::Offset64(array) => array.value(row),
        }
    }
}

/// Bytes in one of the three layouts.
enum Bytes<'a> {
    View(&'a BinaryViewArray),
    Offset32(&'a GenericBinaryArray<i32>),
    Offset64(&'a GenericBinaryArray<i64>),
}

impl<'a> Bytes<'a> {
    fn new(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            ArrowType::BinaryView => Self::View(array.as_binary_view_opt()?),
            ArrowType::Binary => Self::Offset32(array.as_binary_opt()?),
            _ => Self::Offset64(array.as_binary_opt()?),
        })
    }

    fn get(&self, row: usize) -> &'a [u8] {
        match self {
            Self::View(array) => array.value(row),
            Self::Offset32(array) => array.value(row),
            Self::Offset64(array) => array.value(row),
        }
    }
}

impl<'a> Column<'a> {
    /// The column of an array that holds values of a type.
    pub(super) fn new(array: &'a dyn Array, data_type: &DataType) -> Result<Self> {
        let values = match &data_type.kind {
            TypeKind::Array(element) => list(array, element)?,
            TypeKind::Vector { element, .. } => vector(array, element)?,
            TypeKind::Map(key, value) => map(array, key, value)?,
            TypeKind::Multiset(key) => map(array, key, &TypeKind::Int.not_null())?,
            TypeKind::Row(fields) => {
                let row = array
                    .as_struct_opt()
                    .filter(|row| row.num_columns() == fields.len());
                row.map(|row| {
                    let columns = row.columns().iter().zip(fields);
                    columns
                        .map(|(array, field)| Self::new(array, &field.data_type))
                        .collect()
                })
                .transpose()?
                .map(Values::Row)
            }
            kind => scalar_values(array, kind),
        };
        let values = values.ok_or_else(|| {
            Error::internal(format!(
                "arrow type {} does not hold {data_type}",
                array.data_type()
            ))
        })?;
        Ok(Self {
            nulls: array.nulls(),
            values,
        })
    }

    /// The column of row kinds.
    pub(super) fn kinds(kinds: &'a Int8Array) -> Self {
        Self {
            nulls: kinds.nulls(),
            values: Values::Kinds(kinds),
        }
    }

    /// Appends the value of a row, which must exist.
    pub(super) fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        match &self.values {
            Values::Kinds(kinds) => {
                scalar::text(out, RowKind::from_byte(kinds.value(row))?.short());
            }
            Values::Boolean(array) => scalar::boolean(out, array.value(row)),
            Values::Int8(array) => scalar::integer(out, array.value(row)),
            Values::Int16(array) => scalar::integer(out, array.value(row)),
            Values::Int32(array) => scalar::integer(out, array.value(row)),
            Values::Int64(array) => scalar::integer(out, array.value(row)),
            Values::Float32(array) => scalar::float(out, array.value(row)),
            Values::Float64(array) => scalar::float(out, array.value(row)),
            Values::Decimal(array, scale) => scalar::decimal(out, array.value(row), *scale),
            Values::Text(array) => scalar::text(out, array.get(row)),
            Values::Bytes(array) => scalar::bytes(out, array.get(row)),
            Values::Date(days) => scalar::date(out, at(days, row)?.into()),
            Values::Time(millis) => scalar::time(out, at(millis, row)?.into()),
            Values::Timestamp {
                counts,
                per_second,
                instant,
            } => {
                scalar::timestamp(out, at(counts, row)?, *per_second, *instant);
            }
            nested => return nested.write_nested(row, out),
        }
        Ok(())
    }
}

impl Values<'_> {
    fn write_nested(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::List { offsets, element } => {
                let rows = index(at(offsets, row)?)?..index(at(offsets, row + 1)?)?;
                sequence(out, rows, |row, out| element.write(row, out))
            }
            Self::Vector { length, element } => {
                sequence(out, row * length..(row + 1) * length, |row, out| {
                    element.write(row, out)
                })
            }
            Self::Map {
                offsets,
                key,
                value,
            } => {
                let rows = index(at(offsets, row)?)?..index(at(offsets, row + 1)?)?;
                write_map(out, rows, key, value)
            }
            Self::Row(fields) => sequence(out, fields.iter(), |field: &Column<'_>, out| {
                field.write(row, out)
            }),
            Self::Variant { value, metadata } => {
                let json = variant::to_json(value.get(row), metadata.get(row))?;
                scalar::text(out, &json);
                Ok(())
            }
            _ => Err(Error::internal("scalar column taken for a nested one")),
        }
    }
}

/// `[..]` of what `write` appends for each item.
fn sequence<I: IntoIterator>(
    out: &mut Vec<u8>,
    items: I,
    write: impl Fn(I::Item, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    out.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out)?;
    }
    out.push(b']');
    Ok(())
}

/// Entries in the order of their keys' text.
fn write_map(
    out: &mut Vec<u8>,
    rows: std::ops::Range<usize>,
    key: &Column<'_>,
    value: &Column<'_>,
) -> Result<()> {
    let text = |row| {
        let mut text = Vec::new();
        key.write(row, &mut text).map(|()| (text, row))
    };
    let mut entries = rows.map(text).collect::<Result<Vec<_>>>()?;
    entries.sort();
    sequence(out, entries, |(key, row), out| {
        out.push(b'[');
        out.extend_from_slice(&key);
        out.push(b',');
        value.write(row, out)?;
        out.push(b']');
        Ok(())
    })
}

fn list<'a>(array: &'a dyn Array, element: &DataType) -> Result<Option<Values<'a>>> {
    let Some(list) = array.as_list_opt::<i32>() else {
        return Ok(None);
    };
    let element = Box::new(Column::new(list.values(), element)?);
    Ok(Some(Values::List {
        offsets: list.value_offsets(),
        element,
    }))
}

fn vector<'a>(array: &'a dyn Array, element: &DataType) -> Result<Option<Values<'a>>> {
    let Some(list) = array.as_fixed_size_list_opt() else {
        return Ok(None);
    };
    let element = Box::new(Column::new(list.values(), element)?);
    Ok(Some(Values::Vector {
        length: index(list.value_length())?,
        element,
    }))
}

fn map<'a>(array: &'a dyn Array, key: &DataType, value: &DataType) -> Result<Option<Values<'a>>> {
    let Some(map) = array.as_map_opt() else {
        return Ok(None);
    };
    let key = Box::new(Column::new(map.keys(), key)?);
    let value = Box::new(Column::new(map.values(), value)?);
    Ok(Some(Values::Map {
        offsets: map.value_offsets(),
        key,
        value,
    }))
}

fn scalar_values<'a>(array: &'a dyn Array, kind: &TypeKind) -> Option<Values<'a>> {
    Some(match kind {
        TypeKind::Boolean => Values::Boolean(array.as_boolean_opt()?),
        TypeKind::TinyInt => Values::Int8(array.as_primitive_opt::<Int8Type>()?),
        TypeKind::SmallInt => Values::Int16(array.as_primitive_opt::<Int16Type>()?),
        TypeKind::Int => Values::Int32(array.as_primitive_opt::<Int32Type>()?),
        TypeKind::BigInt => Values::Int64(array.as_primitive_opt::<Int64Type>()?),
        TypeKind::Float => Values::Float32(array.as_primitive_opt::<Float32Type>()?),
        TypeKind::Double => Values::Float64(array.as_primitive_opt::<Float64Type>()?),
        TypeKind::Decimal { scale, .. } => {
            Values::Decimal(array.as_primitive_opt::<Decimal128Type>()?, *scale)
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => Values::Text(Text::new(array)?),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob => {
            Values::Bytes(Bytes::new(array)?)
        }
        TypeKind::Geometry(_) | TypeKind::Geography { .. } => Values::Bytes(Bytes::new(array)?),
        TypeKind::Date => Values::Date(primitive::<Date32Type>(array)?),
        TypeKind::Time(_) => Values::Time(primitive::<Time32MillisecondType>(array)?),
        TypeKind::Timestamp(_) => timestamps(array, false)?,
        TypeKind::LocalZonedTimestamp(_) => timestamps(array, true)?,
        TypeKind::Variant => {
            let row = array.as_struct_opt()?;
            Values::Variant {
                value: Bytes::new(row.column_by_name("value")?)?,
                metadata: Bytes::new(row.column_by_name("metadata")?)?,
            }
        }
        _ => return None,
    })
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<&[T::Native]> {
    let array: &PrimitiveArray<T> = array.as_primitive_opt::<T>()?;
    Some(array.values())
}

fn timestamps(array: &dyn Array, instant: bool) -> Option<Values<'_>> {
    let ArrowType::Timestamp(unit, _) = array.data_type() else {
        return None;
    };
    let (counts, per_second) = match unit {
        TimeUnit::Second => (primitive::<TimestampSecondType>(array)?, 1),
        TimeUnit::Millisecond => (primitive::<TimestampMillisecondType>(array)?, 1_000),
        TimeUnit::Microsecond => (primitive::<TimestampMicrosecondType>(array)?, 1_000_000),
        TimeUnit::Nanosecond => (primitive::<TimestampNanosecondType>(array)?, 1_000_000_000),
    };
    Some(Values::Timestamp {
        counts,
        per_second,
        instant,
    })
}

fn at<T: Copy>(values: &[T], row: usize) -> Result<T> {
    values
        .get(row)
        .copied()
        .ok_or_else(|| Error::internal(format!("no row {row} in a column")))
}

fn index(offset: i32) -> Result<usize> {
    usize::try_from(offset).map_err(|_| Error::internal(format!("list offset is {offset}")))
}
