//! Histories of tables with a key, for each merge engine.

use serde_json::Value;

use super::{Case, Writer};
use crate::questions::questions;
use crate::random::Random;
use crate::table::{Column, Compacts, Writes, columns, definition, steps};

const ALL_KINDS: &[&str] = &["+I", "+I", "+I", "+U", "-D", "-U"];
const ADDS: &[&str] = &["+I", "+U"];
const DELETES: &[&str] = &["+I", "+I", "+U", "-D"];

pub(super) fn deduplicate(random: &mut Random, writer: Writer) -> Case {
    let columns = columns(random, false);
    let mut table = definition(random, &columns);
    orders(random, &mut table);
    looks_up(random, writer, &columns, &mut table);
    if random.one_in(6) {
        table["options"]["ignore-delete"] = Value::from("true");
    }
    case(random, writer, &columns, table, Kinds::Merge(ALL_KINDS))
}

pub(super) fn first_row(random: &mut Random, writer: Writer) -> Case {
    let columns = loop {
        let columns = columns(random, false);
        if writer == Writer::Kit || !has_bytes_key(&columns) {
            break columns;
        }
    };
    let mut table = definition(random, &columns);
    table["options"]["merge-engine"] = Value::from("first-row");
    let ignores = random.one_in(6);
    if ignores {
        table["options"]["ignore-delete"] = Value::from("true");
    }
    let kinds = if ignores { ALL_KINDS } else { &["+I"] };
    case(random, writer, &columns, table, Kinds::Merge(kinds))
}

pub(super) fn partial_update(random: &mut Random, writer: Writer) -> Case {
    let grouped = random.one_in(2);
    let columns = columns(random, grouped);
    let mut table = definition(random, &columns);
    table["options"]["merge-engine"] = Value::from("partial-update");
    looks_up(random, writer, &columns, &mut table);
    let kinds = if grouped {
        groups(random, &columns, &mut table)
    } else {
        orders(random, &mut table);
        match random.below(8) {
            0 | 1 => {
                table["options"]["ignore-delete"] = Value::from("true");
                Kinds::Merge(ALL_KINDS)
            }
            2..=4 => {
                table["options"]["partial-update.remove-record-on-delete"] = Value::from("true");
                Kinds::Merge(ALL_KINDS)
            }
            5 => Kinds::Fail(ALL_KINDS),
            _ => Kinds::Merge(ADDS),
        }
    };
    case(random, writer, &columns, table, kinds)
}

/// One or two sequence groups over all values, half of which have functions.
fn groups(random: &mut Random, columns: &[Column], table: &mut Value) -> Kinds {
    let mut groups = [Vec::new(), Vec::new()];
    let both = random.one_in(2);
    let failing = random.one_in(8);
    for column in values(columns) {
        let second = usize::from(both && random.one_in(2));
        groups[second].push(column.name.as_str());
        if is_nested(column) || random.one_in(2) {
            choose(random, column, !failing, table);
        }
    }
    let [first, second] = groups;
    // Without a second group, sometimes two columns order the first one.
    let sequence = if both || random.one_in(2) {
        "seq"
    } else {
        "seq,other"
    };
    for (sequence, protected) in [(sequence, first), ("other", second)] {
        if !protected.is_empty() {
            let key = format!("fields.{sequence}.sequence-group");
            table["options"][key] = Value::from(protected.join(","));
            if !failing && random.one_in(4) {
                let key = "partial-update.remove-record-on-sequence-group";
                let name = sequence.split(',').next().unwrap();
                table["options"][key] = Value::from(name);
            }
        }
    }
    if failing {
        Kinds::Fail(ALL_KINDS)
    } else {
        Kinds::Merge(ALL_KINDS)
    }
}

pub(super) fn aggregation(random: &mut Random, writer: Writer) -> Case {
    let columns = columns(random, true);
    let mut table = definition(random, &columns);
    table["options"]["merge-engine"] = Value::from("aggregation");
    orders(random, &mut table);
    looks_up(random, writer, &columns, &mut table);
    let (kinds, retracts) = match random.below(8) {
        0 => {
            table["options"]["ignore-delete"] = Value::from("true");
            (Kinds::Merge(ALL_KINDS), false)
        }
        1 | 2 => {
            table["options"]["aggregation.remove-record-on-delete"] = Value::from("true");
            (Kinds::Merge(DELETES), false)
        }
        3..=5 => (Kinds::Merge(ALL_KINDS), true),
        6 => (Kinds::Fail(ALL_KINDS), false),
        _ => (Kinds::Merge(ADDS), false),
    };
    for column in values(&columns) {
        if is_nested(column) || !random.one_in(6) {
            choose(random, column, retracts, &mut table);
        }
    }
    if random.one_in(8) {
        table["options"]["fields.default-aggregate-function"] = Value::from("last_value");
    }
    case(random, writer, &columns, table, kinds)
}

fn values(columns: &[Column]) -> impl Iterator<Item = &Column> {
    columns.iter().filter(|column| column.name.starts_with('v'))
}

fn is_nested(column: &Column) -> bool {
    column.name.starts_with("v_")
}

/// `sequence.field`, sometimes.
fn orders(random: &mut Random, table: &mut Value) {
    if random.one_in(3) {
        table["options"]["sequence.field"] = Value::from(random.pick(&["seq", "seq", "other,seq"]));
        if random.one_in(3) {
            table["options"]["sequence.field.sort-order"] = Value::from("descending");
        }
    }
}

/// Deletion vectors or compactions that look up, sometimes.
fn looks_up(random: &mut Random, writer: Writer, columns: &[Column], table: &mut Value) {
    if writer == Writer::Reference && has_bytes_key(columns) {
        return;
    }
    match random.below(6) {
        0 | 1 => {
            table["options"]["deletion-vectors.enabled"] = Value::from("true");
            if random.one_in(3) {
                table["options"]["deletion-vectors.bitmap64"] = Value::from("true");
            }
        }
        2 => table["options"]["force-lookup"] = Value::from("true"),
        _ => {}
    }
}

/// Version 1.4.2 fails to look up keys of bytes.
fn has_bytes_key(columns: &[Column]) -> bool {
    let mut keys = columns.iter().filter(|column| column.key);
    keys.any(|column| column.data_type == "BYTES NOT NULL")
}

/// A function for a column, which takes values back where it must.
fn choose(random: &mut Random, column: &Column, retracts: bool, table: &mut Value) {
    const ANY: [&str; 5] = [
        "last_value",
        "last_non_null_value",
        "first_value",
        "first_non_null_value",
        "max",
    ];
    const RETRACT: [&str; 7] = [
        "sum",
        "last_value",
        "last_non_null_value",
        "collect",
        "merge_map",
        "nested_update",
        "primary-key",
    ];
    let function = match column.data_type.as_str() {
        "BOOLEAN" => random.pick(&["bool_and", "bool_or", "last_value"]),
        "STRING" => random.pick(&[
            "listagg",
            "listagg",
            "last_value",
            "max",
            "min",
            "first_value",
        ]),
        "CHAR(3)" | "VARBINARY(5)" => random.pick(&["last_value", "first_value"]),
        "BIGINT" | "DECIMAL(24, 3)" => random.pick(&["sum", "sum", "max", "min", "product"]),
        "INT" | "TINYINT" => random.pick(&["sum", "sum", "max", "min"]),
        "DOUBLE" => random.pick(&["max", "min", "sum"]),
        "list" => random.pick(&["collect", "collect", "last_non_null_value"]),
        "map" => random.pick(&["merge_map", "merge_map", "first_value"]),
        "table" => random.pick(&["nested_update", "nested_update", "nested_partial_update"]),
        _ => random.pick(&ANY),
    };
    let mut set = |option: &str, value: &str| {
        let key = format!("fields.{}.{option}", column.name);
        table["options"][key] = Value::from(value);
    };
    set("aggregate-function", function);
    if matches!(function, "listagg" | "collect") && random.one_in(2) {
        set("distinct", "true");
    }
    if function == "listagg" && random.one_in(3) {
        set("list-agg-delimiter", random.pick(&[";", "--", ""]));
    }
    if function == "nested_partial_update" || function == "nested_update" && random.one_in(2) {
        set("nested-key", "a");
    } else if function == "nested_update" && random.one_in(2) {
        set("count-limit", "3");
    }
    if retracts && (!RETRACT.contains(&function) || random.one_in(8)) {
        set("ignore-retract", "true");
    }
}

/// Kinds of the rows.
#[derive(Clone, Copy)]
enum Kinds {
    /// The table merges them.
    Merge(&'static [&'static str]),
    /// It may not, so that they must not meet before they are read.
    Fail(&'static [&'static str]),
}

fn case(
    random: &mut Random,
    writer: Writer,
    columns: &[Column],
    mut table: Value,
    kinds: Kinds,
) -> Case {
    let options = &table["options"];
    let hidden =
        options["deletion-vectors.enabled"].is_string() || options["merge-engine"] == "first-row";
    let (kinds, keys_once) = match kinds {
        Kinds::Merge(kinds) => (kinds, false),
        Kinds::Fail(kinds) => (kinds, true),
    };
    let writes = Writes {
        kinds,
        writer,
        compacts: match (keys_once, hidden) {
            (true, _) => Compacts::Never,
            (false, true) => Compacts::Mostly,
            (false, false) => Compacts::Sometimes,
        },
        keys_once,
    };
    if keys_once {
        // What is merged while it is looked up fails then.
        let options = table["options"].as_object_mut().unwrap();
        options.remove("deletion-vectors.enabled");
    }
    let mut reads = questions(random, columns, &table["options"]);
    let removal = "partial-update.remove-record-on-sequence-group";
    if table["options"][removal].is_string() {
        // ME 2.6
        for read in &mut reads {
            read.as_object_mut().unwrap().remove("columns");
        }
    }
    let mut steps = Value::from(steps(random, columns, &writes));
    for (column, at) in columns.iter().zip(1..) {
        let key = format!("fields.{}.aggregate-function", column.name);
        if table["options"][key] == "listagg" {
            fill_blanks(&mut steps, at);
        }
    }
    table["steps"] = steps;
    Case { text: table, reads }
}

/// Texts instead of empty ones at a place of all rows (ME 4.4).
fn fill_blanks(steps: &mut Value, at: usize) {
    match steps {
        Value::Array(row) if row.first().is_some_and(Value::is_string) => {
            let blank = row.iter_mut().skip(at).take(1).filter(|cell| **cell == "");
            blank.for_each(|cell| *cell = Value::from("b"));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill_blanks(item, at)),
        Value::Object(members) => {
            for name in ["write", "files"] {
                if let Some(rows) = members.get_mut(name) {
                    fill_blanks(rows, at);
                }
            }
        }
        _ => {}
    }
}
