//! Types as Arrow hands them out. Facts: table-format section 8.1.
//!
//! ```text
//! CHAR, VARCHAR       text by StringLayout            TIMESTAMP(0), (1..3), (4..6), (7..9)   s, ms, µs, ns, no zone
//! BINARY, BLOB, GEO…  bytes by StringLayout           TIMESTAMP … WITH LOCAL TIME ZONE       the same, zone "UTC"
//! ARRAY               list of "element"               TIME                                   milliseconds
//! MAP, MULTISET       map of "entries" {"key", "value"}; the value of a multiset is its count
//! VECTOR              fixed-size list of "element"    VARIANT      struct {"value", "metadata"} of bytes
//! ```

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, Fields, Schema, TimeUnit};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Frame, Result, ResultExt};
use crate::schema::{DataField, FieldId};
use crate::types::parse::vector_of;
use crate::types::{DataType, MAX_LENGTH, TypeKind};

/// Metadata key of a field's id, as the reference and Parquet name it.
const FIELD_ID: &str = "PARQUET:field_id";

/// How text and bytes are laid out in Arrow arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StringLayout {
    /// `Utf8View`, `BinaryView`: no copy at decode or gather.
    #[default]
    View,
    /// `Utf8`, `Binary`.
    Offset32,
    /// `LargeUtf8`, `LargeBinary`.
    Offset64,
}

impl StringLayout {
    /// The Arrow type of text.
    pub fn text(self) -> ArrowType {
        match self {
            Self::View => ArrowType::Utf8View,
            Self::Offset32 => ArrowType::Utf8,
            Self::Offset64 => ArrowType::LargeUtf8,
        }
    }

    /// The Arrow type of bytes.
    pub fn bytes(self) -> ArrowType {
        match self {
            Self::View => ArrowType::BinaryView,
            Self::Offset32 => ArrowType::Binary,
            Self::Offset64 => ArrowType::LargeBinary,
        }
    }
}

/// The Arrow field of a column; its metadata has the field id as `PARQUET:field_id`.
///
/// # Errors
/// `Unsupported` for a type that Arrow cannot hold: a scale above 127, a vector longer than 2^31-1.
pub fn arrow_field(field: &DataField, strings: StringLayout) -> Result<Field> {
    let data_type = field
        .data_type
        .to_arrow(strings)
        .at(|| Frame::Column(field.name.clone()))?;
    let id = (FIELD_ID.to_owned(), field.id.to_string());
    Ok(Field::new(&field.name, data_type, field.data_type.nullable).with_metadata([id].into()))
}

/// The Arrow schema of columns.
///
/// # Errors
/// As [`arrow_field`].
pub fn arrow_schema<'a>(
    fields: impl IntoIterator<Item = &'a DataField>,
    strings: StringLayout,
) -> Result<Schema> {
    fields
        .into_iter()
        .map(|field| arrow_field(field, strings))
        .collect::<Result<Vec<_>>>()
        .map(Schema::new)
}

impl DataType {
    /// The Arrow type of the values.
    ///
    /// # Errors
    /// As [`arrow_field`].
    pub fn to_arrow(&self, strings: StringLayout) -> Result<ArrowType> {
        Ok(match &self.kind {
            TypeKind::Boolean => ArrowType::Boolean,
            TypeKind::TinyInt => ArrowType::Int8,
            TypeKind::SmallInt => ArrowType::Int16,
            TypeKind::Int => ArrowType::Int32,
            TypeKind::BigInt => ArrowType::Int64,
            TypeKind::Float => ArrowType::Float32,
            TypeKind::Double => ArrowType::Float64,
            TypeKind::Decimal { precision, scale } => {
                let scale = i8::try_from(*scale).map_err(|_| self.beyond_arrow())?;
                ArrowType::Decimal128(*precision, scale)
            }
            TypeKind::Char(_) | TypeKind::VarChar(_) => strings.text(),
            TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob => strings.bytes(),
            TypeKind::Geometry(_) | TypeKind::Geography { .. } => strings.bytes(),
            TypeKind::Date => ArrowType::Date32,
            TypeKind::Time(_) => ArrowType::Time32(TimeUnit::Millisecond),
            TypeKind::Timestamp(precision) => ArrowType::Timestamp(unit_of(*precision), None),
            TypeKind::LocalZonedTimestamp(precision) => {
                ArrowType::Timestamp(unit_of(*precision), Some(Arc::from("UTC")))
            }
            TypeKind::Variant => {
                let child = |name| Field::new(name, strings.bytes(), false);
                ArrowType::Struct(Fields::from(vec![child("value"), child("metadata")]))
            }
            TypeKind::Array(element) => {
                ArrowType::List(Arc::new(child("element", element, strings)?))
            }
            TypeKind::Vector { element, length } => {
                let length = i32::try_from(*length).map_err(|_| self.beyond_arrow())?;
                ArrowType::FixedSizeList(Arc::new(child("element", element, strings)?), length)
            }
            TypeKind::Multiset(element) => map_of(
                child("key", element, strings)?,
                Field::new("value", ArrowType::Int32, false),
            ),
            TypeKind::Map(key, value) => {
                map_of(child("key", key, strings)?, child("value", value, strings)?)
            }
            TypeKind::Row(fields) => {
                let fields = fields.iter().map(|field| arrow_field(field, strings));
                ArrowType::Struct(fields.collect::<Result<_>>()?)
            }
        })
    }

    /// The type of an Arrow field, where only one comes into question: text is `STRING` and bytes are `BYTES`,
    /// timestamps have the precision of their unit, the fields of a struct need ids as [`arrow_field`] gives them.
    ///
    /// # Errors
    /// `Unsupported` for all other Arrow types.
    pub fn from_arrow(field: &Field) -> Result<Self> {
        let unknown = || {
            let (found, name) = (field.data_type(), field.name());
            Error::unsupported(format!("arrow type {found} of field {name}"))
        };
        let kind = match field.data_type() {
            ArrowType::List(element) | ArrowType::LargeList(element) => {
                TypeKind::Array(Box::new(Self::from_arrow(element)?))
            }
            ArrowType::FixedSizeList(element, length) => {
                let length = u32::try_from(*length).map_err(|_| unknown())?;
                vector_of(Self::from_arrow(element)?, length).map_err(|_| unknown())?
            }
            ArrowType::Map(entries, _) => match entries.data_type() {
                ArrowType::Struct(entry) if entry.len() == 2 => {
                    let mut types = entry
                        .iter()
                        .map(|field| Self::from_arrow(field).map(Box::new));
                    let (key, value) = (
                        types.next().ok_or_else(unknown)??,
                        types.next().ok_or_else(unknown)??,
                    );
                    TypeKind::Map(key, value)
                }
                _ => return Err(unknown()),
            },
            ArrowType::Struct(fields) => {
                let fields = fields.iter().map(|field| DataField::from_arrow(field));
                TypeKind::Row(fields.collect::<Result<_>>()?)
            }
            scalar => scalar_of(scalar).ok_or_else(unknown)?,
        };
        Ok(Self {
            kind,
            nullable: field.is_nullable(),
        })
    }

    fn beyond_arrow(&self) -> Error {
        Error::unsupported(format!("type {self} in arrow"))
    }
}

impl DataField {
    /// The field of an Arrow field with the id in its metadata; see [`DataType::from_arrow`].
    ///
    /// # Errors
    /// As [`DataType::from_arrow`], and `Unsupported` for a field without id.
    pub fn from_arrow(field: &Field) -> Result<Self> {
        let id = field
            .metadata()
            .get(FIELD_ID)
            .and_then(|id| id.parse().ok());
        let id = id.ok_or_else(|| {
            Error::unsupported(format!("arrow field {} without a field id", field.name()))
        })?;
        Ok(Self {
            id: FieldId(id),
            name: field.name().clone(),
            data_type: DataType::from_arrow(field)?,
            description: None,
            default_value: None,
        })
    }
}

fn child(name: &str, data_type: &DataType, strings: StringLayout) -> Result<Field> {
    Ok(Field::new(
        name,
        data_type.to_arrow(strings)?,
        data_type.nullable,
    ))
}

fn scalar_of(data_type: &ArrowType) -> Option<TypeKind> {
    Some(match data_type {
        ArrowType::Boolean => TypeKind::Boolean,
        ArrowType::Int8 => TypeKind::TinyInt,
        ArrowType::Int16 => TypeKind::SmallInt,
        ArrowType::Int32 => TypeKind::Int,
        ArrowType::Int64 => TypeKind::BigInt,
        ArrowType::Float32 => TypeKind::Float,
        ArrowType::Float64 => TypeKind::Double,
        ArrowType::Decimal128(precision @ 1..=38, scale) => {
            let scale = u8::try_from(*scale)
                .ok()
                .filter(|scale| scale <= precision)?;
            TypeKind::Decimal {
                precision: *precision,
                scale,
            }
        }
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => {
            TypeKind::VarChar(MAX_LENGTH)
        }
        ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView => {
            TypeKind::VarBinary(MAX_LENGTH)
        }
        ArrowType::Date32 => TypeKind::Date,
        ArrowType::Time32(TimeUnit::Second) => TypeKind::Time(0),
        ArrowType::Time32(TimeUnit::Millisecond) => TypeKind::Time(3),
        ArrowType::Timestamp(unit, None) => TypeKind::Timestamp(precision_of(*unit)),
        ArrowType::Timestamp(unit, Some(_)) => TypeKind::LocalZonedTimestamp(precision_of(*unit)),
        _ => return None,
    })
}

/// Keys of Arrow maps are never null.
fn map_of(key: Field, value: Field) -> ArrowType {
    let entry = ArrowType::Struct(Fields::from(vec![key.with_nullable(false), value]));
    ArrowType::Map(Arc::new(Field::new("entries", entry, false)), false)
}

fn unit_of(precision: u8) -> TimeUnit {
    match precision {
        0 => TimeUnit::Second,
        1..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

fn precision_of(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}
