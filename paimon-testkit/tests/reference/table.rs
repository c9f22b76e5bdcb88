//! Tables with a key, and the rows that are written to them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::axes::Writer;
use crate::random::Random;
use crate::values::{KEY_TYPES, NESTED_TYPES, VALUE_TYPES, any, type_of, value};

/// A column: its name, its type (SQL, or a short name of a nested one), whether it is in the key.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) data_type: String,
    pub(crate) key: bool,
}

/// One or two keys, perhaps a partition, `seq` and `other` to order rows by, one to five values, and up to three nested
/// values where they are wanted.
pub(crate) fn columns(random: &mut Random, nested: bool) -> Vec<Column> {
    let keys = 1 + random.below(3) / 2;
    let values = 1 + random.below(5);
    let column = |name: String, data_type: String, key| Column {
        name,
        data_type,
        key,
    };
    let mut columns: Vec<Column> = (0..keys)
        .map(|index| {
            let data_type = format!("{} NOT NULL", random.pick(&KEY_TYPES));
            column(format!("k{index}"), data_type, true)
        })
        .collect();
    if random.one_in(4) {
        columns.push(column("part".to_owned(), "INT NOT NULL".to_owned(), true));
    }
    for name in ["seq", "other"] {
        columns.push(column(name.to_owned(), "INT".to_owned(), false));
    }
    columns.extend((0..values).map(|index| {
        let data_type = random.pick(&VALUE_TYPES).to_owned();
        column(format!("v{index}"), data_type, false)
    }));
    for name in NESTED_TYPES {
        if nested && random.one_in(3) {
            columns.push(column(format!("v_{name}"), name.to_owned(), false));
        }
    }
    // Keys stand anywhere in the schema.
    let turn = usize::try_from(random.below(columns.len() as u64)).unwrap();
    columns.rotate_left(turn);
    columns
}

/// The formats of a table's files: one, or sometimes others on some levels.
pub(crate) fn formats(random: &mut Random, from: &[&str], options: &mut Value) {
    options["file.format"] = Value::from(random.pick(from));
    if random.one_in(3) {
        let (low, high) = (random.pick(from), random.pick(from));
        options["file.format.per.level"] = Value::from(format!("0:{low},5:{high}"));
    }
}

/// Whether conditions are asked of a type. By what ORC files say of floats and padded text the reference loses rows and
/// splits (table-format sections 4.6 and 8.2).
pub(crate) fn may_be_asked(data_type: &str, options: &Value) -> bool {
    let formats = ["file.format", "file.format.per.level"];
    let mut formats = formats.iter().filter_map(|key| options[key].as_str());
    let in_orc = formats.any(|formats| formats.contains("orc"));
    !in_orc || !["DOUBLE", "FLOAT", "CHAR(3)"].contains(&data_type)
}

/// The definition of a table, without options of its merge engine.
pub(crate) fn definition(random: &mut Random, columns: &[Column]) -> Value {
    let mut options = json!({
        "bucket": random.pick(&["1", "1", "2", "3"]),
        "write-only": "true",
    });
    let mut set = |key: &str, value: &str| options[key] = Value::from(value);
    if random.one_in(3) {
        set("source.split.target-size", "1 b");
        set("source.split.open-file-cost", "1 b");
    }
    if random.one_in(4) {
        let modes = ["none", "counts", "full", "truncate(2)"];
        set("metadata.stats-mode", random.pick(&modes));
    }
    formats(random, &["parquet", "avro", "orc"], &mut options);
    let shown = columns.iter();
    let shown = shown.map(|column| json!([column.name, type_of(&column.data_type)]));
    let keys = columns.iter().filter(|column| column.key);
    let partitioned = columns.iter().any(|column| column.name == "part");
    json!({
        "columns": shown.collect::<Vec<_>>(),
        "primary_key": keys.map(|column| column.name.as_str()).collect::<Vec<_>>(),
        "partition_by": if partitioned { vec!["part"] } else { vec![] },
        "options": options,
    })
}

/// What is written to a table.
pub(crate) struct Writes {
    pub(crate) kinds: &'static [&'static str],
    pub(crate) writer: Writer,
    pub(crate) compacts: Compacts,
    /// No key twice in a flush, so that none is merged before it is read.
    pub(crate) keys_once: bool,
}

/// How often a table is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compacts {
    Never,
    Sometimes,
    /// After most commits, and mostly in part, because level 0 is hidden until then.
    Mostly,
}

/// One to six commits, or three to eight where they are compacted mostly.
pub(crate) fn steps(random: &mut Random, columns: &[Column], writes: &Writes) -> Vec<Value> {
    let least = if writes.compacts == Compacts::Mostly {
        3
    } else {
        1
    };
    let commits = least + random.below(6);
    let mut steps = Vec::new();
    for _ in 0..commits {
        // Keys cluster, so that runs overlap in some places and not in others.
        let first = random.below(30);
        let rows = |random: &mut Random| rows(random, columns, writes, first);
        let step = if random.one_in(4) {
            let files: Vec<_> = (0..1 + random.below(3)).map(|_| rows(random)).collect();
            json!({ "files": files })
        } else {
            json!({ "write": rows(random) })
        };
        steps.push(step);
        let compacted = match writes.compacts {
            Compacts::Never => None,
            Compacts::Sometimes => random.one_in(4).then(|| random.one_in(2)),
            Compacts::Mostly => (!random.one_in(4)).then(|| random.one_in(6)),
        };
        if let Some(full) = compacted {
            steps.push(json!({
                "compact": compaction(random, writes.writer, full),
                // Files of about one size would all be compacted together.
                "options": {"write-only": "false", "compaction.size-ratio": "-99"},
            }));
        }
    }
    steps
}

/// The reference chooses the files of a compaction that is not full; the kit is told.
fn compaction(random: &mut Random, writer: Writer, full: bool) -> Value {
    match writer {
        _ if full => Value::from("full"),
        Writer::Reference => Value::from("minor"),
        Writer::Kit if random.one_in(3) => json!({ "up_to": 1 + random.below(5) }),
        Writer::Kit => Value::from("level0"),
    }
}

fn rows(random: &mut Random, columns: &[Column], writes: &Writes, first: u64) -> Vec<Value> {
    let count = 1 + random.below(12);
    let mut rows: Vec<Value> = (0..count)
        .map(|_| row(random, columns, writes.kinds, first))
        .collect();
    if writes.keys_once {
        let keys = columns.iter().zip(1..).filter(|(column, _)| column.key);
        let keys: Vec<usize> = keys.map(|(_, at)| at).collect();
        let mut seen = BTreeSet::new();
        rows.retain(|row| {
            let key: Vec<String> = keys.iter().map(|at| row[*at].to_string()).collect();
            seen.insert(key)
        });
    }
    rows
}

fn row(random: &mut Random, columns: &[Column], kinds: &[&str], first: u64) -> Value {
    let mut cells = vec![Value::from(random.pick(kinds))];
    for column in columns {
        cells.push(match (column.name.as_str(), column.key) {
            ("part", _) => Value::from(random.below(2)),
            (_, true) => value(&column.data_type, first + random.below(12)),
            (_, false) => any(random, &column.data_type),
        });
    }
    Value::from(cells)
}
