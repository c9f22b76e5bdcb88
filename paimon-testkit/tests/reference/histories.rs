//! Random histories for reads of changes, each from a seed; `axes` has those for reads of rows.

use paimon_testkit::History;
use serde_json::{Value, json};

use crate::random::Random;
use crate::values::{KEY_TYPES, VALUE_TYPES, value};

/// A column: its name, its SQL type, whether it is in the key.
struct Column {
    name: String,
    data_type: String,
    key: bool,
}

/// Merge engines, as the option names them.
pub(crate) const ENGINES: [&str; 4] = ["deduplicate", "partial-update", "aggregation", "first-row"];

/// A history.
pub(crate) struct Case {
    pub(crate) history: History,
}

impl Case {
    pub(crate) fn of(engine: &str, seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let columns = columns(random);
        let mut text = definition(random, &columns);
        let kinds = engine_options(random, engine, &columns, &mut text["options"]);
        text["steps"] = Value::from(steps(random, &columns, kinds));
        let history = History::from_json(text.to_string().as_bytes()).unwrap();
        Self { history }
    }
}

fn columns(random: &mut Random) -> Vec<Column> {
    let keys = 1 + random.below(3) / 2;
    let values = 1 + random.below(5);
    let mut columns: Vec<Column> = (0..keys)
        .map(|index| Column {
            name: format!("k{index}"),
            data_type: format!("{} NOT NULL", random.pick(&KEY_TYPES)),
            key: true,
        })
        .collect();
    if random.one_in(4) {
        columns.push(Column {
            name: "part".to_owned(),
            data_type: "INT NOT NULL".to_owned(),
            key: true,
        });
    }
    columns.push(Column {
        name: "seq".to_owned(),
        data_type: "INT".to_owned(),
        key: false,
    });
    columns.extend((0..values).map(|index| Column {
        name: format!("v{index}"),
        data_type: random.pick(&VALUE_TYPES).to_owned(),
        key: false,
    }));
    // Keys stand anywhere in the schema.
    let turn = usize::try_from(random.below(columns.len() as u64)).unwrap();
    columns.rotate_left(turn);
    columns
}

fn definition(random: &mut Random, columns: &[Column]) -> Value {
    let mut options = serde_json::Map::new();
    let mut set = |key: &str, value: &str| options.insert(key.to_owned(), Value::from(value));
    set("bucket", random.pick(&["1", "1", "2", "3"]));
    set("write-only", "true");
    if random.one_in(3) {
        set("sequence.field", "seq");
        if random.one_in(3) {
            set("sequence.field.sort-order", "descending");
        }
    }
    if random.one_in(6) {
        set("ignore-delete", "true");
    }
    if random.one_in(3) {
        set("source.split.target-size", "1 b");
        set("source.split.open-file-cost", "1 b");
    }
    if random.one_in(4) {
        set(
            "metadata.stats-mode",
            random.pick(&["none", "counts", "full", "truncate(2)"]),
        );
    }
    let names = columns
        .iter()
        .filter(|column| column.key)
        .map(|column| column.name.clone());
    let partitioned = columns.iter().any(|column| column.name == "part");
    json!({
        "columns": columns.iter().map(|column| json!([column.name, column.data_type])).collect::<Vec<_>>(),
        "primary_key": names.collect::<Vec<_>>(),
        "partition_by": if partitioned { vec!["part"] } else { vec![] },
        "options": options,
    })
}

const ALL_KINDS: [&str; 6] = ["+I", "+I", "+I", "+U", "-D", "-U"];
const ADDS: [&str; 2] = ["+I", "+U"];
const DELETES: [&str; 4] = ["+I", "+I", "+U", "-D"];

/// Options of an engine; the kinds of rows that it takes with them.
fn engine_options(
    random: &mut Random,
    engine: &str,
    columns: &[Column],
    options: &mut Value,
) -> &'static [&'static str] {
    let ignores = options["ignore-delete"].is_string();
    if engine != "deduplicate" {
        options["merge-engine"] = Value::from(engine);
    }
    let values = || columns.iter().filter(|column| column.name.starts_with('v'));
    match engine {
        "deduplicate" => &ALL_KINDS,
        "first-row" => {
            let options = options.as_object_mut().unwrap();
            options.remove("sequence.field");
            options.remove("sequence.field.sort-order");
            if ignores { &ALL_KINDS } else { &["+I"] }
        }
        "partial-update" => {
            let groups = random.one_in(2) && options.get("sequence.field").is_none();
            if groups {
                let names: Vec<&str> = values().map(|column| column.name.as_str()).collect();
                options["fields.seq.sequence-group"] = Value::from(names.join(","));
            }
            if ignores {
                return &ALL_KINDS;
            }
            if !groups && random.one_in(2) {
                options["partial-update.remove-record-on-delete"] = Value::from("true");
                return &DELETES;
            }
            if groups { &ALL_KINDS } else { &ADDS }
        }
        _ => {
            for column in values() {
                if let Some(function) = function(random, &column.data_type) {
                    let key = format!("fields.{}.aggregate-function", column.name);
                    options[key] = Value::from(function);
                }
            }
            if ignores {
                return &ALL_KINDS;
            }
            if random.one_in(2) {
                options["aggregation.remove-record-on-delete"] = Value::from("true");
                return &DELETES;
            }
            &ADDS
        }
    }
}

/// A function that takes values of the type.
fn function(random: &mut Random, data_type: &str) -> Option<&'static str> {
    const ANY: [&str; 5] = [
        "last_value",
        "last_non_null_value",
        "first_value",
        "first_non_null_value",
        "max",
    ];
    match data_type {
        "BOOLEAN" => Some(random.pick(&["bool_and", "bool_or", "last_value"])),
        // Not `listagg`: 1.4.2 and 2.1 differ on blank texts.
        "STRING" => Some(random.pick(&["last_value", "max", "min", "first_value"])),
        "CHAR(3)" | "VARBINARY(5)" => Some(random.pick(&["last_value", "first_value"])),
        "INT" | "BIGINT" | "TINYINT" | "DECIMAL(24, 3)" => {
            Some(random.pick(&["sum", "sum", "max", "min", "product"]))
        }
        "DOUBLE" => Some(random.pick(&["max", "min", "sum"])),
        _ if random.one_in(4) => None,
        _ => Some(random.pick(&ANY)),
    }
}

fn steps(random: &mut Random, columns: &[Column], kinds: &[&str]) -> Vec<Value> {
    let commits = 1 + random.below(6);
    let mut steps = Vec::new();
    for _ in 0..commits {
        // Keys cluster, so that runs overlap in some places and not in others.
        let first = random.below(30);
        let rows = |random: &mut Random| {
            let count = 1 + random.below(12);
            (0..count)
                .map(|_| row(random, columns, kinds, first))
                .collect::<Vec<_>>()
        };
        let step = if random.one_in(4) {
            let files: Vec<_> = (0..1 + random.below(3)).map(|_| rows(random)).collect();
            json!({ "files": files })
        } else {
            json!({ "write": rows(random) })
        };
        steps.push(step);
        if random.one_in(4) {
            steps.push(json!({"compact": "full", "options": {"write-only": "false"}}));
        }
    }
    steps
}

fn row(random: &mut Random, columns: &[Column], kinds: &[&str], first: u64) -> Value {
    let kind = random.pick(kinds);
    let mut cells = vec![Value::from(kind)];
    for column in columns {
        let cell = match (column.name.as_str(), column.key) {
            ("part", _) => Value::from(random.below(2)),
            (_, true) => value(&column.data_type, first + random.below(12)),
            (_, false) if random.one_in(4) => Value::Null,
            (_, false) => {
                let number = random.below(8);
                value(&column.data_type, number)
            }
        };
        cells.push(cell);
    }
    Value::from(cells)
}
