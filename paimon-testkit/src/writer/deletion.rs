//! Deletion vectors: files of roaring bitmaps (TF section 6.2).

use std::collections::{BTreeMap, BTreeSet};

use paimon_meta::{DeletionVectorRange, Error, Result};

/// Version in the first byte of the container.
const CONTAINER_VERSION: u8 = 1;
/// Magic of 32-bit vectors, big-endian.
const MAGIC_32: i32 = 1_581_511_376;
/// Magic of 64-bit vectors, little-endian.
const MAGIC_64: i32 = 1_681_511_377;
/// Cookie of a roaring bitmap without run containers.
const NO_RUNS: u32 = 12_346;
/// Cookie of one with run containers.
const WITH_RUNS: u32 = 12_347;
/// Containers from which on a bitmap with runs has their offsets.
const OFFSETS_FROM: usize = 4;
/// Bytes of a container as bits.
const BITS_BYTES: usize = 1 << 13;
/// Most values that a container has as a list.
const LIST_VALUES: usize = 4096;

/// The container of the vectors of data files, and where each is in it.
pub(super) fn container(
    vectors: &[(&str, &BTreeSet<u64>)],
    bitmap64: bool,
) -> Result<(Vec<u8>, Vec<DeletionVectorRange>)> {
    let mut bytes = vec![CONTAINER_VERSION];
    let mut ranges = Vec::new();
    for (data_file, positions) in vectors {
        let vector = vector(positions, bitmap64)?;
        let framed = if bitmap64 { 8 } else { 0 }; // TF-065
        ranges.push(DeletionVectorRange {
            data_file: (*data_file).to_owned(),
            offset: bytes.len() as u64,
            length: vector.len() as u64 + framed,
            cardinality: Some(positions.len() as u64),
        });
        let length = i32::try_from(vector.len()).map_err(|_| too_large())?;
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&vector);
        bytes.extend_from_slice(&crc32(&vector).to_be_bytes());
    }
    Ok((bytes, ranges))
}

/// Magic and bitmap.
fn vector(positions: &BTreeSet<u64>, bitmap64: bool) -> Result<Vec<u8>> {
    let mut high: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for position in positions {
        let low = u32::try_from(position & 0xffff_ffff).map_err(|_| too_large())?;
        let key = u32::try_from(position >> 32).map_err(|_| too_large())?;
        high.entry(key).or_default().push(low);
    }
    if !bitmap64 {
        let mut bytes = MAGIC_32.to_be_bytes().to_vec();
        if high.keys().any(|key| *key > 0) {
            return Err(too_large());
        }
        bytes.extend(roaring(&high.remove(&0).unwrap_or_default())?);
        return Ok(bytes);
    }
    let mut bytes = MAGIC_64.to_le_bytes().to_vec();
    bytes.extend_from_slice(&(high.len() as u64).to_le_bytes());
    for (key, values) in &high {
        bytes.extend_from_slice(&key.to_le_bytes());
        bytes.extend(roaring(values)?);
    }
    Ok(bytes)
}

/// A 32-bit roaring bitmap in its portable form, of values in order; containers of runs where they are smaller, as in
/// the reference.
fn roaring(values: &[u32]) -> Result<Vec<u8>> {
    let mut containers: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for value in values {
        let [a, b, c, d] = value.to_be_bytes();
        let container = containers.entry(u16::from_be_bytes([a, b])).or_default();
        container.push(u16::from_be_bytes([c, d]));
    }
    let bodies: Vec<Body> = containers.values().map(|values| Body::of(values)).collect();
    let has_runs = bodies.iter().any(|body| body.is_runs);
    let count = u32::try_from(bodies.len()).map_err(|_| too_large())?;
    let mut bytes = Vec::new();
    if has_runs {
        bytes.extend((WITH_RUNS | count.saturating_sub(1) << 16).to_le_bytes());
        bytes.extend(bodies.chunks(8).map(|eight| {
            let bits = eight.iter().enumerate();
            bits.fold(0u8, |byte, (bit, body)| {
                byte | u8::from(body.is_runs) << bit
            })
        }));
    } else {
        bytes.extend(NO_RUNS.to_le_bytes());
        bytes.extend(count.to_le_bytes());
    }
    for (key, container) in &containers {
        let less_one = u16::try_from(container.len() - 1).map_err(|_| too_large())?;
        bytes.extend(key.to_le_bytes());
        bytes.extend(less_one.to_le_bytes());
    }
    if !has_runs || bodies.len() >= OFFSETS_FROM {
        let mut offset = bytes.len() + 4 * bodies.len();
        for body in &bodies {
            bytes.extend(
                u32::try_from(offset)
                    .map_err(|_| too_large())?
                    .to_le_bytes(),
            );
            offset += body.bytes.len();
        }
    }
    bytes.extend(bodies.iter().flat_map(|body| &body.bytes));
    Ok(bytes)
}

/// The values of a container.
struct Body {
    bytes: Vec<u8>,
    is_runs: bool,
}

impl Body {
    /// A list, bits or runs, whichever is the smallest.
    fn of(values: &[u16]) -> Self {
        let mut runs: Vec<(u16, u16)> = Vec::new();
        for value in values {
            match runs.last_mut() {
                Some((start, more))
                    if u32::from(*start) + u32::from(*more) + 1 == u32::from(*value) =>
                {
                    *more += 1;
                }
                _ => runs.push((*value, 0)),
            }
        }
        if 2 + 4 * runs.len() < (2 * values.len()).min(BITS_BYTES) {
            let count = u16::try_from(runs.len()).unwrap_or(u16::MAX);
            let runs = runs.into_iter().flat_map(|(start, more)| [start, more]);
            let words = std::iter::once(count).chain(runs);
            return Self {
                bytes: words.flat_map(u16::to_le_bytes).collect(),
                is_runs: true,
            };
        }
        let bytes = if values.len() <= LIST_VALUES {
            values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        } else {
            let mut bits = vec![0u8; BITS_BYTES];
            for value in values {
                if let Some(byte) = bits.get_mut(usize::from(*value / 8)) {
                    *byte |= 1 << (value % 8);
                }
            }
            bits
        };
        Self {
            bytes,
            is_runs: false,
        }
    }
}

/// CRC-32 with the polynomial of zlib.
fn crc32(bytes: &[u8]) -> u32 {
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    !crc
}

fn too_large() -> Error {
    Error::unsupported("deletion vectors beyond 32 bits in the test kit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_those_of_the_worked_example() {
        // Table-format section 6.2: positions 0, 5 and 1000.
        let positions = [0, 5, 1000].into();
        let bitmap = "3a300000010000000000020010000000000005 00e803".replace(' ', "");
        let hex = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let (bytes, ranges) = container(&[("a", &positions)], false).unwrap();
        assert_eq!(hex(&bytes), format!("010000001a5e43f2d0{bitmap}6f7cc189"));
        assert_eq!((ranges[0].offset, ranges[0].length), (1, 26));
        let (bytes, ranges) = container(&[("a", &positions)], true).unwrap();
        let head = "0100000026d1d33964010000000000000000000000";
        assert_eq!(hex(&bytes), format!("{head}{bitmap}c6700d5b"));
        assert_eq!((ranges[0].offset, ranges[0].length), (1, 46));
    }

    #[test]
    fn runs_are_as_long_as_the_reference_makes_them() {
        // TF-074; the golden table lab_dv_on has this vector, of 23 bytes.
        let positions = [4].into_iter().chain(50..60).collect();
        let (_, ranges) = container(&[("a", &positions)], false).unwrap();
        assert_eq!((ranges[0].length, ranges[0].cardinality), (23, Some(11)));
    }
}
