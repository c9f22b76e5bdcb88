//! Writing what Java's `DataInput` reads.

use crate::binary_row::BinaryRow;
use crate::error::{Error, Result};

#[derive(Default)]
pub(super) struct Output(Vec<u8>);

impl Output {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn boolean(&mut self, value: bool) {
        self.byte(value.into());
    }

    pub(super) fn short(&mut self, value: u16) {
        self.bytes(&value.to_be_bytes());
    }

    pub(super) fn int(&mut self, value: i32) {
        self.bytes(&value.to_be_bytes());
    }

    pub(super) fn long(&mut self, value: i64) {
        self.bytes(&value.to_be_bytes());
    }

    /// # Errors
    /// `InvalidInput` for a number above 63 bits.
    pub(super) fn unsigned(&mut self, value: u64) -> Result<()> {
        self.long(signed(value)?);
        Ok(())
    }

    /// # Errors
    /// `InvalidInput` for a size above 31 bits.
    pub(super) fn size(&mut self, size: usize) -> Result<()> {
        let size = i32::try_from(size)
            .map_err(|_| Error::invalid_input(format!("{size} is too much for a split")))?;
        self.int(size);
        Ok(())
    }

    /// A row with its arity in front.
    pub(super) fn row(&mut self, row: &BinaryRow) -> Result<()> {
        let bytes = row.as_serialized();
        self.size(bytes.len())?;
        self.bytes(bytes);
        Ok(())
    }

    /// Text in Java's modified UTF-8.
    ///
    /// # Errors
    /// `InvalidInput` for more bytes than 65535.
    pub(super) fn utf(&mut self, text: &str) -> Result<()> {
        let mut bytes = Vec::with_capacity(text.len());
        for unit in text.encode_utf16() {
            let [high, low] = unit.to_be_bytes();
            let (first, second) = (high >> 4, (high & 0x0f) << 2 | low >> 6);
            match unit {
                0x01..=0x7f => bytes.push(low),
                0x00 | 0x80..=0x7ff => bytes.extend([0xc0 | second, 0x80 | low & 0x3f]),
                _ => bytes.extend([0xe0 | first, 0x80 | second, 0x80 | low & 0x3f]),
            }
        }
        let length = u16::try_from(bytes.len()).map_err(|_| {
            Error::invalid_input(format!("text of {} bytes in a split", bytes.len()))
        })?;
        self.short(length);
        self.bytes(&bytes);
        Ok(())
    }
}

/// # Errors
/// `InvalidInput` for a number above 63 bits.
pub(super) fn signed(value: u64) -> Result<i64> {
    i64::try_from(value)
        .map_err(|_| Error::invalid_input(format!("{value} is too much for a split")))
}
