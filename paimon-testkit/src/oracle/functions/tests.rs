use std::collections::BTreeMap;

use paimon_meta::{DataField, ErrorKind, FieldId, Options};
use serde_json::{Value, json};

use super::{Accumulated, Function};
use crate::cell::Cell;

/// What a function makes of steps: `["+", value]` adds, `["-", value]` takes back, `["<", value]` adds an older one.
fn merged(
    name: &str,
    data_type: impl Into<Value>,
    options: &[(&str, &str)],
    steps: Value,
) -> Value {
    try_merged(name, data_type, options, steps).unwrap()
}

fn try_merged(
    name: &str,
    data_type: impl Into<Value>,
    options: &[(&str, &str)],
    steps: Value,
) -> paimon_meta::Result<Value> {
    let field = DataField {
        id: FieldId(0),
        name: "c".to_owned(),
        data_type: serde_json::from_value(data_type.into()).unwrap(),
        description: None,
        default_value: None,
    };
    let options = options
        .iter()
        .copied()
        .chain([("aggregate-function", name)]);
    let options = options.map(|(key, value)| (format!("fields.c.{key}"), value.to_owned()));
    let options = Options(options.collect::<BTreeMap<_, _>>());
    let function = Function::of(&field, &options)?.unwrap();
    let mut column = Accumulated::default();
    for step in steps.as_array().unwrap() {
        let input = Cell::from_json(&step[1], &field.data_type)?;
        match step[0].as_str().unwrap() {
            "+" => function.add(&mut column, &input)?,
            "-" => function.retract(&mut column, &input)?,
            _ => function.add_older(&mut column, &input)?,
        }
    }
    column.cell.to_json(&field.data_type)
}

fn added(
    name: &str,
    data_type: impl Into<Value>,
    options: &[(&str, &str)],
    values: Value,
) -> Value {
    let steps = values.as_array().unwrap().iter();
    merged(
        name,
        data_type,
        options,
        steps.map(|value| json!(["+", value])).collect(),
    )
}

fn array(element: impl Into<Value>) -> Value {
    json!({ "type": "ARRAY", "element": element.into() })
}

fn map(value: impl Into<Value>) -> Value {
    json!({ "type": "MAP", "key": "STRING", "value": value.into() })
}

/// A row of fields of one type.
fn row(names: &[&str], data_type: &str) -> Value {
    let fields = names.iter().enumerate();
    let fields = fields.map(|(id, name)| json!({ "id": id, "name": name, "type": data_type }));
    json!({ "type": "ROW", "fields": fields.collect::<Vec<_>>() })
}

fn is_corrupt(name: &str, data_type: impl Into<Value>, steps: Value) -> bool {
    try_merged(name, data_type, &[], steps).is_err_and(|error| error.kind() == ErrorKind::Corrupt)
}

/// ME-097, ME-098, ME-099
#[test]
fn sums_pass_over_nulls_and_fail_where_they_overflow() {
    assert_eq!(added("sum", "INT", &[], json!([1, null, 3])), 4);
    assert_eq!(added("sum", "INT", &[], json!([null, null])), json!(null));
    assert_eq!(merged("sum", "INT", &[], json!([["-", 5]])), -5);
    assert_eq!(
        merged("sum", "FLOAT", &[], json!([["-", 0.0]])).to_string(),
        "-0.0"
    );
    assert_eq!(merged("sum", "INT", &[], json!([["+", 5], ["-", null]])), 5);
    assert!(is_corrupt(
        "sum",
        "TINYINT",
        json!([["+", 100], ["+", 100]])
    ));
    assert!(is_corrupt("sum", "TINYINT", json!([["-", -128]])));
}

/// ME-100, ME-101
#[test]
fn sums_of_short_decimals_may_have_too_many_digits_and_those_of_long_ones_are_null() {
    assert_eq!(added("sum", "DECIMAL(3, 0)", &[], json!([999, 1])), "1000");
    let nines = "9".repeat(20);
    let long = "DECIMAL(20, 0)";
    assert_eq!(added("sum", long, &[], json!([nines, "1"])), json!(null));
    assert_eq!(added("sum", long, &[], json!([nines, "1", "7"])), "7");
    let short = "DECIMAL(18, 0)";
    let most = "9".repeat(18);
    let sum = added("sum", short, &[], json!(vec![most.as_str(); 9]));
    assert_eq!(sum, "8999999999999999991");
    let sum = added("sum", short, &[], json!(vec![most.as_str(); 10]));
    assert_eq!(sum, json!(null));
}

/// ME-102 to ME-105
#[test]
fn products_of_decimals_are_exact_before_they_are_rounded() {
    assert_eq!(added("product", "INT", &[], json!([2, null, 5])), 10);
    assert_eq!(
        merged("product", "INT", &[], json!([["-", 5]])),
        json!(null)
    );
    assert_eq!(
        merged("product", "INT", &[], json!([["+", -7], ["-", 2]])),
        -3
    );
    assert!(is_corrupt("product", "INT", json!([["+", 1], ["-", 0]])));
    let half = "DECIMAL(5, 1)";
    assert_eq!(added("product", half, &[], json!(["0.5", "0.5"])), "0.3");
    assert_eq!(added("product", half, &[], json!(["-0.5", "0.5"])), "-0.3");
    assert_eq!(
        added("product", half, &[], json!(["999.9", "999.9"])),
        json!(null)
    );
    let long = "DECIMAL(38, 19)";
    let product = added(
        "product",
        long,
        &[],
        json!(["1234567890123456789.5", "0.0000000000000000005"]),
    );
    assert_eq!(product, "0.6172839450617283948");
    let divided = |a: &str, b: &str| merged("product", half, &[], json!([["+", a], ["-", b]]));
    assert_eq!(divided("1.0", "8.0"), "0.1");
    assert_eq!(divided("-1.0", "4.0"), "-0.3");
    assert!(is_corrupt(
        "product",
        half,
        json!([["+", "1.0"], ["-", "3.0"]])
    ));
    assert_eq!(divided("0.0", "3.0"), "0.0");
}

/// ME-106, ME-107, ME-117
#[test]
fn extremes_and_logic_pass_over_nulls() {
    assert_eq!(
        added("max", "DOUBLE", &[], json!([1.0, "NaN", null, 7.0])),
        "NaN"
    );
    assert_eq!(
        added("min", "DOUBLE", &[], json!([0.0, -0.0])).to_string(),
        "-0.0"
    );
    assert_eq!(added("max", "STRING", &[], json!(["a", "ab", null])), "ab");
    assert_eq!(
        added("bool_and", "BOOLEAN", &[], json!([true, null, false])),
        false
    );
    assert_eq!(
        added("bool_or", "BOOLEAN", &[], json!([null, null])),
        json!(null)
    );
    assert!(try_merged("max", array("INT"), &[], json!([])).is_err());
}

/// ME-108 to ME-112, ME section 3.7 example 15b
#[test]
fn first_and_last_values() {
    assert_eq!(
        added("last_value", "INT", &[], json!([1, null])),
        json!(null)
    );
    assert_eq!(
        added("last_non_null_value", "INT", &[], json!([1, null])),
        1
    );
    let step = |value: Value| {
        merged(
            "last_non_null_value",
            "INT",
            &[],
            json!([["+", 1], ["-", value]]),
        )
    };
    assert_eq!(step(json!(9)), json!(null));
    assert_eq!(step(json!(null)), 1);
    assert_eq!(
        added("first_value", "INT", &[], json!([null, 1])),
        json!(null)
    );
    assert_eq!(
        added("first_not_null_value", "INT", &[], json!([null, 1, 2])),
        1
    );
    let steps = json!([["+", 1], ["<", 2]]);
    assert_eq!(merged("first_value", "INT", &[], steps), 2);
    let steps = json!([["+", 1], ["<", null]]);
    assert_eq!(
        merged("first_non_null_value", "INT", &[], steps),
        json!(null)
    );
    let steps = json!([["+", null], ["<", "y"], ["+", "z"]]);
    assert_eq!(merged("first_non_null_value", "STRING", &[], steps), "z");
}

/// ME-096, ME-135
#[test]
fn retractions_without_support_fail_unless_they_are_ignored() {
    for name in [
        "max",
        "min",
        "listagg",
        "first_value",
        "first_non_null_value",
    ] {
        assert!(is_corrupt(name, "STRING", json!([["-", null]])), "{name}");
    }
    let ignored = [("ignore-retract", "true")];
    assert_eq!(
        merged("max", "INT", &ignored, json!([["+", 3], ["-", 3]])),
        3
    );
}

/// ME-113 to ME-116
#[test]
fn listagg_joins_what_is_not_blank() {
    let list = |options: &[(&str, &str)], values| added("listagg", "STRING", options, values);
    assert_eq!(list(&[], json!([" ", "x", "", null, "y"])), "x,y");
    assert_eq!(list(&[], json!([" "])), json!(null));
    assert_eq!(list(&[], json!(["\u{3000}", "x"])), "x");
    assert_eq!(list(&[], json!(["\u{a0}", "x"])), "\u{a0},x");
    let distinct = [("distinct", "true")];
    assert_eq!(
        list(&distinct, json!(["abc,def,asd", "ab,xy"])),
        "abc,def,asd,ab,xy"
    );
    assert_eq!(list(&distinct, json!(["a,a", "a,,b"])), "a,a,b");
    let options = [("distinct", "true"), ("list-agg-delimiter", ";")];
    let joined = list(&options, json!(["k1=v1;k2=v2", "k1=v1;k3=v3"]));
    assert_eq!(joined, "k1=v1;k2=v2;k3=v3");
    let empty = [("distinct", "true"), ("list-agg-delimiter", "")];
    assert_eq!(list(&empty, json!(["a b", "b c"])), "a bc");
    assert_eq!(
        merged("listagg", "STRING", &[], json!([["+", "a"], ["<", "b"]])),
        "b,a"
    );
    assert!(try_merged("listagg", "VARCHAR(5)", &[], json!([])).is_err());
}

/// ME-118 to ME-121
#[test]
fn collect_is_a_bag_or_a_set() {
    let bag = |steps| merged("collect", array("INT"), &[], steps);
    assert_eq!(
        bag(json!([["+", [1, null]], ["+", null], ["+", [1]]])),
        json!([1, null, 1])
    );
    assert_eq!(
        bag(json!([["+", [1, 1, 2, 2, 3]], ["-", [1, 2, 3]]])),
        json!([1, 2])
    );
    assert_eq!(bag(json!([["+", [1]], ["<", [2]]])), json!([1, 2]));
    let ignored = [("ignore-retract", "true")];
    let turned = merged(
        "collect",
        array("INT"),
        &ignored,
        json!([["+", [1]], ["<", [2]]]),
    );
    assert_eq!(turned, json!([2, 1]));
    let distinct = [("distinct", "true")];
    assert_eq!(
        added("collect", array("INT"), &distinct, json!([[1, 1, 2]])),
        json!([1, 2])
    );
    let bytes = added(
        "collect",
        array("BYTES"),
        &distinct,
        json!([["aa"], ["aa", "bb"]]),
    );
    assert_eq!(bytes, json!(["aa", "bb"]));
}

/// ME-122 to ME-124
#[test]
fn maps_are_merged_by_key() {
    let map_type = map("INT");
    let steps = json!([
        ["+", [["a", 1], ["b", 2]]],
        ["+", [["b", 3], ["c", null]]],
        ["-", [["a", 9]]]
    ]);
    assert_eq!(
        merged("merge_map", map_type, &[], steps),
        json!([["b", 3], ["c", null]])
    );
    let timed = map(row(&["v", "t"], "STRING"));
    let steps = json!([
        [["a", ["A", "100"]], ["b", ["B", "100"]], ["d", ["D", "1"]]],
        [["a", ["A1", "200"]], ["c", ["C", "200"]], ["d", null]],
        [["b", ["B2", "050"]], ["c", ["C2", "200"]]],
    ]);
    assert_eq!(
        added("merge_map_with_keytime", timed, &[], steps),
        json!([
            ["a", ["A1", "200"]],
            ["b", ["B", "100"]],
            ["c", ["C", "200"]]
        ])
    );
}

/// ME-125, ME-126
#[test]
fn nested_rows_without_key_are_appended_up_to_a_limit() {
    let rows = || array(row(&["k", "v"], "INT"));
    let limit = [("count-limit", "3")];
    let steps = json!([[[1, 1], null, [2, 2]], [[3, 3], [4, 4]], null]);
    assert_eq!(
        added("nested_update", rows(), &limit, steps),
        json!([[1, 1], [2, 2], [3, 3]])
    );
    let steps = json!([["+", [[1, 1], [1, 1], [2, null]]], ["-", [[1, 1]]]]);
    assert_eq!(
        merged("nested_update", rows(), &[], steps),
        json!([[2, null]])
    );
}

/// ME-127 to ME-130
#[test]
fn nested_rows_with_a_key_replace_or_fill_each_other() {
    let rows = || array(row(&["k", "s", "v"], "INT"));
    let options = [
        ("nested-key", "k"),
        ("nested-sequence-field", "s"),
        ("count-limit", "2"),
    ];
    let steps = json!([
        [[1, 5, 1], [2, null, 2]],
        [[1, 4, 9], [2, 1, 3], [3, 1, 1]],
        [[1, 5, 7]]
    ]);
    assert_eq!(
        added("nested_update", rows(), &options, steps),
        json!([[1, 5, 7], [2, 1, 3]])
    );
    let keyed = [("nested-key", "k")];
    let steps = json!([["+", [[1, 1, 1], [null, 2, 2]]], ["-", [[1, 9, 9]]]]);
    assert_eq!(
        merged("nested_update", rows(), &keyed, steps),
        json!([[null, 2, 2]])
    );
    let strict = [("nested-key", "k"), ("nested-key-null-strategy", "error")];
    let steps = json!([["+", [[1, 1, 1]]], ["-", [[null, 1, 1]]]]);
    assert_eq!(
        merged("nested_update", rows(), &strict, steps),
        json!([[1, 1, 1]])
    );
    let ignored = [("nested-key", "k"), ("nested-key-null-strategy", "ignore")];
    let steps = json!([[[1, 1, 1], [null, 2, 2]]]);
    assert_eq!(
        added("nested_update", rows(), &ignored, steps),
        json!([[1, 1, 1]])
    );
    let steps = json!([[[1, 1, null], [2, null, 2]], [[1, null, 3]]]);
    assert_eq!(
        added("nested_partial_update", rows(), &keyed, steps),
        json!([[1, 1, 3], [2, null, 2]])
    );
    assert!(try_merged("nested_partial_update", rows(), &[], json!([])).is_err());
}

/// ME-131
#[test]
fn bitmaps_are_united() {
    let bytes = |values: [u32; 2]| {
        let mut bytes = Vec::new();
        let bitmap = roaring::RoaringBitmap::from_iter(values);
        bitmap.serialize_into(&mut bytes).unwrap();
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let united = added(
        "rbm32",
        "BYTES",
        &[],
        json!([bytes([1, 7]), null, bytes([1, 1 << 20])]),
    );
    let bitmap: Vec<u8> = (0..united.as_str().unwrap().len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&united.as_str().unwrap()[at..at + 2], 16).unwrap())
        .collect();
    let bitmap = roaring::RoaringBitmap::deserialize_from(bitmap.as_slice()).unwrap();
    assert_eq!(bitmap.iter().collect::<Vec<_>>(), [1, 7, 1 << 20]);
}
