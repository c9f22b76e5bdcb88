//! Pruning never changes the answer: by every sort of value, statistics and table, rows of a read that prunes wherever it
//! can are those of a read that looks at each row.

use std::cell::RefCell;

use paimon_io::Counter;
use paimon_plan::Plan;
use paimon_testkit::{History, Layout, Query, layouts};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::table::{Case, Route, cases, numbers, same};

/// Values of one type, from small to large in the order that counts.
struct Values {
    data_type: &'static str,
    of: fn(u8) -> Value,
}

/// How many values of a type there are.
const NUMBERS: u8 = 12;

/// What the tables of a law have beside their values.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    /// A primary key, so that files overlap and versions replace each other.
    key: bool,
    /// Deletion vectors.
    vectors: bool,
    /// `v` is the partition.
    partitioned: bool,
    /// `v` gets another name, and a column beside it, between two commits.
    evolved: bool,
}

/// Rows of a commit: key, and the number of the value, 0 being null.
type Rows = Vec<(u8, u8)>;

fn commits() -> impl Strategy<Value = Vec<Rows>> {
    // Values near each other, so that bounds tell files, row groups and pages apart.
    let near = (0..NUMBERS, vec((0..30_u8, 0..4_u8), 1..14));
    let near = near.prop_map(|(base, rows)| {
        let rows = rows.into_iter();
        rows.map(|(key, value)| (key, base.saturating_sub(value)))
            .collect()
    });
    let far = vec((0..30_u8, 0..=NUMBERS), 1..14);
    vec(prop_oneof![3 => near, 1 => far], 1..6)
}

/// One condition: operator and literals.
fn conditions() -> impl Strategy<Value = (u8, u8, u8)> {
    (0..12_u8, 1..=NUMBERS, 1..=NUMBERS)
}

fn condition(of: impl Fn(u8) -> Value, column: &str, (operator, a, b): (u8, u8, u8)) -> Value {
    let (low, high) = (of(a.min(b)), of(a.max(b)));
    let single = |operator: &str| json!([operator, column, of(a)]);
    match operator {
        0 | 1 => single("="),
        2 => single("!="),
        3 => single("<"),
        4 => single("<="),
        5 => single(">"),
        6 => single(">="),
        7 => json!(["between", column, low, high]),
        8 => json!(["in", column, [low, high]]),
        9 => json!(["not_in", column, [low, high]]),
        10 => json!(["is_null", column]),
        _ => json!(["is_not_null", column]),
    }
}

fn history(values: &Values, shape: Shape, stats: &str, commits: &[Rows]) -> History {
    let row = |(key, value): &(u8, u8), kind: &str, more: bool| {
        let value = match value {
            0 => Value::Null,
            number => (values.of)(*number),
        };
        let mut row = vec![json!(kind), json!(key), value];
        row.extend(more.then(|| json!(key % 3)));
        Value::from(row)
    };
    let mut steps = Vec::new();
    let mut evolved = false;
    for (number, rows) in commits.iter().enumerate() {
        if shape.evolved && number == 1 {
            steps.push(json!({"alter": [["rename", "v", "w"], ["add", "c", "INT"]]}));
            evolved = true;
        }
        // With a key every fifth row deletes.
        let kind = |index: usize| {
            if shape.key && index % 5 == 4 {
                "-D"
            } else {
                "+I"
            }
        };
        let rows = rows.iter().enumerate();
        let rows: Vec<Value> = rows
            .map(|(at, seed)| row(seed, kind(at), evolved))
            .collect();
        steps.push(json!({"write": rows}));
        if shape.vectors && number % 2 == 0 {
            steps.push(json!({"compact": "level0"}));
        }
    }
    let text = json!({
        "columns": [["k", "INT NOT NULL"], ["v", values.data_type]],
        "primary_key": if shape.key { vec!["k"] } else { Vec::new() },
        "partition_by": if shape.partitioned { vec!["v"] } else { Vec::new() },
        "options": {
            "bucket": if shape.key { "1" } else { "-1" }, "write-only": "true",
            "metadata.stats-mode": stats, "deletion-vectors.enabled": shape.vectors.to_string(),
        },
        "steps": steps,
    });
    History::from_json(text.to_string().as_bytes()).unwrap()
}

/// What was met over the cases of a law.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    cases: u32,
    /// Something was left out for the condition, by the plan or by the read.
    pruned: u32,
    deleted: u32,
}

/// For tables of each of these types: what is pruned does not match. Says how much was met.
fn law(types: &[Values], shape: Shape, stats: &'static [&'static str]) -> Met {
    let met = RefCell::new(Met::default());
    let config = ProptestConfig {
        cases: cases().div_ceil(8),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    for values in types {
        let mut runner = TestRunner::new_with_rng(config.clone(), numbers());
        let stats = prop::sample::select(stats);
        let input = (layouts(), stats, commits(), conditions());
        let outcome = runner.run(&input, |(layout, stats, commits, seed)| {
            let history = history(values, shape, stats, &commits);
            check(&history, &layout, values, shape, seed, &met)
        });
        if let Err(error) = outcome {
            panic!("{}: {error}", values.data_type);
        }
    }
    met.into_inner()
}

fn check(
    history: &History,
    layout: &Layout,
    values: &Values,
    shape: Shape,
    seed: (u8, u8, u8),
    met: &RefCell<Met>,
) -> Result<(), TestCaseError> {
    let case = Case::new(history.clone(), layout);
    let column = if case.fields().iter().any(|field| field.name == "w") {
        "w"
    } else {
        "v"
    };
    let query = Query {
        filter: Some(condition(values.of, column, seed)),
        ..Query::default()
    };
    let route = Route::in_parts_by(&case);
    let found = case.read(&query, &route).unwrap();
    same(&case, &query, &case.answer(&query), &found)?;
    let mut met = met.borrow_mut();
    met.cases += 1;
    let plan = case
        .plan(&case.resolve(&route).unwrap(), &query, &route)
        .unwrap();
    met.pruned += u32::from(prunes_files(&plan) || case.metrics().get(Counter::RowsSkipped) > 0);
    let files = 0..plan.files().len();
    met.deleted += u32::from(
        files
            .into_iter()
            .any(|file| plan.deleted_rows(file) != Some(0)),
    );
    if shape.vectors {
        counts_agree(&case, &route)?;
    }
    Ok(())
}

fn prunes_files(plan: &Plan) -> bool {
    let mut steps = plan.pruning().steps.iter();
    steps.any(|step| step.before.files > step.after.files)
}

/// What metadata says of the number of rows, it says rightly, vectors counted in once.
fn counts_agree(case: &Case, route: &Route) -> Result<(), TestCaseError> {
    let all = Query::default();
    let plan = case
        .plan(&case.resolve(route).unwrap(), &all, route)
        .unwrap();
    if let Some(rows) = plan.exact_row_count() {
        prop_assert_eq!(rows, case.answer(&all).len() as u64, "{}", &case.history);
    }
    Ok(())
}

const ALL_STATS: &[&str] = &["full", "truncate(16)", "truncate(3)", "counts", "none"];
const BOUNDED: &[&str] = &["full", "truncate(3)"];

/// A law that met too little proves little.
fn prunes(met: Met) {
    assert!(met.pruned * 4 >= met.cases, "{met:?}");
}

const INT: Values = Values {
    data_type: "INT",
    of: |n| json!(i64::from(n) * 1000 - 5000),
};
const TEXT: Values = Values {
    data_type: "STRING",
    // Longer than statistics keep, beyond ASCII, and where nothing larger has so few characters.
    of: |n| match n {
        1 => json!(""),
        9 => json!("é😀 09"),
        10 => json!("\u{fffd}\u{fffd}\u{fffd} 10"),
        11 => json!("\u{10ffff}\u{10ffff}\u{10ffff} 11"),
        n => json!(format!("a long common prefix {n:02}")),
    },
};

#[test]
fn numbers_of_every_width() {
    let types = [
        INT,
        Values {
            data_type: "TINYINT",
            of: |n| json!(i64::from(n) * 20 - 120),
        },
        Values {
            data_type: "SMALLINT",
            of: |n| json!(i64::from(n) * 5000 - 30000),
        },
        Values {
            data_type: "BIGINT",
            of: |n| json!((i64::from(n) - 6) * 1_500_000_000_000_000_000),
        },
        Values {
            data_type: "BOOLEAN",
            of: |n| json!(n % 2 == 0),
        },
    ];
    prunes(law(&types, Shape::default(), ALL_STATS));
}

#[test]
fn floats_with_nan_and_both_zeros() {
    fn float(n: u8) -> Value {
        match n {
            1 => json!("-Infinity"),
            5 => json!(-0.0),
            6 => json!(0.0),
            11 => json!("Infinity"),
            12 => json!("NaN"),
            n => json!(f64::from(n) - 5.5),
        }
    }
    let types = ["FLOAT", "DOUBLE"].map(|data_type| Values {
        data_type,
        of: float,
    });
    prunes(law(&types, Shape::default(), BOUNDED));
}

#[test]
fn zeros_of_both_signs() {
    // TF 4.6: -0.0 is below 0.0, in bounds and in conditions.
    fn zero(n: u8) -> Value {
        json!(if n.is_multiple_of(2) { 0.0 } else { -0.0 })
    }
    let types = ["FLOAT", "DOUBLE"].map(|data_type| Values {
        data_type,
        of: zero,
    });
    prunes(law(&types, Shape::default(), BOUNDED));
}

#[test]
fn decimals() {
    let types = [
        Values {
            data_type: "DECIMAL(9, 2)",
            of: |n| json!(format!("{}.25", i64::from(n) * 100 - 600)),
        },
        Values {
            data_type: "DECIMAL(18, 4)",
            of: |n| {
                json!(format!(
                    "{}.0001",
                    i64::from(n) * 10_000_000_000 - 60_000_000_000
                ))
            },
        },
        Values {
            data_type: "DECIMAL(38, 10)",
            of: |n| json!(format!("{}0000000000000000000.5", i64::from(n) - 6)),
        },
    ];
    prunes(law(&types, Shape::default(), BOUNDED));
}

#[test]
fn text_that_statistics_cut() {
    // RP-066, TF 4.6
    prunes(law(&[TEXT], Shape::default(), BOUNDED));
}

#[test]
fn bytes_in_unsigned_order() {
    let types = ["BYTES", "BINARY(9)"].map(|data_type| Values {
        data_type,
        of: |n| json!(format!("{:02x}ff000000000000{n:02x}", u32::from(n) * 21)),
    });
    prunes(law(&types, Shape::default(), BOUNDED));
}

#[test]
fn dates_times_and_timestamps() {
    fn year(n: u8) -> u32 {
        1960 + 2 * u32::from(n)
    }
    let types = [
        Values {
            data_type: "DATE",
            of: |n| json!(format!("{}-12-31", year(n))),
        },
        Values {
            data_type: "TIME(3)",
            of: |n| json!(format!("{:02}:59:59.99{}", n + 8, n % 10)),
        },
        Values {
            data_type: "TIMESTAMP(0)",
            of: |n| json!(format!("{}-12-31T23:59:59.000", year(n))),
        },
        Values {
            data_type: "TIMESTAMP(1)",
            of: |n| json!(format!("1969-12-31T23:59:{:02}.9", n * 4)),
        },
        Values {
            data_type: "TIMESTAMP(2)",
            of: |n| json!(format!("1969-12-31T23:59:59.{:02}", n * 8)),
        },
        Values {
            data_type: "TIMESTAMP(4)",
            of: |n| json!(format!("1969-12-31T23:59:59.99{:02}", n * 8)),
        },
        Values {
            data_type: "TIMESTAMP(5)",
            of: |n| json!(format!("1969-12-31T23:59:59.999{:02}", n * 8)),
        },
        Values {
            data_type: "TIMESTAMP(3)",
            of: |n| json!(format!("{}-12-31T23:59:59.99{}", year(n), n % 10)),
        },
        Values {
            data_type: "TIMESTAMP(6)",
            of: |n| json!(format!("1969-12-31T23:59:59.9999{:02}", n * 8)),
        },
        Values {
            data_type: "TIMESTAMP(3) WITH LOCAL TIME ZONE",
            of: |n| json!(format!("{}-12-31T23:59:59.99{}Z", year(n), n % 10)),
        },
        Values {
            data_type: "TIMESTAMP(6) WITH LOCAL TIME ZONE",
            of: |n| json!(format!("1969-12-31T23:59:59.9999{:02}Z", n * 8)),
        },
    ];
    prunes(law(&types, Shape::default(), BOUNDED));
}

#[test]
fn partition_columns() {
    // Null and text that the directory's name escapes among them (RP-558).
    let shape = Shape {
        partitioned: true,
        ..Shape::default()
    };
    let text = Values {
        data_type: "STRING",
        of: |n| json!(format!("p/{n:02} =")),
    };
    prunes(law(&[INT, text], shape, &["full"]));
}

#[test]
fn columns_renamed_and_added() {
    // RP-085 to RP-088: statistics written under another name.
    let shape = Shape {
        evolved: true,
        ..Shape::default()
    };
    prunes(law(&[INT, TEXT], shape, ALL_STATS));
}

/// For tables whose column `v` got another type after all of its files were written. Says how much was met.
fn law_of_casts(casts: &[(Values, &str)]) -> Met {
    let met = RefCell::new(Met::default());
    for (values, new_type) in casts {
        let config = ProptestConfig {
            cases: cases().div_ceil(16),
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        let mut runner = TestRunner::new_with_rng(config, numbers());
        let input = (
            layouts(),
            prop::sample::select(BOUNDED),
            commits(),
            conditions(),
        );
        let outcome = runner.run(&input, |(layout, stats, commits, seed)| {
            let history = history(values, Shape::default(), stats, &commits);
            check_cast(&Case::new(history, &layout), new_type, seed, &met)
        });
        if let Err(error) = outcome {
            panic!("{} to {new_type}: {error}", values.data_type);
        }
    }
    met.into_inner()
}

/// Rows that satisfy a condition on the new values are those that satisfy it among all rows; what they are is not asked.
fn check_cast(
    case: &Case,
    new_type: &str,
    seed: (u8, u8, u8),
    met: &RefCell<Met>,
) -> Result<(), TestCaseError> {
    let schema = case.written.main().unwrap().schema().unwrap();
    let mut next: Value = serde_json::to_value(schema).unwrap();
    next["id"] = json!(1);
    next["fields"][1]["type"] = json!(new_type);
    case.put("schema/schema-1", &next.to_string());

    let route = Route::in_parts_by(case);
    let fields = case.resolve(&route).unwrap().schema.fields;
    prop_assert_eq!(fields[1].data_type.to_string(), new_type);
    let rows = case.read(&Query::default(), &route).unwrap();
    let mut values: Vec<Value> = rows.iter().map(|row| row[1].clone()).collect();
    values.retain(|value| !value.is_null());
    if values.is_empty() {
        return Ok(());
    }
    let literal = |number: u8| values[usize::from(number) % values.len()].clone();
    let query = Query {
        filter: Some(condition(literal, "v", seed)),
        ..Query::default()
    };
    let expected = query.answer(&fields, &rows).unwrap();
    let before = case.metrics().get(Counter::RowsSkipped);
    let found = case.read(&query, &route).unwrap();
    same(case, &query, &expected, &found)?;
    let mut met = met.borrow_mut();
    met.cases += 1;
    let plan = case
        .plan(&case.resolve(&route).unwrap(), &query, &route)
        .unwrap();
    let skipped = case.metrics().get(Counter::RowsSkipped) > before;
    met.pruned += u32::from(prunes_files(&plan) || skipped);
    Ok(())
}

#[test]
fn statistics_of_another_type() {
    // RP-086, RP-257: bounds of old values tell of new ones only where both compare alike.
    fn wide(n: u8) -> Value {
        json!(i64::from(n) * 20_000 - 100_000)
    }
    fn exact(n: u8) -> Value {
        json!(format!("{}.25", i64::from(n) * 10 - 60))
    }
    fn instant(n: u8) -> Value {
        json!(format!("1969-12-31T23:59:59.9999{:02}", n * 8))
    }
    let of = |data_type, of| Values { data_type, of };
    let narrow = |n| json!(i64::from(n) * 20 - 120);
    prunes(law_of_casts(&[
        (of("TINYINT", narrow), "SMALLINT"),
        (of("SMALLINT", narrow), "BIGINT"),
        (of("INT", wide), "BIGINT"),
    ]));
    law_of_casts(&[
        (of("INT", wide), "STRING"),
        (of("INT", wide), "SMALLINT"),
        (of("INT", wide), "DOUBLE"),
        (of("INT", wide), "DECIMAL(12, 2)"),
        (
            of("BIGINT", |n| json!((i64::from(n) - 6) * 3_000_000_000)),
            "INT",
        ),
        (of("DOUBLE", |n| json!(f64::from(n) * 1.5 - 8.0)), "INT"),
        (of("DOUBLE", |n| json!(f64::from(n) * 1e38 - 5e38)), "FLOAT"),
        (of("FLOAT", |n| json!(f64::from(n) - 5.5)), "DOUBLE"),
        (of("DECIMAL(9, 2)", exact), "DECIMAL(18, 4)"),
        (of("DECIMAL(9, 2)", exact), "DECIMAL(9, 1)"),
        (of("DECIMAL(9, 2)", exact), "STRING"),
        (of("TIMESTAMP(6)", instant), "TIMESTAMP(3)"),
        (of("TIMESTAMP(6)", instant), "TIMESTAMP(0)"),
        (of("TIMESTAMP(6)", instant), "DATE"),
        (
            of("DATE", |n| {
                json!(format!("{}-12-31", 1960 + 2 * u32::from(n)))
            }),
            "TIMESTAMP(3)",
        ),
        (of("BOOLEAN", |n| json!(n % 2 == 0)), "INT"),
        (
            of("STRING", |n| json!(format!("{}", i64::from(n) * 7 - 30))),
            "INT",
        ),
        (of("STRING", TEXT.of), "VARCHAR(3)"),
        (of("STRING", TEXT.of), "BYTES"),
    ]);
}

#[test]
fn values_of_overlapping_files() {
    // RP-540, RP-624: an old version that matches must not come back because the newer one was pruned.
    let shape = Shape {
        key: true,
        ..Shape::default()
    };
    prunes(law(&[INT, TEXT], shape, BOUNDED));
}

#[test]
fn deleted_rows_stay_deleted() {
    // RP-262, RP-614, RP-075: vectors count rows of the file, whatever is skipped; level 0 is hidden. RP-044: what
    // compactions took away stays away under any condition.
    let shape = Shape {
        key: true,
        vectors: true,
        ..Shape::default()
    };
    let met = law(&[INT, TEXT], shape, BOUNDED);
    assert!(met.deleted * 5 >= met.cases, "{met:?}");
    prunes(met);
}
