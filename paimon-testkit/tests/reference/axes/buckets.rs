//! Tables whose buckets are not one fixed number: rescaled ones, whose partitions differ; dynamic ones, where the writer says
//! which; those that a key moves through partitions of; and postponed rows, which nobody sees (RP-061, 062, 170 to 172, TF-053).

use serde_json::{Value, json};

use super::{Case, Writer};
use crate::random::Random;
use crate::table::{formats, may_be_asked};
use crate::values::{KEY_TYPES, VALUE_TYPES, any, value};

const KINDS: [&str; 5] = ["+I", "+I", "+U", "+I", "-D"];

/// Keys, by number.
const KEYS: u64 = 16;

pub(super) fn buckets(random: &mut Random, writer: Writer) -> Case {
    let kinds = match writer {
        Writer::Kit => 3,
        Writer::Reference => 4,
    };
    let mut table = Table::of(random);
    match random.below(kinds) {
        0 => table.rescaled(random),
        1 => table.dynamic(random),
        2 => table.crossing(random),
        _ => table.postponed(random),
    }
    table.case(random)
}

/// A table `p`, `k` and values, while it is made up.
struct Table {
    key: &'static str,
    values: Vec<&'static str>,
    /// Whether the partition is part of the key.
    partition_in_key: bool,
    options: Value,
    steps: Vec<Value>,
}

impl Table {
    fn of(random: &mut Random) -> Self {
        let count = 1 + random.below(3);
        let values = (0..count).map(|_| random.pick(&VALUE_TYPES));
        let values: Vec<&str> = values.collect();
        let mut options = json!({"write-only": "true"});
        formats(random, &["parquet", "avro", "orc"], &mut options);
        Self {
            key: random.pick(&KEY_TYPES),
            values,
            partition_in_key: true,
            options,
            steps: Vec::new(),
        }
    }

    fn row(&self, random: &mut Random, kind: &str, partition: u64, key: u64) -> Vec<Value> {
        let mut cells = vec![json!(kind), json!(partition), value(self.key, key)];
        cells.extend(self.values.iter().map(|data_type| any(random, data_type)));
        cells
    }

    fn rows(&self, random: &mut Random, partition: u64) -> Vec<Value> {
        let count = 1 + random.below(10);
        let mut row = |_| {
            let (kind, key) = (random.pick(&KINDS), random.below(KEYS));
            Value::from(self.row(random, kind, partition, key))
        };
        (0..count).map(&mut row).collect()
    }

    /// Each partition has as many buckets as were set when it was written first, or overwritten.
    fn rescaled(&mut self, random: &mut Random) {
        let counts = ["1", "2", "3", "4"];
        let mut buckets = usize::try_from(random.below(4)).unwrap();
        self.options["bucket"] = json!(counts[buckets]);
        let rounds = 2 + random.below(3);
        for round in 0..rounds {
            if round > 0 {
                buckets = (buckets + 1 + usize::try_from(random.below(3)).unwrap()) % 4;
                self.steps
                    .push(json!({"alter": [["set", "bucket", counts[buckets]]]}));
            }
            let overwritten = round > 0 && random.one_in(2);
            let partition = if overwritten {
                random.below(round)
            } else {
                round
            };
            let mut step = json!({"write": self.rows(random, partition)});
            if overwritten {
                step["overwrite"] = json!({"p": partition.to_string()});
            }
            self.steps.push(step);
            for _ in 0..random.below(3) {
                let rows = self.rows(random, partition);
                self.steps.push(json!({ "write": rows }));
            }
        }
    }

    /// A key stays in its bucket.
    fn dynamic(&mut self, random: &mut Random) {
        self.options["bucket"] = json!("-1");
        for _ in 0..1 + random.below(5) {
            let partition = random.below(2);
            let mut rows = Vec::new();
            for _ in 0..1 + random.below(10) {
                let (kind, key) = (random.pick(&KINDS), random.below(KEYS));
                let mut row = self.row(random, kind, partition, key);
                row.push(json!(key % 3));
                rows.push(Value::from(row));
            }
            self.steps.push(json!({ "write": rows }));
            if random.one_in(4) {
                let compact = json!({"compact": "full", "options": {"write-only": "false"}});
                self.steps.push(compact);
            }
        }
    }

    /// Keys move from one partition to another, and leave a delete behind.
    fn crossing(&mut self, random: &mut Random) {
        self.options["bucket"] = json!("-1");
        self.partition_in_key = false;
        let mut places = vec![None; usize::try_from(KEYS).unwrap()];
        for _ in 0..2 + random.below(4) {
            let mut rows = Vec::new();
            for key in 0..KEYS {
                if !random.one_in(3) {
                    continue;
                }
                let to = random.below(3);
                let place = &mut places[usize::try_from(key).unwrap()];
                let mut moved = Vec::new();
                if let Some(from) = place.filter(|from| *from != to) {
                    moved.push(self.row(random, "-D", from, key));
                }
                moved.push(self.row(random, "+I", to, key));
                *place = Some(to);
                for mut row in moved {
                    row.push(json!(key % 2));
                    rows.push(Value::from(row));
                }
            }
            self.steps.push(json!({ "write": rows }));
        }
    }

    /// Some rows are in real buckets, and others wait.
    fn postponed(&mut self, random: &mut Random) {
        self.options["bucket"] = json!("-2");
        for _ in 0..1 + random.below(4) {
            let partition = random.below(2);
            let rows = self.rows(random, partition);
            self.steps.push(if random.one_in(2) {
                json!({"write": rows, "bucket": -2})
            } else {
                json!({"write": rows, "options": {"bucket": "2", "write-only": "false"}})
            });
        }
    }

    fn case(self, random: &mut Random) -> Case {
        let mut columns = vec![
            json!(["p", "INT NOT NULL"]),
            json!(["k", format!("{} NOT NULL", self.key)]),
        ];
        let values = self.values.iter().zip(0..);
        columns.extend(values.map(|(data_type, at)| json!([format!("v{at}"), data_type])));
        let mut key = vec!["k"];
        if self.partition_in_key {
            key.insert(0, "p");
        }
        let literal = |random: &mut Random| value(self.key, random.below(KEYS));
        let (one, two) = (literal(random), literal(random));
        let mut reads = vec![
            json!({}),
            json!({"filter": ["=", "k", one]}),
            json!({"filter": ["in", "k", [one, two]]}),
            json!({"filter": ["and", ["=", "p", random.below(3)], ["=", "k", two]]}),
            json!({"filter": ["=", "p", 1], "columns": ["k", "v0"]}),
        ];
        if may_be_asked(self.values[0], &self.options) {
            let literal = value(self.values[0], random.below(8));
            reads.push(json!({"filter": ["=", "v0", literal]}));
        }
        Case {
            text: json!({
                "columns": columns, "primary_key": key, "partition_by": ["p"], "options": self.options,
                "steps": self.steps,
            }),
            reads,
        }
    }
}
