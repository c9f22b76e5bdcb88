//! Making tables, by appending files.

use std::collections::HashMap;

use crate::binary_row::{BinaryRow, BinaryRowRef};
use crate::data_file::DataFileMeta;
use crate::error::{Error, Frame, Result, ResultExt};
#[cfg(feature = "manifest")]
use crate::manifest::ManifestBatch;

use super::FileTable;
use super::columns::Columns;
use super::view::FileRow;

/// Which statistics a table keeps. They cost 50 to several hundred bytes a file and are rarely needed after pruning:
/// keep them for split statistics or for handing splits to other engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepStats {
    /// Statistics of the key columns.
    pub key: bool,
    /// Statistics of the value columns, and which columns they are of.
    pub value: bool,
}

impl KeepStats {
    /// Both.
    pub const ALL: Self = Self {
        key: true,
        value: true,
    };
}

/// Appends files to a [`FileTable`].
#[derive(Debug, Default)]
pub struct FileTableBuilder {
    columns: Columns,
    partition_ids: HashMap<Vec<u8>, u32>,
}

impl FileTableBuilder {
    /// A builder of an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of files so far.
    pub fn len(&self) -> usize {
        self.columns.partition_ids.len()
    }

    /// Whether there are none so far.
    pub fn is_empty(&self) -> bool {
        self.columns.partition_ids.is_empty()
    }

    /// Appends the file of one entry. Statistics are kept if the batch has them and `keep` says so.
    ///
    /// # Errors
    /// `Corrupt`, with the entry and the field, if partition or keys are too short for their arity; `Unsupported` past
    /// 4 294 967 295 files.
    #[cfg(feature = "manifest")]
    pub fn push(&mut self, batch: &ManifestBatch, row: usize, keep: KeepStats) -> Result<()> {
        self.push_row(&batch.row(row), keep)
            .map_err(|error| batch.locate(error, row))
    }

    /// Appends a file from its model.
    ///
    /// # Errors
    /// `Unsupported` past 4 294 967 295 files.
    pub fn push_file(
        &mut self,
        partition: &BinaryRow,
        bucket: i32,
        total_buckets: i32,
        file: &DataFileMeta,
        keep: KeepStats,
    ) -> Result<()> {
        self.push_row(&FileRow::of(partition, bucket, total_buckets, file), keep)
    }

    /// Appends all files of a table, in their order, with the statistics they have.
    ///
    /// # Errors
    /// `Unsupported` past 4 294 967 295 files.
    pub fn append(&mut self, table: FileTable) -> Result<()> {
        check_length(self.len().saturating_add(table.len()))?;
        let mut columns = table.columns;
        let partitions = std::mem::take(&mut columns.partitions);
        self.adopt(&partitions, &mut columns.partition_ids);
        self.columns.append(columns);
        Ok(())
    }

    /// The table, without spare capacity.
    pub fn finish(mut self) -> FileTable {
        self.columns.shrink_to_fit();
        FileTable {
            columns: self.columns,
        }
    }

    pub(super) fn push_row(&mut self, file: &FileRow<'_>, keep: KeepStats) -> Result<()> {
        let row = check_length(self.len().saturating_add(1))? - 1;
        check_key("_MIN_KEY", file.min_key)?;
        check_key("_MAX_KEY", file.max_key)?;
        let partition_id = self.partition_id(file.partition)?;
        self.columns.push(row, partition_id, file, keep);
        Ok(())
    }

    fn partition_id(&mut self, partition: &[u8]) -> Result<u32> {
        // Entries of a partition mostly stand together.
        if let Some(last) = self.columns.partition_ids.last()
            && let Some(row) = self.columns.partitions.get(*last as usize)
            && row.as_serialized() == partition
        {
            return Ok(*last);
        }
        if let Some(id) = self.partition_ids.get(partition) {
            return Ok(*id);
        }
        let row = BinaryRow::from_serialized(partition.to_vec())
            .at(|| Frame::Field("_PARTITION".to_owned()))?;
        Ok(self.add_partition(row))
    }

    fn add_partition(&mut self, row: BinaryRow) -> u32 {
        // There are no more partitions than files.
        let id = u32::try_from(self.columns.partitions.len()).unwrap_or(u32::MAX);
        self.partition_ids.insert(row.as_serialized().to_vec(), id);
        self.columns.partitions.push(row);
        id
    }

    /// Makes indexes into other partitions indexes into those of this table.
    fn adopt(&mut self, partitions: &[BinaryRow], ids: &mut [u32]) {
        let mut adopted: Vec<Option<u32>> = vec![None; partitions.len()];
        for id in ids {
            let place = *id as usize;
            if let (Some(adopted), Some(row)) = (adopted.get_mut(place), partitions.get(place)) {
                let known = || self.partition_ids.get(row.as_serialized()).copied();
                let own = adopted.or_else(known);
                *id = own.unwrap_or_else(|| self.add_partition(row.clone()));
                *adopted = Some(*id);
            }
        }
    }
}

/// Checks that so many files fit into a table.
pub(super) fn check_length(files: usize) -> Result<u32> {
    u32::try_from(files).map_err(|_| Error::unsupported("plans of more than 4294967295 files"))
}

fn check_key(name: &str, serialized: &[u8]) -> Result<()> {
    BinaryRowRef::from_serialized(serialized)
        .map(|_| ())
        .at(|| Frame::Field(name.to_owned()))
        .at(|| Frame::Field("_FILE".to_owned()))
}
