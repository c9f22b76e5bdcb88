//! Metas of data files: binary rows, to which each version added fields at the end.

use super::JavaVersion;
use super::input::Input;
use super::output::{Output, signed};
use crate::binary_row::{BinaryArray, BinaryRow, BinaryRowRef, RowWriter};
use crate::data_file::{DataFileMeta, FileSource};
use crate::error::{Error, Frame, Result, ResultExt};
use crate::stats::SimpleStats;

/// The number of fields, which tells a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MetaVersion(usize);

/// Names of the fields in their order.
const FIELDS: [&str; 21] = [
    "_FILE_NAME",
    "_FILE_SIZE",
    "_ROW_COUNT",
    "_MIN_KEY",
    "_MAX_KEY",
    "_KEY_STATS",
    "_VALUE_STATS",
    "_MIN_SEQUENCE_NUMBER",
    "_MAX_SEQUENCE_NUMBER",
    "_SCHEMA_ID",
    "_LEVEL",
    "_EXTRA_FILES",
    "_CREATION_TIME",
    "_DELETE_ROW_COUNT",
    "_EMBEDDED_FILE_INDEX",
    "_FILE_SOURCE",
    "_VALUE_STATS_COLS",
    "_EXTERNAL_PATH",
    "_FIRST_ROW_ID",
    "_WRITE_COLS",
    "_WRITE_COLS_SEQUENCES",
];

/// Fields of the rows of statistics: bounds, and the number of nulls of each column.
const STATS_FIELDS: usize = 3;

impl MetaVersion {
    /// # Errors
    /// `Unsupported` for a version that is not known.
    pub(super) fn of_data_split(version: i32) -> Result<Self> {
        Ok(Self(match version {
            1 => 15,
            2 => 16,
            3 | 4 => 17,
            5 | 6 => 18,
            7 => 19,
            8 => 20,
            9 => 21,
            other => {
                return Err(Error::unsupported(format!(
                    "data splits of version {other}"
                )));
            }
        }))
    }

    /// # Errors
    /// `Unsupported` for a version that is not known.
    pub(super) fn of_incremental(version: i32) -> Result<Self> {
        match version {
            1 => Ok(Self(20)),
            2 => Ok(Self(21)),
            other => Err(Error::unsupported(format!(
                "incremental splits of version {other}"
            ))),
        }
    }

    pub(super) fn of_reference(version: JavaVersion) -> Self {
        match version {
            JavaVersion::V1_4 => Self(20),
            JavaVersion::V2_1 => Self(21),
        }
    }
}

pub(super) fn read_file(input: &mut Input<'_>, version: MetaVersion) -> Result<DataFileMeta> {
    let size = input.size()?;
    let fields = Fields {
        row: BinaryRowRef::from_row(version.0, input.bytes(size)?)?,
    };
    let file_name = fields.read(0, Fields::text)?;
    fields
        .to_meta(file_name.clone())
        .at(|| Frame::File(file_name))
}

/// The row of a meta.
struct Fields<'a> {
    row: BinaryRowRef<'a>,
}

impl<'a> Fields<'a> {
    fn to_meta(&self, file_name: String) -> Result<DataFileMeta> {
        Ok(DataFileMeta {
            file_name,
            file_size: self.read(1, Self::unsigned)?,
            row_count: self.read(2, Self::unsigned)?,
            min_key: self.read(3, Self::row)?,
            max_key: self.read(4, Self::row)?,
            key_stats: self.read(5, Self::stats)?,
            value_stats: self.read(6, Self::stats)?,
            min_sequence_number: self.read(7, Self::long)?,
            max_sequence_number: self.read(8, Self::long)?,
            schema_id: self.read(9, Self::long)?,
            level: self.read(10, |fields, index| fields.row.int(index))?,
            extra_files: self.read(11, Self::texts)?,
            creation_time_millis: self.optional(12, Self::long)?,
            delete_row_count: self.optional(13, Self::unsigned)?,
            embedded_index: self
                .optional(14, |fields, index| Ok(fields.row.blob(index)?.to_vec()))?,
            file_source: self.optional(15, Self::source)?,
            value_stats_cols: self.optional(16, Self::texts)?,
            external_path: self.optional(17, Self::text)?,
            first_row_id: self.optional(18, Self::long)?,
            write_cols: self.optional(19, Self::texts)?,
            write_cols_sequences: self.optional(20, Self::longs)?,
        })
    }

    fn read<T>(&self, index: usize, read: impl Fn(&Self, usize) -> Result<T>) -> Result<T> {
        let name = || Frame::Field(FIELDS.get(index).copied().unwrap_or_default().to_owned());
        if self.row.is_null(index).at(name)? {
            return Err(Error::corrupt("is null, expected a value").at(name()));
        }
        read(self, index).at(name)
    }

    /// `None` where it is null or the version has no such field.
    fn optional<T>(
        &self,
        index: usize,
        read: impl Fn(&Self, usize) -> Result<T>,
    ) -> Result<Option<T>> {
        match index >= self.row.arity() || self.row.is_null(index)? {
            true => Ok(None),
            false => self.read(index, read).map(Some),
        }
    }

    fn long(&self, index: usize) -> Result<i64> {
        self.row.long(index)
    }

    fn unsigned(&self, index: usize) -> Result<u64> {
        let value = self.row.long(index)?;
        u64::try_from(value).map_err(|_| Error::corrupt(format!("is {value}, expected at least 0")))
    }

    fn text(&self, index: usize) -> Result<String> {
        utf8(self.row.blob(index)?)
    }

    fn row(&self, index: usize) -> Result<BinaryRow> {
        BinaryRow::from_serialized(self.row.blob(index)?.to_vec())
    }

    fn source(&self, index: usize) -> Result<FileSource> {
        match self.row.int(index)? & 0xff {
            0 => Ok(FileSource::Append),
            1 => Ok(FileSource::Compact),
            other => Err(Error::corrupt(format!("is {other}, expected 0 or 1"))),
        }
    }

    fn array(&self, index: usize) -> Result<BinaryArray<'a>> {
        BinaryArray::new(self.row.part(index)?)
    }

    fn texts(&self, index: usize) -> Result<Vec<String>> {
        let array = self.array(index)?;
        (0..array.len())
            .map(|item| match array.blob(item)? {
                Some(text) => utf8(text),
                None => Err(Error::corrupt(format!("item {item} is null"))),
            })
            .collect()
    }

    fn longs(&self, index: usize) -> Result<Vec<i64>> {
        let array = self.array(index)?;
        let item = |item| {
            let item_is_null = || Error::corrupt(format!("item {item} is null"));
            array.long(item).ok_or_else(item_is_null)
        };
        (0..array.len()).map(item).collect()
    }

    fn stats(&self, index: usize) -> Result<SimpleStats> {
        let fields = Fields {
            row: BinaryRowRef::from_row(STATS_FIELDS, self.row.part(index)?)?,
        };
        let null_counts = |fields: &Fields<'_>, index| {
            let counts = fields.array(index)?;
            Ok((0..counts.len())
                .map(|column| counts.long(column))
                .collect())
        };
        Ok(SimpleStats {
            min_values: fields.row(0)?,
            max_values: fields.row(1)?,
            null_counts: fields.optional(2, null_counts)?,
        })
    }
}

fn utf8(bytes: &[u8]) -> Result<String> {
    String::from_utf8(bytes.to_vec())
        .map_err(|error| Error::corrupt("text is not UTF-8").with_source(error))
}

pub(super) fn write_file(
    file: &DataFileMeta,
    version: MetaVersion,
    output: &mut Output,
) -> Result<()> {
    let mut row = RowWriter::new(version.0)?;
    row.blob(0, file.file_name.as_bytes())?;
    row.long(1, signed(file.file_size)?);
    row.long(2, signed(file.row_count)?);
    row.blob(3, file.min_key.as_serialized())?;
    row.blob(4, file.max_key.as_serialized())?;
    row.part(5, &stats(&file.key_stats)?)?;
    row.part(6, &stats(&file.value_stats)?)?;
    row.long(7, file.min_sequence_number);
    row.long(8, file.max_sequence_number);
    row.long(9, file.schema_id);
    row.int(10, file.level);
    row.part(11, &texts(&file.extra_files)?)?;
    row.optional(12, file.creation_time_millis, |row, index, millis| {
        row.long(index, millis);
        Ok(())
    })?;
    row.optional(13, file.delete_row_count, |row, index, count| {
        row.long(index, signed(count)?);
        Ok(())
    })?;
    row.optional(14, file.embedded_index.as_deref(), RowWriter::blob)?;
    row.optional(15, file.file_source, |row, index, source| {
        row.byte(index, u8::from(source == FileSource::Compact));
        Ok(())
    })?;
    let list = |row: &mut RowWriter, index, list: &[String]| row.part(index, &texts(list)?);
    row.optional(16, file.value_stats_cols.as_deref(), list)?;
    let path = file.external_path.as_deref().map(str::as_bytes);
    row.optional(17, path, RowWriter::blob)?;
    row.optional(18, file.first_row_id, |row, index, id| {
        row.long(index, id);
        Ok(())
    })?;
    row.optional(19, file.write_cols.as_deref(), list)?;
    if version >= MetaVersion::of_reference(JavaVersion::V2_1) {
        let sequences = file.write_cols_sequences.as_deref();
        row.optional(20, sequences, |row, index, sequences| {
            let sequences: Vec<_> = sequences.iter().copied().map(Some).collect();
            row.part(index, &longs(&sequences)?)
        })?;
    }
    let row = row.into_bytes();
    output.size(row.len())?;
    output.bytes(&row);
    Ok(())
}

fn stats(stats: &SimpleStats) -> Result<Vec<u8>> {
    let mut row = RowWriter::new(STATS_FIELDS)?;
    row.blob(0, stats.min_values.as_serialized())?;
    row.blob(1, stats.max_values.as_serialized())?;
    // The reference reads a list here, whatever the flag of null says.
    row.part(2, &longs(stats.null_counts.as_deref().unwrap_or_default())?)?;
    Ok(row.into_bytes())
}

fn texts(texts: &[String]) -> Result<Vec<u8>> {
    let mut array = RowWriter::array(texts.len())?;
    for (index, text) in texts.iter().enumerate() {
        array.blob(index, text.as_bytes())?;
    }
    Ok(array.into_bytes())
}

fn longs(values: &[Option<i64>]) -> Result<Vec<u8>> {
    let mut array = RowWriter::array(values.len())?;
    for (index, value) in values.iter().enumerate() {
        match value {
            Some(value) => array.long(index, *value),
            None => array.null_item(index),
        }
    }
    Ok(array.into_bytes())
}
