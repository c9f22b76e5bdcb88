//! Integers in runs, in both versions of the encoding.

use paimon_meta::{Error, Result};

use super::row_index::Place;
use super::stream::{ByteStream, ends};

/// Bytes of the longest run: 512 values of 8 bytes, their head, and 31 patches of 8 bytes.
pub(super) const LONGEST: usize = 512 * 8 + 31 * 8 + 32;

/// Runs of integers.
#[derive(Clone, Debug)]
pub(super) struct IntegerRuns {
    stream: ByteStream,
    version: Version,
    signed: bool,
    /// Values of the current run, those before `used` already handed out.
    run: Vec<i64>,
    used: usize,
}

/// The encoding of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

impl IntegerRuns {
    pub(super) fn new(stream: ByteStream, version: Version, signed: bool) -> Self {
        Self {
            stream,
            version,
            signed,
            run: Vec::new(),
            used: 0,
        }
    }

    /// Appends the next values.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub(super) fn read(&mut self, mut count: usize, into: &mut Vec<i64>) -> Result<()> {
        while count > 0 {
            let left = self.left()?;
            let step = left.len().min(count);
            into.extend_from_slice(left.get(..step).unwrap_or_default());
            self.used += step;
            count -= step;
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, mut count: usize) -> Result<()> {
        while count > 0 {
            let step = self.left()?.len().min(count);
            self.used += step;
            count -= step;
        }
        Ok(())
    }

    /// Goes to where a group of rows begins.
    ///
    /// # Errors
    /// `Corrupt` if there is no such place.
    pub(super) fn seek(&mut self, place: Place) -> Result<()> {
        self.stream.seek(place.chunk, place.byte)?;
        self.run.clear();
        self.used = 0;
        self.skip(place.before[0])
    }

    /// What is left of the current run, or else the next one; never nothing.
    fn left(&mut self) -> Result<&[i64]> {
        if self.used == self.run.len() {
            self.used = 0;
            self.run.clear();
            let bytes = self.stream.peek(LONGEST)?;
            let mut reader = Run {
                rest: bytes,
                signed: self.signed,
                values: &mut self.run,
            };
            match self.version {
                Version::One => reader.first_version()?,
                Version::Two => reader.second_version()?,
            }
            let read = bytes.len() - reader.rest.len();
            self.stream.advance(read);
        }
        Ok(self.run.get(self.used..).unwrap_or_default())
    }
}

/// Decodes one run.
struct Run<'a> {
    rest: &'a [u8],
    signed: bool,
    values: &'a mut Vec<i64>,
}

impl<'a> Run<'a> {
    fn byte(&mut self) -> Result<u8> {
        let (byte, rest) = self.rest.split_first().ok_or_else(ends)?;
        self.rest = rest;
        Ok(*byte)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or_else(ends)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn unsigned(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Error::corrupt("integer of more than 64 bits"))
    }

    fn zigzag(&mut self) -> Result<i64> {
        self.unsigned().map(unzigzag)
    }

    fn number(&mut self) -> Result<i64> {
        if self.signed {
            self.zigzag()
        } else {
            self.unsigned().map(u64::cast_signed)
        }
    }

    fn first_version(&mut self) -> Result<()> {
        let head = self.byte()?;
        if head < 0x80 {
            let step = i64::from(self.byte()?.cast_signed());
            let mut value = self.number()?;
            for _ in 0..usize::from(head) + 3 {
                self.values.push(value);
                value = value.wrapping_add(step);
            }
        } else {
            for _ in 0..256 - usize::from(head) {
                let value = self.number()?;
                self.values.push(value);
            }
        }
        Ok(())
    }

    fn second_version(&mut self) -> Result<()> {
        let head = self.byte()?;
        match head >> 6 {
            0 => self.short_repeat(head),
            1 => self.direct(head),
            2 => self.patched(head),
            _ => self.delta(head),
        }
    }

    fn short_repeat(&mut self, head: u8) -> Result<()> {
        let bytes = self.take(usize::from((head >> 3) & 7) + 1)?;
        let value = big_endian(bytes);
        let value = if self.signed {
            unzigzag(value)
        } else {
            value.cast_signed()
        };
        self.values.resize(usize::from(head & 7) + 3, value);
        Ok(())
    }

    /// Number of values, from the rest of a head of two bytes.
    fn length(&mut self, head: u8) -> Result<usize> {
        Ok(usize::from(head & 1) << 8 | usize::from(self.byte()?))
    }

    fn direct(&mut self, head: u8) -> Result<()> {
        let width = width((head >> 1) & 0x1f);
        let count = self.length(head)? + 1;
        self.unpack(width, count)?;
        if self.signed {
            self.values
                .iter_mut()
                .for_each(|value| *value = unzigzag(value.cast_unsigned()));
        }
        Ok(())
    }

    fn patched(&mut self, head: u8) -> Result<()> {
        let value_width = width((head >> 1) & 0x1f);
        let count = self.length(head)? + 1;
        let third = self.byte()?;
        let fourth = self.byte()?;
        let base_bytes = usize::from(third >> 5) + 1;
        let patch_width = width(third & 0x1f);
        let gap_width = u32::from(fourth >> 5) + 1;
        let patches = usize::from(fourth & 0x1f);
        let base = sign_magnitude(self.take(base_bytes)?);
        self.unpack(value_width, count)?;
        let entry_width = closest_width(patch_width + gap_width);
        let mut entries = Vec::with_capacity(patches);
        let bytes = self.take(packed_bytes(entry_width, patches))?;
        unpack(bytes, entry_width, patches, &mut entries);
        let mut at = 0;
        for entry in entries {
            let entry = entry.cast_unsigned();
            let gap = entry.checked_shr(patch_width).unwrap_or(0);
            let patch = entry & (u64::MAX >> (64 - patch_width.min(64)));
            at += usize::try_from(gap).unwrap_or(usize::MAX).min(count);
            if patch != 0 {
                let value = self.values.get_mut(at).ok_or_else(|| {
                    Error::corrupt(format!("patch of value {at} in a run of {count}"))
                })?;
                *value |= patch.checked_shl(value_width).unwrap_or(0).cast_signed();
            }
        }
        self.values
            .iter_mut()
            .for_each(|value| *value = base.wrapping_add(*value));
        Ok(())
    }

    fn delta(&mut self, head: u8) -> Result<()> {
        let code = (head >> 1) & 0x1f;
        let count = self.length(head)? + 1;
        let mut value = self.number()?;
        let step = self.zigzag()?;
        if code == 0 {
            for _ in 0..count {
                self.values.push(value);
                value = value.wrapping_add(step);
            }
            return Ok(());
        }
        self.unpack(width(code), count.saturating_sub(2))?;
        // The steps are in place of the values that they lead to, behind two values that are not there yet.
        let steps = self.values.len();
        self.values.resize(count, 0);
        self.values.copy_within(0..steps, count - steps);
        let mut place = self.values.iter_mut();
        if let Some(first) = place.next() {
            *first = value;
        }
        value = value.wrapping_add(step);
        if let Some(second) = place.next() {
            *second = value;
        }
        for later in place {
            value = if step < 0 {
                value.wrapping_sub(*later)
            } else {
                value.wrapping_add(*later)
            };
            *later = value;
        }
        Ok(())
    }

    fn unpack(&mut self, width: u32, count: usize) -> Result<()> {
        let bytes = self.take(packed_bytes(width, count))?;
        unpack(bytes, width, count, self.values);
        Ok(())
    }
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The highest bit is the sign, the others the magnitude.
fn sign_magnitude(bytes: &[u8]) -> i64 {
    let value = big_endian(bytes);
    let sign = 1_u64 << (8 * bytes.len() - 1).min(63);
    if value & sign == 0 {
        value.cast_signed()
    } else {
        (value & !sign).cast_signed().wrapping_neg()
    }
}

fn packed_bytes(width: u32, count: usize) -> usize {
    (usize::try_from(width).unwrap_or(64) * count).div_ceil(8)
}

/// Bits of a value, from their code in a head.
fn width(code: u8) -> u32 {
    match code {
        0..=23 => u32::from(code) + 1,
        24 => 26,
        25 => 28,
        26 => 30,
        27 => 32,
        28 => 40,
        29 => 48,
        30 => 56,
        _ => 64,
    }
}

/// The smallest width with a code that has so many bits.
fn closest_width(bits: u32) -> u32 {
    match bits {
        0 => 1,
        1..=24 => bits,
        25..=32 => bits.next_multiple_of(2),
        33..=64 => bits.next_multiple_of(8),
        _ => 64,
    }
}

/// Appends `count` numbers of `width` bits, highest bits first.
fn unpack(bytes: &[u8], width: u32, count: usize, into: &mut Vec<i64>) {
    let values = |size| {
        bytes
            .chunks_exact(size)
            .map(big_endian)
            .map(u64::cast_signed)
    };
    match width {
        8 => into.extend(bytes.iter().take(count).map(|byte| i64::from(*byte))),
        16 => into.extend(values(2).take(count)),
        24 => into.extend(values(3).take(count)),
        32 => into.extend(values(4).take(count)),
        40 => into.extend(values(5).take(count)),
        48 => into.extend(values(6).take(count)),
        56 => into.extend(values(7).take(count)),
        64 => into.extend(values(8).take(count)),
        _ => unpack_bits(bytes, width, count, into),
    }
}

/// As [`unpack`], for widths up to 32: each number lies in the eight bytes that begin with its first bit.
fn unpack_bits(bytes: &[u8], width: u32, count: usize, into: &mut Vec<i64>) {
    let width = width.clamp(1, 32);
    let number = |window: [u8; 8], bit: usize| {
        let window = u64::from_be_bytes(window) << (bit % 8);
        (window >> (64 - width)).cast_signed()
    };
    let step = usize::try_from(width).unwrap_or(32);
    let bits = |first: usize| (first..count).map(move |index| index * step);
    // Numbers in front of the last eight bytes, then the others out of a copy with room behind it.
    let whole = (8 * bytes.len()).saturating_sub(56) / step;
    let whole = whole.min(count);
    into.extend(bits(0).take(whole).map(|bit| {
        let window = bytes
            .get(bit / 8..)
            .and_then(|rest| rest.first_chunk::<8>());
        number(window.copied().unwrap_or_default(), bit)
    }));
    let start = whole * step / 8;
    let mut last = [0; 24];
    for (to, from) in last.iter_mut().zip(bytes.get(start..).unwrap_or_default()) {
        *to = *from;
    }
    into.extend(bits(whole).map(|bit| {
        let window = last
            .get(bit / 8 - start..)
            .and_then(|rest| rest.first_chunk::<8>());
        number(window.copied().unwrap_or_default(), bit)
    }));
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::chunk::{Compression, Inflater};
    use super::super::stream::Parts;
    use super::*;

    fn read(bytes: &[u8], version: Version, signed: bool, count: usize) -> Result<Vec<i64>> {
        let inflater = Inflater::new(Compression::new(0, None)?);
        let parts = Parts::new(vec![(0, Bytes::copy_from_slice(bytes))]);
        let stream = ByteStream::new(parts, &inflater);
        let mut values = Vec::new();
        IntegerRuns::new(stream, version, signed).read(count, &mut values)?;
        Ok(values)
    }

    /// The examples of the ORC specification.
    #[test]
    fn runs_of_the_specification_are_read() {
        let two = |bytes: &[u8], count| read(bytes, Version::Two, false, count).unwrap();
        assert_eq!(two(&[0x0a, 0x27, 0x10], 5), [10_000; 5]);
        assert_eq!(
            two(
                &[0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef],
                4
            ),
            [23_713, 43_806, 57_005, 48_879]
        );
        assert_eq!(
            two(&[0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46], 10),
            [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
        );
        let patched = [
            0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46,
            0x50, 0x5a, 0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
        ];
        let expected = [
            2030, 2000, 2020, 1_000_000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120,
            2130, 2140, 2150, 2160, 2170, 2180, 2190,
        ];
        assert_eq!(two(&patched, 20), expected);
        let one = |bytes: &[u8], signed, count| read(bytes, Version::One, signed, count).unwrap();
        assert_eq!(one(&[0x61, 0x00, 0x07], false, 100), [7; 100]);
        assert_eq!(
            one(&[0x61, 0xff, 0x64], false, 100),
            (1..=100).rev().collect::<Vec<_>>()
        );
        assert_eq!(
            one(&[0xfb, 0x02, 0x03, 0x04, 0x07, 0xb], false, 5),
            [2, 3, 4, 7, 11]
        );
    }

    #[test]
    fn runs_that_are_cut_are_corrupt() {
        let delta = [0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46];
        for length in 0..delta.len() {
            assert!(read(&delta[..length], Version::Two, false, 10).is_err());
        }
        assert!(read(&delta, Version::Two, false, 11).is_err());
        assert!(read(&[0x61, 0x00], Version::One, true, 1).is_err());
    }

    #[test]
    fn numbers_of_every_width_are_unpacked() {
        for width in 1..=32_u32 {
            for count in [1, 2, 7, 8, 31, 100] {
                let number = |index: u64| (index * 2_654_435_761) & ((1 << width) - 1);
                let mut bytes = vec![0_u8; packed_bytes(width, count)];
                for index in 0..count {
                    for bit in 0..width {
                        let set = number(index as u64) >> (width - 1 - bit) & 1 == 1;
                        let at = index * width as usize + bit as usize;
                        bytes[at / 8] |= u8::from(set) << (7 - at % 8);
                    }
                }
                let mut unpacked = Vec::new();
                unpack(&bytes, width, count, &mut unpacked);
                let expected: Vec<i64> = (0..count as u64)
                    .map(|index| number(index).cast_signed())
                    .collect();
                assert_eq!(unpacked, expected, "{count} of {width} bits");
            }
        }
    }

    #[test]
    fn delta_of_one_value_is_read() {
        assert_eq!(
            read(&[0xc2, 0x00, 0x05, 0x02], Version::Two, true, 1).unwrap(),
            [-3]
        );
    }
}
