//! Rows from values, byte for byte as the reference writes them.

use crate::binary_row::{BinaryRow, SLOT_BYTES, fixed_bytes, header_bytes};
use crate::error::{Error, Result};
use crate::types::{DataType, TypeKind};
use crate::value::Datum;

/// A row of kind `+I` with these values, equal in every byte to the reference's: what partitions are grouped by and
/// bucket hashes are made of. Null decimals and timestamps that live in blocks keep their block (TF-059).
///
/// # Errors
/// `InvalidInput` if there are not as many values as types or a value is not of its type, `Unsupported` for values of
/// types that are not [scalar](TypeKind::is_scalar).
pub fn encode_row(types: &[&DataType], values: &[Option<Datum>]) -> Result<BinaryRow> {
    let arity = types.len();
    if values.len() != arity {
        return Err(Error::invalid_input(format!(
            "row has {} values, expected {arity}",
            values.len()
        )));
    }
    let too_wide = || Error::invalid_input(format!("row has {arity} fields, too many"));
    let header = header_bytes(arity).ok_or_else(too_wide)?;
    let mut writer = RowWriter {
        header,
        row: vec![0; fixed_bytes(arity).ok_or_else(too_wide)?],
    };
    for (index, (data_type, value)) in types.iter().zip(values).enumerate() {
        match value {
            Some(value) => writer.write(index, &data_type.kind, value)?,
            None => writer.write_null(index, &data_type.kind)?,
        }
    }
    BinaryRow::from_parts(arity, &writer.row)
}

struct RowWriter {
    header: usize,
    row: Vec<u8>,
}

impl RowWriter {
    fn write_null(&mut self, index: usize, kind: &TypeKind) -> Result<()> {
        let bit = index + 8;
        if let Some(byte) = self.row.get_mut(bit / 8) {
            *byte |= 1 << (bit % 8);
        }
        match kind {
            TypeKind::Decimal {
                precision: 19.., ..
            } => self.block(index, 0, &[0; 16]),
            TypeKind::Timestamp(4..) | TypeKind::LocalZonedTimestamp(4..) => {
                self.block(index, 0, &[0; 8])
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, index: usize, kind: &TypeKind, value: &Datum) -> Result<()> {
        match (kind, value) {
            (TypeKind::Boolean, Datum::Boolean(value)) => self.slot(index, &[u8::from(*value)]),
            (TypeKind::TinyInt, Datum::TinyInt(value)) => self.slot(index, &value.to_le_bytes()),
            (TypeKind::SmallInt, Datum::SmallInt(value)) => self.slot(index, &value.to_le_bytes()),
            (TypeKind::Int, Datum::Int(value))
            | (TypeKind::Date, Datum::Date(value))
            | (TypeKind::Time(_), Datum::Time(value)) => self.slot(index, &value.to_le_bytes()),
            (TypeKind::BigInt, Datum::BigInt(value)) => self.slot(index, &value.to_le_bytes()),
            (TypeKind::Float, Datum::Float(value)) => self.slot(index, &value.to_le_bytes()),
            (TypeKind::Double, Datum::Double(value)) => self.slot(index, &value.to_le_bytes()),
            (TypeKind::Decimal { precision, scale }, Datum::Decimal(value, value_scale))
                if scale == value_scale =>
            {
                return self.decimal(index, *precision, *value);
            }
            (TypeKind::Char(_) | TypeKind::VarChar(_), Datum::String(value)) => {
                return self.bytes(index, value.as_bytes());
            }
            (
                TypeKind::Binary(_)
                | TypeKind::VarBinary(_)
                | TypeKind::Blob
                | TypeKind::Geometry(_)
                | TypeKind::Geography { .. },
                Datum::Binary(value),
            ) => return self.bytes(index, value),
            (
                TypeKind::Timestamp(precision) | TypeKind::LocalZonedTimestamp(precision),
                Datum::Timestamp { millis, nanos },
            ) => return self.timestamp(index, *precision, *millis, *nanos),
            (kind, _) if !kind.is_scalar() => {
                return Err(Error::unsupported(format!(
                    "{} values in metadata rows",
                    kind.clone().nullable()
                )));
            }
            (kind, value) => {
                return Err(Error::invalid_input(format!(
                    "value is {value}, expected {}",
                    kind.clone().nullable()
                )));
            }
        }
        Ok(())
    }

    fn decimal(&mut self, index: usize, precision: u8, value: i128) -> Result<()> {
        if value.unsigned_abs() >= 10u128.pow(u32::from(precision.min(38))) {
            return Err(Error::invalid_input(format!(
                "decimal {value} has more than {precision} digits"
            )));
        }
        if precision <= 18 {
            let [low @ .., _, _, _, _, _, _, _, _] = value.to_le_bytes();
            self.slot(index, &low);
            return Ok(());
        }
        // Minimal two's complement: leading bytes that only repeat the sign are left out.
        let bytes = value.to_be_bytes();
        let bits = 129
            - if value < 0 {
                value.leading_ones()
            } else {
                value.leading_zeros()
            };
        let length = bits.div_ceil(8);
        let mut block = [0; 16];
        for (to, from) in block
            .iter_mut()
            .zip(bytes.iter().skip(16 - length as usize))
        {
            *to = *from;
        }
        self.block(index, length, &block)
    }

    fn timestamp(&mut self, index: usize, precision: u8, millis: i64, nanos: i32) -> Result<()> {
        if precision <= 3 && nanos == 0 {
            self.slot(index, &millis.to_le_bytes());
            return Ok(());
        }
        match u32::try_from(nanos) {
            Ok(nanos @ ..1_000_000) if precision > 3 => {
                self.block(index, nanos, &millis.to_le_bytes())
            }
            _ => Err(Error::invalid_input(format!(
                "timestamp with {nanos} ns in a millisecond at precision {precision}"
            ))),
        }
    }

    /// Up to 7 bytes inside the slot with the length in the last byte, more in a block (TF-056).
    fn bytes(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        if let Ok(length @ ..8) = u8::try_from(bytes.len()) {
            self.slot(index, bytes);
            let last = self.header + index * SLOT_BYTES + SLOT_BYTES - 1;
            if let Some(byte) = self.row.get_mut(last) {
                *byte = 0x80 | length;
            }
            return Ok(());
        }
        let length = i32::try_from(bytes.len()).map_err(|_| {
            Error::invalid_input(format!(
                "value of {} bytes, too many for a row",
                bytes.len()
            ))
        })?;
        self.block(index, length.cast_unsigned(), bytes)
    }

    /// Appends a block padded to 8 bytes and points the slot at it.
    fn block(&mut self, index: usize, low: u32, bytes: &[u8]) -> Result<()> {
        let offset = i32::try_from(self.row.len()).map_err(|_| {
            Error::invalid_input(format!("row of {} bytes, too many", self.row.len()))
        })?;
        self.row.extend_from_slice(bytes);
        self.row.resize(self.row.len().next_multiple_of(8), 0);
        let slot = u64::from(offset.cast_unsigned()) << 32 | u64::from(low);
        self.slot(index, &slot.to_le_bytes());
        Ok(())
    }

    fn slot(&mut self, index: usize, bytes: &[u8]) {
        let slots = self.row.iter_mut().skip(self.header + index * SLOT_BYTES);
        for (to, from) in slots.zip(bytes) {
            *to = *from;
        }
    }
}
