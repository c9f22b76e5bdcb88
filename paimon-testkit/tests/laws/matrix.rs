//! Every type at its edges and precisions, in every format: the kit writes the rows of the reference's tables of types, as an append
//! table and in two runs of a table with a key, and what is read are the values that the reference reads (table-format 8.1).

use std::path::Path;

use paimon_meta::TypeKind;
use paimon_testkit::{GOLDEN_FOUND, GoldenCase, History, JsonRow, Layout, Query, diff_rows};
use serde_json::{Value, json};

use super::table::{Case, Route};

/// A table of the reference, the format that the kit writes it in, and the row that this format cannot hold: a fraction of
/// the last second before 1970 is lost in ORC (table-format 8.2).
const TABLES: [(&str, &str, Option<i64>); 4] = [
    ("found_types_avro", "parquet", None),
    ("found_types_avro", "avro", None),
    ("found_types_avro", "orc", Some(6)),
    ("found_types_orc", "orc", Some(6)),
];

/// The kit has no maps of other keys than text in Avro.
const NOT_IN_AVRO: &str = "mi";

#[test]
fn every_type_at_its_edges_is_read_from_every_format() {
    for (name, format, lost) in TABLES {
        let golden = GoldenCase::load(&Path::new(GOLDEN_FOUND).join(name)).unwrap();
        let read = &golden.reads[0];
        let kept: Vec<bool> = read
            .columns
            .iter()
            .map(|column| format != "avro" || column.name != NOT_IN_AVRO)
            .collect();
        let columns = golden.definition["columns"].as_array().unwrap();
        let columns = keep(columns, &kept);
        let rows = read.rows.as_ref().unwrap().iter();
        let rows = rows.filter(|row| lost.is_none_or(|lost| row[0] != json!(lost)));
        let expected: Vec<JsonRow> = rows.map(|row| keep(row, &kept)).collect();
        let types = keep(&read.columns, &kept);
        let types: Vec<_> = types.iter().map(|column| &column.data_type).collect();
        for keyed in [false, true] {
            for (row_group_rows, dictionary) in [(3, true), (1000, false)] {
                let layout = Layout {
                    row_group_rows,
                    page_rows: 2,
                    dictionary,
                    ..Layout::default()
                };
                let case = Case::new(history(&columns, format, &expected, keyed), &layout);
                let found = case.read(&Query::default(), &Route::default()).unwrap();
                if let Some(different) = diff_rows(&types, &expected, &found) {
                    panic!("{name} in {format}: {different}");
                }
            }
        }
    }
}

fn keep<T: Clone>(items: &[T], kept: &[bool]) -> Vec<T> {
    let items = items.iter().zip(kept).filter(|(_, kept)| **kept);
    items.map(|(item, _)| item.clone()).collect()
}

/// The rows in one step; with a key, each key has the values of the next row first.
fn history(columns: &[Value], format: &str, rows: &[JsonRow], keyed: bool) -> History {
    let written = |values: &[JsonRow]| -> Vec<Value> {
        let rows = rows.iter().zip(values);
        rows.map(|(row, values)| {
            let mut cells = vec![json!("+I"), row[0].clone()];
            cells.extend_from_slice(&values[1..]);
            Value::from(cells)
        })
        .collect()
    };
    let mut steps = vec![json!({ "write": written(rows) })];
    if keyed {
        let mut others = rows.to_vec();
        others.rotate_left(1);
        steps.insert(0, json!({ "write": written(&others) }));
    }
    let text = json!({
        "columns": columns,
        "primary_key": if keyed { vec!["id"] } else { vec![] },
        "options": {
            "bucket": if keyed { "1" } else { "-1" }, "write-only": "true", "file.format": format,
        },
        "steps": steps,
    });
    History::from_json(text.to_string().as_bytes()).unwrap()
}

#[test]
fn text_that_became_a_number_is_compared_as_one() {
    // RP-086: as text, no bound of the old files is above 9.
    let int = TypeKind::Int.nullable();
    for format in ["parquet", "orc", "avro"] {
        for keyed in [false, true] {
            let text = json!({
                "columns": [["k", "INT NOT NULL"], ["v", "STRING"]],
                "primary_key": if keyed { vec!["k"] } else { vec![] },
                "options": {
                    "bucket": if keyed { "1" } else { "-1" }, "write-only": "true", "file.format": format,
                },
                "steps": [
                    {"write": [["+I", 1, "9"], ["+I", 2, "10"], ["+I", 3, "11"], ["+I", 4, null]]},
                    {"alter": [["type", "v", "INT"]]},
                    {"write": [["+I", 3, 7], ["+I", 5, 12]]},
                ],
            });
            let history = History::from_json(text.to_string().as_bytes()).unwrap();
            let layout = Layout {
                row_group_rows: 1,
                ..Layout::default()
            };
            let case = Case::new(history, &layout);
            let read = |condition: &str| {
                let query = Query {
                    filter: Some(json!([condition, "v", 9])),
                    ..Query::default()
                };
                case.read(&query, &Route::default()).unwrap()
            };
            // As a key, 3 has the new value alone.
            let old = (!keyed).then(|| json!([3, 11]));
            let above = [json!([2, 10]), json!([5, 12])].into_iter().chain(old);
            for (condition, expected) in [
                (">", above.collect::<Vec<_>>()),
                ("<=", vec![json!([1, 9]), json!([3, 7])]),
            ] {
                let expected: Vec<JsonRow> = expected
                    .iter()
                    .map(|row| row.as_array().unwrap().clone())
                    .collect();
                let different = diff_rows(&[&int, &int], &expected, &read(condition));
                assert!(different.is_none(), "{format} {condition} {keyed}");
            }
        }
    }
}
