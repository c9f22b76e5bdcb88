//! Damaged files give rows or an error, whatever the format.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use paimon_format::{FileColumn, FormatReader, Grain, RowRanges};
use paimon_meta::{ErrorKind, Result, TableSchema};

use crate::conformance::scan;
use crate::memory::{now, open, read_all, read_group};

/// Numbers that are the same in every run.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// The same numbers for a file whatever other files there are.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let sum = |sum, byte: &u8| sum * 31 % 1_000_003 + u64::from(*byte);
        Self(bytes.iter().fold(1, sum))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// Changes up to three bytes, half of the time in the last `tail` ones.
    pub(crate) fn damage(&mut self, bytes: &mut [u8], tail: usize) {
        let length = bytes.len();
        for _ in 0..=self.below(3) {
            let in_tail = tail > 0 && self.below(2) == 0;
            let at = if in_tail {
                length - 1 - self.below(tail.min(length))
            } else {
                self.below(length)
            };
            bytes[at] = match self.below(4) {
                0 => 0,
                1 => u8::MAX,
                2 => bytes[at] ^ (1 << self.below(8)),
                _ => u8::try_from(self.below(256)).unwrap(),
            };
        }
    }
}

/// Reads everything there is to read; the number of rows.
pub(crate) fn exercise(
    reader: &dyn FormatReader,
    bytes: Bytes,
    columns: &[FileColumn],
) -> Result<u64> {
    let file = open(reader, bytes)?;
    let scan = scan(columns.to_vec(), 1024);
    let sparse = RowRanges::from_positions((0..file.layout().row_count.min(3000)).step_by(3));
    let few_groups = file.layout().groups.len().min(3);
    let sparse = (0..few_groups)
        .try_for_each(|group| read_group(file.as_ref(), group, &sparse, &scan).map(drop));
    let bounds = columns.iter().try_for_each(|column| {
        now(file.bounds(column, Grain::Group))?;
        now(file.bounds(column, Grain::Page)).map(drop)
    });
    let batches = read_all(file.as_ref(), &scan)?;
    sparse?;
    bounds?;
    let rows = batches.iter().map(|(_, batch)| batch.num_rows() as u64);
    let rows = rows.sum();
    assert_eq!(rows, file.layout().row_count);
    Ok(rows)
}

/// The golden files whose names end so.
pub(crate) fn golden_files(extension: &str) -> Vec<PathBuf> {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../paimon-testkit/golden");
    let mut folders = vec![PathBuf::from(golden)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(found) if found == extension => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// The columns of a golden file: those of the first schema of its table that it can be read with.
fn columns_of(reader: &dyn FormatReader, path: &Path, bytes: &Bytes) -> Option<Vec<FileColumn>> {
    let folder = path
        .ancestors()
        .map(|folder| folder.join("schema"))
        .find(|folder| folder.is_dir())?;
    let mut schemas: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    schemas.sort();
    schemas.into_iter().find_map(|schema| {
        let schema = TableSchema::from_json(&std::fs::read(schema).unwrap()).ok()?;
        let columns: Vec<FileColumn> = schema
            .fields
            .into_iter()
            .map(|field| FileColumn {
                name: field.name,
                data_type: field.data_type,
            })
            .collect();
        exercise(reader, bytes.clone(), &columns).ok()?;
        Some(columns)
    })
}

/// Golden files of a format that are whole, with columns to read.
fn samples(
    reader: &dyn FormatReader,
    extension: &str,
) -> impl Iterator<Item = (Bytes, Vec<FileColumn>)> {
    let files = golden_files(extension).into_iter();
    files.filter_map(move |path| {
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let columns = columns_of(reader, &path, &bytes)?;
        Some((bytes, columns))
    })
}

/// What reading a damaged file may hold at once: so much, and so many times its size.
const MOST_BYTES: u64 = 48 << 20;
const MOST_TIMES: u64 = 1024;

/// Damages each golden file of a format some times; none makes a reader panic or reserve much memory. `tail` is how many last bytes of a file are its footer.
pub(crate) fn damaged_files_never_panic(
    reader: &dyn FormatReader,
    extension: &str,
    tail: fn(&[u8]) -> usize,
) {
    let (mut files, mut errors) = (0, 0);
    for (bytes, columns) in samples(reader, extension) {
        files += 1;
        let mut numbers = Numbers::of(&bytes);
        for _ in 0..100 {
            let mut damaged = bytes.to_vec();
            numbers.damage(&mut damaged, tail(&bytes));
            let size = damaged.len() as u64;
            let mut outcome = Ok(0);
            let memory = allocation_counter::measure(|| {
                outcome = exercise(reader, damaged.into(), &columns);
            });
            let most = memory.bytes_max;
            assert!(
                most < MOST_BYTES + MOST_TIMES * size,
                "{most} bytes of memory for {size}"
            );
            errors += usize::from(outcome.is_err());
        }
    }
    let all = golden_files(extension).len();
    assert!(files * 10 >= all * 9, "{files} of {all} are read");
    assert!(errors > files * 30, "{errors} errors in {files} files");
}

pub(crate) fn cut_files_are_corrupt(reader: &dyn FormatReader, extension: &str) {
    for (bytes, columns) in samples(reader, extension).step_by(5) {
        let rows = exercise(reader, bytes.clone(), &columns).unwrap();
        for length in (0..bytes.len()).step_by(1 + bytes.len() / 200) {
            match exercise(reader, bytes.slice(..length), &columns) {
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
                // Only an Avro file may be cut between its blocks; the manifest knows how many rows there are.
                Ok(found) => assert!(extension == "avro" && found < rows),
            }
        }
    }
}
