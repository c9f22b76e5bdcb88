//! From a bitmap of 64-bit numbers to bytes.

use paimon_meta::{Error, Result};
use roaring::RoaringBitmap;

use super::{ARRAY, BIT_WORDS, BITS, Bitmap64, KEY_BYTES, RUNS};

type Key = [u8; KEY_BYTES];

pub(super) fn encode(bitmap: Bitmap64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let keys: Vec<(Key, u64)> = bitmap.0.keys().map(key_bytes).zip(0..).collect();
    let count = i32::try_from(keys.len()).map_err(|_| too_large())?;
    if count == 0 {
        return Ok(vec![0]);
    }
    bytes.push(1);
    bytes.extend_from_slice(&i64::from(count).to_le_bytes());
    nodes(&mut bytes, &keys, 0)?;
    bytes.extend_from_slice(&1_i32.to_le_bytes());
    bytes.push(0xFE);
    bytes.extend_from_slice(&count.to_le_bytes());
    for container in bitmap.0.into_values() {
        encode_container(&mut bytes, container)?;
    }
    bytes.extend_from_slice(&i64::from(count).to_le_bytes());
    bytes.extend_from_slice(&0_i32.to_le_bytes());
    bytes.extend_from_slice(&(count - 1).to_le_bytes());
    Ok(bytes)
}

fn too_large() -> Error {
    Error::internal("64-bit bitmap is too large to be written")
}

/// The lower 48 bits, big endian.
fn key_bytes(key: &u64) -> Key {
    let [_, _, bytes @ ..] = key.to_be_bytes();
    bytes
}

/// Writes the tree of keys that agree in their first `depth` bytes.
fn nodes(bytes: &mut Vec<u8>, keys: &[(Key, u64)], depth: usize) -> Result<()> {
    let (Some((first, container)), Some((last, _))) = (keys.first(), keys.last()) else {
        return Err(too_large());
    };
    if keys.len() == 1 {
        bytes.extend_from_slice(&[4, 0, 0, 0]);
        bytes.extend_from_slice(first);
        bytes.extend_from_slice(&container.to_le_bytes());
        return Ok(());
    }
    let shared = first
        .iter()
        .zip(last)
        .skip(depth)
        .take_while(|(a, b)| a == b)
        .count();
    let branch = depth + shared;
    let byte_of = |(key, _): &(Key, u64)| key.get(branch).copied();
    let children: Vec<_> = keys.chunk_by(|a, b| byte_of(a) == byte_of(b)).collect();
    let labels: Vec<u8> = children
        .iter()
        .filter_map(|keys| byte_of(keys.first()?))
        .collect();
    let prefix = first.get(depth..branch).unwrap_or_default();
    branch_node(bytes, prefix, &labels)?;
    for child in children {
        nodes(bytes, child, branch + 1)?;
    }
    Ok(())
}

/// Writes a branch with a child for each label, in ascending order. Words are written with their bytes reversed.
fn branch_node(bytes: &mut Vec<u8>, prefix: &[u8], labels: &[u8]) -> Result<()> {
    let (kind, body) = match labels.len() {
        0..=4 => (0, label_words(labels, 4, 1)),
        5..=16 => (1, label_words(labels, 8, 2)),
        17..=48 => (2, index_words(labels)),
        _ => (3, mask_words(labels)),
    };
    let children = u16::try_from(labels.len()).map_err(|_| too_large())?;
    let prefix_length = u8::try_from(prefix.len()).map_err(|_| too_large())?;
    bytes.push(kind);
    bytes.extend_from_slice(&children.to_le_bytes());
    bytes.push(prefix_length);
    bytes.extend_from_slice(prefix);
    bytes.extend_from_slice(&body);
    Ok(())
}

/// The labels, from the most significant byte of each word on.
fn label_words(labels: &[u8], word_bytes: usize, words: usize) -> Vec<u8> {
    let mut body = labels.to_vec();
    body.resize(word_bytes * words, 0);
    body.chunks_mut(word_bytes).for_each(<[u8]>::reverse);
    body
}

/// For each byte the position of its child, 0xFF where there is none.
fn index_words(labels: &[u8]) -> Vec<u8> {
    let mut body = vec![0xFF; 256];
    for (label, position) in labels.iter().zip(0..) {
        if let Some(index) = body.get_mut(usize::from(*label)) {
            *index = position;
        }
    }
    body.chunks_mut(8).for_each(<[u8]>::reverse);
    body
}

/// A bit for each byte that has a child.
fn mask_words(labels: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 32];
    for label in labels {
        if let Some(mask) = body.get_mut(usize::from(label / 8)) {
            *mask |= 1 << (label % 8);
        }
    }
    body
}

/// Writes a container by way of the portable format, which has the same payload behind another header.
fn encode_container(bytes: &mut Vec<u8>, mut container: RoaringBitmap) -> Result<()> {
    container.optimize();
    let mut portable = Vec::with_capacity(container.serialized_size());
    let written = container.serialize_into(&mut portable);
    written.map_err(|error| too_large().with_source(error))?;
    let cardinality = i32::try_from(container.len()).map_err(|_| too_large())?;
    let has_runs = portable.starts_with(&12347_u32.to_le_bytes());
    let header = if has_runs { 9 } else { 16 };
    let payload = portable.get(header..).ok_or_else(too_large)?;
    let kind = match payload.len() {
        _ if has_runs => RUNS,
        length if length == BIT_WORDS * 8 && cardinality > 4096 => BITS,
        _ => ARRAY,
    };
    bytes.extend_from_slice(&[1, kind]);
    bytes.extend_from_slice(&cardinality.to_le_bytes());
    bytes.extend_from_slice(payload);
    Ok(())
}
