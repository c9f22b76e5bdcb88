//! What writers differ in: versions with fewer fields, other implementations, codecs, block sizes.

use apache_avro::{Bzip2Settings, Codec, DeflateSettings, XzSettings, ZstandardSettings};
use paimon_meta::{
    BinaryRow, DataFileMeta, DeletionVectorRange, EntryKind, FileSource, ManifestEntry,
    SimpleStats, decode_index_manifest, decode_manifest, decode_manifest_list,
};
use serde_json::{Value, json};

use crate::avro_files::{manifest_schema, write};

const EMPTY_ROW: [u8; 12] = [0; 12];

/// One BIGINT.
fn row(value: i64) -> Vec<u8> {
    [
        &[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        value.to_le_bytes().as_slice(),
    ]
    .concat()
}

fn stats(min: i64, max: i64, nulls: &Value) -> Value {
    json!({"_MIN_VALUES": row(min), "_MAX_VALUES": row(max), "_NULL_COUNTS": nulls})
}

/// The fields that every version has.
fn entry(name: &str) -> Value {
    json!({
        "_VERSION": 2, "_KIND": 0, "_PARTITION": EMPTY_ROW, "_BUCKET": 3, "_TOTAL_BUCKETS": 4,
        "_FILE": {
            "_FILE_NAME": name, "_FILE_SIZE": 1000, "_ROW_COUNT": 20,
            "_MIN_KEY": row(1), "_MAX_KEY": row(9),
            "_KEY_STATS": stats(1, 9, &json!([0])), "_VALUE_STATS": stats(-5, 5, &json!([2])),
            "_MIN_SEQUENCE_NUMBER": 10, "_MAX_SEQUENCE_NUMBER": 29, "_SCHEMA_ID": 1, "_LEVEL": 5,
            "_EXTRA_FILES": ["a.index"], "_CREATION_TIME": 1_700_000_000_000_i64,
        },
    })
}

fn simple_stats(min: i64, max: i64, nulls: i64) -> SimpleStats {
    SimpleStats {
        min_values: BinaryRow::from_serialized(row(min)).unwrap(),
        max_values: BinaryRow::from_serialized(row(max)).unwrap(),
        null_counts: Some(vec![Some(nulls)]),
    }
}

fn expected(name: &str) -> ManifestEntry {
    ManifestEntry {
        kind: EntryKind::Add,
        partition: BinaryRow::default(),
        bucket: 3,
        total_buckets: 4,
        file: DataFileMeta {
            file_name: name.to_owned(),
            file_size: 1000,
            row_count: 20,
            min_key: BinaryRow::from_serialized(row(1)).unwrap(),
            max_key: BinaryRow::from_serialized(row(9)).unwrap(),
            key_stats: simple_stats(1, 9, 0),
            value_stats: simple_stats(-5, 5, 2),
            min_sequence_number: 10,
            max_sequence_number: 29,
            schema_id: 1,
            level: 5,
            extra_files: vec!["a.index".to_owned()],
            creation_time_millis: Some(1_700_000_000_000),
            delete_row_count: None,
            embedded_index: None,
            file_source: None,
            value_stats_cols: None,
            external_path: None,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        },
    }
}

/// The fields of `_FILE` in a manifest schema.
fn file_fields(schema: &mut Value) -> &mut Vec<Value> {
    schema["fields"][5]["type"]["fields"]
        .as_array_mut()
        .unwrap()
}

fn decode_one(schema: &Value, entry: Value) -> ManifestEntry {
    let file = write(schema, &[entry], Codec::Null, 64_000);
    decode_manifest(&file).unwrap().pop().unwrap()
}

// TF-039, section 4.3.
#[test]
fn fields_of_later_versions_have_their_defaults_when_missing() {
    let mut schema = manifest_schema();
    file_fields(&mut schema).truncate(13);
    assert_eq!(decode_one(&schema, entry("a.orc")), expected("a.orc"));
}

#[test]
fn every_field_is_decoded() {
    let mut written = entry("a.orc");
    written["_KIND"] = json!(1);
    for (name, value) in [
        ("_DELETE_ROW_COUNT", json!(4)),
        ("_EMBEDDED_FILE_INDEX", json!([1, 2])),
        ("_FILE_SOURCE", json!(1)),
        ("_VALUE_STATS_COLS", json!(["v", "w"])),
        ("_EXTERNAL_PATH", json!("s3://bucket/a.orc")),
        ("_FIRST_ROW_ID", json!(70)),
        ("_WRITE_COLS", json!(["v"])),
        ("_WRITE_COLS_SEQUENCES", json!([12])),
    ] {
        written["_FILE"][name] = value;
    }
    let mut all = expected("a.orc");
    all.kind = EntryKind::Delete;
    all.file.delete_row_count = Some(4);
    all.file.embedded_index = Some(vec![1, 2]);
    all.file.file_source = Some(FileSource::Compact);
    all.file.value_stats_cols = Some(vec!["v".to_owned(), "w".to_owned()]);
    all.file.external_path = Some("s3://bucket/a.orc".to_owned());
    all.file.first_row_id = Some(70);
    all.file.write_cols = Some(vec!["v".to_owned()]);
    all.file.write_cols_sequences = Some(vec![12]);
    assert_eq!(decode_one(&manifest_schema(), written), all);
}

// TF-039: the Python writer has other record names, references to them, plain items and no logical type.
#[test]
fn other_record_names_plain_items_and_references_decode() {
    let stats = json!({"type": "record", "name": "SimpleStats", "namespace": "com.example", "fields": [
        {"name": "_MIN_VALUES", "type": "bytes"},
        {"name": "_MAX_VALUES", "type": "bytes"},
        {"name": "_NULL_COUNTS", "type": {"type": "array", "items": "long"}},
    ]});
    let mut schema = manifest_schema();
    schema["name"] = json!("com.example.ManifestEntry");
    schema["fields"][5]["type"]["name"] = json!("DataFileMeta");
    let fields = file_fields(&mut schema);
    fields.truncate(13);
    fields[5]["type"] = stats;
    fields[6]["type"] = json!("com.example.SimpleStats");
    fields[12] = json!({"name": "_CREATION_TIME", "type": "long"});
    assert_eq!(decode_one(&schema, entry("a.orc")), expected("a.orc"));
}

#[test]
fn unknown_fields_of_any_type_are_skipped() {
    let mut schema = manifest_schema();
    let unknown = [
        (
            json!({"type": "enum", "name": "e", "symbols": ["x", "y"]}),
            json!("y"),
        ),
        (
            json!({"type": "map", "values": ["null", "double"]}),
            json!({"k": 1.5}),
        ),
        (json!(["null", "string", "boolean", "long"]), json!(true)),
        (
            json!({"type": "array", "items": {"type": "record", "name": "i", "fields": [
            {"name": "a", "type": "float"}, {"name": "b", "type": "bytes"}]}}),
            json!([{"a": 2.5, "b": [1, 2, 3]}, {"a": 0.5, "b": []}]),
        ),
        (json!("i"), json!({"a": 1.0, "b": [9]})),
        (json!("e"), json!("x")),
        (
            json!({"type": "long", "logicalType": "timestamp-micros"}),
            json!(5),
        ),
    ];
    let mut written = entry("a.orc");
    for (index, (unknown, value)) in unknown.into_iter().enumerate() {
        let name = format!("unknown{index}");
        written["_FILE"][&name] = value;
        // Before a known field, so that skipping a wrong number of bytes is noticed.
        file_fields(&mut schema).insert(2 * index, json!({"name": name, "type": unknown}));
    }
    assert_eq!(decode_one(&schema, written), expected("a.orc"));
}

// Section 4.1.
#[test]
fn entry_may_be_a_union_of_null_and_a_record() {
    let schema = json!(["null", manifest_schema()]);
    assert_eq!(decode_one(&schema, entry("a.orc")), expected("a.orc"));
}

#[test]
fn null_may_come_second_in_a_union() {
    let mut schema = manifest_schema();
    let field = &mut file_fields(&mut schema)[13];
    *field = json!({"name": "_DELETE_ROW_COUNT", "type": ["long", "null"]});
    let mut written = entry("a.orc");
    written["_FILE"]["_DELETE_ROW_COUNT"] = Value::Null;
    assert_eq!(
        decode_one(&schema, written.clone()).file.delete_row_count,
        None
    );
    written["_FILE"]["_DELETE_ROW_COUNT"] = json!(3);
    assert_eq!(decode_one(&schema, written).file.delete_row_count, Some(3));
}

// Section 4.3: null statistics are empty ones.
#[test]
fn statistics_may_be_null() {
    let mut schema = manifest_schema();
    for index in [5, 6] {
        let field = &mut file_fields(&mut schema)[index];
        field["type"] = json!(["null", field["type"]]);
    }
    let mut written = entry("a.orc");
    assert_eq!(decode_one(&schema, written.clone()), expected("a.orc"));
    written["_FILE"]["_KEY_STATS"] = Value::Null;
    written["_FILE"]["_VALUE_STATS"] = Value::Null;
    let file = decode_one(&schema, written).file;
    assert_eq!(file.key_stats, SimpleStats::default());
    assert_eq!(file.value_stats, SimpleStats::default());
    assert_eq!(file.value_stats_cols, Some(vec![]));
}

#[test]
fn ints_are_taken_for_longs() {
    let mut schema = manifest_schema();
    let fields = file_fields(&mut schema);
    fields[1]["type"] = json!("int");
    fields[13]["type"] = json!(["null", "int"]);
    let mut written = entry("a.orc");
    written["_FILE"]["_DELETE_ROW_COUNT"] = json!(3);
    let decoded = decode_one(&schema, written);
    assert_eq!(
        (decoded.file.file_size, decoded.file.delete_row_count),
        (1000, Some(3))
    );
}

// Section 4.1.
#[test]
fn every_codec_decodes_to_the_same_entries() {
    let names = (0..100).map(|index| format!("data-{index}.orc"));
    let (entries, expected): (Vec<_>, Vec<_>) =
        names.map(|name| (entry(&name), expected(&name))).unzip();
    for codec in [
        Codec::Null,
        Codec::Deflate(DeflateSettings::default()),
        Codec::Snappy,
        Codec::Zstandard(ZstandardSettings::default()),
        Codec::Bzip2(Bzip2Settings::default()),
        Codec::Xz(XzSettings::default()),
    ] {
        let file = write(&manifest_schema(), &entries, codec, 4000);
        assert_eq!(decode_manifest(&file).unwrap(), expected, "{codec:?}");
    }
}

// RP-095.
#[test]
fn order_is_that_of_the_file_over_blocks_and_batches() {
    let entries: Vec<_> = (0..3000).map(|index| entry(&index.to_string())).collect();
    for block_bytes in [1, 5000, 10_000_000] {
        let file = write(&manifest_schema(), &entries, Codec::Snappy, block_bytes);
        let decoded = decode_manifest(&file).unwrap();
        let names = decoded
            .iter()
            .map(|entry| entry.file.file_name.parse::<usize>().unwrap());
        assert!(names.eq(0..3000), "blocks of {block_bytes} bytes");
    }
}

#[test]
fn file_without_blocks_has_no_entries() {
    let file = write(&manifest_schema(), &[], Codec::Null, 64_000);
    assert_eq!(decode_manifest(&file).unwrap(), []);
}

// TF-040: a bound that is not there must not prune.
#[test]
fn manifest_list_without_bounds_decodes() {
    let stats = &manifest_schema()["fields"][5]["type"]["fields"][5];
    let schema = json!({"type": "record", "name": "list", "fields": [
        {"name": "_VERSION", "type": "int"},
        {"name": "_FILE_NAME", "type": "string"},
        {"name": "_FILE_SIZE", "type": "long"},
        {"name": "_NUM_ADDED_FILES", "type": "long"},
        {"name": "_NUM_DELETED_FILES", "type": "long"},
        {"name": "_PARTITION_STATS", "type": stats["type"]},
        {"name": "_SCHEMA_ID", "type": "long"},
    ]});
    let list = json!({
        "_VERSION": 2, "_FILE_NAME": "manifest-1", "_FILE_SIZE": 10, "_NUM_ADDED_FILES": 2,
        "_NUM_DELETED_FILES": 3, "_PARTITION_STATS": self::stats(1, 2, &Value::Null), "_SCHEMA_ID": 7,
    });
    let file = write(&schema, &[list], Codec::Null, 64_000);
    let meta = decode_manifest_list(&file).unwrap().pop().unwrap();
    assert_eq!((meta.entry_count(), meta.schema_id), (5, 7));
    assert_eq!(meta.partition_stats.null_counts, None);
    assert_eq!((meta.min_bucket, meta.max_bucket), (None, None));
    assert_eq!((meta.min_level, meta.max_level), (None, None));
    assert_eq!((meta.min_row_id, meta.max_row_id), (None, None));
}

fn index_schema(items: &Value) -> Value {
    json!({"type": "record", "name": "index", "fields": [
        {"name": "_VERSION", "type": "int"},
        {"name": "_KIND", "type": "int"},
        {"name": "_PARTITION", "type": "bytes"},
        {"name": "_BUCKET", "type": "int"},
        {"name": "_INDEX_TYPE", "type": "string"},
        {"name": "_FILE_NAME", "type": "string"},
        {"name": "_FILE_SIZE", "type": "long"},
        {"name": "_ROW_COUNT", "type": "long"},
        {"name": "_DELETIONS_VECTORS_RANGES", "type": ["null", {"type": "array", "items": items}]},
    ]})
}

fn index_entry(index_type: &str, ranges: &Value) -> Value {
    json!({
        "_VERSION": 1, "_KIND": 0, "_PARTITION": EMPTY_ROW, "_BUCKET": 0, "_INDEX_TYPE": index_type,
        "_FILE_NAME": "index-1", "_FILE_SIZE": 10, "_ROW_COUNT": 1,
        "_DELETIONS_VECTORS_RANGES": ranges,
    })
}

// TF-068, TF-072, section 6.1: plain and nullable items, with and without a cardinality; every index type.
#[test]
fn index_manifests_of_all_writers_decode() {
    let range = |fields: &Value| json!({"type": "record", "name": "range", "fields": fields});
    let old = json!([{"name": "f0", "type": "string"}, {"name": "f1", "type": "int"}, {"name": "f2", "type": "int"}]);
    let mut new = old.clone();
    new.as_array_mut()
        .unwrap()
        .push(json!({"name": "_CARDINALITY", "type": ["null", "long"], "default": null}));
    for (items, cardinality) in [
        (range(&old), None),
        (json!(["null", range(&old)]), None),
        (json!(["null", range(&new)]), Some(5)),
    ] {
        let ranges = json!([
            {"f0": "a.orc", "f1": 1, "f2": 22, "_CARDINALITY": 5},
            {"f0": "b.orc", "f1": 31, "f2": 24, "_CARDINALITY": 5},
        ]);
        let mut empty = index_entry("DELETION_VECTORS", &json!([]));
        empty["_ROW_COUNT"] = json!(0);
        let entries = [
            index_entry("DELETION_VECTORS", &ranges),
            index_entry("HASH", &Value::Null),
            empty,
            index_entry("ivf-flat", &Value::Null),
        ];
        let file = write(&index_schema(&items), &entries, Codec::Null, 64_000);
        let decoded = decode_index_manifest(&file).unwrap();
        let range = |data_file: &str, offset, length| DeletionVectorRange {
            data_file: data_file.to_owned(),
            offset,
            length,
            cardinality,
        };
        let vectors: Vec<_> = decoded
            .iter()
            .map(|entry| entry.deletion_vectors.clone())
            .collect();
        let two = vec![range("a.orc", 1, 22), range("b.orc", 31, 24)];
        assert_eq!(vectors, [Some(two), None, Some(vec![]), None]);
        assert_eq!(decoded[3].index_type, "ivf-flat");
    }
}

// TF-073, section 6.1: `_ROW_COUNT` of a file of deletion vectors is the number of vectors, so that one that is lost is missed.
#[test]
fn index_files_without_their_vectors_are_corrupt() {
    let item = json!({"type": "record", "name": "range", "fields": [
        {"name": "f0", "type": "string"}, {"name": "f1", "type": "int"}, {"name": "f2", "type": "int"},
    ]});
    let decode = |schema: &Value, ranges: &Value| {
        let entries = [index_entry("DELETION_VECTORS", ranges)];
        let file = write(schema, &entries, Codec::Null, 64_000);
        decode_index_manifest(&file).unwrap_err().to_string()
    };
    let schema = index_schema(&item);
    assert_eq!(
        decode(&schema, &json!([])),
        "corrupt: 0 deletion vectors, expected 1 [entry 0 > field _DELETIONS_VECTORS_RANGES]"
    );
    let missing = "corrupt: a file of deletion vectors does not say where they are \
                   [entry 0 > field _DELETIONS_VECTORS_RANGES]";
    assert_eq!(decode(&schema, &Value::Null), missing);
}
