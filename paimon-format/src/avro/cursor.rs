//! Reading the primitive values of Avro.

use paimon_meta::{Error, Result};

/// What is left to read of some bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// A zigzag varint of up to 64 bits.
    #[inline]
    pub(super) fn long(&mut self) -> Result<i64> {
        let raw = match self.rest.split_first() {
            Some((byte, rest)) if byte & 0x80 == 0 => {
                self.rest = rest;
                u64::from(*byte)
            }
            _ => self.long_varint()?,
        };
        Ok((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    fn long_varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for (index, byte) in self.rest.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.rest = self.rest.get(index + 1..).unwrap_or_default();
                return Ok(value);
            }
        }
        if self.rest.len() < 10 {
            return Err(ends());
        }
        Err(Error::corrupt("number of more than 64 bits"))
    }

    /// A zigzag varint of up to 32 bits.
    #[inline]
    pub(super) fn int(&mut self) -> Result<i32> {
        let value = self.long()?;
        i32::try_from(value)
            .map_err(|_| Error::corrupt(format!("int is {value}, which has more than 32 bits")))
    }

    #[inline]
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or_else(ends)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// The next `N` bytes.
    #[inline]
    pub(super) fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(ends)?;
        self.rest = rest;
        Ok(*bytes)
    }

    /// Bytes behind their length.
    #[inline]
    pub(super) fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.long()?;
        let bytes = usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.split_at_checked(length));
        let (bytes, rest) = bytes.ok_or_else(|| {
            let left = self.rest.len();
            Error::corrupt(format!("value of {length} bytes, {left} are left"))
        })?;
        self.rest = rest;
        Ok(bytes)
    }

    #[inline]
    pub(super) fn boolean(&mut self) -> Result<bool> {
        match self.fixed()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(Error::corrupt(format!(
                "boolean is {other}, expected 0 or 1"
            ))),
        }
    }

    /// The items in the next block of an array or map, 0 at its end. Each takes `least` bytes or more.
    #[inline]
    pub(super) fn block(&mut self, least: usize) -> Result<usize> {
        let count = self.long()?;
        if count < 0 {
            self.long()?;
        }
        let most = self.rest.len() / least.max(1);
        usize::try_from(count.unsigned_abs())
            .ok()
            .filter(|count| *count <= most)
            .ok_or_else(|| {
                let left = self.rest.len();
                Error::corrupt(format!("block of {count} items in {left} bytes"))
            })
    }
}

#[cold]
fn ends() -> Error {
    Error::corrupt("record goes on behind the end of its block")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_zigzag() {
        let read = |bytes: &[u8]| Cursor::new(bytes).long();
        assert_eq!(read(&[0]).unwrap(), 0);
        assert_eq!(read(&[1]).unwrap(), -1);
        assert_eq!(read(&[0x80, 0x01]).unwrap(), 64);
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(read(&most).unwrap(), i64::MIN);
        assert!(read(&[0x80]).is_err());
        assert!(read(&[0x80; 11]).is_err());
    }

    #[test]
    fn lengths_are_compared_with_what_is_left() {
        let error = Cursor::new(&[0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 2])
            .bytes()
            .unwrap_err();
        assert_eq!(error.message(), "value of 2147483647 bytes, 2 are left");
        assert!(Cursor::new(&[1]).bytes().is_err());
        assert!(Cursor::new(&[0xfe, 0x0f, 1, 2]).block(1).is_err());
    }
}
