//! `$files` and `$file_key_ranges`: the data files of the snapshot, level 0 of every table among them (RP-654, RP-656).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use paimon_io::{Resources, join};
use paimon_meta::{
    BinaryRowRef, DataPaths, DataType, Error, FileSource, FileTable, Frame, KeepStats, Options,
    ResolvedTable, Result, ResultExt, bucket_directory,
};

use super::cell::{Cell, Cells, time};
use super::file_values::{FileValues, key_text, row_text};
use super::totals::{entries, is_postponed};
use crate::prune::{PruneRules, prune};
use crate::scan::created_since;

/// Endings of compressed text files; the format's name stands before them.
const COMPRESSIONS: [&str; 6] = ["bz2", "deflate", "gz", "lz4", "snappy", "zst"];

/// The files of a snapshot, and what their texts are made with.
#[derive(Debug)]
pub(super) struct Files {
    files: FileTable,
    /// The live ones, in order.
    live: Vec<u32>,
    partitions: Vec<Partition>,
    location: String,
    schemas: BTreeMap<i64, FileValues>,
}

/// A partition as text, and where its buckets are, with a `/` at the end.
#[derive(Debug)]
struct Partition {
    text: String,
    parent: String,
}

/// The same files with some of the columns: those that `$files` begins with, and the first row id.
#[derive(Debug)]
pub(super) struct KeyRanges(Files);

/// Where `$files` has the first row id, and how many columns before it `$file_key_ranges` has too.
const FIRST_ROW_ID: usize = 18;
const RANGE_COLUMNS: usize = 10;

impl Cells for KeyRanges {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn cell(&self, row: usize, column: usize) -> Result<Cell> {
        let shared = column < RANGE_COLUMNS;
        self.0.cell(row, if shared { column } else { FIRST_ROW_ID })
    }
}

pub(super) async fn files(resources: &Resources, table: &ResolvedTable) -> Result<Files> {
    files_with(resources, table, true).await
}

pub(super) async fn key_ranges(resources: &Resources, table: &ResolvedTable) -> Result<KeyRanges> {
    files_with(resources, table, false).await.map(KeyRanges)
}

async fn files_with(resources: &Resources, table: &ResolvedTable, stats: bool) -> Result<Files> {
    let keep = KeepStats {
        key: false,
        value: stats,
    };
    let bucket = table.options.value(&Options::SCAN_BUCKET)?;
    let entries = entries(
        resources,
        table,
        table.snapshot.as_ref(),
        |filter| Ok(filter.with_buckets(bucket, is_postponed(table)?, None)),
        keep,
    );
    let entries = entries.await?;
    let rules = PruneRules {
        created_since: created_since(table)?,
        ..PruneRules::default()
    };
    let live = prune(&entries.added, &entries.deleted, &rules);
    let files = entries.added.files;
    let values = table.schemas.values().map(|schema| {
        let values = FileValues::new(&table.schema, schema, &table.time_zone)?;
        Ok((schema.id, values))
    });
    Ok(Files {
        live: live.buckets.into_iter().flatten().collect(),
        partitions: partitions(table, &files)?,
        location: table.location.clone(),
        schemas: values.collect::<Result<_>>()?,
        files,
    })
}

fn partitions(table: &ResolvedTable, files: &FileTable) -> Result<Vec<Partition>> {
    let paths = DataPaths::new(table)?;
    let fields = table.schema.partition_fields()?;
    let types: Vec<&DataType> = fields.iter().map(|field| &field.data_type).collect();
    let partition = |row: BinaryRowRef<'_>| {
        let mut parent = paths.bucket_path(row, 0)?;
        parent.truncate(parent.rfind('/').map_or(0, |slash| slash + 1));
        let text = row_text(row, &types, &table.time_zone)?;
        Ok(Partition { text, parent })
    };
    let rows = files.partitions().iter();
    rows.map(|row| partition(row.as_ref())).collect()
}

impl Cells for Files {
    fn rows(&self) -> usize {
        self.live.len()
    }

    fn cell(&self, row: usize, column: usize) -> Result<Cell> {
        let Some(file) = self.live.get(row) else {
            return Ok(Cell::Null);
        };
        let file = *file as usize;
        self.value(file, column)
            .at(|| Frame::File(self.files.file_name(file).to_owned()))
    }
}

impl Files {
    fn value(&self, file: usize, column: usize) -> Result<Cell> {
        let files = &self.files;
        Ok(match column {
            0 => self.partition(file).map(|partition| &partition.text).into(),
            1 => files.bucket(file).into(),
            2 => self.path(file).into(),
            3 => format_of(files.file_name(file))?.into(),
            4 => files.schema_id(file).into(),
            5 => files.level(file).into(),
            6 => files.row_count(file).into(),
            7 => files.file_size(file).into(),
            8 => self.key(file, files.min_key(file), "_MIN_KEY")?,
            9 => self.key(file, files.max_key(file), "_MAX_KEY")?,
            10..=12 => self.statistics(file, column)?,
            13 => files.min_sequence_number(file).into(),
            14 => files.max_sequence_number(file).into(),
            15 => files.creation_time_millis(file).map_or(Cell::Null, time),
            16 => files.delete_row_count(file).into(),
            17 => files.file_source(file).map(source_text).into(),
            FIRST_ROW_ID => files.first_row_id(file).into(),
            19 => files.write_cols(file).map_or(Cell::Null, |names| {
                Cell::Texts(names.iter().map(str::to_owned).collect())
            }),
            _ => Cell::Null,
        })
    }

    fn partition(&self, file: usize) -> Option<&Partition> {
        self.partitions.get(self.files.partition_id(file) as usize)
    }

    fn path(&self, file: usize) -> String {
        if let Some(path) = self.files.external_path(file) {
            return path.to_owned();
        }
        let parent = self.partition(file);
        let parent = parent.map_or("", |partition| &partition.parent);
        let bucket = bucket_directory(self.files.bucket(file));
        let name = self.files.file_name(file);
        join(&self.location, &format!("{parent}{bucket}/{name}"))
    }

    fn values(&self, file: usize) -> Result<&FileValues> {
        let id = self.files.schema_id(file);
        self.schemas.get(&id).ok_or_else(|| {
            Error::corrupt(format!(
                "schema {id} does not exist, the file was written with it"
            ))
            .at(Frame::Schema(id))
        })
    }

    fn key(&self, file: usize, key: &[u8], field: &str) -> Result<Cell> {
        let text = || {
            let row = BinaryRowRef::from_serialized(key)?;
            if row.arity() == 0 {
                return Ok(None);
            }
            key_text(row, self.values(file)?.key_types()).map(Some)
        };
        let text = text().at(|| Frame::Field(field.to_owned()))?;
        Ok(text.into())
    }

    /// The texts of null counts (10), smallest (11) and largest values (12).
    fn statistics(&self, file: usize, column: usize) -> Result<Cell> {
        let files = &self.files;
        let Some(stats) = files.value_stats(file) else {
            return Ok("{}".into());
        };
        let columns = self.values(file)?.columns(
            stats,
            files.value_stats_cols(file),
            files.write_cols(file),
        )?;
        let mut text = "{".to_owned();
        for (index, shown) in columns.iter().enumerate() {
            let value = match column {
                10 => shown.null_count(stats, files.row_count(file)),
                11 => shown.bound(stats.min, "_MIN_VALUES")?,
                _ => shown.bound(stats.max, "_MAX_VALUES")?,
            };
            let gap = if index == 0 { "" } else { ", " };
            let value = value.as_deref().unwrap_or("null");
            let _infallible = write!(text, "{gap}{}={value}", shown.name());
        }
        text.push('}');
        Ok(text.into())
    }
}

fn source_text(source: FileSource) -> &'static str {
    match source {
        FileSource::Append => "APPEND",
        FileSource::Compact => "COMPACT",
    }
}

/// The format in the ending of a file's name.
fn format_of(name: &str) -> Result<&str> {
    let mut endings = name.rsplit('.');
    let last = endings.next().unwrap_or_default();
    let ending = if COMPRESSIONS.contains(&last) {
        endings.next()
    } else {
        Some(last)
    };
    match (ending, endings.next()) {
        (Some(ending), Some(_)) => Ok(ending),
        _ => Err(Error::corrupt(format!("name {name:?} ends with no format"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_in_the_endings_of_names() {
        assert_eq!(format_of("data-1-0.parquet").unwrap(), "parquet");
        assert_eq!(format_of("data-1-0.zstd.orc").unwrap(), "orc");
        assert_eq!(format_of("data-1-0.csv.gz").unwrap(), "csv");
        for wrong in ["data", "csv.gz", ""] {
            format_of(wrong).unwrap_err();
        }
    }
}
