//! The head of a container: which indexes it holds, and where.

use std::ops::Range;

use super::Input;
use crate::error::{Error, Result};

pub(super) const MAGIC: u64 = 1_493_475_289_347_502;
pub(super) const VERSION: u32 = 1;

/// Which indexes a container holds, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIndexDirectory {
    places: Vec<IndexPlace>,
}

/// One index of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPlace {
    /// The column, by the file's name of it.
    pub column: String,
    /// The type of the index: `bloom-filter`, `bitmap`, `bsi`, `range-bitmap`, or one that is not known here.
    pub kind: String,
    /// Its bytes in the container.
    pub range: Range<u64>,
}

impl FileIndexDirectory {
    /// Bytes that tell how long the directory is: [`Self::length`].
    pub const START: u64 = 16;

    /// The length of the directory from its first bytes.
    ///
    /// # Errors
    /// `Corrupt` if the bytes do not begin a container; `Unsupported` for another version.
    pub fn length(start: &[u8]) -> Result<u64> {
        head(&mut Input(start)).map(u64::from)
    }

    /// Decodes the directory from the first bytes of a container, of which there may be more than it has.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are no directory; `Unsupported` for another version.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = Input(bytes);
        let _length = head(&mut input)?;
        let mut places = Vec::new();
        for _ in 0..input.int()? {
            let column = input.text()?;
            for _ in 0..input.int()? {
                let kind = input.text()?;
                let (start, length) = (input.int()?, input.int()?);
                // An index that nothing was written to has no place.
                if start == u32::MAX {
                    continue;
                }
                let start = u64::from(start);
                places.push(IndexPlace {
                    column: column.clone(),
                    kind,
                    range: start..start + u64::from(length),
                });
            }
        }
        Ok(Self { places })
    }

    /// The indexes, in the order of the container.
    pub fn places(&self) -> &[IndexPlace] {
        &self.places
    }
}

fn head(input: &mut Input<'_>) -> Result<u32> {
    let magic = u64::from_be_bytes(input.take()?);
    if magic != MAGIC {
        return Err(Error::corrupt(format!(
            "magic number of the file index is {magic}, expected {MAGIC}"
        )));
    }
    let version = input.int()?;
    if version != VERSION {
        return Err(Error::unsupported(format!("file index version {version}")));
    }
    input.int()
}
