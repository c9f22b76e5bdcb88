//! Tables in memory whose data files a test writes by hand. No manifests, no planner: metas and splits are made here.
//!
//! Rows are text: kind, sequence number, then the values, `-` for null. Rows that come out are the same text without
//! kind and sequence number.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, Int64Array, RecordBatch};
use arrow_schema::{Field, Schema};
use futures_util::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use paimon_io::{ResourceParts, Resources, StoreRegistry};
use paimon_meta::{
    BinaryRow, DataField, DataFileMeta, DataSplit, DataType, Datum, FieldId, FileSource, Options,
    ResolvedTable, Result, RowKind, Split, StringLayout, TableSchema, array_of, datum_at,
    encode_row, parse_type,
};
use paimon_read::{BatchStream, ReadRequest, ReadTask, RowKinds, TableReader, block_on};
use paimon_testkit::{CountingStore, FaultyStore, datum_to_json};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// One physical row of a file.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) kind: RowKind,
    pub(crate) sequence: i64,
    pub(crate) values: Vec<Option<Datum>>,
}

/// How a file is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) group_rows: usize,
    pub(crate) page_rows: usize,
    /// With bounds of pages, which grow the footer.
    pub(crate) page_bounds: bool,
    /// Without `_KEY_` columns (RP-351).
    pub(crate) thin: bool,
    pub(crate) compression: Compression,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            group_rows: 1 << 20,
            page_rows: 1000,
            page_bounds: true,
            thin: false,
            compression: Compression::UNCOMPRESSED,
        }
    }
}

impl Layout {
    /// Row groups of five rows, pages of two.
    pub(crate) fn small() -> Self {
        Self {
            group_rows: 5,
            page_rows: 2,
            ..Self::default()
        }
    }
}

/// A table in memory.
#[derive(Clone, Debug)]
pub(crate) struct TestTable {
    pub(crate) store: Arc<InMemory>,
    pub(crate) table: ResolvedTable,
    pub(crate) layout: Layout,
    /// Level of the files that are written next.
    pub(crate) level: i32,
    /// Directory of the files that are written next.
    pub(crate) bucket_path: &'static str,
}

/// Where every table of these tests is.
pub(crate) const LOCATION: &str = "memory:///t";

fn fields(columns: &[(&str, &str)]) -> Vec<DataField> {
    let field = |(id, (name, data_type)): (usize, &(&str, &str))| DataField {
        id: FieldId(i32::try_from(id).unwrap()),
        name: (*name).to_owned(),
        data_type: parse_type(data_type).unwrap(),
        description: None,
        default_value: None,
    };
    columns.iter().enumerate().map(field).collect()
}

impl TestTable {
    /// A table of columns (name, type) with a primary key; an append table without.
    pub(crate) fn new(columns: &[(&str, &str)], keys: &[&str]) -> Self {
        let fields = fields(columns);
        let schema = TableSchema {
            version: 3,
            id: 0,
            highest_field_id: i32::try_from(fields.len()).unwrap() - 1,
            fields,
            partition_keys: Vec::new(),
            primary_keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            options: BTreeMap::new(),
            comment: None,
            time_millis: 0,
        };
        let table = ResolvedTable {
            location: LOCATION.to_owned(),
            branch: "main".to_owned(),
            options: Options::default(),
            snapshot: None,
            schemas: [(0, schema.clone())].into(),
            schema,
            time_zone: "UTC".to_owned(),
            changes: None,
            fallback: None,
        };
        Self {
            store: Arc::new(InMemory::new()),
            table,
            layout: Layout::default(),
            level: 0,
            bucket_path: "bucket-0",
        }
    }

    /// `k INT NOT NULL, v STRING` with the key `k`.
    pub(crate) fn simple() -> Self {
        Self::new(&[("k", "INT NOT NULL"), ("v", "STRING")], &["k"])
    }

    pub(crate) fn option(mut self, key: &str, value: &str) -> Self {
        self.table
            .options
            .0
            .insert(key.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn laid_out(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    pub(crate) fn partitioned_by(mut self, names: &[&str]) -> Self {
        let names = names.iter().map(|name| (*name).to_owned());
        self.table.schema.partition_keys = names.collect();
        let schema = self.table.schema.clone();
        self.table.schemas.insert(schema.id, schema);
        self
    }

    /// Goes on with another schema; files that were written keep theirs.
    pub(crate) fn evolve(&mut self, change: impl FnOnce(&mut TableSchema)) {
        let mut schema = self.table.schema.clone();
        schema.id += 1;
        change(&mut schema);
        self.table.schemas.insert(schema.id, schema.clone());
        self.table.schema = schema;
    }

    pub(crate) fn field(&self, name: &str) -> DataField {
        self.table.schema.field(name).unwrap().clone()
    }

    /// Rows from their text.
    pub(crate) fn records(&self, rows: &[&str]) -> Vec<Record> {
        let fields = &self.table.schema.fields;
        rows.iter()
            .map(|row| {
                let mut words = row.split(' ');
                let (kind, sequence) = (words.next().unwrap(), words.next().unwrap());
                let values = words.zip(fields).map(|(word, field)| {
                    (word != "-").then(|| Datum::parse(word, &field.data_type).unwrap())
                });
                let values: Vec<_> = values.collect();
                assert_eq!(values.len(), fields.len(), "{row}");
                Record {
                    kind: kind_of(kind),
                    sequence: sequence.parse().unwrap(),
                    values,
                }
            })
            .collect()
    }

    /// Writes a file of rows in text.
    pub(crate) fn write(&self, name: &str, rows: &[&str]) -> DataFileMeta {
        self.write_records(name, &self.records(rows))
    }

    /// Writes a file. The rows must be in key order, and their keys unique.
    pub(crate) fn write_records(&self, name: &str, records: &[Record]) -> DataFileMeta {
        let batch = self.batch(records);
        let bytes = parquet_bytes(&batch, self.layout);
        let file_name = format!("{name}.parquet");
        let file_size = bytes.len() as u64;
        self.put(&file_name, bytes);
        let sequences = records.iter().map(|record| record.sequence);
        let retracts = records.iter().filter(|record| !record.kind.is_add());
        DataFileMeta {
            file_name,
            file_size,
            row_count: records.len() as u64,
            min_key: self.key(records.first().unwrap()),
            max_key: self.key(records.last().unwrap()),
            min_sequence_number: sequences.clone().min().unwrap(),
            max_sequence_number: sequences.max().unwrap(),
            schema_id: self.table.schema.id,
            level: self.level,
            delete_row_count: Some(retracts.count() as u64),
            file_source: Some(FileSource::Append),
            ..DataFileMeta::default()
        }
    }

    /// Puts the bytes of a file in the bucket.
    pub(crate) fn put(&self, file_name: &str, bytes: Vec<u8>) {
        let path = Path::from(format!("t/{}/{file_name}", self.bucket_path));
        block_on(self.store.put(&path, bytes.into())).unwrap();
    }

    fn key(&self, record: &Record) -> BinaryRow {
        let schema = &self.table.schema;
        let keys = schema.key_fields().unwrap();
        let types: Vec<&DataType> = keys.iter().map(|field| &field.data_type).collect();
        let place = |key: &&DataField| schema.fields.iter().position(|field| field == *key);
        let values: Vec<Option<Datum>> = keys
            .iter()
            .map(|key| record.values[place(key).unwrap()].clone())
            .collect();
        encode_row(&types, &values).unwrap()
    }

    /// The columns of a data file (RP-350).
    pub(crate) fn batch(&self, records: &[Record]) -> RecordBatch {
        let schema = &self.table.schema;
        let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
        let value_column = |field: &DataField, name: &str| {
            let arrow = field.data_type.to_arrow(StringLayout::Offset32).unwrap();
            let place = schema.fields.iter().position(|known| known == field);
            let values = records
                .iter()
                .map(|record| record.values[place.unwrap()].as_ref());
            let array = array_of(values, &arrow).unwrap();
            (Field::new(name, arrow, field.data_type.nullable), array)
        };
        if schema.has_primary_key() {
            if !self.layout.thin {
                for key in schema.key_fields().unwrap() {
                    columns.push(value_column(key, &format!("_KEY_{}", key.name)));
                }
            }
            let sequences: Int64Array = records.iter().map(|record| record.sequence).collect();
            let kinds: Int8Array = records.iter().map(|record| record.kind as i8).collect();
            for (name, array) in [
                ("_SEQUENCE_NUMBER", Arc::new(sequences) as ArrayRef),
                ("_VALUE_KIND", Arc::new(kinds)),
            ] {
                columns.push((Field::new(name, array.data_type().clone(), false), array));
            }
        }
        for field in &schema.fields {
            columns.push(value_column(field, &field.name));
        }
        let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
    }

    /// The table's store behind one that counts.
    pub(crate) fn counting(&self) -> Arc<CountingStore> {
        Arc::new(CountingStore::new(Arc::<InMemory>::clone(&self.store)))
    }

    /// The table's store behind one that can fail.
    pub(crate) fn faulty(&self) -> Arc<FaultyStore> {
        Arc::new(FaultyStore::new(Arc::<InMemory>::clone(&self.store)))
    }

    /// Resources that reach the table.
    pub(crate) fn resources(&self) -> Resources {
        over(Arc::<InMemory>::clone(&self.store))
    }

    pub(crate) fn reader(&self, request: ReadRequest) -> TableReader {
        self.reader_with(request, self.resources())
    }

    pub(crate) fn reader_with(&self, request: ReadRequest, resources: Resources) -> TableReader {
        TableReader::new(Arc::new(self.table.clone()), request, resources).unwrap()
    }

    /// The rows of a split; its parts have the same, in the same order.
    pub(crate) fn rows(&self, split: DataSplit, request: ReadRequest) -> Result<Vec<String>> {
        let reader = self.reader(request);
        let whole = rows(&reader, split.clone())?;
        let task = ReadTask::new(Split::Data(split));
        let three = NonZeroUsize::new(3).unwrap();
        let parts = block_on(reader.subdivide(task, three)).unwrap();
        let batches = collect(reader.read_all(parts.clone()).unwrap()).unwrap();
        let found = batches.iter().flat_map(|batch| text(&reader, batch));
        assert_eq!(found.collect::<Vec<_>>(), whole, "{parts:?}");
        Ok(whole)
    }

    /// The rows of files that must be merged, all columns.
    pub(crate) fn merged(&self, files: Vec<DataFileMeta>) -> Vec<String> {
        self.rows(self.split(files), ReadRequest::default())
            .unwrap()
    }

    /// A split that must be merged, or, in an append table, one of these files.
    pub(crate) fn split(&self, files: Vec<DataFileMeta>) -> DataSplit {
        DataSplit {
            snapshot_id: 1,
            partition: BinaryRow::default(),
            bucket: 0,
            bucket_path: self.bucket_path.to_owned(),
            total_buckets: Some(1),
            files,
            deletion_files: None,
            streaming: false,
            raw_convertible: false,
        }
    }

    /// A split that the planner says needs no merge.
    pub(crate) fn raw_split(&self, files: Vec<DataFileMeta>) -> DataSplit {
        DataSplit {
            raw_convertible: true,
            ..self.split(files)
        }
    }

    /// A request for columns by name.
    pub(crate) fn columns(&self, names: &[&str]) -> ReadRequest {
        ReadRequest::default()
            .with_columns(&self.table.schema, names)
            .unwrap()
    }
}

fn kind_of(text: &str) -> RowKind {
    match text {
        "+I" => RowKind::Insert,
        "-U" => RowKind::UpdateBefore,
        "+U" => RowKind::UpdateAfter,
        "-D" => RowKind::Delete,
        other => panic!("no kind {other}"),
    }
}

pub(crate) fn kind_text(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Insert => "+I",
        RowKind::UpdateBefore => "-U",
        RowKind::UpdateAfter => "+U",
        RowKind::Delete => "-D",
    }
}

/// The bytes of a Parquet file of one batch.
pub(crate) fn parquet_bytes(batch: &RecordBatch, layout: Layout) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(layout.compression)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(layout.group_rows))
        .set_data_page_row_count_limit(layout.page_rows)
        .set_write_batch_size(layout.page_rows)
        .set_statistics_enabled(if layout.page_bounds {
            EnabledStatistics::Page
        } else {
            EnabledStatistics::Chunk
        })
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// Resources over one store in place of the stores in memory.
pub(crate) fn over(store: Arc<dyn ObjectStore>) -> Resources {
    let registry = StoreRegistry::new();
    registry.register("memory://", store).unwrap();
    Resources::new(ResourceParts {
        stores: Arc::new(registry),
        ..ResourceParts::default()
    })
}

/// The batches of a stream.
pub(crate) fn collect(stream: BatchStream) -> Result<Vec<RecordBatch>> {
    block_on(stream.try_collect())
}

/// The batches of a split, checked against the contract of [`BatchStream`].
pub(crate) fn batches(reader: &TableReader, split: DataSplit) -> Result<Vec<RecordBatch>> {
    let batches = collect(reader.read(ReadTask::new(Split::Data(split)))?)?;
    for batch in &batches {
        assert_eq!(batch.schema(), reader.schema());
        assert!((1..=reader.context().request.batch_size).contains(&batch.num_rows()));
    }
    Ok(batches)
}

/// The rows of a split as text.
pub(crate) fn rows(reader: &TableReader, split: DataSplit) -> Result<Vec<String>> {
    let batches = batches(reader, split)?;
    Ok(batches
        .iter()
        .flat_map(|batch| text(reader, batch))
        .collect())
}

/// The rows of a batch as text; kinds, if they are kept, come first.
pub(crate) fn text(reader: &TableReader, batch: &RecordBatch) -> Vec<String> {
    let context = reader.context();
    let schema = &context.table.schema;
    let fields: Vec<&DataField> = match &context.request.projection {
        None => schema.fields.iter().collect(),
        Some(ids) => ids
            .iter()
            .map(|id| schema.field_by_id(*id).unwrap())
            .collect(),
    };
    let kinds = context.request.row_kinds != RowKinds::Drop;
    let (kind, values) = batch.columns().split_at(usize::from(kinds));
    (0..batch.num_rows())
        .map(|row| {
            let mut words = Vec::new();
            for column in kind {
                let kind = datum_at(column, row, &parse_type("TINYINT").unwrap()).unwrap();
                let Some(Datum::TinyInt(kind)) = kind else {
                    panic!("a row without kind")
                };
                words.push(kind_text(RowKind::from_byte(kind).unwrap()).to_owned());
            }
            for (column, field) in values.iter().zip(&fields) {
                let value = datum_at(column, row, &field.data_type).unwrap();
                words.push(value_text(value.as_ref(), &field.data_type));
            }
            words.join(" ")
        })
        .collect()
}

/// A value as text.
pub(crate) fn value_text(value: Option<&Datum>, data_type: &DataType) -> String {
    match datum_to_json(value, data_type).unwrap() {
        serde_json::Value::Null => "-".to_owned(),
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    }
}
