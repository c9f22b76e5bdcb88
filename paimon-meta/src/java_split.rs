//! Splits in the reference's own binary form (RP-115), read and written.
//!
//! ```text
//! data split   magic │ version │ snapshot │ partition │ bucket │ path │ total buckets │ before │ files │ vectors │ flags
//! incremental          version │ snapshot │ partition │ bucket │ total buckets │ files and vectors, twice     │ flag
//! as an object header of Java's serialization │ class │ one of these in blocks
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `input`, `output` | Java's data streams: numbers, text, rows |
//! | `file_meta` | metas of data files as binary rows |
//! | `body` | splits |
//! | `object` | the frame of Java's serialization |

mod body;
mod file_meta;
mod input;
mod object;
mod output;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::paths::is_absolute_path;
use crate::split::{DataSplit, DeletionFile, Split};

use input::Input;
use output::Output;

/// A version of the reference that reads what is written. What is read may be of any version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JavaVersion {
    /// 1.4: data splits of version 8, incremental ones of version 1.
    V1_4,
    /// 2.1: data splits of version 9, incremental ones of version 2; 1.4 does not read them.
    V2_1,
}

/// A split from the form that the reference's `DataSplit.serialize` writes, of any version since 0.8 (1 to 9).
///
/// Paths are as they are there: absolute.
///
/// # Errors
/// `Corrupt` if the bytes do not hold what they say, or hold more; `Unsupported` for a version that is not known, and for
/// splits of old versions with files of an earlier state, which the reference refuses too.
pub fn data_split_from_java(bytes: &[u8]) -> Result<DataSplit> {
    let mut input = Input::new(bytes);
    let split = body::read_data_split(&mut input)?;
    input.end()?;
    Ok(split)
}

/// A split in the form that the reference's `DataSplit.deserialize` reads. The reference wants paths that are absolute: see
/// [`with_absolute_paths`].
///
/// # Errors
/// `InvalidInput` for what does not fit the form: more than 65535 bytes of a path, numbers above 63 bits.
pub fn data_split_to_java(split: &DataSplit, version: JavaVersion) -> Result<Vec<u8>> {
    let mut output = Output::default();
    body::write_data_split(split, version, &mut output)?;
    Ok(output.into_bytes())
}

/// A split from Java's serialization of a `DataSplit` or `IncrementalSplit`, which is how engines of the JVM send them.
///
/// # Errors
/// As [`data_split_from_java`]; `Unsupported` for an object of another class.
pub fn split_from_java_object(bytes: &[u8]) -> Result<Split> {
    let (class, data) = object::read(bytes)?;
    let mut input = Input::new(&data);
    let split = match class.as_str() {
        object::DATA_SPLIT => Split::Data(body::read_data_split(&mut input)?),
        object::INCREMENTAL_SPLIT => Split::Incremental(body::read_incremental(&mut input)?),
        _ => return Err(Error::unsupported(format!("splits of class {class}"))),
    };
    input.end()?;
    Ok(split)
}

/// A split as Java's serialization has it. Paths are to be absolute: see [`with_absolute_paths`].
///
/// # Errors
/// As [`data_split_to_java`]; `Unsupported` for a split of a fallback branch.
pub fn split_to_java_object(split: &Split, version: JavaVersion) -> Result<Vec<u8>> {
    let mut output = Output::default();
    let class = match split {
        Split::Data(split) => {
            body::write_data_split(split, version, &mut output)?;
            object::DATA_SPLIT
        }
        Split::Incremental(split) => {
            body::write_incremental(split, version, &mut output)?;
            object::INCREMENTAL_SPLIT
        }
        Split::Fallback(_) => {
            return Err(Error::unsupported(
                "splits of a fallback branch in the reference's form",
            ));
        }
    };
    object::write(class, &output.into_bytes())
}

/// The same split with the paths of its bucket and of its deletion vectors below the table's location, where they are
/// relative: the reference knows no other.
#[must_use]
pub fn with_absolute_paths(split: Split, location: &str) -> Split {
    let absolute = |path: &mut String| {
        if !is_absolute_path(path) {
            *path = format!("{}/{path}", location.trim_end_matches('/'));
        }
    };
    let vectors = |vectors: &mut Option<Vec<Option<DeletionFile>>>| {
        for vector in vectors.iter_mut().flatten().flatten() {
            absolute(&mut vector.path);
        }
    };
    let data = |mut split: DataSplit| {
        absolute(&mut split.bucket_path);
        vectors(&mut split.deletion_files);
        split
    };
    match split {
        Split::Data(split) => Split::Data(data(split)),
        Split::Fallback(split) => Split::Fallback(data(split)),
        Split::Incremental(mut split) => {
            absolute(&mut split.bucket_path);
            vectors(&mut split.before_deletion_files);
            vectors(&mut split.after_deletion_files);
            Split::Incremental(split)
        }
    }
}
