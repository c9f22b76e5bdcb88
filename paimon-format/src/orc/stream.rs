//! A stream of a column, inflated chunk by chunk as it is read.

use std::sync::Arc;

use bytes::Bytes;
use paimon_meta::{Error, Result};

use super::chunk::Inflater;

/// The parts of a stream that were fetched, each with its place in the stream; they ascend and do not touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(Arc<[(u64, Bytes)]>);

impl Parts {
    pub(super) fn new(parts: Vec<(u64, Bytes)>) -> Self {
        Self(parts.into())
    }

    /// What follows a place, up to the end of its part.
    fn from(&self, place: u64) -> Option<Bytes> {
        let behind = self.0.partition_point(|(start, _)| *start <= place);
        let (start, bytes) = self.0.get(behind.checked_sub(1)?)?;
        let skipped = usize::try_from(place - start).ok()?;
        (skipped <= bytes.len()).then(|| bytes.slice(skipped..))
    }
}

/// The bytes of a stream.
#[derive(Clone, Debug)]
pub(super) struct ByteStream {
    parts: Parts,
    /// What is not inflated yet, and where it begins in the stream.
    rest: Bytes,
    rest_place: u64,
    inflater: Inflater,
    window: Bytes,
    /// The place of the chunk that the window is, if it is one.
    window_place: Option<u64>,
    /// Bytes of the window that have been read.
    read: usize,
}

impl ByteStream {
    /// Begins with the first part.
    pub(super) fn new(parts: Parts, inflater: &Inflater) -> Self {
        let (rest_place, rest) = parts.0.first().cloned().unwrap_or_default();
        Self {
            parts,
            rest,
            rest_place,
            inflater: inflater.clone(),
            window: Bytes::new(),
            window_place: None,
            read: 0,
        }
    }

    /// Goes to a place: where its chunk begins, and how far into what that inflates to.
    ///
    /// # Errors
    /// `Corrupt` if there is no such place, and those of the chunk.
    pub(super) fn seek(&mut self, chunk: u64, byte: usize) -> Result<()> {
        if self.window_place != Some(chunk) {
            let rest = self.parts.from(chunk);
            self.rest = rest.ok_or_else(|| {
                Error::corrupt(format!("row index has place {chunk}, where no stream is"))
            })?;
            self.rest_place = chunk;
            self.window = Bytes::new();
            self.window_place = None;
        }
        self.read = 0;
        self.skip(byte)
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
            let before = self.rest.len();
            let Some(chunk) = self.inflater.next(&mut self.rest)? else {
                break;
            };
            let left = self.window.get(self.read..).unwrap_or_default();
            if left.is_empty() {
                self.window = chunk;
                self.window_place = Some(self.rest_place);
            } else {
                self.window = [left, chunk.as_ref()].concat().into();
                self.window_place = None;
            }
            self.rest_place += (before - self.rest.len()) as u64;
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
