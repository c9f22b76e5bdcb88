use arrow_array::{ArrayRef, UInt64Array};
use proptest::prelude::*;

use super::*;
use crate::predicate::testing::{evaluate, predicate, row, types};
use crate::predicate::{LikePattern, Predicate};
use crate::types::{DataType, MAX_LENGTH, StringLayout, TypeKind};
use crate::value_arrow::array_of;

type Row = Vec<Option<Datum>>;

/// Exact bounds of each column, or none of them where `known` is false.
fn bounds_of(rows: &[Row], column: usize, known: bool) -> ColumnBounds {
    let values: Vec<&Datum> = rows.iter().filter_map(|row| row[column].as_ref()).collect();
    let order = |a: &&&Datum, b: &&&Datum| a.compare(b).unwrap();
    let row_count = rows.len() as u64;
    if !known {
        return ColumnBounds::unknown(row_count);
    }
    ColumnBounds {
        min: values.iter().min_by(order).map(|value| (*value).clone()),
        max: values.iter().max_by(order).map(|value| (*value).clone()),
        null_count: Some(row_count - values.len() as u64),
        row_count,
    }
}

fn arrays(bounds: &[ColumnBounds], data_type: &DataType) -> ArrayBounds {
    let arrow = data_type.to_arrow(StringLayout::View).unwrap();
    let of = |pick: fn(&ColumnBounds) -> Option<&Datum>| -> ArrayRef {
        array_of(bounds.iter().map(pick), &arrow).unwrap()
    };
    ArrayBounds {
        min: of(|bounds| bounds.min.as_ref()),
        max: of(|bounds| bounds.max.as_ref()),
        null_counts: bounds.iter().map(|bounds| bounds.null_count).collect(),
        row_counts: bounds.iter().map(|bounds| Some(bounds.row_count)).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn rows_that_match_are_never_pruned(
        predicate in predicate(&types()),
        files in prop::collection::vec(prop::collection::vec(row(&types()), 1..4), 1..4),
        known in any::<u16>(),
    ) {
        let known = |column: usize| known & (1 << column) != 0;
        let units: Vec<bool> = files
            .iter()
            .map(|rows| may_match(&predicate, &mut |column| bounds_of(rows, *column, known(*column))))
            .collect();
        let many = may_match_many(&predicate, files.len(), &mut |column| {
            let bounds: Vec<_> =
                files.iter().map(|rows| bounds_of(rows, *column, known(*column))).collect();
            Some(arrays(&bounds, &types()[*column]))
        });
        for ((rows, unit), many) in files.iter().zip(units).zip(many.iter()) {
            if rows.iter().any(|row| evaluate(&predicate, row) == Some(true)) {
                prop_assert!(unit && many, "{predicate:?} on {rows:?}");
            }
            prop_assert!(unit || !many, "arrays are at least as sharp: {predicate:?} on {rows:?}");
        }
    }
}

fn int() -> DataType {
    TypeKind::Int.nullable()
}

fn string() -> DataType {
    TypeKind::VarChar(MAX_LENGTH).nullable()
}

fn ints(min: i32, max: i32) -> ColumnBounds {
    ColumnBounds {
        min: Some(Datum::Int(min)),
        max: Some(Datum::Int(max)),
        null_count: Some(1),
        row_count: 3,
    }
}

fn on(predicate: &Predicate<()>, bounds: &ColumnBounds) -> bool {
    may_match(predicate, &mut |()| bounds.clone())
}

#[test]
fn comparisons_use_both_ends_of_the_range() {
    // RP-064: `<>` prunes only where both bounds are the literal.
    let cases: [(CompareOp, [bool; 5]); 6] = [
        (CompareOp::Eq, [false, true, true, true, false]),
        (CompareOp::NotEq, [true; 5]),
        (CompareOp::Lt, [false, false, true, true, true]),
        (CompareOp::LtEq, [false, true, true, true, true]),
        (CompareOp::Gt, [true, true, true, false, false]),
        (CompareOp::GtEq, [true, true, true, true, false]),
    ];
    for (op, expected) in cases {
        for (literal, expected) in [1, 2, 3, 4, 5].into_iter().zip(expected) {
            let predicate = Predicate::compare((), int(), op, Datum::Int(literal));
            assert_eq!(on(&predicate, &ints(2, 4)), expected, "{op} {literal}");
        }
    }
    let not_equal = Predicate::not_eq((), int(), Datum::Int(2));
    assert!(!on(&not_equal, &ints(2, 2)));
    let not_in = Predicate::is_in((), int(), [1, 2].map(|value| Some(Datum::Int(value)))).negate();
    assert!(!on(&not_in, &ints(2, 2)));
    assert!(on(&not_in, &ints(1, 2)));
}

#[test]
fn all_null_columns_satisfy_only_is_null() {
    // RP-553, and RP-549 for a column that the file does not have.
    let all_null = ColumnBounds::all_null(3);
    assert!(!on(&Predicate::eq((), int(), Datum::Int(1)), &all_null));
    assert!(!on(&Predicate::not_eq((), int(), Datum::Int(1)), &all_null));
    assert!(!on(&Predicate::is_not_null((), int()), &all_null));
    assert!(on(&Predicate::is_null((), int()), &all_null));
}

#[test]
fn unknown_bounds_and_null_counts_prune_nothing() {
    // RP-064, RP-065: without bounds even a null test whose count is known may match, as in the reference.
    let unknown = ColumnBounds::unknown(3);
    let no_bounds = ColumnBounds {
        null_count: Some(0),
        ..unknown.clone()
    };
    let no_count = ColumnBounds {
        null_count: None,
        ..ints(2, 4)
    };
    let is_null = Predicate::is_null((), int());
    assert!(on(&Predicate::eq((), int(), Datum::Int(1)), &unknown));
    assert!(on(&is_null, &no_bounds) && on(&is_null, &no_count));
    assert!(on(&Predicate::is_not_null((), int()), &no_count));
    assert!(!on(
        &is_null,
        &ColumnBounds {
            null_count: Some(0),
            ..ints(2, 4)
        }
    ));
    assert!(!on(&Predicate::Constant(None), &unknown));
}

#[test]
fn only_prefix_patterns_prune_a_file() {
    let text = |value: &str| Some(Datum::String(value.into()));
    let bounds = ColumnBounds {
        min: text("abcd"),
        max: text("abd"),
        null_count: Some(0),
        row_count: 3,
    };
    let like = |text: &str| Predicate::like((), string(), LikePattern::parse(text, None).unwrap());
    for (pattern, expected) in [
        ("abc%", true),
        ("ab%", true),
        ("abda%", false),
        ("abe%", false),
        ("abb%", false),
        ("abe%d", true),
        ("%zz", true),
    ] {
        assert_eq!(on(&like(pattern), &bounds), expected, "{pattern}");
    }
    assert!(on(&like("abe%").negate(), &bounds));
    let sharper = may_match_many(&like("abe%d"), 1, &mut |()| {
        Some(arrays(std::slice::from_ref(&bounds), &string()))
    });
    assert!(!sharper.value(0));
}

#[test]
fn row_groups_without_statistics_or_counts_may_match() {
    let predicate = Predicate::eq((), int(), Datum::Int(1));
    assert_eq!(
        may_match_many(&predicate, 2, &mut |()| None).count_set_bits(),
        2
    );
    let unknown = ArrayBounds {
        min: arrow_array::new_null_array(&arrow_schema::DataType::Int32, 2),
        max: arrow_array::new_null_array(&arrow_schema::DataType::Utf8, 2),
        null_counts: UInt64Array::from(vec![Some(5), None]),
        row_counts: UInt64Array::new_null(2),
    };
    let kept = may_match_many(&predicate, 2, &mut |()| Some(unknown.clone()));
    assert_eq!(kept.count_set_bits(), 2);
}
