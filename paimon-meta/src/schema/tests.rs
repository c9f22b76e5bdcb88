use serde_json::{Value, json};

use super::*;
use crate::error::ErrorKind;

fn column(id: i32, name: &str, data_type: &str) -> Value {
    json!({"id": id, "name": name, "type": data_type})
}

fn schema() -> Value {
    json!({
        "version": 3, "id": 4, "highestFieldId": 9, "future": [1],
        "fields": [column(0, "dt", "STRING NOT NULL"), column(1, "k", "BIGINT NOT NULL"), column(5, "v", "INT")],
        "partitionKeys": ["dt"], "primaryKeys": ["k", "dt"],
        "options": {"bucket": 4, "changelog": true, "gone": null, "a": "b"},
        "comment": null
    })
}

fn read(value: &Value) -> Result<TableSchema> {
    TableSchema::from_json(value.to_string().as_bytes())
}

#[track_caller]
fn corrupt(value: &Value, frame: Frame, message: &str) {
    let error = read(value).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains(message), "{error}");
    assert_eq!(error.frames().collect::<Vec<_>>(), [&frame], "{error}");
}

fn in_fields() -> Frame {
    Frame::Field("fields".into())
}

fn names(fields: &[&DataField]) -> Vec<String> {
    fields.iter().map(|field| field.name.clone()).collect()
}

#[test]
fn scalars_of_options_become_text_and_null_comment_none() {
    let schema = read(&schema()).unwrap();
    let expected = [("a", "b"), ("bucket", "4"), ("changelog", "true")];
    assert_eq!(
        schema.options,
        expected
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into()
    );
    assert_eq!((schema.comment.as_deref(), schema.time_millis), (None, 0));
    assert_eq!(names(&schema.partition_fields().unwrap()), ["dt"]);
    assert_eq!(names(&schema.key_fields().unwrap()), ["k"]); // RP-002
    assert_eq!(names(&schema.bucket_fields().unwrap()), ["k"]);
    assert_eq!(
        schema.field("nope").unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let text = schema.to_json_pretty().unwrap();
    assert_eq!(TableSchema::from_json(text.as_bytes()).unwrap(), schema);
}

#[test]
fn old_versions_get_the_options_they_took_for_granted() {
    let option = |version: Option<i32>, options: Value, key: &str| {
        let mut value = schema();
        value["options"] = options;
        match version {
            Some(version) => value["version"] = version.into(),
            None => drop(value.as_object_mut().unwrap().remove("version")),
        }
        read(&value).unwrap().options.get(key).cloned()
    };
    // TF-023
    assert_eq!(option(None, json!({}), "bucket").as_deref(), Some("1"));
    assert_eq!(
        option(Some(1), json!({}), "file.format").as_deref(),
        Some("orc")
    );
    assert_eq!(
        option(Some(1), json!({"bucket": "2"}), "bucket").as_deref(),
        Some("2")
    );
    // TF-024
    assert_eq!(option(Some(2), json!({}), "bucket"), None);
    assert_eq!(
        option(Some(2), json!({}), "file.format").as_deref(),
        Some("orc")
    );
    assert_eq!(
        option(Some(2), json!({"file.format": "avro"}), "file.format").as_deref(),
        Some("avro")
    );
    assert_eq!(option(Some(3), json!({}), "file.format"), None);
}

#[test]
fn fields_are_checked() {
    let mut value = schema();
    value["fields"][2]["name"] = " ".into();
    corrupt(&value, in_fields(), "blank");
    value["fields"][2]["name"] = "k".into();
    corrupt(&value, in_fields(), "two fields are named \"k\"");
    value["fields"][2]["name"] = "v".into();
    value["fields"][2]["type"] = json!({"type": "ARRAY", "element": {"type": "ROW", "fields": [
        column(6, "k", "INT"), column(1, "x", "INT")]}});
    corrupt(&value, in_fields(), "field \"x\" has id 1");
    value["fields"][2]["type"] = "ARRAY<INT>".into();
    corrupt(&value, in_fields(), "field \"v\": type \"ARRAY<INT>\""); // TF-026
    value["fields"][2] = json!({"name": "v", "type": "INT"});
    corrupt(&value, in_fields(), "missing member `id`");
}

#[test]
fn nested_ids_may_be_below_those_of_their_children() {
    // TF-029
    let mut value = schema();
    value["fields"][2]["type"] =
        json!({"type": "ROW", "fields": [column(3, "a", "INT"), column(2, "k", "INT")]});
    assert!(read(&value).is_ok());
}

#[test]
fn keys_are_checked() {
    let mut value = schema();
    value["primaryKeys"] = json!(["dt"]);
    corrupt(
        &value,
        Frame::Field("primaryKeys".into()),
        "only partition columns",
    );
    value["primaryKeys"] = json!(["k", "x"]);
    corrupt(
        &value,
        Frame::Field("primaryKeys".into()),
        "\"x\" is not a column",
    );
    let mut value = schema();
    value["partitionKeys"] = json!(["x"]);
    corrupt(
        &value,
        Frame::Field("partitionKeys".into()),
        "\"x\" is not a column",
    );
    value.as_object_mut().unwrap().remove("partitionKeys");
    corrupt(
        &value,
        Frame::Field("partitionKeys".into()),
        "missing field",
    );
}

#[test]
fn bucket_key_is_split_and_not_trimmed() {
    // TF-030
    let mut value = schema();
    value["primaryKeys"] = json!([]);
    value["fields"][2]["name"] = " v".into();
    value["options"]["bucket-key"] = "k, v".into();
    assert_eq!(
        names(&read(&value).unwrap().bucket_fields().unwrap()),
        ["k", " v"]
    );
    value["options"]["bucket-key"] = "k,v".into();
    corrupt(
        &value,
        Frame::Field("options".into()),
        "\"v\" is not a column",
    );
    value["options"]["bucket-key"] = "dt".into();
    corrupt(&value, Frame::Option("bucket-key".into()), "\"dt\"");
    let mut value = schema();
    value["options"]["bucket-key"] = "v".into();
    corrupt(&value, Frame::Option("bucket-key".into()), "\"v\"");
    value["options"]["bucket-key"] = "  ".into();
    assert_eq!(
        names(&read(&value).unwrap().bucket_fields().unwrap()),
        ["k"]
    );
}
