//! From bytes to a bitmap of 64-bit numbers.

use paimon_meta::{Error, Result};
use roaring::RoaringBitmap;

use super::{ARRAY, BIT_WORDS, BITS, Bitmap64, KEY_BYTES, RUNS};

/// Bytes that were not read yet.
struct Bytes<'a>(&'a [u8]);

#[cold]
fn corrupt(detail: impl std::fmt::Display) -> Error {
    Error::corrupt("bytes are no 64-bit Roaring bitmap").with_detail(detail)
}

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| corrupt(format_args!("{count} bytes are missing")))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self
            .0
            .split_first_chunk()
            .ok_or_else(|| corrupt(format_args!("{N} bytes are missing")))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// A number of things that take a byte each at least.
    fn count(&mut self, of: &str) -> Result<usize> {
        let count = i32::from_le_bytes(self.array()?);
        let count = usize::try_from(count).ok();
        let count = count.filter(|count| *count <= self.0.len());
        count.ok_or_else(|| corrupt(format_args!("more {of} than bytes")))
    }
}

/// A key and the position of its container.
struct Leaf {
    key: u64,
    container: u64,
}

pub(super) fn decode(bytes: &[u8]) -> Result<Bitmap64> {
    let mut bytes = Bytes(bytes);
    let mut bitmap = Bitmap64::default();
    match bytes.byte()? {
        0 => return Ok(bitmap),
        1 => {}
        tag => return Err(corrupt(format_args!("tag is {tag}, expected 0 or 1"))),
    }
    let keys = u64::from_le_bytes(bytes.array()?);
    let leaves = leaves(&mut bytes)?;
    if leaves.len() as u64 != keys {
        let found = leaves.len();
        return Err(corrupt(format_args!("{found} keys, expected {keys}")));
    }
    let mut containers = containers(&mut bytes)?;
    for leaf in leaves {
        let (outer, inner) = (leaf.container >> 32, leaf.container & u64::from(u32::MAX));
        let container = usize::try_from(outer)
            .ok()
            .and_then(|outer| containers.get_mut(outer))
            .zip(usize::try_from(inner).ok())
            .and_then(|(containers, inner)| containers.get_mut(inner)?.take())
            .ok_or_else(|| corrupt("a key has no container of its own"))?;
        if bitmap.0.insert(leaf.key, container).is_some() {
            return Err(corrupt("a key comes twice"));
        }
    }
    Ok(bitmap)
}

/// The leaves of the tree. Branches say how many nodes still come; the leaves hold whole keys.
fn leaves(bytes: &mut Bytes<'_>) -> Result<Vec<Leaf>> {
    let mut leaves = Vec::new();
    let mut nodes_to_come = 1_usize;
    while nodes_to_come > 0 {
        let node = bytes.byte()?;
        let children = usize::from(u16::from_le_bytes(bytes.array()?));
        let prefix = usize::from(bytes.byte()?);
        bytes.take(prefix)?;
        nodes_to_come -= 1;
        match node {
            0 => bytes.take(4)?,
            1 => bytes.take(16)?,
            2 => bytes.take(256)?,
            3 => bytes.take(32)?,
            4 => {
                leaves.push(leaf(bytes)?);
                continue;
            }
            other => return Err(corrupt(format_args!("node is of type {other}"))),
        };
        nodes_to_come += children;
    }
    Ok(leaves)
}

fn leaf(bytes: &mut Bytes<'_>) -> Result<Leaf> {
    let key: [u8; KEY_BYTES] = bytes.array()?;
    let key = key.iter().fold(0, |key, byte| key << 8 | u64::from(*byte));
    let container = u64::from_le_bytes(bytes.array()?);
    Ok(Leaf { key, container })
}

fn containers(bytes: &mut Bytes<'_>) -> Result<Vec<Vec<Option<RoaringBitmap>>>> {
    let mut containers = Vec::new();
    for _ in 0..bytes.count("lists of containers")? {
        bytes.byte()?;
        let mut list = Vec::new();
        for _ in 0..bytes.count("containers")? {
            list.push(match bytes.byte()? {
                0 => None,
                1 => Some(container(bytes)?),
                mark => return Err(corrupt(format_args!("container is marked {mark}"))),
            });
        }
        containers.push(list);
    }
    Ok(containers)
}

/// One container: that of a bitmap in the portable format, which has the same payload behind another header.
fn container(bytes: &mut Bytes<'_>) -> Result<RoaringBitmap> {
    let kind = bytes.byte()?;
    let cardinality = i32::from_le_bytes(bytes.array()?);
    let last = u16::try_from(i64::from(cardinality) - 1)
        .map_err(|_| corrupt(format_args!("container of {cardinality} values")))?;
    let mut portable = Vec::new();
    let length = match kind {
        RUNS => {
            let runs = u16::from_le_bytes(bytes.array()?);
            portable.extend_from_slice(&12347_u32.to_le_bytes());
            portable.push(1);
            portable.extend_from_slice(&[0, 0]);
            portable.extend_from_slice(&last.to_le_bytes());
            portable.extend_from_slice(&runs.to_le_bytes());
            usize::from(runs) * 4
        }
        BITS | ARRAY => {
            portable.extend_from_slice(&12346_u32.to_le_bytes());
            portable.extend_from_slice(&1_u32.to_le_bytes());
            portable.extend_from_slice(&[0, 0]);
            portable.extend_from_slice(&last.to_le_bytes());
            portable.extend_from_slice(&16_u32.to_le_bytes());
            if kind == BITS {
                BIT_WORDS * 8
            } else {
                (usize::from(last) + 1) * 2
            }
        }
        other => return Err(corrupt(format_args!("container is of type {other}"))),
    };
    portable.extend_from_slice(bytes.take(length)?);
    RoaringBitmap::deserialize_from(portable.as_slice())
        .map_err(|error| Error::corrupt("bytes are no 64-bit Roaring bitmap").with_source(error))
}
