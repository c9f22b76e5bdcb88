//! Reading what Java's `DataOutput` wrote. Every length is checked against the bytes that are there.

use crate::binary_row::BinaryRow;
use crate::error::{Error, Result};

pub(super) struct Input<'a> {
    left: &'a [u8],
    length: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            left: bytes,
            length: bytes.len(),
        }
    }

    /// # Errors
    /// `Corrupt` if bytes are left.
    pub(super) fn end(&self) -> Result<()> {
        match self.left.len() {
            0 => Ok(()),
            left => Err(Error::corrupt(format!("{left} bytes behind the split"))),
        }
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8]> {
        let Some((bytes, left)) = self.left.split_at_checked(length) else {
            let at = self.length - self.left.len();
            return Err(Error::corrupt(format!(
                "split takes {length} bytes at {at}, expected to end in {} bytes",
                self.length
            )));
        };
        self.left = left;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.bytes(N)?;
        Ok(bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn boolean(&mut self) -> Result<bool> {
        Ok(self.byte()? != 0)
    }

    pub(super) fn short(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn int(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    pub(super) fn long(&mut self) -> Result<i64> {
        self.array().map(i64::from_be_bytes)
    }

    pub(super) fn unsigned(&mut self, what: &str) -> Result<u64> {
        let value = self.long()?;
        u64::try_from(value).map_err(|_| Error::corrupt(format!("{what} is {value}")))
    }

    /// A number of bytes.
    pub(super) fn size(&mut self) -> Result<usize> {
        let size = self.int()?;
        usize::try_from(size).map_err(|_| Error::corrupt(format!("{size} bytes")))
    }

    /// A number of items, each of so many bytes at least: no list can be longer than what is there.
    pub(super) fn count(&mut self, least_bytes: usize) -> Result<usize> {
        let count = self.int()?;
        let most = self.left.len() / least_bytes;
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= most)
            .ok_or_else(|| {
                let left = self.left.len();
                Error::corrupt(format!("a list of {count} items in {left} bytes"))
            })
    }

    /// A row with its arity in front.
    pub(super) fn row(&mut self) -> Result<BinaryRow> {
        let size = self.size()?;
        BinaryRow::from_serialized(self.bytes(size)?.to_vec())
    }

    /// Text in Java's modified UTF-8: code units of UTF-16 in up to three bytes each.
    pub(super) fn utf(&mut self) -> Result<String> {
        let length = self.short()?;
        let mut bytes = self.bytes(length.into())?.iter().copied();
        let mut units = Vec::with_capacity(length.into());
        let wrong = || Error::corrupt("text is not in modified UTF-8");
        let more = |bytes: &mut dyn Iterator<Item = u8>| match bytes.next() {
            Some(byte @ 0x80..=0xbf) => Ok(u16::from(byte & 0x3f)),
            _ => Err(wrong()),
        };
        while let Some(first) = bytes.next() {
            units.push(match first {
                0x00..=0x7f => first.into(),
                0xc0..=0xdf => u16::from(first & 0x1f) << 6 | more(&mut bytes)?,
                0xe0..=0xef => {
                    let high = u16::from(first & 0x0f) << 12;
                    high | more(&mut bytes)? << 6 | more(&mut bytes)?
                }
                _ => return Err(wrong()),
            });
        }
        String::from_utf16(&units).map_err(|error| wrong().with_source(error))
    }
}
