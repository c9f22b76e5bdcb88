//! Bytes and bits in runs, and which positions have a value.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use paimon_meta::Result;

use super::row_index::Place;
use super::stream::{ByteStream, ends};

/// Longest run of bytes with its head.
const LONGEST: usize = 129;

/// Runs of bytes: a byte many times, or many bytes.
#[derive(Clone, Debug)]
pub(super) struct ByteRuns {
    stream: ByteStream,
    /// Bytes of the current run that are left.
    left: usize,
    /// The byte that is repeated; `None` where each is stored.
    repeated: Option<u8>,
}

impl ByteRuns {
    pub(super) fn new(stream: ByteStream) -> Self {
        Self {
            stream,
            left: 0,
            repeated: None,
        }
    }

    /// Goes to where a group of rows begins.
    ///
    /// # Errors
    /// `Corrupt` if there is no such place.
    pub(super) fn seek(&mut self, place: Place) -> Result<()> {
        self.stream.seek(place.chunk, place.byte)?;
        self.left = 0;
        self.skip(place.before[0])
    }

    /// Begins a run if there is none.
    #[inline]
    fn begin(&mut self) -> Result<()> {
        if self.left > 0 {
            return Ok(());
        }
        let head = self.stream.byte()?;
        if head < 0x80 {
            self.left = usize::from(head) + 3;
            self.repeated = Some(self.stream.byte()?);
        } else {
            self.left = 256 - usize::from(head);
            self.repeated = None;
        }
        Ok(())
    }

    /// A byte, and how often it comes at least; at most `most` of them are taken.
    #[inline]
    fn some(&mut self, most: usize) -> Result<(u8, usize)> {
        self.begin()?;
        match self.repeated {
            Some(byte) => {
                let count = self.left.min(most);
                self.left -= count;
                Ok((byte, count))
            }
            None => {
                self.left -= 1;
                Ok((self.stream.byte()?, 1))
            }
        }
    }

    /// Appends bytes as signed numbers.
    pub(super) fn read(&mut self, mut count: usize, into: &mut Vec<i64>) -> Result<()> {
        while count > 0 {
            self.begin()?;
            let step = self.left.min(count);
            match self.repeated {
                Some(byte) => {
                    let value = i64::from(byte.cast_signed());
                    into.resize(into.len() + step, value);
                }
                None => {
                    let bytes = self.stream.peek(LONGEST)?.get(..step).ok_or_else(ends)?;
                    into.extend(bytes.iter().map(|byte| i64::from(byte.cast_signed())));
                    self.stream.advance(step);
                }
            }
            self.left -= step;
            count -= step;
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, mut count: usize) -> Result<()> {
        while count > 0 {
            self.begin()?;
            let step = self.left.min(count);
            if self.repeated.is_none() {
                self.stream.skip(step)?;
            }
            self.left -= step;
            count -= step;
        }
        Ok(())
    }
}

/// Bits, eight in a byte of [`ByteRuns`], the first one the highest.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    bytes: ByteRuns,
    /// The byte that is being read, its first bit the lowest, and how many of its bits are left.
    current: u8,
    left: usize,
}

impl Bits {
    pub(super) fn new(stream: ByteStream) -> Self {
        Self {
            bytes: ByteRuns::new(stream),
            current: 0,
            left: 0,
        }
    }

    /// As [`ByteRuns::seek`].
    pub(super) fn seek(&mut self, place: Place) -> Result<()> {
        self.bytes.seek(place)?;
        self.left = 0;
        self.read(place.before[1]).map(drop)
    }

    /// The next bits.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub(super) fn read(&mut self, count: usize) -> Result<BooleanBuffer> {
        let mut bits = BooleanBufferBuilder::new(0);
        while bits.len() < count {
            let wanted = count - bits.len();
            if self.left > 0 {
                let step = self.left.min(wanted);
                bits.append_word(u64::from(self.current), step);
                self.current = self
                    .current
                    .checked_shr(u32::try_from(step).unwrap_or(8))
                    .unwrap_or(0);
                self.left -= step;
                continue;
            }
            let (byte, times) = self.bytes.some((wanted / 8).max(1))?;
            let byte = byte.reverse_bits();
            match byte {
                0 | 0xff if wanted >= 8 => bits.append_n(8 * times, byte != 0),
                _ if wanted >= 8 => {
                    (0..times).for_each(|_| bits.append_word(u64::from(byte), 8));
                }
                _ => (self.current, self.left) = (byte, 8),
            }
        }
        Ok(bits.finish())
    }
}

/// Which of some positions have a value.
#[derive(Clone, Debug)]
pub(super) enum Present {
    /// All of so many.
    All(usize),
    /// Those whose bit is set, so many of them.
    Some(BooleanBuffer, usize),
}

impl Present {
    fn of(bits: BooleanBuffer) -> Self {
        let count = bits.count_set_bits();
        if count == bits.len() {
            Self::All(count)
        } else {
            Self::Some(bits, count)
        }
    }

    /// Number of positions.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(bits, _) => bits.len(),
        }
    }

    /// Number of values.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::All(count) | Self::Some(_, count) => *count,
        }
    }

    /// Of the positions that have a value here, those whose next bit is set.
    pub(super) fn narrowed(&self, bits: &mut Bits) -> Result<Self> {
        let inner = bits.read(self.count())?;
        let Self::Some(outer, _) = self else {
            return Ok(Self::of(inner));
        };
        let mut narrowed = BooleanBufferBuilder::new(outer.len());
        let mut used = 0;
        for (start, end) in outer.set_slices() {
            narrowed.append_n(start - narrowed.len(), false);
            narrowed.append_buffer(&inner.slice(used, end - start));
            used += end - start;
        }
        narrowed.append_n(outer.len() - narrowed.len(), false);
        Ok(Self::of(narrowed.finish()))
    }

    /// Appends values to where they belong, and `empty` in between.
    pub(super) fn spread<T: Copy>(&self, dense: &[T], empty: T, into: &mut Vec<T>) {
        let Self::Some(bits, _) = self else {
            into.extend_from_slice(dense);
            return;
        };
        let base = into.len();
        into.reserve(bits.len());
        let mut rest = dense;
        for (start, end) in bits.set_slices() {
            let (run, after) = rest.split_at_checked(end - start).unwrap_or_default();
            into.resize(base + start, empty);
            into.extend_from_slice(run);
            rest = after;
        }
        into.resize(base + bits.len(), empty);
    }
}
