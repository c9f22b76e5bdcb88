//! The metadata of a table in memory: manifests of generated files under a snapshot.

use std::sync::Arc;

use apache_avro::types::Value;
use apache_avro::{Error, Schema, Writer};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use crate::manifest::{Kind, entries_of, long, record, some, text_row};

/// Entries of one manifest: about 3.5 MB.
const ENTRIES_PER_MANIFEST: u64 = 50_000;

/// The fields of a manifest list that a writer must give (section 4.2 of the format notes).
pub(crate) const LIST_SCHEMA: &str = r#"{"type":"record","name":"record","fields":[
 {"name":"_VERSION","type":"int"},{"name":"_FILE_NAME","type":"string"},{"name":"_FILE_SIZE","type":"long"},
 {"name":"_NUM_ADDED_FILES","type":"long"},{"name":"_NUM_DELETED_FILES","type":"long"},
 {"name":"_PARTITION_STATS","type":{"type":"record","name":"record__PARTITION_STATS","fields":[
  {"name":"_MIN_VALUES","type":"bytes"},{"name":"_MAX_VALUES","type":"bytes"},
  {"name":"_NULL_COUNTS","type":["null",{"type":"array","items":["null","long"]}]}]}},
 {"name":"_SCHEMA_ID","type":"long"}]}"#;

const SNAPSHOT: &str = r#"{"version":3,"id":1,"schemaId":0,"baseManifestList":"list-base",
 "deltaManifestList":"list-delta","commitUser":"bench","commitIdentifier":1,"commitKind":"APPEND","timeMillis":1}"#;

/// Which files a table has.
#[derive(Clone, Copy, Debug)]
pub struct Files {
    /// How many were added.
    pub added: u64,
    /// How many of the first were deleted again.
    pub deleted: u64,
    /// One in so many is on level 0, the others on level 5; with 0, none is.
    pub level_zero_each: u64,
}

/// A store that holds the metadata of a table of [`manifest`](crate::manifest) files under `table/`.
///
/// # Errors
/// Those of the Avro writer.
pub async fn table(files: Files) -> Result<Arc<dyn ObjectStore>, Error> {
    let store = Arc::new(InMemory::new());
    let level = |index: u64| {
        if files.level_zero_each > 0 && index.is_multiple_of(files.level_zero_each) {
            0
        } else {
            5
        }
    };
    for (list, kind, count) in [
        ("base", Kind::Add, files.added),
        ("delta", Kind::Delete, files.deleted),
    ] {
        let mut listed = Vec::new();
        let mut start = 0;
        while start < count {
            let end = count.min(start + ENTRIES_PER_MANIFEST);
            let name = format!("manifest-{list}-{start}");
            let manifest = entries_of(start..end, kind, level)?;
            listed.push(list_entry(&name, manifest.len() as u64, kind, end - start));
            put(&store, &format!("manifest/{name}"), manifest).await;
            start = end;
        }
        put(
            &store,
            &format!("manifest/list-{list}"),
            manifest_list(listed)?,
        )
        .await;
    }
    put(&store, "snapshot/snapshot-1", SNAPSHOT.into()).await;
    put(&store, "schema/schema-0", schema().into_bytes()).await;
    Ok(store)
}

async fn put(store: &InMemory, name: &str, content: Vec<u8>) {
    let path = Path::from(format!("table/{name}"));
    // Memory takes everything.
    let _stored = store.put(&path, PutPayload::from(content)).await;
}

fn manifest_list(entries: Vec<Value>) -> Result<Vec<u8>, Error> {
    let schema = Schema::parse_str(LIST_SCHEMA)?;
    let mut writer = Writer::new(&schema, Vec::new());
    for entry in entries {
        writer.append(entry)?;
    }
    writer.into_inner()
}

fn list_entry(name: &str, size: u64, kind: Kind, count: u64) -> Value {
    let (added, deleted) = match kind {
        Kind::Add => (count, 0),
        Kind::Delete => (0, count),
    };
    let bounds = record([
        ("_MIN_VALUES", Value::Bytes(text_row("20240510"))),
        ("_MAX_VALUES", Value::Bytes(text_row("20240529"))),
        ("_NULL_COUNTS", some(Value::Array(vec![some(long(0))]))),
    ]);
    record([
        ("_VERSION", Value::Int(2)),
        ("_FILE_NAME", Value::String(name.to_owned())),
        ("_FILE_SIZE", long(size)),
        ("_NUM_ADDED_FILES", long(added)),
        ("_NUM_DELETED_FILES", long(deleted)),
        ("_PARTITION_STATS", bounds),
        ("_SCHEMA_ID", Value::Long(0)),
    ])
}

/// `k` and seven more BIGINT columns, whose statistics the files have, and the partition column `dt`.
fn schema() -> String {
    let columns: String = (1..8)
        .map(|id| format!(r#",{{"id":{id},"name":"c{id}","type":"BIGINT"}}"#))
        .collect();
    format!(
        r#"{{"version":3,"id":0,"highestFieldId":8,"partitionKeys":["dt"],"primaryKeys":["dt","k"],
        "options":{{"bucket":"16"}},"timeMillis":0,"fields":[{{"id":0,"name":"k","type":"BIGINT NOT NULL"}}{columns},
        {{"id":8,"name":"dt","type":"STRING NOT NULL"}}]}}"#
    )
}
