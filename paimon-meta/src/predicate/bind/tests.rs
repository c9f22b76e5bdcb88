use proptest::prelude::*;

use super::*;
use crate::predicate::testing::{by_id, predicate, row, value_of};
use crate::predicate::{ColumnBounds, may_match};

fn fields(kinds: &[(i32, TypeKind)]) -> Vec<DataField> {
    kinds
        .iter()
        .map(|(id, kind)| DataField {
            id: FieldId(*id),
            name: format!("old{id}"),
            data_type: kind.clone().not_null(),
            description: None,
            default_value: None,
        })
        .collect()
}

fn bigint(op: CompareOp, value: i64) -> TablePredicate {
    Predicate::compare(
        FieldId(1),
        TypeKind::BigInt.nullable(),
        op,
        Datum::BigInt(value),
    )
}

fn list(values: &[i64]) -> TablePredicate {
    let values = values.iter().map(|value| Some(Datum::BigInt(*value)));
    Predicate::is_in(FieldId(1), TypeKind::BigInt.nullable(), values)
}

/// The conjuncts that statistics of a file with `n INT` can answer.
fn on_int_file(predicate: &TablePredicate) -> Vec<TablePredicate> {
    predicate.bind_to_statistics(&fields(&[(1, TypeKind::Int)]))
}

fn int(op: CompareOp, value: i32) -> TablePredicate {
    Predicate::compare(FieldId(1), TypeKind::Int.not_null(), op, Datum::Int(value))
}

const BIG: i64 = 9_000_000_000;

#[test]
fn a_widened_integer_prunes_where_the_literal_fits() {
    // RP-550
    assert_eq!(
        on_int_file(&bigint(CompareOp::Gt, 5)),
        [int(CompareOp::Gt, 5)]
    );
    assert!(on_int_file(&bigint(CompareOp::Gt, BIG)).is_empty());
}

#[test]
fn lists_need_every_literal_but_short_exclusions_lose_single_ones() {
    // `fmt_cast_filter_int_widening`
    assert!(on_int_file(&list(&[3000, BIG])).is_empty());
    let excluded = Test::In {
        values: vec![Datum::Int(3000)],
        has_null: false,
        negated: true,
    };
    assert_eq!(
        on_int_file(&list(&[3000, BIG]).negate()),
        [Predicate::leaf(
            FieldId(1),
            TypeKind::Int.not_null(),
            excluded
        )]
    );
    let long: Vec<i64> = (0..20).chain([BIG]).collect();
    assert!(on_int_file(&list(&long).negate()).is_empty());
    assert!(on_int_file(&list(&[BIG, -BIG]).negate()).is_empty());
}

#[test]
fn a_range_with_one_end_outside_is_unusable_as_a_whole() {
    // The reference joins `>=` and `<=` on a column to one test.
    let (low, high) = (bigint(CompareOp::GtEq, 5), bigint(CompareOp::LtEq, BIG));
    assert!(on_int_file(&Predicate::and([low.clone(), high])).is_empty());
    let open = Predicate::and([low, bigint(CompareOp::Lt, BIG)]);
    assert_eq!(on_int_file(&open), [int(CompareOp::GtEq, 5)]);
}

#[test]
fn one_unsafe_test_makes_its_conjunct_unusable() {
    // RP-085, RP-551
    let changed = Predicate::is_null(FieldId(2), TypeKind::Int.nullable());
    let file = fields(&[(1, TypeKind::Int), (2, TypeKind::VarChar(5))]);
    let predicate = Predicate::and([
        Predicate::or([bigint(CompareOp::Eq, 1), changed]),
        bigint(CompareOp::Lt, 9),
    ]);
    assert_eq!(predicate.bind_to_statistics(&file), [int(CompareOp::Lt, 9)]);
}

#[test]
fn narrowed_and_float_columns_are_unsafe() {
    for (table, file) in [
        (TypeKind::Int, TypeKind::BigInt),
        (TypeKind::Double, TypeKind::Float),
        (TypeKind::Timestamp(6), TypeKind::Timestamp(3)),
        (TypeKind::VarChar(9), TypeKind::VarChar(5)),
    ] {
        let predicate = Predicate::is_null(FieldId(1), table.nullable());
        assert!(
            predicate
                .bind_to_statistics(&fields(&[(1, file)]))
                .is_empty()
        );
    }
}

#[test]
fn a_new_column_is_all_null_to_statistics_and_unknown_to_the_file() {
    // RP-088, RP-257, RP-549
    let predicate = bigint(CompareOp::Eq, 1);
    let bound = predicate.bind_to_statistics(&[]);
    assert_eq!(bound, std::slice::from_ref(&predicate));
    assert!(!may_match(&bound[0], &mut |_| ColumnBounds::all_null(3)));
    assert_eq!(
        predicate.bind_to_file(&[], &mut |_| Some(FilePath(vec![]))),
        [None]
    );
}

#[test]
fn the_file_is_asked_by_its_own_names_and_not_for_partition_columns() {
    // RP-257, RP-552
    let file = fields(&[(1, TypeKind::Int), (7, TypeKind::Int)]);
    let partition = Predicate::eq(FieldId(7), TypeKind::Int.nullable(), Datum::Int(1));
    let predicate = Predicate::and([bigint(CompareOp::Eq, 1), partition]);
    let bound = predicate.bind_to_file(&file, &mut |field| {
        (field.id != FieldId(7)).then(|| FilePath(vec![field.name.clone()]))
    });
    let path = FilePath(vec!["old1".into()]);
    let expected = Predicate::eq(path, TypeKind::Int.not_null(), Datum::Int(1));
    assert_eq!(bound, [Some(expected), None]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_bound_conjunct_says_the_same_of_the_files_rows(
        by_index in predicate(&[TypeKind::BigInt.nullable(), TypeKind::VarChar(9).nullable()]),
        row in row(&[TypeKind::TinyInt.nullable(), TypeKind::VarChar(9).nullable()]),
    ) {
        let in_table = [row[0].as_ref().map(|value| match value {
            Datum::TinyInt(value) => Datum::BigInt((*value).into()),
            other => panic!("{other:?}"),
        }), row[1].clone()];
        let table = by_id(&by_index);
        let file = fields(&[(0, TypeKind::TinyInt), (1, TypeKind::VarChar(9))]);
        let bound = table.bind_to_file(&file, &mut |field| Some(FilePath(vec![field.name.clone()])));
        let conjuncts = table.conjuncts();
        prop_assert_eq!(bound.len(), conjuncts.len());
        for (conjunct, bound) in conjuncts.into_iter().zip(bound) {
            let of_table = conjunct.evaluate_row(&mut |id| value_of(&in_table, *id));
            if let Some(bound) = bound {
                let of_file = bound.evaluate_row(&mut |path| row[usize::from(path.0[0] == "old1")].clone());
                prop_assert_eq!(of_file, of_table);
            }
        }
    }
}
