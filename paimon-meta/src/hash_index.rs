//! Hash indexes of tables with dynamic buckets. Facts: table-format section 6.3.

use crate::error::{Error, Result};

/// Bytes of a hash.
const WIDTH: usize = size_of::<i32>();

/// Decodes a hash index: the [hashes](crate::murmur_hash) of the primary keys (without partition columns) of one bucket, in
/// the order of the file. Only writers need it, to find the bucket that a key is in; different keys may have equal hashes.
/// `expected` is the number of hashes that the index manifest says.
///
/// # Errors
/// `Corrupt` if there are more or fewer.
pub fn decode_hash_index(file: &[u8], expected: u64) -> Result<Vec<i32>> {
    let (hashes, rest) = file.as_chunks::<WIDTH>();
    if !rest.is_empty() || hashes.len() as u64 != expected {
        return Err(Error::corrupt(format!(
            "hash index of {} bytes, expected {expected} hashes of {WIDTH}",
            file.len()
        )));
    }
    Ok(hashes.iter().copied().map(i32::from_be_bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn hashes_are_big_endian() {
        let file = [0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE];
        assert_eq!(decode_hash_index(&file, 2).unwrap(), [1, -2]);
        assert!(decode_hash_index(&[], 0).unwrap().is_empty());
    }

    #[test]
    fn file_of_another_length_is_corrupt() {
        for (length, expected) in [(8, 1), (8, 3), (7, 2), (0, 1), (4, u64::MAX)] {
            let error = decode_hash_index(&vec![0; length], expected).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{length} {expected}");
        }
    }
}
