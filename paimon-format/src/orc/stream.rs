//! A stream of a column, inflated chunk by chunk as it is read.

use bytes::Bytes;
use paimon_meta::{Error, Result};

use super::chunk::Inflater;

/// The bytes of a stream.
#[derive(Clone, Debug)]
pub(super) struct ByteStream {
    /// What is not inflated yet.
    rest: Bytes,
    inflater: Inflater,
    window: Bytes,
    /// Bytes of the window that have been read.
    read: usize,
}

impl ByteStream {
    pub(super) fn new(bytes: Bytes, inflater: &Inflater) -> Self {
        Self {
            rest: bytes,
            inflater: inflater.clone(),
            window: Bytes::new(),
            read: 0,
        }
    }

    /// The bytes that come next: at least `wanted` of them, or all that are left.
    ///
    /// # Errors
    /// Of the chunks.
    #[inline]
    pub(super) fn peek(&mut self, wanted: usize) -> Result<&[u8]> {
        if self.window.len() - self.read < wanted {
            self.fill(wanted)?;
        }
        Ok(self.window.get(self.read..).unwrap_or_default())
    }

    /// Steps over bytes that were peeked at.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.read = (self.read + bytes).min(self.window.len());
    }

    fn fill(&mut self, wanted: usize) -> Result<()> {
        while self.window.len() - self.read < wanted {
            let Some(chunk) = self.inflater.next(&mut self.rest)? else {
                break;
            };
            let left = self.window.get(self.read..).unwrap_or_default();
            self.window = if left.is_empty() {
                chunk
            } else {
                [left, chunk.as_ref()].concat().into()
            };
            self.read = 0;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8> {
        let byte = self.peek(1)?.first().copied();
        self.advance(1);
        byte.ok_or_else(ends)
    }

    /// The next `length` bytes; a slice where they lie in one chunk.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub(super) fn take(&mut self, length: usize) -> Result<Bytes> {
        let inside = |stream: &Self| {
            let end = stream.read.checked_add(length)?;
            (end <= stream.window.len()).then_some(stream.read..end)
        };
        if inside(self).is_none() {
            self.fill(1)?;
        }
        if let Some(range) = inside(self) {
            self.read = range.end;
            return Ok(self.window.slice(range));
        }
        let mut taken = Vec::new();
        while taken.len() < length {
            let left = length - taken.len();
            let bytes = self.peek(1)?;
            let bytes = bytes.get(..left.min(bytes.len())).unwrap_or_default();
            if bytes.is_empty() {
                return Err(ends());
            }
            taken.extend_from_slice(bytes);
            let step = bytes.len();
            self.advance(step);
        }
        Ok(taken.into())
    }

    /// Steps over bytes.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub(super) fn skip(&mut self, mut length: usize) -> Result<()> {
        while length > 0 {
            let step = self.peek(1)?.len().min(length);
            if step == 0 {
                return Err(ends());
            }
            self.advance(step);
            length -= step;
        }
        Ok(())
    }
}

#[cold]
pub(super) fn ends() -> Error {
    Error::corrupt("stream ends before its last value")
}
