//! Random evolutions of schemas, in all formats of data files and manifests: the reference alters, writes and reads, and we read what it reads
//! (table-format sections 7.5, 8.2 to 8.4).

use serde_json::{Value, json};

use super::{Case, Writer};
use crate::random::Random;

pub(super) fn evolution(random: &mut Random, _: Writer) -> Case {
    Evolution::of(random).case()
}

/// Names of columns and fields; few, so that a dropped name comes back.
const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// Types that columns begin with, each with those that it may become (table-format section 8.3). Texts are numbers, so
/// that they can become some.
const SCALARS: [(&str, &[&str]); 15] = [
    (
        "TINYINT",
        &[
            "INT",
            "BIGINT",
            "DOUBLE",
            "DECIMAL(10, 2)",
            "STRING",
            "BOOLEAN",
        ],
    ),
    (
        "SMALLINT",
        &[
            "TINYINT",
            "INT",
            "FLOAT",
            "DECIMAL(3, 1)",
            "VARCHAR(2)",
            "BOOLEAN",
        ],
    ),
    (
        "INT",
        &[
            "TINYINT",
            "SMALLINT",
            "BIGINT",
            "FLOAT",
            "DOUBLE",
            "DECIMAL(5, 0)",
            "STRING",
            "CHAR(4)",
            "BOOLEAN",
            "TIMESTAMP(3)",
        ],
    ),
    (
        "BIGINT",
        &[
            "INT",
            "SMALLINT",
            "DOUBLE",
            "DECIMAL(38, 18)",
            "STRING",
            "VARCHAR(3)",
            "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        ],
    ),
    ("FLOAT", &["DOUBLE", "INT", "TINYINT", "STRING"]),
    ("DOUBLE", &["FLOAT", "BIGINT", "SMALLINT", "STRING"]),
    (
        "DECIMAL(10, 2)",
        &[
            "DECIMAL(12, 4)",
            "DECIMAL(38, 0)",
            "DECIMAL(6, 1)",
            "INT",
            "TINYINT",
            "DOUBLE",
            "FLOAT",
            "STRING",
        ],
    ),
    (
        "DECIMAL(30, 5)",
        &[
            "DECIMAL(38, 10)",
            "DECIMAL(10, 2)",
            "BIGINT",
            "DOUBLE",
            "STRING",
        ],
    ),
    (
        "BOOLEAN",
        &["INT", "TINYINT", "DOUBLE", "DECIMAL(5, 2)", "STRING"],
    ),
    (
        "STRING",
        &[
            "INT",
            "BIGINT",
            "DOUBLE",
            "FLOAT",
            "DECIMAL(10, 2)",
            "VARCHAR(2)",
            "CHAR(5)",
            "VARBINARY(3)",
            "BINARY(4)",
        ],
    ),
    (
        "DATE",
        &[
            "STRING",
            "TIMESTAMP(0)",
            "TIMESTAMP(6)",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        ],
    ),
    ("TIME(3)", &["STRING", "TIMESTAMP(3)"]),
    (
        "TIMESTAMP(3)",
        &[
            "DATE",
            "TIME(3)",
            "STRING",
            "TIMESTAMP(6)",
            "TIMESTAMP(0)",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
            "BIGINT",
        ],
    ),
    (
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        &[
            "DATE",
            "STRING",
            "TIMESTAMP(6)",
            "BIGINT",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        ],
    ),
    ("VARBINARY(6)", &["BINARY(3)", "VARBINARY(2)", "STRING"]),
];

/// A scalar type, and those that it was before: old files are cast from each of them.
#[derive(Clone)]
struct Scalar {
    name: &'static str,
    before: Vec<&'static str>,
}

impl Scalar {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            before: Vec::new(),
        }
    }

    /// Becomes another type, if there is one that all files can be cast to.
    fn change(&mut self, random: &mut Random) -> bool {
        self.before.push(self.name);
        let targets = |name: &str| SCALARS.iter().find(|(known, _)| *known == name);
        let casts = |to: &&'static str| {
            self.before.iter().all(|from| {
                from == to || targets(from).is_some_and(|(_, targets)| targets.contains(to))
            })
        };
        let current = targets(self.name).map_or(&[][..], |(_, targets)| targets);
        let possible: Vec<&'static str> = current.iter().copied().filter(casts).collect();
        if possible.is_empty() {
            return false;
        }
        self.name = random.pick(&possible);
        true
    }
}

#[derive(Clone)]
enum Kind {
    /// By its SQL name.
    Scalar(Scalar),
    Row(Vec<Field>),
    Array(Box<Kind>),
    /// From text.
    Map(Box<Kind>),
}

#[derive(Clone)]
struct Field {
    name: String,
    kind: Kind,
    key: bool,
}

impl Kind {
    fn random(random: &mut Random, depth: u64) -> Self {
        match random.below(if depth < 2 { 8 } else { 4 }) {
            4 | 5 => {
                let count = 1 + random.below(3);
                let mut fields = Vec::new();
                for _ in 0..count {
                    let field = Field::random(random, &fields, depth + 1);
                    fields.push(field);
                }
                Self::Row(fields)
            }
            6 => Self::Array(Box::new(Self::random(random, depth + 1))),
            7 => Self::Map(Box::new(Self::random(random, depth + 1))),
            _ => Self::Scalar(Scalar::new(random.pick(&SCALARS).0)),
        }
    }

    fn sql(&self) -> Value {
        match self {
            Self::Scalar(scalar) => json!(scalar.name),
            Self::Row(fields) => {
                let fields = fields
                    .iter()
                    .map(|field| json!({"name": field.name, "type": field.kind.sql()}));
                json!({"type": "ROW", "fields": fields.collect::<Vec<_>>()})
            }
            Self::Array(element) => json!({"type": "ARRAY", "element": element.sql()}),
            Self::Map(value) => {
                json!({"type": "MAP", "key": "STRING NOT NULL", "value": value.sql()})
            }
        }
    }

    fn value(&self, random: &mut Random) -> Value {
        if random.one_in(5) {
            return Value::Null;
        }
        match self {
            Self::Scalar(of) => scalar(of.name, random),
            Self::Row(fields) => fields
                .iter()
                .map(|field| field.kind.value(random))
                .collect(),
            Self::Array(element) => {
                let count = random.below(3);
                (0..count).map(|_| element.value(random)).collect()
            }
            Self::Map(value) => {
                let count = random.below(3);
                (0..count)
                    .map(|at| json!([format!("k{at}"), value.value(random)]))
                    .collect()
            }
        }
    }
}

/// A value that casts to other types without an error.
fn scalar(name: &str, random: &mut Random) -> Value {
    let number = random.below(9);
    let at = |values: &[&str]| Value::from(values[usize::try_from(number).unwrap() % values.len()]);
    let integer =
        |values: &[i64]| Value::from(values[usize::try_from(number).unwrap() % values.len()]);
    match name.split('(').next().unwrap_or_default() {
        "TINYINT" => integer(&[0, 1, -1, 9, 10, 127, -128]),
        "SMALLINT" => integer(&[0, 9, 10, 128, -129, 32_767]),
        "INT" => integer(&[0, -7, 9, 10, 11, 300, 40_000, 2_147_483_647]),
        "BIGINT" => integer(&[0, 9, -10, 11, 70_000, 3_000_000_000, -5_000_000_000]),
        "FLOAT" => at(&["0.5", "-0.0", "-2.75", "300.25", "40000", "1.0E10", "NaN"]),
        "DOUBLE" => at(&[
            "0.1", "-0.0", "9.99", "-300.5", "1.0E10", "1.0E20", "NaN", "Infinity",
        ]),
        "DECIMAL" if name == "DECIMAL(3, 1)" => at(&["0.5", "-9.9", "12.3"]),
        "DECIMAL" if name.ends_with("0)") => at(&["5", "-9", "77"]),
        "DECIMAL" => at(&["0.05", "9.95", "-10.50", "127.50", "300.00", "-0.50"]),
        "BOOLEAN" => Value::from(number.is_multiple_of(2)),
        "STRING" | "VARCHAR" => at(&["9", "10", "-7", "11", "0"]),
        "CHAR" => at(&["9", "10", "12"]),
        "DATE" => at(&["1970-01-01", "1999-12-31", "2024-02-29", "1969-12-31"]),
        "TIME" => at(&["00:00:00", "12:34:56.789", "23:59:59.1"]),
        "TIMESTAMP" if name.ends_with("ZONE") => at(&[
            "1970-01-01T00:00:00Z",
            "2024-02-29T12:34:56.789Z",
            "2001-01-01T00:00:01.5Z",
        ]),
        "TIMESTAMP" if name.starts_with("TIMESTAMP(0") => {
            at(&["1970-01-01T00:00:00", "2024-02-29T12:34:56"])
        }
        "TIMESTAMP" => at(&[
            "1970-01-01T00:00:00",
            "2024-02-29T12:34:56.789",
            "2001-01-01T00:00:01.5",
        ]),
        _ => at(&["31", "3132", "", "333435"]),
    }
}

impl Field {
    /// One whose name none of the others has.
    fn random(random: &mut Random, others: &[Self], depth: u64) -> Self {
        let free: Vec<&str> = NAMES
            .into_iter()
            .filter(|name| others.iter().all(|other| other.name != *name))
            .collect();
        Self {
            name: random.pick(&free).to_owned(),
            kind: Kind::random(random, depth),
            key: false,
        }
    }
}

/// A history as it is made up.
struct Evolution {
    columns: Vec<Field>,
    keyed: bool,
    steps: Vec<Value>,
    options: Value,
    reads: Vec<Value>,
}

impl Evolution {
    fn of(random: &mut Random) -> Self {
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
            options: options(random, keyed),
            reads: Vec::new(),
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
        if self.keyed && random.one_in(4) {
            let compact = json!({"compact": "full", "options": {"write-only": "false"}});
            self.steps.push(compact);
        }
    }

    /// Some change of the schema.
    fn alter(&mut self, random: &mut Random) {
        let changes = match random.below(9) {
            0 | 1 => self.add(random),
            2 => self.drop(random),
            3 => self.rename(random),
            4 => self.swap(random),
            5 => self.reorder(random),
            _ => self.retype(random),
        };
        for change in changes {
            self.steps.push(json!({"alter": [change]}));
        }
    }

    fn at(&self, random: &mut Random) -> usize {
        usize::try_from(random.below(self.columns.len() as u64)).unwrap()
    }

    fn add(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        if let Some((path, fields)) = row_in(&mut self.columns[at]) {
            let field = Field::random(random, fields, 1);
            let change = json!(["add", format!("{path}.{}", field.name), field.kind.sql()]);
            fields.push(field);
            return vec![change];
        }
        let field = Field::random(random, &self.columns, 0);
        let change = json!(["add", field.name, field.kind.sql(), "first"]);
        self.columns.insert(0, field);
        vec![change]
    }

    fn drop(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        if let Some((path, fields)) = row_in(&mut self.columns[at])
            && fields.len() > 1
        {
            let field = fields.remove(0);
            return vec![json!(["drop", format!("{path}.{}", field.name)])];
        }
        if self.columns[at].key || self.columns.len() < 3 {
            return vec![];
        }
        let column = self.columns.remove(at);
        vec![json!(["drop", column.name])]
    }

    fn rename(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        if let Some((path, fields)) = row_in(&mut self.columns[at]) {
            let name = Field::random(random, fields, 2).name;
            let change = json!(["rename", format!("{path}.{}", fields[0].name), name]);
            fields[0].name = name;
            return vec![change];
        }
        let name = Field::random(random, &self.columns, 2).name;
        let change = json!(["rename", self.columns[at].name, name]);
        self.columns[at].name = name;
        vec![change]
    }

    /// Two columns take each other's names.
    fn swap(&mut self, random: &mut Random) -> Vec<Value> {
        let (one, other) = (self.at(random), self.at(random));
        if one == other {
            return vec![];
        }
        let (a, b) = (
            self.columns[one].name.clone(),
            self.columns[other].name.clone(),
        );
        let changes = vec![
            json!(["rename", a, "swapped"]),
            json!(["rename", b, a]),
            json!(["rename", "swapped", b]),
        ];
        self.columns[one].name = b;
        self.columns[other].name = a;
        changes
    }

    /// A move to where the column is already is refused.
    fn reorder(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        let last = self.columns.len() - 1;
        let change = match random.one_in(2) {
            true if at > 0 => {
                let column = self.columns.remove(at);
                self.columns.insert(0, column);
                json!(["move_first", self.columns[0].name])
            }
            false if at < last => {
                let column = self.columns.remove(at);
                self.columns.push(column);
                let names = [last, last - 1].map(|at| self.columns[at].name.as_str());
                json!(["move_after", names[0], names[1]])
            }
            _ => return vec![],
        };
        vec![change]
    }

    fn retype(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        let column = &mut self.columns[at];
        if column.key {
            return vec![];
        }
        let path = column.name.clone();
        match scalar_in(path, &mut column.kind, random) {
            Some((path, scalar)) => match scalar.change(random) {
                true => vec![json!(["type", path, scalar.name])],
                false => vec![],
            },
            None => vec![],
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

fn options(random: &mut Random, keyed: bool) -> Value {
    let mut options = json!({"bucket": if keyed { "1" } else { "-1" }});
    if keyed {
        options["write-only"] = json!("true");
    }
    let formats = ["parquet", "orc", "avro"];
    options["file.format"] = json!(random.pick(&formats));
    if keyed && random.one_in(3) {
        let (low, high) = (random.pick(&formats), random.pick(&formats));
        options["file.format.per.level"] = json!(format!("0:{low},5:{high}"));
    }
    if random.one_in(3) {
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

/// The outermost row of a column and the path to it.
fn row_in(column: &mut Field) -> Option<(String, &mut Vec<Field>)> {
    let mut path = column.name.clone();
    let mut kind = &mut column.kind;
    loop {
        match kind {
            Kind::Row(fields) => return Some((path, fields)),
            Kind::Array(element) => {
                path += ".element";
                kind = element;
            }
            Kind::Map(value) => {
                path += ".value";
                kind = value;
            }
            Kind::Scalar(_) => return None,
        }
    }
}

/// Some scalar inside a type and the path to it.
fn scalar_in<'a>(
    path: String,
    kind: &'a mut Kind,
    random: &mut Random,
) -> Option<(String, &'a mut Scalar)> {
    match kind {
        Kind::Scalar(scalar) => Some((path, scalar)),
        Kind::Row(fields) => {
            let at = usize::try_from(random.below(fields.len() as u64)).unwrap();
            let field = fields.get_mut(at)?;
            scalar_in(format!("{path}.{}", field.name), &mut field.kind, random)
        }
        Kind::Array(element) => scalar_in(format!("{path}.element"), element, random),
        Kind::Map(value) => scalar_in(format!("{path}.value"), value, random),
    }
}
