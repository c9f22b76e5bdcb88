//! Random evolutions of schemas, in all formats of data files and manifests, by either writer (table-format sections 7.5, 8.2
//! to 8.4).

mod changes;
mod fields;
mod scalars;

use serde_json::{Value, json};

use self::fields::{Field, Kind};
use self::scalars::{Scalar, scalar};
use super::{Case, Writer};
use crate::random::Random;
use crate::table::formats;

pub(super) fn evolution(random: &mut Random, writer: Writer) -> Case {
    Evolution::of(random, writer).case()
}

/// A history as it is made up.
struct Evolution {
    columns: Vec<Field>,
    keyed: bool,
    steps: Vec<Value>,
    options: Value,
    reads: Vec<Value>,
    writer: Writer,
    /// Some column has another type than before; the kit does not compact over that.
    retyped: bool,
}

impl Evolution {
    fn of(random: &mut Random, writer: Writer) -> Self {
        let keyed = random.one_in(2);
        let key = Field {
            name: "k".to_owned(),
            kind: Kind::Scalar(Scalar::new("INT")),
            key: true,
        };
        let mut columns = vec![key];
        for _ in 0..2 + random.below(3) {
            let column = Field::random(random, &columns, 0);
            columns.push(column);
        }
        let turn = usize::try_from(random.below(columns.len() as u64)).unwrap();
        columns.rotate_left(turn);
        let mut evolution = Self {
            columns: columns.clone(),
            keyed,
            steps: Vec::new(),
            options: options(random, keyed, writer),
            reads: Vec::new(),
            writer,
            retyped: false,
        };
        let definition = columns.clone();
        for round in 0..2 + random.below(3) {
            if round > 0 {
                let count = 1 + random.below(3);
                for _ in 0..count {
                    evolution.alter(random);
                }
            }
            evolution.write(random);
        }
        evolution.reads(random);
        evolution.columns = definition;
        evolution
    }

    fn case(self) -> Case {
        let columns: Vec<Value> = self
            .columns
            .iter()
            .map(|column| match column.key {
                true => json!([column.name, "INT NOT NULL"]),
                false => json!([column.name, column.kind.sql()]),
            })
            .collect();
        let key = if self.keyed { vec!["k"] } else { vec![] };
        Case {
            text: json!({
                "columns": columns, "primary_key": key, "options": self.options, "steps": self.steps,
            }),
            reads: self.reads,
        }
    }

    fn write(&mut self, random: &mut Random) {
        let count = 2 + random.below(6);
        let rows: Vec<Value> = (0..count)
            .map(|_| {
                let deletes = self.keyed && random.one_in(8);
                let mut cells = vec![Value::from(if deletes { "-D" } else { "+I" })];
                for column in &self.columns {
                    cells.push(match column.key {
                        true => Value::from(random.below(12)),
                        false => column.kind.value(random),
                    });
                }
                Value::from(cells)
            })
            .collect();
        self.steps.push(json!({"write": rows}));
        let compacts = self.writer == Writer::Reference || !self.retyped;
        if self.keyed && compacts && random.one_in(4) {
            let compact = json!({"compact": "full", "options": {"write-only": "false"}});
            self.steps.push(compact);
        }
    }

    fn reads(&mut self, random: &mut Random) {
        self.reads.push(json!({}));
        for _ in 0..2 {
            let names: Vec<&str> = self
                .columns
                .iter()
                .filter(|_| random.one_in(2))
                .map(|column| column.name.as_str())
                .collect();
            if !names.is_empty() {
                self.reads.push(json!({"columns": names}));
            }
        }
        for _ in 0..3 {
            let at = self.at(random);
            let column = &self.columns[at];
            let Kind::Scalar(Scalar { name, .. }) = &column.kind else {
                continue;
            };
            // The reference loses rows by what ORC says of floats and padded text (table-format section 8.2).
            if ["FLOAT", "DOUBLE", "BINARY", "VARBINARY"]
                .iter()
                .any(|without| name.starts_with(without))
                || name.starts_with("CHAR")
            {
                continue;
            }
            let literal = scalar(name, random);
            let condition = random.pick(&["=", ">", "<=", "!="]);
            self.reads
                .push(json!({"filter": [condition, column.name, literal]}));
        }
        let first = self
            .steps
            .iter()
            .position(|step| step.get("alter").is_some());
        if first.is_some() {
            let options = json!({"scan.snapshot-id": "1"});
            self.reads.push(json!({ "options": options }));
        }
    }
}

fn options(random: &mut Random, keyed: bool, writer: Writer) -> Value {
    let mut options = json!({"bucket": if keyed { "1" } else { "-1" }});
    if keyed {
        options["write-only"] = json!("true");
    }
    let all = ["parquet", "orc", "avro"];
    if keyed {
        formats(random, &all, &mut options);
    } else {
        options["file.format"] = json!(random.pick(&all));
    }
    // The kit has manifests of Avro.
    if random.one_in(3) && writer == Writer::Reference {
        options["manifest.format"] = json!(random.pick(&["orc", "parquet"]));
    }
    if keyed && random.one_in(5) {
        options["deletion-vectors.enabled"] = json!("true");
    }
    if random.one_in(3) {
        options["metadata.stats-mode"] = json!("full");
    }
    options
}
