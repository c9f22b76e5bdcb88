//! What is read of a table.

use serde_json::{Value, json};

use crate::random::Random;
use crate::table::{Column, may_be_asked};
use crate::values::{NESTED_TYPES, value};

/// The whole table, then conditions, some on a few columns.
pub(crate) fn questions(random: &mut Random, columns: &[Column], options: &Value) -> Vec<Value> {
    let mut reads = vec![json!({})];
    let is_asked = |column: &&Column| {
        let data_type = column.data_type.as_str();
        !NESTED_TYPES.contains(&data_type) && may_be_asked(data_type, options)
    };
    let asked: Vec<&Column> = columns.iter().filter(is_asked).collect();
    for _ in 0..3 {
        let column = random.pick(&asked);
        let number = random.below(20);
        let condition = condition(random, column, number);
        let mut read = json!({ "filter": condition });
        if random.one_in(2) {
            let kept = columns.iter().filter(|_| random.one_in(2));
            let mut names: Vec<_> = kept.map(|column| column.name.clone()).collect();
            if !names.contains(&column.name) {
                names.push(column.name.clone());
            }
            read["columns"] = Value::from(names);
        }
        reads.push(read);
    }
    reads
}

pub(crate) fn condition(random: &mut Random, column: &Column, number: u64) -> Value {
    let literal = value(&column.data_type, number % 8);
    let name = column.name.clone();
    match random.below(7) {
        0 => json!(["is_null", name]),
        1 => json!(["is_not_null", name]),
        2 => json!(["in", name, [literal, value(&column.data_type, number)]]),
        3 => json!([
            "or",
            ["=", name, literal],
            ["<", name, value(&column.data_type, number)]
        ]),
        4 => json!([">=", name, literal]),
        5 => json!(["=", name, literal]),
        _ => json!(["!=", name, literal]),
    }
}
