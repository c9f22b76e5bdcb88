//! What tests share: tables in memory, schemas, files, and running futures.

use std::future::Future;
use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};
use paimon_io::{ResourceParts, Resources, StoreRegistry};
use paimon_meta::{
    BinaryRow, DataFileMeta, DataType, Datum, FileTable, FileTableBuilder, KeepStats, TableSchema,
    TypeKind, encode_row,
};

/// Where [`resources`] puts its files.
pub(crate) const ROOT: &str = "memory://test/table";

/// Runs a future of a test to its end.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no runtime, and nothing else to do meanwhile"
)]
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    futures::executor::block_on(future)
}

/// Resources over a store in memory with these files under [`ROOT`].
pub(crate) fn resources<'a>(files: impl IntoIterator<Item = (&'a str, String)>) -> Resources {
    let store = Arc::new(InMemory::new());
    for (name, content) in files {
        let path = Path::parse(format!("table/{name}")).unwrap();
        run(store.put(&path, PutPayload::from(content))).unwrap();
    }
    let registry = StoreRegistry::new();
    registry.register("memory://test", store).unwrap();
    Resources::new(ResourceParts {
        stores: Arc::new(registry),
        ..ResourceParts::default()
    })
}

/// A schema of columns `id name type`, with a primary key, partition columns and options.
pub(crate) fn schema(
    id: i64,
    columns: &[(i32, &str, &str)],
    primary_keys: &[&str],
    partition_keys: &[&str],
) -> TableSchema {
    let columns: Vec<String> = columns
        .iter()
        .map(|(id, name, data_type)| {
            format!(r#"{{"id":{id},"name":"{name}","type":"{data_type}"}}"#)
        })
        .collect();
    let text = format!(
        r#"{{"version":3,"id":{id},"fields":[{}],"highestFieldId":99,"partitionKeys":{partition_keys:?},
        "primaryKeys":{primary_keys:?},"options":{{}}}}"#,
        columns.join(",")
    );
    TableSchema::from_json(text.as_bytes()).unwrap()
}

/// A row of one `INT` a value.
pub(crate) fn ints(values: &[Option<i32>]) -> BinaryRow {
    let int = TypeKind::Int.nullable();
    let types: Vec<&DataType> = values.iter().map(|_| &int).collect();
    let values: Vec<Option<Datum>> = values.iter().map(|value| value.map(Datum::Int)).collect();
    encode_row(&types, &values).unwrap()
}

/// A file of 10 rows and 100 bytes with `INT` keys.
pub(crate) fn file(name: &str, level: i32, min: i32, max: i32) -> DataFileMeta {
    DataFileMeta {
        file_name: name.to_owned(),
        file_size: 100,
        row_count: 10,
        min_key: ints(&[Some(min)]),
        max_key: ints(&[Some(max)]),
        level,
        delete_row_count: Some(0),
        ..DataFileMeta::default()
    }
}

/// A table of files: partition (one `INT`), bucket, file.
pub(crate) fn files(entries: &[(i32, i32, DataFileMeta)]) -> FileTable {
    let mut builder = FileTableBuilder::new();
    for (partition, bucket, file) in entries {
        builder
            .push_file(&ints(&[Some(*partition)]), *bucket, 4, file, KeepStats::ALL)
            .unwrap();
    }
    builder.finish()
}
