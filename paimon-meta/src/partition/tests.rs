use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::binary_row::encode_row;
use crate::error::ErrorKind;
use crate::schema::{FieldId, TableSchema};
use crate::types::parse_type;

fn table(types: &[&str], options: &[(&str, &str)]) -> ResolvedTable {
    let field = |(index, text): (usize, &&str)| DataField {
        id: FieldId(i32::try_from(index).unwrap()),
        name: format!("p{index}"),
        data_type: parse_type(text).unwrap(),
        description: None,
        default_value: None,
    };
    let fields: Vec<DataField> = types.iter().enumerate().map(field).collect();
    let options: BTreeMap<_, _> = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    ResolvedTable {
        location: "/t".to_owned(),
        branch: "main".to_owned(),
        options: Options(options),
        snapshot: None,
        schema: TableSchema {
            version: 3,
            id: 0,
            highest_field_id: 9,
            partition_keys: fields.iter().map(|field| field.name.clone()).collect(),
            fields,
            primary_keys: vec![],
            options: BTreeMap::new(),
            comment: None,
            time_millis: 0,
        },
        schemas: BTreeMap::new(),
        time_zone: "Asia/Shanghai".to_owned(),
        changes: None,
        fallback: None,
    }
}

fn path(types: &[&str], options: &[(&str, &str)], values: &[Option<Datum>]) -> Result<String> {
    let table = table(types, options);
    let types: Vec<&DataType> = table
        .schema
        .fields
        .iter()
        .map(|field| &field.data_type)
        .collect();
    DataPaths::new(&table)?.partition_path(encode_row(&types, values)?.as_ref())
}

fn legacy(data_type: &str, value: Datum) -> String {
    path(&[data_type], &[], &[Some(value)]).unwrap()
}

fn spelled(data_type: &str, value: Datum) -> String {
    path(
        &[data_type],
        &[("partition.legacy-name", "false")],
        &[Some(value)],
    )
    .unwrap()
}

fn timestamp(millis: i64, nanos: i32) -> Datum {
    Datum::Timestamp { millis, nanos }
}

#[test]
fn legacy_names_are_java_texts() {
    // Column "legacy-name = true" of section 1.3.
    assert_eq!(
        legacy("STRING", Datum::String("a/b:c".into())),
        "p0=a%2Fb%3Ac"
    );
    assert_eq!(legacy("BOOLEAN", Datum::Boolean(true)), "p0=true");
    assert_eq!(legacy("DOUBLE", Datum::Double(1e10)), "p0=1.0E10");
    assert_eq!(legacy("FLOAT", Datum::Float(1.0)), "p0=1.0");
    assert_eq!(legacy("DECIMAL(10, 2)", Datum::Decimal(150, 2)), "p0=1.50");
    assert_eq!(legacy("DATE", Datum::Date(19_724)), "p0=19724"); // TF-014
    assert_eq!(legacy("TIME(3)", Datum::Time(1_500)), "p0=1500");
    // TF-015
    assert_eq!(
        legacy("TIMESTAMP(3)", timestamp(1_704_164_645_678, 0)),
        "p0=2024-01-02T03%3A04%3A05.678"
    );
    assert_eq!(
        legacy("TIMESTAMP(6)", timestamp(1_704_164_640_000, 0)),
        "p0=2024-01-02T03%3A04"
    );
    assert_eq!(
        legacy("TIMESTAMP(6)", timestamp(1_704_164_645_000, 0)),
        "p0=2024-01-02T03%3A04%3A05"
    );
    assert_eq!(
        legacy("TIMESTAMP(6)", timestamp(1_704_164_645_600, 1_000)),
        "p0=2024-01-02T03%3A04%3A05.600001"
    );
    assert_eq!(
        legacy("TIMESTAMP_LTZ(9)", timestamp(0, 1)),
        "p0=1970-01-01T00%3A00%3A00.000000001"
    );
    assert_eq!(
        legacy("TIMESTAMP(3)", timestamp(100, 0)),
        "p0=1970-01-01T00%3A00%3A00.100"
    );
    let error = path(&["BYTES"], &[], &[Some(Datum::Binary(vec![65]))]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn other_names_are_casts_to_text() {
    // Column "legacy-name = false" of section 1.3; casts as in section 8.3.
    assert_eq!(spelled("DATE", Datum::Date(19_724)), "p0=2024-01-02");
    assert_eq!(spelled("TIME(0)", Datum::Time(1_500)), "p0=00%3A00%3A01");
    assert_eq!(
        spelled("TIME(3)", Datum::Time(43_200_000)),
        "p0=12%3A00%3A00.0"
    );
    assert_eq!(
        spelled("TIME(3)", Datum::Time(43_200_120)),
        "p0=12%3A00%3A00.12"
    );
    assert_eq!(
        spelled("TIME(1)", Datum::Time(43_200_789)),
        "p0=12%3A00%3A00.7"
    );
    assert_eq!(
        spelled("TIMESTAMP(3)", timestamp(1_704_164_640_000, 0)),
        "p0=2024-01-02 03%3A04%3A00.000"
    );
    assert_eq!(
        spelled("TIMESTAMP(0)", timestamp(1_704_164_640_000, 0)),
        "p0=2024-01-02 03%3A04%3A00"
    );
    assert_eq!(
        spelled("TIMESTAMP(6)", timestamp(1_704_164_640_120, 0)),
        "p0=2024-01-02 03%3A04%3A00.120000"
    ); // TF-095
    assert_eq!(
        spelled("TIMESTAMP_LTZ(3)", timestamp(0, 0)),
        "p0=1970-01-01 08%3A00%3A00.000"
    );
    assert_eq!(spelled("BYTES", Datum::Binary(b"ab".to_vec())), "p0=ab");
    assert_eq!(spelled("INT", Datum::Int(-7)), "p0=-7");
}

#[test]
fn null_empty_and_blank_share_a_directory() {
    // TF-013
    for value in [None, Some(""), Some("  "), Some("\t\u{1c}\u{3000}")] {
        let value = value.map(|text| Datum::String(text.to_owned()));
        assert_eq!(
            path(&["STRING"], &[], std::slice::from_ref(&value)).unwrap(),
            "p0=__DEFAULT_PARTITION__"
        );
        let named = path(&["STRING"], &[("partition.default-name", "none")], &[value]).unwrap();
        assert_eq!(named, "p0=none");
    }
    assert_eq!(
        legacy("STRING", Datum::String("\u{a0}".into())),
        "p0=\u{a0}"
    ); // not blank for Java
}

#[test]
fn bucket_paths_have_directory_partitions_and_bucket() {
    let values = [Some(Datum::Date(1)), Some(Datum::Int(2))];
    let bucket = |types: &[&str], options: &[(&str, &str)], values: &[Option<Datum>], bucket| {
        let table = table(types, options);
        let types: Vec<&DataType> = table
            .schema
            .fields
            .iter()
            .map(|field| &field.data_type)
            .collect();
        let row = encode_row(&types, values).unwrap();
        DataPaths::new(&table)
            .unwrap()
            .bucket_path(row.as_ref(), bucket)
            .unwrap()
    };
    assert_eq!(
        bucket(&["DATE", "INT"], &[], &values, 3),
        "p0=1/p1=2/bucket-3"
    );
    assert_eq!(bucket(&[], &[], &[], 0), "bucket-0");
    let directory = [("data-file.path-directory", "data/x/")]; // TF-022
    assert_eq!(
        bucket(&["DATE", "INT"], &directory, &values, -2),
        "data/x/p0=1/p1=2/bucket-postpone"
    );
    for bad in ["..", "/etc", "a/../..", "a//b"] {
        let error = DataPaths::new(&table(&[], &[("data-file.path-directory", bad)])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad}");
    }
    let shared = DataPaths::new(&table(&[], &[("index-file-in-data-file-dir", "true")])).unwrap();
    assert!(shared.index_in_bucket());
}

#[test]
fn rows_of_other_tables_are_corrupt() {
    let row = encode_row(&[], &[]).unwrap();
    let error = DataPaths::new(&table(&["INT"], &[]))
        .unwrap()
        .partition_path(row.as_ref())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn users_name_partitions_by_value_or_directory() {
    let parse = |data_type: &str, text: &str| {
        let table = table(&[data_type], &[]);
        parse_partition_value(text, &table.schema.fields[0], "__DEFAULT_PARTITION__")
    };
    assert_eq!(
        parse("DATE", "2024-01-02").unwrap(),
        Some(Datum::Date(19_724))
    );
    assert_eq!(parse("DATE", "19724").unwrap(), Some(Datum::Date(19_724)));
    assert_eq!(
        parse("TIME(3)", "00:00:01.5").unwrap(),
        Some(Datum::Time(1_500))
    );
    assert_eq!(parse("TIME(3)", "1500").unwrap(), Some(Datum::Time(1_500)));
    assert_eq!(
        parse("TIMESTAMP(3)", "2024-01-02T03:04").unwrap(),
        Some(timestamp(1_704_164_640_000, 0))
    );
    assert_eq!(
        parse("STRING", "19724").unwrap(),
        Some(Datum::String("19724".into()))
    );
    assert_eq!(parse("INT", "__DEFAULT_PARTITION__").unwrap(), None);
    let error = parse("INT", "x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid input: \"x\" is not a value of type INT [column p0]"
    );
}

#[test]
fn escapes_are_those_of_the_reference() {
    // TF-016
    assert_eq!(
        escape_path_name("a\0\u{1f}\u{7f}\"#%'*/:=?\\{}[]^"),
        "a%00%1F%7F%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%7D%5B%5D%5E"
    );
    assert_eq!(escape_path_name("a b<>|&,;~é中😀"), "a b<>|&,;~é中😀");
    assert_eq!(unescape_path_name("a%2fb%2F%zz%4%"), "a/b/%zz%4%");
    assert_eq!(unescape_path_name("plain"), "plain");
}

proptest! {
    #[test]
    fn escaped_names_are_segments_and_read_back(name in any::<String>()) {
        let escaped = escape_path_name(&name);
        prop_assert!(!escaped.contains('/'));
        prop_assert_eq!(unescape_path_name(&escaped), name.as_str());
    }

    #[test]
    fn no_text_makes_unescaping_panic(name in "[%0-9a-fé]{0,12}") {
        let _ = unescape_path_name(&name);
    }
}
