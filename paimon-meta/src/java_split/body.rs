//! Splits without any frame.

use super::JavaVersion;
use super::file_meta::{MetaVersion, read_file, write_file};
use super::input::Input;
use super::output::Output;
use crate::data_file::DataFileMeta;
use crate::error::{Error, Frame, Result, ResultExt};
use crate::split::{DataSplit, DeletionFile, IncrementalSplit};

/// First of a data split of version 2 and later; version 1 begins with the snapshot.
const MAGIC: i64 = -2_394_839_472_490_812_314;

/// Unknown number of deleted rows.
const UNKNOWN: i64 = -1;

pub(super) fn read_data_split(input: &mut Input<'_>) -> Result<DataSplit> {
    let first = input.long()?;
    let (version, snapshot_id) = match first {
        MAGIC => (input.int()?, input.long()?),
        snapshot_id => (1, snapshot_id),
    };
    let metas = MetaVersion::of_data_split(version)?;
    let partition = input.row().at(|| field("partition"))?;
    let bucket = input.int()?;
    let bucket_path = input.utf().at(|| field("bucket path"))?;
    let total_buckets = match version >= 6 && input.boolean()? {
        true => Some(input.int()?),
        false => None,
    };
    let has_cardinality = version >= 4;
    if input.int()? > 0 || read_vectors(input, has_cardinality)?.is_some() {
        return Err(Error::unsupported(
            "data splits with files of an earlier state, of versions that have no incremental splits",
        ));
    }
    let files = read_files(input, metas)?;
    let deletion_files = read_vectors(input, has_cardinality)?;
    check_vectors(&files, deletion_files.as_ref())?;
    Ok(DataSplit {
        snapshot_id,
        partition,
        bucket,
        bucket_path,
        total_buckets,
        files,
        deletion_files,
        streaming: input.boolean()?,
        raw_convertible: input.boolean()?,
    })
}

pub(super) fn write_data_split(
    split: &DataSplit,
    version: JavaVersion,
    output: &mut Output,
) -> Result<()> {
    output.long(MAGIC);
    output.int(match version {
        JavaVersion::V1_4 => 8,
        JavaVersion::V2_1 => 9,
    });
    output.long(split.snapshot_id);
    output.row(&split.partition)?;
    output.int(split.bucket);
    output.utf(&split.bucket_path)?;
    output.boolean(split.total_buckets.is_some());
    if let Some(buckets) = split.total_buckets {
        output.int(buckets);
    }
    output.int(0); // files of an earlier state
    output.byte(0); // and their vectors
    write_files(&split.files, version, output)?;
    write_vectors(split.deletion_files.as_ref(), output)?;
    output.boolean(split.streaming);
    output.boolean(split.raw_convertible);
    Ok(())
}

pub(super) fn read_incremental(input: &mut Input<'_>) -> Result<IncrementalSplit> {
    let metas = MetaVersion::of_incremental(input.int()?)?;
    let snapshot_id = input.long()?;
    let partition = input.row().at(|| field("partition"))?;
    let bucket = input.int()?;
    let total_buckets = Some(input.int()?);
    let before = read_files(input, metas)?;
    let before_deletion_files = read_vectors(input, true)?;
    check_vectors(&before, before_deletion_files.as_ref())?;
    let after = read_files(input, metas)?;
    let after_deletion_files = read_vectors(input, true)?;
    check_vectors(&after, after_deletion_files.as_ref())?;
    Ok(IncrementalSplit {
        snapshot_id,
        partition,
        bucket,
        bucket_path: String::new(),
        total_buckets,
        before,
        before_deletion_files,
        after,
        after_deletion_files,
        streaming: input.boolean()?,
    })
}

pub(super) fn write_incremental(
    split: &IncrementalSplit,
    version: JavaVersion,
    output: &mut Output,
) -> Result<()> {
    output.int(match version {
        JavaVersion::V1_4 => 1,
        JavaVersion::V2_1 => 2,
    });
    output.long(split.snapshot_id);
    output.row(&split.partition)?;
    output.int(split.bucket);
    let buckets = split.total_buckets.ok_or_else(|| {
        Error::invalid_input("the number of buckets is not known, an incremental split has it")
    });
    output.int(buckets?);
    write_files(&split.before, version, output)?;
    write_vectors(split.before_deletion_files.as_ref(), output)?;
    write_files(&split.after, version, output)?;
    write_vectors(split.after_deletion_files.as_ref(), output)?;
    output.boolean(split.streaming);
    Ok(())
}

fn field(name: &str) -> Frame {
    Frame::Field(name.to_owned())
}

fn read_files(input: &mut Input<'_>, version: MetaVersion) -> Result<Vec<DataFileMeta>> {
    let count = input.count(4)?; // a size each
    (0..count).map(|_| read_file(input, version)).collect()
}

fn write_files(files: &[DataFileMeta], version: JavaVersion, output: &mut Output) -> Result<()> {
    output.size(files.len())?;
    let version = MetaVersion::of_reference(version);
    for file in files {
        write_file(file, version, output).at(|| Frame::File(file.file_name.clone()))?;
    }
    Ok(())
}

type Vectors = Vec<Option<DeletionFile>>;

fn read_vectors(input: &mut Input<'_>, has_cardinality: bool) -> Result<Option<Vectors>> {
    if !input.boolean()? {
        return Ok(None);
    }
    let count = input.count(1)?;
    let mut vectors = Vec::with_capacity(count);
    for _ in 0..count {
        vectors.push(match input.boolean()? {
            false => None,
            true => Some(read_vector(input, has_cardinality)?),
        });
    }
    Ok(Some(vectors))
}

fn read_vector(input: &mut Input<'_>, has_cardinality: bool) -> Result<DeletionFile> {
    Ok(DeletionFile {
        path: input.utf()?,
        offset: input.unsigned("offset of a deletion vector")?,
        length: input.unsigned("length of a deletion vector")?,
        cardinality: match has_cardinality {
            false => None,
            true => {
                match input.long()? {
                    UNKNOWN => None,
                    count => Some(u64::try_from(count).map_err(|_| {
                        Error::corrupt(format!("a deletion vector of {count} rows"))
                    })?),
                }
            }
        },
    })
}

fn write_vectors(vectors: Option<&Vectors>, output: &mut Output) -> Result<()> {
    output.boolean(vectors.is_some());
    let Some(vectors) = vectors else {
        return Ok(());
    };
    output.size(vectors.len())?;
    for vector in vectors {
        output.boolean(vector.is_some());
        if let Some(vector) = vector {
            output.utf(&vector.path)?;
            output.unsigned(vector.offset)?;
            output.unsigned(vector.length)?;
            match vector.cardinality {
                Some(count) => output.unsigned(count)?,
                None => output.long(UNKNOWN),
            }
        }
    }
    Ok(())
}

fn check_vectors(files: &[DataFileMeta], vectors: Option<&Vectors>) -> Result<()> {
    match vectors {
        Some(vectors) if vectors.len() != files.len() => Err(Error::corrupt(format!(
            "the split has {} places for deletion vectors and {} files",
            vectors.len(),
            files.len()
        ))),
        _ => Ok(()),
    }
}
