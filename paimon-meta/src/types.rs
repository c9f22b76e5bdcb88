//! The type system of table schemas.
//!
//! [`DataType`] is a [`TypeKind`] and whether it may be null. Its text is read in `parse` and
//! written in `text`, its JSON form is in `json`, its Arrow form in `arrow`. Facts: table-format sections 2.2 and 8.1.

mod arrow;
mod json;
mod parse;
mod text;

#[cfg(test)]
mod tests;

use crate::schema::DataField;

pub use arrow::{StringLayout, arrow_field, arrow_schema};
pub use parse::parse_type;

/// Length of `STRING` and `BYTES`: no limit.
pub const MAX_LENGTH: u32 = i32::MAX as u32;

/// A type and whether it may be null. Serialises as in schema JSON (a string or an object).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataType {
    /// What the values are.
    pub kind: TypeKind,
    /// Whether a value may be null.
    pub nullable: bool,
}

/// What the values of a [`DataType`] are. Lengths count characters (`CHAR`, `VARCHAR`) or bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypeKind {
    /// True or false.
    Boolean,
    /// 8-bit signed integer.
    TinyInt,
    /// 16-bit signed integer.
    SmallInt,
    /// 32-bit signed integer.
    Int,
    /// 64-bit signed integer.
    BigInt,
    /// 32-bit IEEE float.
    Float,
    /// 64-bit IEEE float.
    Double,
    /// Exact decimal, precision 1 to 38, scale 0 to precision.
    Decimal {
        /// Number of digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// Text of a fixed length (stored as given, not padded).
    Char(u32),
    /// Text up to a length; `STRING` is the one of [`MAX_LENGTH`].
    VarChar(u32),
    /// Bytes of a fixed length.
    Binary(u32),
    /// Bytes up to a length; `BYTES` is the one of [`MAX_LENGTH`].
    VarBinary(u32),
    /// Days since 1970-01-01.
    Date,
    /// Milliseconds of the day, whatever the precision (0 to 9).
    Time(u8),
    /// Wall-clock date and time, precision 0 to 9.
    Timestamp(u8),
    /// Instant, precision 0 to 9 (`TIMESTAMP WITH LOCAL TIME ZONE`).
    LocalZonedTimestamp(u8),
    /// Semi-structured value.
    Variant,
    /// Large bytes, stored inline as a descriptor or in files of their own.
    Blob,
    /// Planar geometry with its coordinate reference system.
    Geometry(String),
    /// Geography with its coordinate reference system and edge algorithm.
    Geography {
        /// Coordinate reference system.
        crs: String,
        /// Edge interpolation algorithm.
        algorithm: String,
    },
    /// List of elements.
    Array(Box<DataType>),
    /// Fixed number of elements.
    Vector {
        /// Type of the elements.
        element: Box<DataType>,
        /// Number of elements.
        length: u32,
    },
    /// Bag: element to count.
    Multiset(Box<DataType>),
    /// Map, keys not null in data files.
    Map(Box<DataType>, Box<DataType>),
    /// Nested fields with ids of their own.
    Row(Vec<DataField>),
}

impl TypeKind {
    /// This kind, nullable.
    pub fn nullable(self) -> DataType {
        DataType {
            kind: self,
            nullable: true,
        }
    }

    /// This kind, not null.
    pub fn not_null(self) -> DataType {
        DataType {
            kind: self,
            nullable: false,
        }
    }

    /// Whether values are single: no array, map, row, vector or variant.
    pub fn is_scalar(&self) -> bool {
        !matches!(
            self,
            Self::Array(_)
                | Self::Vector { .. }
                | Self::Multiset(_)
                | Self::Map(..)
                | Self::Row(_)
                | Self::Variant
        )
    }

    /// `CHAR` or `VARCHAR`.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Char(_) | Self::VarChar(_))
    }

    /// `BINARY` or `VARBINARY`.
    pub fn is_bytes(&self) -> bool {
        matches!(self, Self::Binary(_) | Self::VarBinary(_))
    }

    /// The bits of an integer type, `None` for others.
    pub fn integer_bits(&self) -> Option<u8> {
        match self {
            Self::TinyInt => Some(8),
            Self::SmallInt => Some(16),
            Self::Int => Some(32),
            Self::BigInt => Some(64),
            _ => None,
        }
    }
}

impl DataType {
    /// Whether both are the same type when nullability, at this level only, is ignored.
    pub fn same_kind(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}
