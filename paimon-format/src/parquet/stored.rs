//! What the values of a leaf column are, by its physical type and annotation. Facts: table-format section 8.2.

use std::fmt;

use arrow_schema::TimeUnit;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit as ParquetUnit, Type as PhysicalType};
use parquet::schema::types::ColumnDescriptor;

use super::schema::is_text;

/// The values of a leaf column as they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    Boolean,
    /// INT32 or INT64.
    Integer {
        signed: bool,
    },
    /// INT64 with a timestamp annotation; whether it is adjusted to UTC is of no interest.
    Timestamp(TimeUnit),
    /// INT32 (milliseconds) or INT64 with a time annotation.
    Time(TimeUnit),
    /// Nanoseconds of the day and Julian day, 12 bytes.
    Int96,
    Float,
    Double,
    /// INT32, INT64, or big-endian two's complement bytes.
    Decimal {
        precision: i32,
        scale: i32,
    },
    Text,
    Bytes,
    /// `FIXED_LEN_BYTE_ARRAY` without a decimal annotation.
    Fixed,
}

impl Stored {
    pub(super) fn of(leaf: &ColumnDescriptor) -> Self {
        let unit = annotated_unit(leaf);
        match leaf.physical_type() {
            PhysicalType::BOOLEAN => Self::Boolean,
            PhysicalType::FLOAT => Self::Float,
            PhysicalType::DOUBLE => Self::Double,
            PhysicalType::INT96 => Self::Int96,
            _ if is_decimal(leaf) => Self::Decimal {
                precision: leaf.type_precision(),
                scale: leaf.type_scale(),
            },
            PhysicalType::INT64 if is_timestamp(leaf) => {
                unit.map_or(Self::Integer { signed: true }, Self::Timestamp)
            }
            PhysicalType::INT64 | PhysicalType::INT32 => unit.map_or_else(
                || Self::Integer {
                    signed: !is_unsigned(leaf),
                },
                Self::Time,
            ),
            PhysicalType::BYTE_ARRAY if is_text(leaf.self_type()) => Self::Text,
            PhysicalType::BYTE_ARRAY => Self::Bytes,
            PhysicalType::FIXED_LEN_BYTE_ARRAY => Self::Fixed,
        }
    }
}

fn is_decimal(leaf: &ColumnDescriptor) -> bool {
    leaf.converted_type() == ConvertedType::DECIMAL
        || matches!(leaf.logical_type_ref(), Some(LogicalType::Decimal(_)))
}

fn is_timestamp(leaf: &ColumnDescriptor) -> bool {
    matches!(
        leaf.converted_type(),
        ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS
    ) || matches!(leaf.logical_type_ref(), Some(LogicalType::Timestamp(_)))
}

fn is_unsigned(leaf: &ColumnDescriptor) -> bool {
    matches!(
        leaf.converted_type(),
        ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64
    )
}

/// The unit of a time or timestamp annotation.
fn annotated_unit(leaf: &ColumnDescriptor) -> Option<TimeUnit> {
    let unit = match leaf.logical_type_ref() {
        Some(LogicalType::Timestamp(timestamp)) => Some(timestamp.unit),
        Some(LogicalType::Time(time)) => Some(time.unit),
        _ => None,
    };
    match (unit, leaf.converted_type()) {
        (Some(ParquetUnit::MILLIS), _) => Some(TimeUnit::Millisecond),
        (Some(ParquetUnit::MICROS), _) => Some(TimeUnit::Microsecond),
        (Some(ParquetUnit::NANOS), _) => Some(TimeUnit::Nanosecond),
        (None, ConvertedType::TIME_MILLIS | ConvertedType::TIMESTAMP_MILLIS) => {
            Some(TimeUnit::Millisecond)
        }
        (None, ConvertedType::TIME_MICROS | ConvertedType::TIMESTAMP_MICROS) => {
            Some(TimeUnit::Microsecond)
        }
        (None, _) => None,
    }
}

/// A leaf as error messages name it: physical type and annotation.
pub(super) struct Described<'a>(pub(super) &'a ColumnDescriptor);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.physical_type())?;
        match (self.0.logical_type_ref(), self.0.converted_type()) {
            (Some(logical), _) => write!(f, " ({logical:?})"),
            (None, ConvertedType::NONE) => Ok(()),
            (None, converted) => write!(f, " ({converted})"),
        }
    }
}
