//! Rows made by a rule, for tables larger than one wants to spell out.

use paimon_meta::RowKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::step::{HistoryRow, kind_text};

/// A row for each number of a range: `{"from": 1, "to": 100, "step": 1, "kind": "+I", "values": [..]}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangeRows {
    /// First number.
    pub from: i64,
    /// Last number, inclusive.
    pub to: i64,
    /// Distance of two numbers; at least 1.
    #[serde(default = "one")]
    pub step: i64,
    /// Kind of all rows.
    #[serde(default = "insert", with = "kind_text")]
    pub kind: RowKind,
    /// One rule for each column.
    pub values: Vec<RangeValue>,
}

/// How a value is made of the number of its row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum RangeValue {
    /// `{"n": [factor, summand, modulus]}`: `number * factor + summand`, then its floor modulus if there is one.
    Number {
        /// Factor, summand and perhaps modulus.
        n: Vec<i64>,
        /// Null where the number is a multiple of this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        null_every: Option<i64>,
    },
    /// `{"s": "prefix"}`: the prefix and the number, or its remainder (`mod`), or with zeros in front (`pad` digits).
    Text {
        /// Text before the number.
        s: String,
        /// Modulus of the number.
        #[serde(default, rename = "mod", skip_serializing_if = "Option::is_none")]
        modulus: Option<i64>,
        /// Digits at least; the modulus is not used then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pad: Option<usize>,
        /// Null where the number is a multiple of this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        null_every: Option<i64>,
    },
    /// `{"hash": words}`: text of this many hexadecimal words and one, which no codec makes short.
    Hash {
        /// Number of words, less one.
        hash: usize,
        /// Null where the number is a multiple of this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        null_every: Option<i64>,
    },
    /// `{"c": value}`.
    Constant {
        /// The value.
        c: Value,
        /// Null where the number is a multiple of this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        null_every: Option<i64>,
    },
    /// A value that is no object stands for itself.
    Plain(Value),
}

fn one() -> i64 {
    1
}

fn insert() -> RowKind {
    RowKind::Insert
}

impl RangeRows {
    /// The rows, in order.
    pub fn rows(&self) -> Vec<HistoryRow> {
        let mut rows = Vec::new();
        let mut number = self.from;
        while number <= self.to {
            rows.push(HistoryRow {
                kind: self.kind,
                values: self.values.iter().map(|value| value.at(number)).collect(),
            });
            match number.checked_add(self.step.max(1)) {
                Some(next) => number = next,
                None => break,
            }
        }
        rows
    }
}

impl RangeValue {
    fn at(&self, number: i64) -> Value {
        let (Self::Number { null_every, .. }
        | Self::Text { null_every, .. }
        | Self::Hash { null_every, .. }
        | Self::Constant { null_every, .. }) = self
        else {
            return match self {
                Self::Plain(value) => value.clone(),
                _ => Value::Null,
            };
        };
        if null_every.is_some_and(|every| number.checked_rem(every) == Some(0)) {
            return Value::Null;
        }
        match self {
            Self::Number { n, .. } => {
                let at = |index: usize, or: i64| n.get(index).copied().unwrap_or(or);
                let value = number.wrapping_mul(at(0, 1)).wrapping_add(at(1, 0));
                let modulus = n.get(2).copied();
                let remainder = modulus.and_then(|modulus| value.checked_rem_euclid(modulus));
                Value::from(remainder.unwrap_or(value))
            }
            Self::Text {
                s, pad: Some(pad), ..
            } => Value::from(format!("{s}{number:0pad$}")),
            Self::Text { s, modulus, .. } => {
                let shown = modulus.and_then(|modulus| number.checked_rem(modulus));
                Value::from(format!("{s}{}", shown.unwrap_or(number)))
            }
            Self::Hash { hash, .. } => Value::from(hash_text(number, *hash)),
            Self::Constant { c, .. } => c.clone(),
            Self::Plain(value) => value.clone(),
        }
    }
}

/// Hexadecimal words that depend on a number, the same in every implementation of the format.
fn hash_text(number: i64, words: usize) -> String {
    let mut hash = number.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash ^= hash >> 32;
    let mut text = format!("{hash:x}");
    for _ in 0..words {
        hash = hash
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!("{hash:x}"));
    }
    text
}
