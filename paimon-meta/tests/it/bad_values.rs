//! Files that decode but break the format: the error says what is wrong, and where.

use apache_avro::Codec;
use paimon_meta::{Error, ErrorKind, decode_index_manifest, decode_manifest, decode_manifest_list};
use serde_json::{Value, json};

use crate::avro_files::{SYNC, container, long, manifest_schema, write};

const ROW: [u8; 12] = [0; 12];

fn entry() -> Value {
    let stats = json!({"_MIN_VALUES": ROW, "_MAX_VALUES": ROW, "_NULL_COUNTS": []});
    json!({
        "_VERSION": 2, "_KIND": 0, "_PARTITION": ROW, "_BUCKET": 0, "_TOTAL_BUCKETS": 1,
        "_FILE": {
            "_FILE_NAME": "a.orc", "_FILE_SIZE": 1, "_ROW_COUNT": 1, "_MIN_KEY": ROW, "_MAX_KEY": ROW,
            "_KEY_STATS": stats, "_VALUE_STATS": stats, "_MIN_SEQUENCE_NUMBER": 0,
            "_MAX_SEQUENCE_NUMBER": 0, "_SCHEMA_ID": 0, "_LEVEL": 0, "_EXTRA_FILES": [],
        },
    })
}

/// The error of a manifest whose second entry has `value` at a JSON pointer.
fn error_with(pointer: &str, value: Value) -> String {
    let mut bad = entry();
    match bad.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => bad["_FILE"][pointer.rsplit('/').next().unwrap()] = value,
    }
    let file = write(&manifest_schema(), &[entry(), bad], Codec::Null, 64_000);
    decode_manifest(&file).unwrap_err().to_string()
}

#[test]
fn values_out_of_range_name_their_entry_and_field() {
    for (pointer, value, expected) in [
        (
            "/_KIND",
            json!(2),
            "value is 2, expected 0 or 1 [entry 1 > field _KIND]",
        ),
        (
            "/_FILE/_FILE_SIZE",
            json!(-1),
            "value is -1, expected 0 or more [entry 1 > field _FILE > field _FILE_SIZE]",
        ),
        (
            "/_FILE/_ROW_COUNT",
            json!(-7),
            "value is -7, expected 0 or more [entry 1 > field _FILE > field _ROW_COUNT]",
        ),
        (
            "/_FILE/_DELETE_ROW_COUNT",
            json!(-2),
            "value is -2, expected 0 or more [entry 1 > field _FILE > field _DELETE_ROW_COUNT]",
        ),
        (
            "/_FILE/_FILE_SOURCE",
            json!(3),
            "value is 3, expected 0 or 1 [entry 1 > field _FILE > field _FILE_SOURCE]",
        ),
        (
            "/_PARTITION",
            json!([0, 0]),
            "row has 2 bytes, expected an arity of 4 [entry 1 > field _PARTITION]",
        ),
        (
            "/_FILE/_MIN_KEY",
            json!([]),
            "row has 0 bytes, expected an arity of 4 [entry 1 > field _FILE > field _MIN_KEY]",
        ),
        (
            "/_FILE/_VALUE_STATS/_MAX_VALUES",
            json!([1]),
            "row has 1 bytes, expected an arity of 4 [entry 1 > field _FILE > field _VALUE_STATS > field _MAX_VALUES]",
        ),
    ] {
        assert_eq!(error_with(pointer, value), format!("corrupt: {expected}"));
    }
}

// TF-038, section 4.2: version 1 asks to recreate the table, a later one is unknown.
#[test]
fn other_versions_are_not_supported() {
    let error = |version| {
        let mut entry = entry();
        entry["_VERSION"] = json!(version);
        let file = write(&manifest_schema(), &[entry], Codec::Null, 64_000);
        decode_manifest(&file).unwrap_err()
    };
    assert_eq!(error(1).feature(), Some("manifest version 1, expected 2"));
    assert_eq!(error(1).hint(), Some("recreate the table"));
    assert_eq!(error(3).feature(), Some("manifest version 3, expected 2"));
    assert_eq!(error(3).hint(), None);
}

/// The error of a manifest with a changed schema.
fn error_of_schema(change: impl FnOnce(&mut Value), entry: Value) -> String {
    let mut schema = manifest_schema();
    change(&mut schema);
    let file = write(&schema, &[entry], Codec::Null, 64_000);
    decode_manifest(&file).unwrap_err().to_string()
}

fn file_fields(schema: &mut Value) -> &mut Vec<Value> {
    schema["fields"][5]["type"]["fields"]
        .as_array_mut()
        .unwrap()
}

#[test]
fn missing_and_null_fields_are_named() {
    let missing = error_of_schema(|schema| drop(file_fields(schema).remove(2)), entry());
    assert_eq!(
        missing,
        "corrupt: required field is missing [field _FILE > field _ROW_COUNT]"
    );
    let mut null = entry();
    null["_FILE"]["_ROW_COUNT"] = Value::Null;
    let null = error_of_schema(
        |schema| file_fields(schema)[2]["type"] = json!(["null", "long"]),
        null,
    );
    let place = "[entry 0 > field _FILE > field _ROW_COUNT]";
    assert_eq!(null, format!("corrupt: required field is null {place}"));
    let mut null = entry();
    null["_FILE"]["_EXTRA_FILES"] = json!(["a", null]);
    let items = json!({"type": "array", "items": ["null", "string"]});
    let null = error_of_schema(|schema| file_fields(schema)[11]["type"] = items, null);
    let place = "[entry 0 > field _FILE > field _EXTRA_FILES]";
    assert_eq!(null, format!("corrupt: item of the list is null {place}"));
}

#[test]
fn other_types_are_named() {
    let level = |schema: &mut Value| file_fields(schema)[10]["type"] = json!("long");
    assert_eq!(
        error_of_schema(level, entry()),
        "corrupt: avro type is long, expected int [field _FILE > field _LEVEL]"
    );
    let micros = json!(["null", {"type": "long", "logicalType": "timestamp-micros"}]);
    assert_eq!(
        error_of_schema(|schema| file_fields(schema)[12]["type"] = micros, entry()),
        "corrupt: avro type is long of another unit than milliseconds, expected long \
         [field _FILE > field _CREATION_TIME]"
    );
    let top = container("\"string\"", "null", &[(1, &[2, 97])]);
    let error = decode_manifest(&top).unwrap_err().to_string();
    assert_eq!(error, "corrupt: avro type is string, expected record");
}

#[test]
fn null_entry_is_named() {
    let schema = json!(["null", manifest_schema()]);
    let file = write(&schema, &[entry(), Value::Null], Codec::Null, 64_000);
    let error = decode_manifest(&file).unwrap_err().to_string();
    assert_eq!(error, "corrupt: entry is null, expected a record [entry 1]");
}

#[test]
fn ranges_name_the_entry_that_has_them() {
    let schema = json!({"type": "record", "name": "index", "fields": [
        {"name": "_VERSION", "type": "int"}, {"name": "_KIND", "type": "int"},
        {"name": "_PARTITION", "type": "bytes"}, {"name": "_BUCKET", "type": "int"},
        {"name": "_INDEX_TYPE", "type": "string"}, {"name": "_FILE_NAME", "type": "string"},
        {"name": "_FILE_SIZE", "type": "long"}, {"name": "_ROW_COUNT", "type": "long"},
        {"name": "_DELETIONS_VECTORS_RANGES", "type": {"type": "array", "items": {
            "type": "record", "name": "range", "fields": [
                {"name": "f0", "type": "string"}, {"name": "f1", "type": "int"},
                {"name": "f2", "type": "int"}]}}},
    ]});
    let entry = |offsets: &[i64]| {
        let range = |offset: &i64| json!({"f0": "a", "f1": offset, "f2": 1});
        json!({
            "_VERSION": 1, "_KIND": 0, "_PARTITION": ROW, "_BUCKET": 0, "_INDEX_TYPE": "HASH",
            "_FILE_NAME": "i", "_FILE_SIZE": 1, "_ROW_COUNT": 1,
            "_DELETIONS_VECTORS_RANGES": offsets.iter().map(range).collect::<Vec<_>>(),
        })
    };
    let entries = [entry(&[1, 2]), entry(&[]), entry(&[3, -4])];
    let file = write(&schema, &entries, Codec::Null, 64_000);
    let place = "[entry 2 > field _DELETIONS_VECTORS_RANGES > field f1]";
    assert_eq!(
        decode_index_manifest(&file).unwrap_err().to_string(),
        format!("corrupt: value is -4, expected 0 or more {place}")
    );
}

#[test]
fn other_files_are_told_apart() {
    let error = |file: &[u8]| decode_manifest_list(file).unwrap_err();
    assert_eq!(
        error(b"PAR1....").feature(),
        Some("manifest format parquet")
    );
    assert_eq!(error(b"ORC....").feature(), Some("manifest format orc"));
    let expected = "expected [4f, 62, 6a, 01] (avro)";
    assert_eq!(
        error(b"").to_string(),
        format!("corrupt: file begins with [], {expected}")
    );
    assert_eq!(
        error(b"{}").to_string(),
        format!("corrupt: file begins with [7b, 7d], {expected}")
    );
    let lz4 = container("\"int\"", "lz4", &[]);
    assert_eq!(error(&lz4).feature(), Some("avro codec lz4"));
}

/// A manifest list would do as well: entries of one int, which is missing all required fields.
const SMALL: &str = r#"{"type":"record","name":"e","fields":[{"name":"_VERSION","type":"int"},{"name":"x","type":"string"}]}"#;

fn error_of_blocks(blocks: &[(i64, &[u8])]) -> Error {
    decode_manifest(&container(SMALL, "null", blocks)).unwrap_err()
}

#[test]
fn blocks_of_another_length_than_their_count_says_are_noticed() {
    let message = |blocks: &[(i64, &[u8])]| {
        let error = error_of_blocks(blocks);
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        error.message().to_owned()
    };
    // Version 2 and the text "a".
    let one: &[u8] = &[4, 2, b'a'];
    let two: &[u8] = &[4, 2, b'a', 4, 2, b'b'];
    let with_zeros: &[u8] = &[4, 2, b'a', 0, 0, 0];
    let wrong = "take more or fewer bytes than their blocks have";
    assert_eq!(message(&[(1, one)]), "required field is missing");
    assert_eq!(message(&[(2, two)]), "required field is missing");
    assert_eq!(
        message(&[(1, with_zeros)]),
        format!("entries 0 to 0 {wrong}")
    );
    // What follows one entry is taken for two more, for which there are not enough bytes.
    assert_eq!(message(&[(1, two)]), "entries 0 to 0 do not decode");
    assert_eq!(message(&[(2, one)]), "block of 2 entries has 3 bytes");
    assert_eq!(
        message(&[(2, with_zeros), (1, one)]),
        format!("entries 0 to 2 {wrong}")
    );
    assert_eq!(message(&[(0, one)]), "block of no entries has 3 bytes");
    assert_eq!(
        message(&[(-1, one)]),
        "block count is -1, expected 0 or more"
    );
}

#[test]
fn ends_and_markers_are_checked() {
    let file = container(SMALL, "null", &[(1, &[4, 2, b'a'])]);
    let message = |file: &[u8]| decode_manifest(file).unwrap_err().message().to_owned();
    let length = file.len() - 1;
    assert_eq!(
        message(&file[..length]),
        format!("avro file of {length} bytes ends in a sync marker")
    );
    let length = file.len() - 17;
    let place = length - 2;
    assert_eq!(
        message(&file[..length]),
        format!("block of 3 bytes at byte {place}, 2 are left")
    );
    assert_eq!(
        message(&file[..30]),
        "metadata value of 101 bytes at byte 19, 11 are left"
    );
    let mut other = file.clone();
    let last = other.len() - 1;
    other[last] ^= 1;
    let marker = file.len() - SYNC.len();
    assert_eq!(
        message(&other),
        format!("other sync marker at byte {marker} than in the header")
    );
}

#[test]
fn schemas_that_explode_or_recurse_are_refused() {
    let message = |schema: &str| {
        let error = decode_manifest(&container(schema, "null", &[])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        error.message().to_owned()
    };
    let record = |name: &str, fields: &[Value]| {
        let fields: Vec<_> = fields
            .iter()
            .enumerate()
            .map(|(index, field)| json!({"name": format!("f{index}"), "type": field}))
            .collect();
        json!({"type": "record", "name": name, "fields": fields})
    };
    // Each record has the one before twice.
    let mut doubled = record("r0", &[json!("int")]);
    for index in 1..20 {
        let before = format!("r{}", index - 1);
        doubled = record(&format!("r{index}"), &[doubled, json!(before)]);
    }
    let large = "avro schema is too large, expected 24 levels and 4096 types at most";
    assert_eq!(message(&doubled.to_string()), large);
    let mut deep = json!("int");
    for index in 0..40 {
        deep = record(&format!("r{index}"), &[deep]);
    }
    assert_eq!(message(&deep.to_string()), large);
    let itself = record("r", &[json!(["null", "r"])]);
    assert_eq!(
        message(&itself.to_string()),
        "avro type r is not defined before"
    );
    let nothing = record("r", &[json!({"type": "array", "items": "null"})]);
    assert_eq!(
        message(&nothing.to_string()),
        "avro array has items without bytes"
    );
    assert_eq!(
        message(&record("r", &[]).to_string()),
        "avro schema has entries without bytes"
    );
    assert_eq!(message("{"), "avro schema is not JSON");
    assert_eq!(
        message(r#"{"type":"record"}"#),
        r#"avro type without `fields`: {"type":"record"}"#
    );
    assert_eq!(message("3"), "avro type is 3");
}

#[test]
fn metadata_that_goes_on_for_ever_ends() {
    let mut file = b"Obj\x01".to_vec();
    file.extend(long(i64::MIN));
    file.extend(long(1));
    file.extend([0; 100]);
    let error = decode_manifest(&file).unwrap_err();
    assert_eq!(
        error.message(),
        "avro file of 115 bytes ends in a metadata key"
    );
}
