use paimon_meta::{
    BinaryRow, DataFileMeta, DataType, Datum, FileTableBuilder, KeepStats, Predicate, Result,
    SimpleStats, TablePredicate, TableSchema, TypeKind, encode_row,
};

use super::{Nan, StatsTest};
use crate::testing::{ints, schema};

/// Statistics of `INT` columns: smallest, largest, nulls.
fn stats(columns: &[(Option<i32>, Option<i32>, Option<i64>)]) -> SimpleStats {
    SimpleStats {
        min_values: ints(&columns.iter().map(|column| column.0).collect::<Vec<_>>()),
        max_values: ints(&columns.iter().map(|column| column.1).collect::<Vec<_>>()),
        null_counts: Some(columns.iter().map(|column| column.2).collect()),
    }
}

/// Whether a file of 10 rows with these statistics may match.
fn may_match(test: &StatsTest, stats: SimpleStats, listed: Option<&[&str]>) -> Result<bool> {
    let listed = listed.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    let file = DataFileMeta {
        value_stats: stats,
        value_stats_cols: listed,
        ..DataFileMeta::default()
    };
    let mut builder = FileTableBuilder::new();
    builder.push_file(&BinaryRow::default(), 0, 1, &file, KeepStats::ALL)?;
    let table = builder.finish();
    test.may_match(
        table.value_stats(0).unwrap(),
        table.value_stats_cols(0),
        10,
        Nan::Counted,
    )
}

fn column(schema: &TableSchema, name: &str) -> (paimon_meta::FieldId, DataType) {
    let field = schema.field(name).unwrap();
    (field.id, field.data_type.clone())
}

fn equals(schema: &TableSchema, name: &str, value: Datum) -> TablePredicate {
    let (id, data_type) = column(schema, name);
    Predicate::eq(id, data_type, value)
}

fn two_ints(id: i64) -> TableSchema {
    schema(
        id,
        &[(0, "k", "INT NOT NULL"), (1, "v", "INT")],
        &["k"],
        &[],
    )
}

#[test]
fn statistics_of_all_columns_are_in_schema_order() {
    // RP-089
    let schema = two_ints(0);
    let both = || stats(&[(Some(1), Some(9), Some(0)), (Some(20), Some(30), Some(0))]);
    let test =
        |value| StatsTest::of_values(&equals(&schema, "v", Datum::Int(value)), &schema, &schema);
    assert!(may_match(&test(25), both(), None).unwrap());
    assert!(!may_match(&test(5), both(), None).unwrap());
}

#[test]
fn listed_statistics_are_found_by_name_and_others_are_unknown() {
    // RP-087, RP-548, TF-043
    let schema = two_ints(0);
    let test = StatsTest::of_values(&equals(&schema, "v", Datum::Int(5)), &schema, &schema);
    let one = || stats(&[(Some(20), Some(30), Some(0))]);
    assert!(!may_match(&test, one(), Some(&["v"])).unwrap());
    assert!(may_match(&test, one(), Some(&["k"])).unwrap());
    assert!(may_match(&test, SimpleStats::default(), Some(&[])).unwrap());
    assert!(may_match(&test, SimpleStats::default(), None).unwrap());
}

#[test]
fn column_added_later_is_null_in_old_files() {
    // RP-088, RP-549, TF-048
    let old = two_ints(0);
    let new = schema(
        1,
        &[(0, "k", "INT NOT NULL"), (1, "v", "INT"), (2, "c", "INT")],
        &["k"],
        &[],
    );
    let (id, data_type) = column(&new, "c");
    let both = || stats(&[(Some(1), Some(9), Some(0)), (Some(1), Some(9), Some(0))]);
    let test = |predicate: &TablePredicate| {
        may_match(&StatsTest::of_values(predicate, &new, &old), both(), None).unwrap()
    };
    assert!(!test(&equals(&new, "c", Datum::Int(1))));
    assert!(test(&Predicate::is_null(id, data_type.clone())));
    assert!(!test(&Predicate::is_not_null(id, data_type)));
}

#[test]
fn renamed_and_moved_columns_are_found_by_id() {
    // RP-552, TF-044
    let old = two_ints(0);
    let new = schema(
        1,
        &[(1, "renamed", "INT"), (0, "k", "INT NOT NULL")],
        &["k"],
        &[],
    );
    let test = StatsTest::of_values(&equals(&new, "renamed", Datum::Int(5)), &new, &old);
    assert!(!may_match(&test, stats(&[(Some(20), Some(30), Some(0))]), Some(&["v"])).unwrap());
    assert!(may_match(&test, stats(&[(Some(1), Some(9), Some(0))]), Some(&["v"])).unwrap());
}

#[test]
fn changed_types_prune_only_where_every_literal_fits_the_old_one() {
    // RP-086, RP-550, RP-551
    let old = two_ints(0);
    let wide = schema(
        1,
        &[(0, "k", "INT NOT NULL"), (1, "v", "BIGINT")],
        &["k"],
        &[],
    );
    let (id, bigint) = column(&wide, "v");
    let above = |value| Predicate::gt(id, bigint.clone(), Datum::BigInt(value));
    let v = || stats(&[(Some(1), Some(3), Some(0))]);
    let test = |predicate: &TablePredicate| {
        may_match(
            &StatsTest::of_values(predicate, &wide, &old),
            v(),
            Some(&["v"]),
        )
        .unwrap()
    };
    assert!(!test(&above(5)));
    assert!(test(&above(3_000_000_000)));

    let text = schema(
        1,
        &[(0, "k", "INT NOT NULL"), (1, "v", "STRING")],
        &["k"],
        &[],
    );
    let predicate = equals(&text, "v", Datum::String("x".to_owned()));
    assert!(
        may_match(
            &StatsTest::of_values(&predicate, &text, &old),
            v(),
            Some(&["v"])
        )
        .unwrap()
    );
}

#[test]
fn key_statistics_are_in_key_order() {
    // RP-002, RP-053
    let columns = [
        (0, "a", "INT NOT NULL"),
        (1, "b", "INT NOT NULL"),
        (2, "p", "INT NOT NULL"),
    ];
    let schema = schema(0, &columns, &["b", "p", "a"], &["p"]);
    let test =
        |name| StatsTest::of_keys(&equals(&schema, name, Datum::Int(5)), &schema, &schema).unwrap();
    let b_then_a = || stats(&[(Some(1), Some(9), Some(0)), (Some(20), Some(30), Some(0))]);
    assert!(may_match(&test("b"), b_then_a(), None).unwrap());
    assert!(!may_match(&test("a"), b_then_a(), None).unwrap());
    assert!(may_match(&test("p"), b_then_a(), None).unwrap());
}

#[test]
fn broken_statistics_are_an_error_and_not_a_guess() {
    let schema = schema(0, &[(0, "s", "STRING")], &[], &[]);
    let text = TypeKind::VarChar(99).nullable();
    let mut row = encode_row(
        &[&text],
        &[Some(Datum::String("longer than inline".to_owned()))],
    )
    .unwrap()
    .as_serialized()
    .to_vec();
    row.truncate(20); // header and slot, but not what the slot points to
    let row = BinaryRow::from_serialized(row).unwrap();
    let stats = SimpleStats {
        min_values: row.clone(),
        max_values: row,
        null_counts: None,
    };
    let test = StatsTest::of_values(
        &equals(&schema, "s", Datum::String("x".to_owned())),
        &schema,
        &schema,
    );
    let error = may_match(&test, stats, None).unwrap_err();
    assert_eq!(error.kind(), paimon_meta::ErrorKind::Corrupt);
    assert!(error.to_string().contains("field _MIN_VALUES"), "{error}");
}

#[test]
fn files_that_may_hold_nan_above_their_maximum_are_kept() {
    // TF-4.6: ORC.
    let schema = schema(0, &[(0, "d", "DOUBLE"), (1, "e", "DOUBLE")], &[], &[]);
    let double = TypeKind::Double.nullable();
    let row = |value| {
        let value = Some(Datum::Double(value));
        encode_row(&[&double, &double], &[value.clone(), value]).unwrap()
    };
    let file = DataFileMeta {
        value_stats: SimpleStats {
            min_values: row(1.0),
            max_values: row(2.0),
            null_counts: Some(vec![Some(0), Some(0)]),
        },
        ..DataFileMeta::default()
    };
    let mut builder = FileTableBuilder::new();
    builder
        .push_file(&BinaryRow::default(), 0, 1, &file, KeepStats::ALL)
        .unwrap();
    let table = builder.finish();
    let keeps = |predicate: &TablePredicate, nan| {
        let test = StatsTest::of_values(predicate, &schema, &schema);
        test.may_match(table.value_stats(0).unwrap(), None, 10, nan)
            .unwrap()
    };
    let (id, data_type) = column(&schema, "d");
    let above = |value| Predicate::gt(id, data_type.clone(), Datum::Double(value));
    let nan = Nan::in_file("data-1.zst.orc");
    assert!(keeps(&above(5.0), nan));
    assert!(!keeps(&above(5.0), Nan::in_file("data-1.parquet")));
    // Neither a value nor NaN is equal to 5 or below 1.
    assert!(!keeps(&equals(&schema, "d", Datum::Double(5.0)), nan));
    let below = Predicate::lt(id, data_type.clone(), Datum::Double(1.0));
    assert!(!keeps(&below, nan));
    // A value of one column with NaN in the other.
    let both = Predicate::and([above(5.0), equals(&schema, "e", Datum::Double(1.5))]);
    assert!(keeps(&both, nan));
}
