//! Tables without a key, of which conditions delete rows by vectors (RP-160, RP-162, RP-262).

use serde_json::{Value, json};

use super::{Case, Writer};
use crate::questions::{condition, questions};
use crate::random::Random;
use crate::table::{Column, Compacts, Writes, columns, definition, steps};

pub(super) fn append(random: &mut Random, writer: Writer) -> Case {
    let columns = columns(random, false);
    let mut table = definition(random, &columns);
    table["primary_key"] = json!([]);
    let options = &mut table["options"];
    options["bucket"] = json!("-1");
    options["deletion-vectors.enabled"] = json!("true");
    if random.one_in(3) {
        options["deletion-vectors.bitmap64"] = json!("true");
    }
    let writes = Writes {
        kinds: &["+I"],
        writer,
        // The reference compacts append tables in jobs of its engines alone.
        compacts: Compacts::Never,
        keys_once: false,
    };
    let mut done = Vec::new();
    for step in steps(random, &columns, &writes) {
        done.push(step);
        for _ in 0..random.below(3) {
            done.push(json!({ "delete": deleted(random, &columns) }));
        }
        if writer == Writer::Kit && random.one_in(6) {
            done.push(json!({"compact": "full", "options": {"write-only": "false"}}));
        }
    }
    let mut reads = questions(random, &columns, &table["options"]);
    reads.push(json!({"columns": []}));
    table["steps"] = Value::from(done);
    Case { text: table, reads }
}

/// A condition on a column whose values nobody compares in another way.
fn deleted(random: &mut Random, columns: &[Column]) -> Value {
    let plain =
        |column: &&Column| !["FLOAT", "DOUBLE", "CHAR(3)"].contains(&column.data_type.as_str());
    let plain: Vec<&Column> = columns.iter().filter(plain).collect();
    let column = random.pick(&plain);
    let number = random.below(20);
    loop {
        // What most rows satisfy would leave nothing to read.
        let condition = condition(random, column, number);
        if condition[0] != "is_not_null" && condition[0] != "!=" || random.one_in(8) {
            return condition;
        }
    }
}
