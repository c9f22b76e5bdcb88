//! Rows from values, byte for byte as the reference writes them.

use crate::binary_row::{BinaryRow, SLOT_BYTES, array_header_bytes, fixed_bytes, header_bytes};
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
    let mut writer = RowWriter::new(arity)?;
    for (index, (data_type, value)) in types.iter().zip(values).enumerate() {
        match value {
            Some(value) => writer.write(index, &data_type.kind, value)?,
            None => writer.write_null(index, &data_type.kind)?,
        }
    }
    BinaryRow::from_parts(arity, &writer.row)
}

/// A row, or an array of slots, while it is written: fields in their order.
pub(crate) struct RowWriter {
    header: usize,
    row: Vec<u8>,
}

impl RowWriter {
    /// # Errors
    /// `InvalidInput` for more fields than a row holds.
    pub(crate) fn new(arity: usize) -> Result<Self> {
        let too_wide = || Error::invalid_input(format!("row has {arity} fields, too many"));
        Ok(Self {
            header: header_bytes(arity).ok_or_else(too_wide)?,
            row: vec![0; fixed_bytes(arity).ok_or_else(too_wide)?],
        })
    }

    /// An array of so many items of 8 bytes: their number, a bit for each that is null, the items.
    ///
    /// # Errors
    /// `InvalidInput` for more items than an array holds.
    pub(crate) fn array(length: usize) -> Result<Self> {
        let too_long = || Error::invalid_input(format!("array of {length} items, too many"));
        let number = i32::try_from(length).map_err(|_| too_long())?;
        let header = array_header_bytes(length);
        let bytes = length
            .checked_mul(SLOT_BYTES)
            .and_then(|items| items.checked_add(header)?.checked_next_multiple_of(8))
            .ok_or_else(too_long)?;
        let mut row = vec![0; bytes];
        for (to, from) in row.iter_mut().zip(number.to_le_bytes()) {
            *to = from;
        }
        Ok(Self { header, row })
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.row
    }

    fn set_bit(&mut self, bit: usize) {
        if let Some(byte) = self.row.get_mut(bit / 8) {
            *byte |= 1 << (bit % 8);
        }
    }

    /// Makes an item of an array null.
    pub(crate) fn null_item(&mut self, index: usize) {
        self.set_bit(index + 32);
    }

    /// A field that is null, or what `write` makes of it.
    pub(crate) fn optional<T>(
        &mut self,
        index: usize,
        value: Option<T>,
        write: impl FnOnce(&mut Self, usize, T) -> Result<()>,
    ) -> Result<()> {
        match value {
            Some(value) => write(self, index, value),
            None => {
                self.set_bit(index + 8);
                Ok(())
            }
        }
    }

    pub(crate) fn byte(&mut self, index: usize, value: u8) {
        self.slot(index, &[value]);
    }

    pub(crate) fn int(&mut self, index: usize, value: i32) {
        self.slot(index, &value.to_le_bytes());
    }

    pub(crate) fn long(&mut self, index: usize, value: i64) {
        self.slot(index, &value.to_le_bytes());
    }

    /// Text or bytes.
    ///
    /// # Errors
    /// `InvalidInput` for more bytes than a row holds.
    pub(crate) fn blob(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        self.bytes(index, bytes)
    }

    /// A row or array inside this one.
    ///
    /// # Errors
    /// `InvalidInput` for more bytes than a row holds.
    pub(crate) fn part(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        self.block(index, length_of(bytes)?, bytes)
    }

    fn write_null(&mut self, index: usize, kind: &TypeKind) -> Result<()> {
        self.set_bit(index + 8);
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
        self.block(index, length_of(bytes)?, bytes)
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

/// A length as a slot holds it.
fn length_of(bytes: &[u8]) -> Result<u32> {
    i32::try_from(bytes.len())
        .map(i32::cast_unsigned)
        .map_err(|_| {
            Error::invalid_input(format!(
                "value of {} bytes, too many for a row",
                bytes.len()
            ))
        })
}
