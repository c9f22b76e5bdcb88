//! Golden tables, copied so that a test may damage them, planned and read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use futures_util::StreamExt;
use paimon_io::Resources;
use paimon_meta::{DataSplit, Error, ResolvedTable, Split};
use paimon_plan::{ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, ReadTask, TableReader, block_on};
use paimon_testkit::GOLDEN;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// A copy of a golden table, planned before it was damaged.
pub(crate) struct Golden {
    directory: tempfile::TempDir,
    pub(crate) table: ResolvedTable,
    pub(crate) splits: Vec<DataSplit>,
}

impl Golden {
    pub(crate) fn new(case: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        copy(
            &Path::new(GOLDEN).join(case).join("table"),
            directory.path(),
        );
        let resources = Resources::local();
        let location = directory.path().to_str().unwrap();
        let request = ResolveRequest::default();
        let table = block_on(Table::resolve(&resources, location, &request)).unwrap();
        let plan = block_on(plan(&resources, &table, &ScanRequest::default())).unwrap();
        let splits = (0..plan.len()).map(|split| match plan.split(split).unwrap() {
            Split::Data(split) => split,
            other => panic!("{other:?}"),
        });
        Self {
            splits: splits.collect(),
            directory,
            table,
        }
    }

    /// A data file of the first split.
    pub(crate) fn path(&self, file: usize) -> PathBuf {
        let split = &self.splits[0];
        let path = split.files[file].path(&split.bucket_path).unwrap();
        self.directory.path().join(path)
    }

    /// Writes a data file of the first split again; its meta gets the new size.
    pub(crate) fn rewrite(&mut self, file: usize, change: impl FnOnce(RecordBatch) -> RecordBatch) {
        let path = self.path(file);
        let bytes = Bytes::from(fs::read(&path).unwrap());
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        let mut batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.len(), 1);
        let batch = change(batches.remove(0));
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let bytes = writer.into_inner().unwrap();
        self.splits[0].files[file].file_size = bytes.len() as u64;
        fs::write(path, bytes).unwrap();
    }

    /// Rows of the first split before its end or error.
    pub(crate) fn read(&self, resources: &Resources) -> (usize, Option<Error>) {
        let table = Arc::new(self.table.clone());
        let request = ReadRequest {
            batch_size: 10,
            ..ReadRequest::default()
        };
        let reader = TableReader::new(table, request, resources.clone()).unwrap();
        let task = ReadTask::new(Split::Data(self.splits[0].clone()));
        let mut stream = match reader.read(task) {
            Ok(stream) => stream,
            Err(error) => return (0, Some(error)),
        };
        let mut rows = 0;
        while let Some(item) = block_on(stream.next()) {
            match item {
                Ok(batch) => rows += batch.num_rows(),
                Err(error) => {
                    assert!(block_on(stream.next()).is_none());
                    return (rows, Some(error));
                }
            }
        }
        (rows, None)
    }

    /// The error of reading the first split.
    pub(crate) fn error(&self) -> Error {
        self.read(&Resources::local()).1.unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
