//! Index files of deletion vectors, as the reference writes them. Facts: table-format section 6.2.

use std::collections::BTreeMap;

use paimon_meta::DeletionFile;
use roaring::RoaringBitmap;

/// Width of the positions in a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorWidth {
    /// One bitmap of 32-bit positions.
    Bits32,
    /// Bitmaps by the high half of 64-bit positions.
    Bits64,
}

/// One index file with many vectors.
#[derive(Clone, Debug)]
pub struct VectorFile {
    path: String,
    bytes: Vec<u8>,
}

impl VectorFile {
    /// A file without vectors, at a path relative to its table.
    pub fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            bytes: vec![1],
        }
    }

    /// Adds the vector of some positions; returns where it is. Positions that do not fit the width are cut.
    pub fn push(
        &mut self,
        positions: impl IntoIterator<Item = u64>,
        width: VectorWidth,
    ) -> DeletionFile {
        let mut bitmaps: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
        for position in positions {
            let [high, low] = halves(position);
            bitmaps.entry(high).or_default().insert(low);
        }
        let body = match width {
            VectorWidth::Bits32 => body_32(bitmaps.get(&0)),
            VectorWidth::Bits64 => body_64(&bitmaps),
        };
        let offset = self.bytes.len() as u64;
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(&body);
        self.bytes.extend(crc32fast::hash(&body).to_be_bytes());
        let framing = match width {
            VectorWidth::Bits32 => 0,
            VectorWidth::Bits64 => 8,
        };
        DeletionFile {
            path: self.path.clone(),
            offset,
            length: u64::from(length) + framing,
            cardinality: Some(bitmaps.values().map(RoaringBitmap::len).sum()),
        }
    }

    /// The content of the file.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

fn body_32(bitmap: Option<&RoaringBitmap>) -> Vec<u8> {
    let mut body = 1_581_511_376_u32.to_be_bytes().to_vec();
    add(&mut body, bitmap.unwrap_or(&RoaringBitmap::new()));
    body
}

fn body_64(bitmaps: &BTreeMap<u32, RoaringBitmap>) -> Vec<u8> {
    let mut body = 1_681_511_377_u32.to_le_bytes().to_vec();
    body.extend((bitmaps.len() as u64).to_le_bytes());
    for (key, bitmap) in bitmaps {
        body.extend(key.to_le_bytes());
        add(&mut body, bitmap);
    }
    body
}

fn add(body: &mut Vec<u8>, bitmap: &RoaringBitmap) {
    // Writing into memory does not fail.
    let _written = bitmap.serialize_into(body);
}

fn halves(position: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = position.to_be_bytes();
    [[a, b, c, d], [e, f, g, h]].map(u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use paimon_meta::DeletionVector;

    use super::*;

    #[test]
    fn vectors_of_both_widths_share_a_file() {
        // TF-066, TF-067
        let mut file = VectorFile::new("index/i");
        let small = file.push([0, 5, 1000], VectorWidth::Bits32);
        let large = file.push([0, 5, 1000, 1 << 40], VectorWidth::Bits64);
        assert_eq!((small.offset, small.length), (1, 26));
        assert_eq!(large.offset, 1 + 4 + 26 + 4);
        let bytes = file.into_bytes();
        for meta in [small, large] {
            let range = meta.byte_range().unwrap();
            let end = usize::try_from(range.end).unwrap().min(bytes.len());
            let stored = &bytes[usize::try_from(range.start).unwrap()..end];
            let vector = DeletionVector::decode(stored, &meta).unwrap();
            assert_eq!(Some(vector.cardinality()), meta.cardinality);
        }
    }
}
