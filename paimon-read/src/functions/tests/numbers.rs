//! Functions that compute a number.

use arrow_array::{Decimal128Array, Float32Array, Int8Array, Int64Array};
use paimon_meta::ErrorKind;

use super::*;

const INT_LIST: &str = r#"{"type": "ARRAY", "element": "INT"}"#;

#[test]
fn sum_passes_over_nulls() {
    // ME-097
    assert_eq!(
        of_ints("sum", &[(Add, Some(1)), (Add, None), (Add, Some(3))]).unwrap(),
        Some(4)
    );
    assert_eq!(of_ints("sum", &[(Add, None), (Add, None)]).unwrap(), None);
}

#[test]
fn sum_from_nothing_is_negated() {
    // ME-098
    assert_eq!(of_ints("sum", &[(Retract, Some(5))]).unwrap(), Some(-5));
    assert_eq!(of_ints("sum", &[(Retract, None)]).unwrap(), None);
    assert_eq!(
        of_ints("sum", &[(Add, Some(7)), (Retract, None)]).unwrap(),
        Some(7)
    );
    assert_eq!(
        of_ints("sum", &[(Add, Some(7)), (Retract, Some(9))]).unwrap(),
        Some(-2)
    );
}

#[test]
fn leading_retraction_gives_its_base_back() {
    // ME-079; ME section 3.7, example 17
    assert_eq!(
        of_ints("sum", &[(ReplaceThenRetract, Some(5)), (Add, Some(7))]).unwrap(),
        Some(7)
    );
}

#[test]
fn older_values_count_in_a_sum() {
    // ME-077
    assert_eq!(
        of_ints("sum", &[(Add, Some(1)), (AddReversed, Some(10))]).unwrap(),
        Some(11)
    );
}

#[test]
fn integers_that_overflow_fail() {
    // ME-099
    let overflows: [&[(Step, Option<i32>)]; 4] = [
        &[(Add, Some(i32::MAX)), (Add, Some(1))],
        &[(Add, Some(i32::MIN)), (Retract, Some(1))],
        &[(Skip, None), (Retract, Some(i32::MIN))],
        &[(Replace, Some(i32::MIN)), (AddReversed, Some(-1))],
    ];
    for versions in overflows {
        let error = of_ints("sum", versions).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(error.message(), "aggregate function sum overflows: row 1");
    }
    let bytes: ArrayRef = Arc::new(Int8Array::from(vec![100, 100]));
    assert!(merge("sum", "TINYINT", &[], &bytes, &[&[Add, Add]]).is_err());
    assert!(merge("product", "TINYINT", &[], &bytes, &[&[Add, Add]]).is_err());
    let longs: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX, i64::MAX]));
    assert!(merge("sum", "BIGINT", &[], &longs, &[&[Add, Add]]).is_err());
    assert_eq!(
        &merge("sum", "BIGINT", &[], &longs, &[&[Add, Retract]]).unwrap(),
        &(Arc::new(Int64Array::from(vec![0])) as ArrayRef)
    );
}

#[test]
fn product_of_null_stays_null_when_values_are_taken_back() {
    // ME-102
    assert_eq!(of_ints("product", &[(Retract, Some(5))]).unwrap(), None);
    assert_eq!(
        of_ints("product", &[(Add, Some(5)), (Retract, None)]).unwrap(),
        Some(5)
    );
    assert_eq!(
        of_ints("product", &[(Add, Some(2)), (Add, None), (Add, Some(5))]).unwrap(),
        Some(10)
    );
}

#[test]
fn integer_division_truncates_and_refuses_zero() {
    // ME-103
    assert_eq!(
        of_ints("product", &[(Add, Some(7)), (Retract, Some(-2))]).unwrap(),
        Some(-3)
    );
    assert!(of_ints("product", &[(Add, Some(7)), (Retract, Some(0))]).is_err());
    assert!(of_ints("product", &[(Add, Some(i32::MIN)), (Retract, Some(-1))]).is_err());
}

#[test]
fn floats_follow_ieee() {
    // ME section 4.3: single precision, division by zero gives infinity.
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![
        16_777_216.0,
        1.0,
        1.0,
        3.0,
        0.0,
        2.5,
    ]));
    let groups: &[&[Step]] = &[&[Add, Add, Add], &[Add, Retract], &[Retract]];
    let sum = merge("sum", "FLOAT", &[], &floats, groups).unwrap();
    let wanted: ArrayRef = Arc::new(Float32Array::from(vec![16_777_216.0, 3.0, -2.5]));
    assert_eq!(&sum, &wanted);
    let product = merge("product", "FLOAT", &[], &floats, groups).unwrap();
    let wanted: ArrayRef = Arc::new(Float32Array::from(vec![
        Some(16_777_216.0),
        Some(f32::INFINITY),
        None,
    ]));
    assert_eq!(&product, &wanted);
}

fn of_decimals(
    name: &str,
    (precision, scale): (u8, i8),
    versions: &[(Step, i128)],
) -> Result<Option<i128>> {
    let (steps, values): (Vec<_>, Vec<_>) = versions.iter().copied().unzip();
    let values = Decimal128Array::from(values);
    let values: ArrayRef = Arc::new(values.with_precision_and_scale(precision, scale).unwrap());
    let kind = format!("DECIMAL({precision}, {scale})");
    let merged = merge(name, &kind, &[], &values, &[&steps])?;
    Ok(merged
        .as_any()
        .downcast_ref::<Decimal128Array>()
        .unwrap()
        .iter()
        .next()
        .unwrap())
}

#[test]
fn short_decimal_sums_may_have_more_digits_than_declared() {
    // ME-101
    assert_eq!(
        of_decimals("sum", (3, 0), &[(Add, 999), (Add, 1)]).unwrap(),
        Some(1000)
    );
    // ...but negation counts them.
    let retracted = [(Replace, 1000), (Retract, 1), (Skip, 0)];
    assert_eq!(of_decimals("sum", (3, 0), &retracted).unwrap(), Some(999));
    assert_eq!(
        of_decimals("sum", (3, 0), &[(Retract, 1000)]).unwrap(),
        None
    );
    // 64 bits are the limit, and what comes after counts again.
    let nine = 9_000_000_000_000_000_000;
    assert_eq!(
        of_decimals("sum", (18, 0), &[(Add, nine), (Add, nine)]).unwrap(),
        None
    );
    assert_eq!(
        of_decimals("sum", (18, 0), &[(Add, nine), (Add, nine), (Add, 5)]).unwrap(),
        Some(5)
    );
}

#[test]
fn long_decimal_sums_that_do_not_fit_are_null() {
    // ME-100
    let most = 10_i128.pow(38) - 1;
    assert_eq!(
        of_decimals("sum", (38, 0), &[(Add, most), (Add, 1)]).unwrap(),
        None
    );
    assert_eq!(
        of_decimals("sum", (38, 0), &[(Add, most), (Add, most)]).unwrap(),
        None
    );
    assert_eq!(
        of_decimals("sum", (38, 0), &[(Add, most), (Add, 1), (Add, 7)]).unwrap(),
        Some(7)
    );
    assert_eq!(
        of_decimals("sum", (38, 0), &[(Retract, most), (Add, most)]).unwrap(),
        Some(0)
    );
    let most = 10_i128.pow(19) - 1;
    assert_eq!(
        of_decimals("sum", (19, 2), &[(Add, most), (Add, 1)]).unwrap(),
        None
    );
}

#[test]
fn decimal_products_round_half_up() {
    // ME-104: 1.5 * 1.5 = 2.25, 0.5 * 0.5 = 0.25, -1.5 * 1.5 = -2.25, 0.2 * 0.2 = 0.04
    assert_eq!(
        of_decimals("product", (5, 1), &[(Add, 15), (Add, 15)]).unwrap(),
        Some(23)
    );
    assert_eq!(
        of_decimals("product", (5, 1), &[(Add, 5), (Add, 5)]).unwrap(),
        Some(3)
    );
    assert_eq!(
        of_decimals("product", (5, 1), &[(Add, -15), (Add, 15)]).unwrap(),
        Some(-23)
    );
    assert_eq!(
        of_decimals("product", (5, 1), &[(Add, 2), (Add, 2)]).unwrap(),
        Some(0)
    );
    assert_eq!(
        of_decimals("product", (3, 1), &[(Add, 999), (Add, 20)]).unwrap(),
        None
    );
    let long = 10_i128.pow(37);
    assert_eq!(
        of_decimals("product", (38, 19), &[(Add, long), (Add, 10_i128.pow(19))]).unwrap(),
        Some(long)
    );
    assert_eq!(
        of_decimals("product", (38, 0), &[(Add, long), (Add, long)]).unwrap(),
        None
    );
}

#[test]
fn decimal_quotients_without_end_fail() {
    // ME-105
    assert!(of_decimals("product", (5, 1), &[(Add, 10), (Retract, 30)]).is_err());
    assert!(of_decimals("product", (5, 1), &[(Add, 10), (Retract, 0)]).is_err());
    // 1.0 / 0.8 = 1.25; -1.0 / 0.8; 0 / 3.0; 3.0 / 3.0
    assert_eq!(
        of_decimals("product", (5, 1), &[(Add, 10), (Retract, 8)]).unwrap(),
        Some(13)
    );
    assert_eq!(
        of_decimals("product", (5, 1), &[(Add, -10), (Retract, 8)]).unwrap(),
        Some(-13)
    );
    assert_eq!(
        of_decimals("product", (5, 1), &[(Add, 0), (Retract, 30)]).unwrap(),
        Some(0)
    );
    assert_eq!(
        of_decimals("product", (5, 1), &[(Add, 30), (Retract, 30)]).unwrap(),
        Some(10)
    );
    // 1 / 2^60 has an end that rounds to zero, far behind the scale.
    assert_eq!(
        of_decimals("product", (38, 0), &[(Add, 1), (Retract, 1 << 60)]).unwrap(),
        Some(0)
    );
    assert_eq!(
        of_decimals("product", (3, 2), &[(Add, 999), (Retract, 1)]).unwrap(),
        None
    );
}

#[test]
fn types_that_are_no_numbers_are_refused() {
    for kind in ["STRING", "BOOLEAN", "DATE", INT_LIST, "BYTES"] {
        for name in ["sum", "product"] {
            let error = function(name, kind, &[]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.message().contains("takes a number, not"), "{error}");
        }
    }
}

#[test]
fn names_that_are_no_functions_are_refused() {
    // ME-136
    for name in ["count", "avg", "SUM", ""] {
        let error = function(name, "INT", &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.message().contains("is not known"), "{error}");
    }
}

#[test]
fn removal_excludes_ignored_retractions() {
    // ME-092
    let field = DataField {
        id: FieldId(0),
        name: "c".to_owned(),
        data_type: parse_type("INT").unwrap(),
        description: None,
        default_value: None,
    };
    let options = [
        ("fields.c.ignore-retract", "true"),
        ("aggregation.remove-record-on-delete", "true"),
    ];
    let options = options.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let error = aggregate_function("sum", &field, &Options(options.into())).unwrap_err();
    assert!(error.message().contains("exclude each other"), "{error}");
}

#[test]
fn arrays_of_another_shape_are_refused() {
    let sum = function("sum", "INT", &[]).unwrap();
    let steps = [Add, Add];
    let versions = Versions::new(&[0, 2], &steps).unwrap();
    assert!(sum.merge(&ints(&[Some(1)]), &versions).is_err());
    let dates: ArrayRef = Arc::new(arrow_array::Date32Array::from(vec![1, 2]));
    assert!(sum.merge(&dates, &versions).is_err());
    for offsets in [&[][..], &[0], &[0, 1], &[1, 2], &[0, 2, 1, 2]] {
        assert!(Versions::new(offsets, &steps).is_err(), "{offsets:?}");
    }
}
