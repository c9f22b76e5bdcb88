use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use paimon_meta::{
    BinaryRow, CompareOp, DataField, DataFileMeta, DataSplit, DataType, Datum, DeletionFile, Error,
    ErrorKind, FieldId, Predicate, Result, SimpleStats, TypeKind, encode_row,
};
use serde_json::{Value, json};

use super::*;
use crate::json::JsonRow;
use crate::reader::Reader;

fn field(id: i32, name: &str, data_type: DataType) -> DataField {
    DataField {
        id: FieldId(id),
        name: name.to_owned(),
        data_type,
        description: None,
        default_value: None,
    }
}

/// The output columns of a read, then those that only other reads of its case show, as fields.
fn fields(case: &GoldenCase, read: &GoldenRead) -> Vec<DataField> {
    let others = case.reads.iter().flat_map(|read| &read.columns);
    let columns = (0..).zip(read.columns.iter().chain(others));
    columns
        .map(|(id, column)| field(id, &column.name, column.data_type.clone()))
        .collect()
}

fn case(name: &str) -> GoldenCase {
    GoldenCase::load(&Path::new(GOLDEN).join(name)).unwrap()
}

#[test]
fn every_case_parses_and_has_its_table() {
    let cases = GoldenCase::load_all().unwrap();
    assert!(cases.len() >= 231);
    for case in &cases {
        assert!(case.table().is_dir(), "{}", case.case);
        assert!(case.table().ends_with(format!("{}/table", case.case)));
    }
    let names: BTreeSet<&str> = cases.iter().map(|case| case.case.as_str()).collect();
    assert_eq!(names.len(), cases.len());
}

#[test]
fn every_condition_is_a_predicate_over_its_columns() {
    let mut conditions = 0;
    for case in GoldenCase::load_all().unwrap() {
        for (index, read) in case.reads.iter().enumerate() {
            let predicate = read.request.predicate(&fields(&case, read));
            assert!(predicate.is_ok(), "{}[{index}]: {predicate:?}", case.case);
            conditions += usize::from(predicate.unwrap().is_some());
        }
    }
    assert!(conditions > 600);
}

#[test]
fn conditions_become_predicates() {
    let int = TypeKind::Int.nullable();
    let text = TypeKind::VarChar(9).nullable();
    let fields = [field(3, "k", int.clone()), field(7, "v", text.clone())];
    let predicate = |filter: Value| filter_to_predicate(&filter, &fields).unwrap();
    let k = FieldId(3);
    let five = || Predicate::eq(k, int.clone(), Datum::Int(5));
    assert_eq!(predicate(json!(["=", "k", 5])), five());
    assert_eq!(
        predicate(json!(["=", "k", null])),
        Predicate::Constant(None)
    );
    assert_eq!(
        predicate(json!(["or", ["=", "k", 5], ["is_null", "v"]])),
        Predicate::or([five(), Predicate::is_null(FieldId(7), text.clone())])
    );
    assert_eq!(
        predicate(json!(["between", "k", 1, 5])),
        Predicate::and([
            Predicate::compare(k, int.clone(), CompareOp::GtEq, Datum::Int(1)),
            Predicate::compare(k, int.clone(), CompareOp::LtEq, Datum::Int(5)),
        ])
    );
    assert_eq!(
        predicate(json!(["not_in", "k", [5, null]])),
        Predicate::is_in(k, int.clone(), [Some(Datum::Int(5)), None]).negate()
    );
    assert_eq!(
        predicate(json!(["starts_with", "v", "a%"])),
        Predicate::starts_with(FieldId(7), text.clone(), "a%")
    );
    for malformed in [
        json!(["=", "k"]),
        json!(["near", "k", 5]),
        json!([]),
        json!("k"),
        json!(["=", "x", 5]),
        json!(["=", "k", "a"]),
    ] {
        assert_eq!(
            filter_to_predicate(&malformed, &fields).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }
}

#[test]
fn nested_types_parse_from_their_sql_text() {
    let parsed = parse_sql_type(
        "MAP<STRING NOT NULL, ROW<`a, b` DECIMAL(20, 2), `w` ARRAY<INT NOT NULL>>> NOT NULL",
    )
    .unwrap();
    let row = TypeKind::Row(vec![
        field(
            0,
            "a, b",
            TypeKind::Decimal {
                precision: 20,
                scale: 2,
            }
            .nullable(),
        ),
        field(
            1,
            "w",
            TypeKind::Array(Box::new(TypeKind::Int.not_null())).nullable(),
        ),
    ]);
    let key = TypeKind::VarChar(paimon_meta::MAX_LENGTH).not_null();
    assert_eq!(
        parsed,
        TypeKind::Map(Box::new(key), Box::new(row.nullable())).not_null()
    );
    for wrong in [
        "ARRAY<INT",
        "ARRAY<INT>>",
        "MAP<INT>",
        "ROW<a INT>",
        "INT)",
        "",
    ] {
        assert!(parse_sql_type(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn rows_differ_by_what_is_missing_and_what_is_extra() {
    let float = TypeKind::Float.nullable();
    let map = TypeKind::Map(
        Box::new(TypeKind::Int.not_null()),
        Box::new(TypeKind::Int.nullable()),
    )
    .nullable();
    let types = [&float, &map];
    let expected = [
        vec![json!(0.1), json!([[1, 2], [3, 4]])],
        vec![json!(1), json!(null)],
    ];
    let same = [
        vec![json!(1.0), json!(null)],
        vec![json!(0.100_000_001), json!([[3, 4], [1, 2]])],
    ];
    assert_eq!(diff_rows(&types, &expected, &same), None);
    let found = [
        vec![json!(0.1), json!([[1, 2], [3, 4]])],
        vec![json!(-0.0), json!(null)],
        vec![json!(1), json!(null)],
        vec![json!(1), json!(null)],
    ];
    let diff = diff_rows(&types, &expected, &found).unwrap();
    assert_eq!(
        diff.to_string(),
        "4 rows found, 2 expected\n  extra  [-0.0,null]\n  extra  [1.0,null]"
    );
    let diff = diff_rows(&types, &expected, &[]).unwrap();
    assert_eq!((diff.missing.len(), diff.extra.len()), (2, 0));
}

/// Answers what the golden tables say, with a change.
struct Echo<'a>(
    &'a GoldenCase,
    &'a dyn Fn(&GoldenRead) -> Result<GoldenRows>,
);

fn read_of<'a>(case: &'a GoldenCase, request: &GoldenRequest) -> &'a GoldenRead {
    case.reads
        .iter()
        .find(|read| read.request == *request)
        .unwrap()
}

fn answer(read: &GoldenRead) -> Result<GoldenRows> {
    let columns = read
        .columns
        .iter()
        .map(|column| column.name.clone())
        .collect();
    let rows = read.rows.clone().map_err(Error::invalid_input)?;
    Ok(GoldenRows { columns, rows })
}

impl Reader for Echo<'_> {
    fn plan(&self, _: &Path, request: &GoldenRequest) -> Result<Option<Vec<Vec<GoldenSplit>>>> {
        Ok(read_of(self.0, request).plans.clone())
    }

    fn rows(&self, _: &Path, request: &GoldenRequest) -> Result<GoldenRows> {
        (self.1)(read_of(self.0, request))
    }
}

#[test]
fn the_reference_itself_passes_every_read() {
    let right = |read: &GoldenRead| {
        let mut answer = answer(read)?;
        let rows = &mut answer.rows;
        if !read.request.has_kinds() {
            rows.reverse();
        }
        if let Some(limit) = read.request.limit {
            rows.truncate(usize::try_from(limit).unwrap());
        }
        Ok(answer)
    };
    let mut skipped = 0;
    for case in GoldenCase::load_all().unwrap() {
        for (index, read) in case.reads.iter().enumerate() {
            match check_read(&case, read, &Echo(&case, &right)) {
                Verdict::Same => {}
                Verdict::Skipped(_) => skipped += 1,
                verdict => panic!("{}[{index}]: {verdict:?}", case.case),
            }
        }
    }
    assert!(skipped < 20, "{skipped}");
}

/// The verdict on the first read of a case under a change of its answer.
fn verdict(name: &str, read: usize, change: impl Fn(&mut Vec<JsonRow>)) -> Verdict {
    let changed = |read: &GoldenRead| {
        let mut answer = answer(read)?;
        change(&mut answer.rows);
        Ok(answer)
    };
    let case = case(name);
    check_read(&case, &case.reads[read], &Echo(&case, &changed))
}

fn is_different(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Different(_))
}

#[test]
fn a_lost_a_repeated_and_a_changed_row_are_seen() {
    assert!(is_different(&verdict("lab_r_overlap", 0, |rows| drop(
        rows.pop()
    ))));
    assert!(is_different(
        &verdict("lab_r_overlap", 0, |rows| rows.push(rows[0].clone()))
    ));
    assert!(is_different(&verdict("lab_r_overlap", 0, |rows| rows[0]
        [1] =
        json!("other"))));
}

#[test]
fn limits_take_any_rows_of_the_table_but_as_many_as_they_say() {
    let read = 7; // limit 7
    assert_eq!(
        verdict("lab_r_overlap", read, |rows| rows.truncate(7)),
        Verdict::Same
    );
    assert_eq!(
        verdict("lab_r_overlap", read, |rows| drop(
            rows.drain(..rows.len() - 7)
        )),
        Verdict::Same
    );
    assert!(is_different(
        &verdict("lab_r_overlap", read, |rows| rows.truncate(6))
    ));
    assert!(is_different(&verdict("lab_r_overlap", read, |rows| {
        rows.truncate(7);
        rows[0][0] = json!(999_999);
    })));
}

#[test]
fn order_inside_one_key_of_a_stream_is_compared() {
    let swap = |rows: &mut Vec<JsonRow>| {
        let before = rows.iter().position(|row| row[0] == json!("-U")).unwrap();
        rows.swap(before, before + 1);
    };
    assert!(is_different(&verdict("lab_clp_full", 1, swap)));
    assert_eq!(
        verdict("lab_clp_full", 1, |rows| rows.rotate_left(1)),
        Verdict::Same
    );
}

#[test]
fn expected_failures_need_a_failure_that_is_not_a_missing_feature() {
    let case = case("plan_tt_rollback");
    let read = &case.reads[3];
    assert!(read.rows.is_err());
    let fails = |error: Error| check_read(&case, read, &Echo(&case, &move |_| Err(error.clone())));
    assert_eq!(fails(Error::not_found("no such tag")), Verdict::Same);
    assert_eq!(
        fails(Error::unsupported("tags")),
        Verdict::Refused("tags".to_owned())
    );
    let succeeds = |_: &GoldenRead| Ok(GoldenRows::default());
    assert!(is_different(&check_read(
        &case,
        read,
        &Echo(&case, &succeeds)
    )));
}

#[test]
fn sketches_compare_by_content_where_the_reader_can_look_inside() {
    struct Sketches<'a>(&'a GoldenCase, f64);
    impl Reader for Sketches<'_> {
        fn rows(&self, _: &Path, request: &GoldenRequest) -> Result<GoldenRows> {
            answer(read_of(self.0, request))
        }

        fn decode(&self, _: &str, _: &[u8]) -> Result<Option<Value>> {
            Ok(Some(json!(self.1)))
        }
    }
    let mut case = case("merge_agg_sketches");
    let read = &mut case.reads[3];
    read.rows.as_mut().unwrap().truncate(1);
    read.decoded = Some(vec![vec![json!(60.0)]]);
    let read = case.reads[3].clone();
    assert_eq!(
        check_read(&case, &read, &Sketches(&case, 60.5)),
        Verdict::Same
    );
    assert!(is_different(&check_read(
        &case,
        &read,
        &Sketches(&case, 61.0)
    )));
}

#[test]
fn plans_differ_by_their_first_member() {
    struct Planner<'a>(&'a GoldenCase);
    impl Reader for Planner<'_> {
        fn plan(
            &self,
            table: &Path,
            request: &GoldenRequest,
        ) -> Result<Option<Vec<Vec<GoldenSplit>>>> {
            let mut plans = Echo(self.0, &answer)
                .plan(table, request)?
                .unwrap_or_default();
            let GoldenSplit::Data(split) = &mut plans[0][0] else {
                panic!("no data split");
            };
            split.files[1].deletion_vector = None;
            Ok(Some(plans))
        }

        fn rows(&self, _: &Path, request: &GoldenRequest) -> Result<GoldenRows> {
            answer(read_of(self.0, request))
        }
    }
    let mut case = case("lab_r_overlap");
    let GoldenSplit::Data(split) = &mut case.reads[0].plans.as_mut().unwrap()[0][0] else {
        panic!("no data split");
    };
    split.files[1].deletion_vector = Some(GoldenDeletionVector {
        file: "index-0".to_owned(),
        offset: 1,
        length: 22,
        cardinality: None,
    });
    let Verdict::Different(difference) = check_read(&case, &case.reads[0], &Planner(&case)) else {
        panic!("not different");
    };
    assert_eq!(
        difference,
        "plan 0 split 0: /files/1/deletion_vector is null, expected \
         {\"cardinality\":null,\"file\":\"index-0\",\"length\":22,\"offset\":1}"
    );
}

#[test]
fn planned_splits_show_as_golden_ones() {
    let types = [TypeKind::Date.nullable()];
    let row = encode_row(&[&types[0]], &[Some(Datum::Date(0))]).unwrap();
    let empty = BinaryRow::from_parts(0, &[0; 8]).unwrap();
    let stats = SimpleStats {
        min_values: empty.clone(),
        max_values: empty.clone(),
        null_counts: None,
    };
    let file = DataFileMeta {
        file_name: "data-0.parquet".to_owned(),
        file_size: 100,
        row_count: 5,
        min_key: empty.clone(),
        max_key: empty,
        key_stats: stats.clone(),
        value_stats: stats,
        min_sequence_number: 1,
        max_sequence_number: 4,
        schema_id: 2,
        level: 3,
        extra_files: Vec::new(),
        creation_time_millis: None,
        delete_row_count: None,
        embedded_index: None,
        file_source: None,
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    };
    let vector = DeletionFile {
        path: "index/index-0".to_owned(),
        offset: 1,
        length: 22,
        cardinality: Some(2),
    };
    let split = DataSplit {
        snapshot_id: 7,
        partition: row,
        bucket: 0,
        bucket_path: "dt=0/bucket-0".to_owned(),
        total_buckets: Some(1),
        files: vec![file],
        deletion_files: Some(vec![Some(vector)]),
        streaming: false,
        raw_convertible: true,
    };
    let golden = GoldenDataSplit::of(&split, &[&field(0, "dt", types[0].clone())]).unwrap();
    let expected = json!({
        "partition": ["1970-01-01"], "bucket": 0, "bucket_path": "dt=0/bucket-0", "total_buckets": 1, "snapshot": 7,
        "raw_convertible": true, "streaming": false, "row_count": 5, "merged_row_count": 3,
        "files": [{"name": "data-0.parquet", "level": 3, "rows": 5, "delete_rows": null, "size": 100, "min_seq": 1,
            "max_seq": 4, "schema": 2,
            "deletion_vector": {"file": "index-0", "offset": 1, "length": 22, "cardinality": 2}}],
    });
    assert_eq!(serde_json::to_value(&golden).unwrap(), expected);
}

#[test]
fn list_of_missing_features_names_reads_that_exist() {
    let list = NotYet::load().unwrap();
    assert_eq!(
        list.unknown(&GoldenCase::load_all().unwrap()),
        Vec::<String>::new()
    );
}

#[test]
fn listed_reads_must_be_refused_for_the_feature_listed() {
    let list = NotYet::parse(r#"reads = [{ case = "a", read = 1, feature = "merging" }]"#).unwrap();
    assert_eq!(
        (
            list.len(),
            list.is_empty(),
            list.feature("a", 1),
            list.feature("a", 0)
        ),
        (1, false, Some("merging"), None)
    );
    let refused = |feature: &str| Verdict::Refused(feature.to_owned());
    let different = Verdict::Different("rows".to_owned());
    let ok = [
        (1, refused("merging")),
        (0, Verdict::Same),
        (0, Verdict::Skipped("why")),
    ];
    for (read, verdict) in ok {
        assert_eq!(list.judge("a", read, &verdict), Ok(()), "{verdict:?}");
    }
    for (read, verdict) in [
        (1, refused("orc")),
        (1, Verdict::Same),
        (1, different.clone()),
        (0, different),
        (0, refused("merging")),
    ] {
        assert!(list.judge("a", read, &verdict).is_err(), "{verdict:?}");
    }
    for wrong in ["reads = 1", "", r#"reads = [{ case = "a", read = 1 }]"#] {
        assert_eq!(NotYet::parse(wrong).unwrap_err().kind(), ErrorKind::Corrupt);
    }
    let twice = r#"reads = [{ case = "a", read = 1, feature = "x" }, { case = "a", read = 1, feature = "x" }]"#;
    assert!(NotYet::parse(twice).is_err());
}

#[test]
fn catalogue_lists_every_case() {
    let catalogue = fs::read_to_string(format!("{GOLDEN}/CATALOGUE.md")).unwrap();
    let listed: Vec<&str> = catalogue
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let mut cases: Vec<String> = GoldenCase::load_all()
        .unwrap()
        .into_iter()
        .map(|case| case.case)
        .collect();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    cases.sort_unstable();
    assert_eq!(sorted, cases);
}
