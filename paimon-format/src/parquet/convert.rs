//! Values as they are stored, turned into the asked type. Facts: table-format sections 8.1 and 8.2.
//!
//! Most columns need nothing: the decoder is asked for the wanted Arrow type wherever it only has to lay bytes out
//! differently ([`hint`]). What is left is chosen once a column ([`Convert::choose`]) and applied to each batch. No
//! conversion wraps or cuts: a value that the asked type cannot hold is `Corrupt`.

mod decimal;
mod integer;
mod text;
mod time;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{Error, Result, TypeKind};
use parquet::schema::types::ColumnDescriptor;

use super::stored::{Described, Stored};

/// How the values of one leaf become values of the asked type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Convert {
    /// They are.
    Keep,
    /// Between signed widths.
    Integer,
    /// From unsigned 32 bits.
    Unsigned,
    /// Days stored as a plain integer.
    Date,
    /// Between float and double.
    Float,
    /// From integers or bytes, with this many digits added after the point, and checked against the precision or not.
    Decimal { scale_up: u32, check: bool },
    /// From bytes, which are checked to be UTF-8.
    Text,
    /// From text or from bytes of a fixed length.
    Bytes,
    /// From a count of this unit.
    Timestamp(TimeUnit),
    /// From INT96.
    Int96,
    /// From a count of this unit, to milliseconds of the day.
    Time(TimeUnit),
}

/// The Arrow type to ask the decoder for, so that nothing or little is left to convert; `inferred` is what it would
/// give by itself.
pub(super) fn hint(
    stored: Stored,
    inferred: &ArrowType,
    kind: &TypeKind,
    to: &ArrowType,
) -> ArrowType {
    use ArrowType::{
        Binary, BinaryView, Int32, Int64, LargeBinary, LargeUtf8, Time32, Timestamp, Utf8, Utf8View,
    };
    match (inferred, to) {
        (Int64, Timestamp(unit, _)) if timestamp_unit(stored, kind) == Some(*unit) => to.clone(),
        (Int32, Time32(TimeUnit::Millisecond)) => to.clone(),
        (Utf8, Utf8View | BinaryView) => Utf8View,
        (Utf8, LargeUtf8 | LargeBinary) => LargeUtf8,
        (Binary, Utf8View | BinaryView) => BinaryView,
        (Binary, LargeUtf8 | LargeBinary) => LargeBinary,
        _ => inferred.clone(),
    }
}

/// The unit of an INT64 that is read as a timestamp: that of its annotation (TF-084), else by the declared precision.
fn timestamp_unit(stored: Stored, kind: &TypeKind) -> Option<TimeUnit> {
    match (stored, kind) {
        (Stored::Timestamp(unit), _) => Some(unit),
        (
            Stored::Integer { .. },
            TypeKind::Timestamp(4..=6) | TypeKind::LocalZonedTimestamp(4..=6),
        ) => Some(TimeUnit::Microsecond),
        (Stored::Integer { .. }, TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_)) => {
            Some(TimeUnit::Millisecond)
        }
        _ => None,
    }
}

impl Convert {
    /// The conversion from what the decoder gives to the asked type, whose Arrow form is `to`.
    ///
    /// # Errors
    /// `Corrupt` if the stored type cannot hold values of the asked one.
    pub(super) fn choose(
        leaf: &ColumnDescriptor,
        decoded: &ArrowType,
        kind: &TypeKind,
        to: &ArrowType,
    ) -> Result<Self> {
        let stored = Stored::of(leaf);
        Self::between(stored, decoded, kind, to).ok_or_else(|| {
            Error::corrupt(format!(
                "stored as {}, which cannot be read as {to}",
                Described(leaf)
            ))
        })
    }

    fn between(
        stored: Stored,
        decoded: &ArrowType,
        kind: &TypeKind,
        to: &ArrowType,
    ) -> Option<Self> {
        let convert = Self::by_kind(stored, decoded, kind)?;
        // The bits of an unsigned integer are not its value.
        let kept = decoded == to && convert != Self::Unsigned;
        Some(if kept { Self::Keep } else { convert })
    }

    fn by_kind(stored: Stored, decoded: &ArrowType, kind: &TypeKind) -> Option<Self> {
        let wide = matches!(decoded, ArrowType::Int64);
        match (stored, kind) {
            (Stored::Boolean, TypeKind::Boolean)
            | (Stored::Text, TypeKind::Char(_) | TypeKind::VarChar(_))
            | (Stored::Bytes, TypeKind::Binary(_) | TypeKind::VarBinary(_)) => Some(Self::Keep),
            (Stored::Integer { signed: true }, _) if kind.integer_bits().is_some() => {
                Some(Self::Integer)
            }
            (Stored::Integer { signed: false }, _) if kind.integer_bits().is_some() && !wide => {
                Some(Self::Unsigned)
            }
            (Stored::Float, TypeKind::Float) | (Stored::Double, TypeKind::Double) => {
                Some(Self::Keep)
            }
            (Stored::Float, TypeKind::Double) | (Stored::Double, TypeKind::Float) => {
                Some(Self::Float)
            }
            (_, TypeKind::Decimal { precision, scale }) => {
                decimal::choose(stored, decoded, i32::from(*precision), i32::from(*scale))
            }
            (Stored::Bytes | Stored::Fixed, TypeKind::Char(_) | TypeKind::VarChar(_)) => {
                Some(Self::Text)
            }
            (Stored::Text | Stored::Fixed, TypeKind::Binary(_) | TypeKind::VarBinary(_)) => {
                Some(Self::Bytes)
            }
            (Stored::Integer { signed: true }, TypeKind::Date) if !wide => Some(Self::Date),
            (Stored::Integer { signed: true }, TypeKind::Time(_)) if !wide => {
                Some(Self::Time(TimeUnit::Millisecond))
            }
            (Stored::Time(unit), TypeKind::Time(_)) => Some(Self::Time(unit)),
            (Stored::Int96, TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_)) => {
                Some(Self::Int96)
            }
            (_, TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_))
                if !matches!(decoded, ArrowType::Int32) =>
            {
                timestamp_unit(stored, kind).map(Self::Timestamp)
            }
            _ => None,
        }
    }

    /// The values in the asked type.
    ///
    /// # Errors
    /// `Corrupt` for a value that the asked type cannot hold.
    pub(super) fn apply(self, array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
        match self {
            Self::Keep => Ok(Arc::clone(array)),
            Self::Integer => integer::signed(array, to),
            Self::Unsigned => integer::unsigned(array, to),
            Self::Date => integer::date(array),
            Self::Float => float(array, to),
            Self::Decimal { scale_up, check } => decimal::convert(array, to, scale_up, check),
            Self::Text => text::text(array, to),
            Self::Bytes => text::bytes(array, to),
            Self::Timestamp(unit) => time::timestamp(array, unit, to),
            Self::Int96 => time::int96(array, to),
            Self::Time(unit) => time::time_of_day(array, unit),
        }
    }
}

/// Float as double exactly, double as float by rounding to the nearest, as the reference does.
fn float(array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to the nearest float is the rule"
    )]
    let narrow = |value: f64| value as f32;
    match (array.data_type(), to) {
        (ArrowType::Float32, ArrowType::Float64) => {
            let widened: Float64Array = array.as_primitive::<Float32Type>().unary(f64::from);
            Ok(Arc::new(widened))
        }
        (ArrowType::Float64, ArrowType::Float32) => {
            let narrowed: Float32Array = array.as_primitive::<Float64Type>().unary(narrow);
            Ok(Arc::new(narrowed))
        }
        (from, to) => Err(unexpected(from, to)),
    }
}

/// The decoder gave another type than it was asked for.
fn unexpected(from: &ArrowType, to: &ArrowType) -> Error {
    Error::internal(format!("no conversion from {from} to {to}"))
}
