//! Columns and the fields inside of them.

use serde_json::{Value, json};

use super::scalars::{SCALARS, Scalar, scalar};
use crate::random::Random;

/// Names of columns and fields; few, so that a dropped name comes back.
const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

#[derive(Clone)]
pub(super) enum Kind {
    /// By its SQL name.
    Scalar(Scalar),
    Row(Vec<Field>),
    Array(Box<Kind>),
    /// From text.
    Map(Box<Kind>),
}

#[derive(Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) key: bool,
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

    pub(super) fn sql(&self) -> Value {
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

    pub(super) fn value(&self, random: &mut Random) -> Value {
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

impl Field {
    /// One whose name none of the others has.
    pub(super) fn random(random: &mut Random, others: &[Self], depth: u64) -> Self {
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

/// The outermost row of a column and the path to it.
pub(super) fn row_in(column: &mut Field) -> Option<(String, &mut Vec<Field>)> {
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
pub(super) fn scalar_in<'a>(
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
