//! Functions that choose a value.

use arrow_array::{
    BinaryViewArray, BooleanArray, Decimal128Array, Float32Array, Float64Array, StringArray,
    StringViewArray, TimestampNanosecondArray,
};
use paimon_meta::ErrorKind;

use super::*;

#[test]
fn last_value_takes_null_and_retraction_gives_null() {
    // ME-108, ME-095
    assert_eq!(
        of_ints("last_value", &[(Add, Some(1)), (Add, None)]).unwrap(),
        None
    );
    assert_eq!(
        of_ints("last_value", &[(Add, None), (Add, Some(2))]).unwrap(),
        Some(2)
    );
    assert_eq!(
        of_ints("last_value", &[(Add, Some(1)), (Retract, Some(7))]).unwrap(),
        None
    );
    assert_eq!(
        of_ints("last_value", &[(Add, Some(1)), (AddReversed, Some(2))]).unwrap(),
        Some(1)
    );
    // ME section 3.7, example 16: an older retraction does so too, the next add brings a value back.
    assert_eq!(
        of_ints("last_value", &[(Retract, Some(1)), (Add, Some(3))]).unwrap(),
        Some(3)
    );
}

#[test]
fn last_non_null_value_passes_over_nulls() {
    let f = "last_non_null_value";
    assert_eq!(of_ints(f, &[(Add, Some(1)), (Add, None)]).unwrap(), Some(1));
    assert_eq!(of_ints(f, &[(Add, None), (Add, None)]).unwrap(), None);
    // ME section 3.7, example 14: an older value fills a null only.
    assert_eq!(
        of_ints(f, &[(Add, None), (AddReversed, Some(2))]).unwrap(),
        Some(2)
    );
    assert_eq!(
        of_ints(f, &[(Add, Some(1)), (AddReversed, Some(2))]).unwrap(),
        Some(1)
    );
}

#[test]
fn last_non_null_value_is_gone_when_any_value_is_taken_back() {
    // ME-109
    let f = "last_non_null_value";
    assert_eq!(
        of_ints(f, &[(Add, Some(1)), (Retract, Some(9))]).unwrap(),
        None
    );
    assert_eq!(
        of_ints(f, &[(Add, Some(1)), (Retract, None)]).unwrap(),
        Some(1)
    );
    assert_eq!(of_ints(f, &[(ReplaceThenRetract, Some(1))]).unwrap(), None);
}

#[test]
fn first_value_keeps_a_leading_null() {
    // ME-110
    assert_eq!(
        of_ints("first_value", &[(Add, None), (Add, Some(2))]).unwrap(),
        None
    );
    assert_eq!(
        of_ints("first_value", &[(Add, Some(1)), (Add, Some(2))]).unwrap(),
        Some(1)
    );
}

#[test]
fn first_value_gives_way_to_an_older_value() {
    // ME section 3.7, example 12
    let versions = [(Add, Some(1)), (AddReversed, Some(10)), (Add, Some(3))];
    assert_eq!(of_ints("first_value", &versions).unwrap(), Some(10));
}

#[test]
fn first_non_null_value_passes_over_leading_nulls() {
    // ME-111, under both names.
    for name in ["first_non_null_value", "first_not_null_value"] {
        let versions = [(Add, None), (Add, Some(2)), (Add, Some(3))];
        assert_eq!(of_ints(name, &versions).unwrap(), Some(2));
    }
}

#[test]
fn first_non_null_value_is_erased_by_an_older_null() {
    // ME-112; ME section 3.7, examples 15 and 15b
    let f = "first_non_null_value";
    assert_eq!(
        of_ints(f, &[(Add, Some(1)), (AddReversed, None)]).unwrap(),
        None
    );
    let fills = [(Add, None), (AddReversed, Some(2)), (Add, Some(3))];
    assert_eq!(of_ints(f, &fills).unwrap(), Some(3));
}

#[test]
fn replaced_value_does_not_count_as_first() {
    // ME section 2.3: the flag of first_value outlives a removal, and a removal does not set it.
    assert_eq!(
        of_ints("first_value", &[(Replace, Some(1)), (Add, Some(2))]).unwrap(),
        Some(2)
    );
    let kept = [(Add, Some(1)), (Replace, Some(2)), (Add, Some(3))];
    assert_eq!(of_ints("first_value", &kept).unwrap(), Some(2));
}

#[test]
fn primary_key_takes_every_value() {
    let versions = [(Add, Some(1)), (Retract, Some(2))];
    assert_eq!(of_ints("primary-key", &versions).unwrap(), Some(2));
    assert_eq!(
        of_ints("primary-key", &[(Add, Some(1)), (Add, None)]).unwrap(),
        None
    );
}

#[test]
fn skipped_versions_and_empty_groups_leave_nothing() {
    let names = [
        "sum",
        "product",
        "max",
        "min",
        "last_value",
        "first_value",
        "primary-key",
    ];
    for name in names {
        let merged = merge(name, "INT", &[], &ints(&[Some(4)]), &[&[], &[Skip], &[]]).unwrap();
        assert_eq!(&merged, &ints(&[None, None, None]), "{name}");
    }
}

#[test]
fn lone_value_stays_as_it_is() {
    // ME-020, ME-097, ME-106
    for name in [
        "sum",
        "product",
        "max",
        "min",
        "first_value",
        "last_non_null_value",
    ] {
        assert_eq!(
            of_ints(name, &[(Replace, Some(7))]).unwrap(),
            Some(7),
            "{name}"
        );
        assert_eq!(of_ints(name, &[(Replace, None)]).unwrap(), None, "{name}");
    }
}

#[test]
fn functions_without_retraction_refuse_it_even_of_nulls() {
    // ME-135
    let names = ["max", "min", "first_value", "first_non_null_value"];
    for name in names {
        let error = of_ints(name, &[(Add, None), (Retract, None)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(
            error.message().ends_with("takes no retractions: row 1"),
            "{error}"
        );
        // ME-096
        let ignored = [
            (Add, Some(3)),
            (Retract, Some(3)),
            (ReplaceThenRetract, Some(5)),
        ];
        let merged = of_ints_with(name, &[("ignore-retract", "true")], &ignored);
        assert_eq!(merged.unwrap(), Some(5), "{name}");
    }
}

#[test]
fn floats_order_as_in_java() {
    // ME-106, ME-008: -0.0 below 0.0, NaN above all, whatever its sign.
    let values = [0.0, -0.0, f64::INFINITY, -f64::NAN, f64::NEG_INFINITY];
    let doubles: ArrayRef = Arc::new(Float64Array::from(values.to_vec()));
    let pairs: &[&[Step]] = &[&[Add, Add], &[Add, Add, Add]];
    let max = merge("max", "DOUBLE", &[], &doubles, pairs).unwrap();
    let max = max.as_any().downcast_ref::<Float64Array>().unwrap();
    assert!(max.value(0).is_sign_positive() && max.value(1).is_nan());
    let min = merge("min", "DOUBLE", &[], &doubles, pairs).unwrap();
    let min = min.as_any().downcast_ref::<Float64Array>().unwrap();
    assert!(min.value(0).is_sign_negative() && min.value(1) == f64::NEG_INFINITY);
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![f32::NAN, 1.5, 2.5]));
    let min = merge("min", "FLOAT", &[], &floats, &[&[Add, Add, Add]]).unwrap();
    assert_eq!(
        min.as_any()
            .downcast_ref::<Float32Array>()
            .unwrap()
            .value(0),
        1.5
    );
}

#[test]
fn text_and_bytes_order_by_unsigned_bytes() {
    // ME-006, ME-007: a prefix is smaller; U+FF21 is below U+1F600 in bytes, not in UTF-16.
    let texts = [
        "a",
        "ab",
        "\u{ff21}",
        "\u{1f600}",
        "a text of more than twelve bytes",
        "a text of more",
    ];
    let groups: &[&[Step]] = &[&[Add, Add], &[Add, Add], &[Add, Add]];
    let max = ["ab", "\u{1f600}", "a text of more than twelve bytes"];
    let min = ["a", "\u{ff21}", "a text of more"];
    let views: ArrayRef = Arc::new(StringViewArray::from(texts.to_vec()));
    let plain: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let bytes: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(texts));
    for (name, wanted) in [("max", max), ("min", min)] {
        let found = merge(name, "STRING", &[], &views, groups).unwrap();
        assert_eq!(
            found.as_ref(),
            &StringViewArray::from(wanted.to_vec()) as &dyn arrow_array::Array
        );
        let found = merge(name, "STRING", &[], &plain, groups).unwrap();
        assert_eq!(
            found.as_ref(),
            &StringArray::from(wanted.to_vec()) as &dyn arrow_array::Array
        );
        let found = merge(name, "BYTES", &[], &bytes, groups).unwrap();
        assert_eq!(
            found.as_ref(),
            &BinaryViewArray::from_iter_values(wanted) as &dyn arrow_array::Array
        );
    }
}

#[test]
fn decimals_and_timestamps_order_by_number() {
    // ME-009, ME-010
    let decimals = Decimal128Array::from(vec![-5, 3, -70])
        .with_precision_and_scale(5, 2)
        .unwrap();
    let min = merge(
        "min",
        "DECIMAL(5, 2)",
        &[],
        &(Arc::new(decimals) as ArrayRef),
        &[&[Add, Add, Add]],
    )
    .unwrap();
    assert_eq!(
        min.as_any()
            .downcast_ref::<Decimal128Array>()
            .unwrap()
            .value(0),
        -70
    );
    let times: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![
        Some(-1),
        None,
        Some(5),
    ]));
    let max = merge("max", "TIMESTAMP(9)", &[], &times, &[&[Add, Add, Add]]).unwrap();
    assert_eq!(
        max.as_any()
            .downcast_ref::<TimestampNanosecondArray>()
            .unwrap()
            .value(0),
        5
    );
}

#[test]
fn bool_and_and_bool_or_pass_over_nulls() {
    // ME-117
    let values: ArrayRef = Arc::new(BooleanArray::from(vec![
        Some(true),
        None,
        Some(false),
        None,
        Some(true),
        Some(true),
        None,
    ]));
    let groups: &[&[Step]] = &[&[Add, Add, Add], &[Add, Add, AddReversed], &[Add]];
    let and = merge("bool_and", "BOOLEAN", &[], &values, groups).unwrap();
    let or = merge("bool_or", "BOOLEAN", &[], &values, groups).unwrap();
    let wanted = |rows: [Option<bool>; 3]| Arc::new(BooleanArray::from(rows.to_vec())) as ArrayRef;
    assert_eq!(&and, &wanted([Some(false), Some(true), None]));
    assert_eq!(&or, &wanted([Some(true), Some(true), None]));
}

#[test]
fn types_without_order_are_refused() {
    // ME-107
    for kind in [
        r#"{"type": "ARRAY", "element": "INT"}"#,
        r#"{"type": "MAP", "key": "INT", "value": "INT"}"#,
        r#"{"type": "ROW", "fields": [{"id": 1, "name": "a", "type": "INT"}]}"#,
        r#"{"type": "MULTISET", "element": "INT"}"#,
        "VARIANT",
    ] {
        for name in ["max", "min"] {
            let error = function(name, kind, &[]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(
                error.message().contains("a type that has an order"),
                "{error}"
            );
        }
    }
    for kind in [
        "BOOLEAN",
        "STRING",
        "BYTES",
        "DATE",
        "TIME(3)",
        "TIMESTAMP(6)",
        "DECIMAL(38, 10)",
    ] {
        assert!(function("max", kind, &[]).is_ok(), "{kind}");
    }
    assert!(function("bool_or", "INT", &[]).is_err());
}
