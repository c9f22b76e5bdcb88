//! What the keys of a merge table are made of.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray};
use arrow_schema::DataType as ArrowType;
use paimon_meta::{BinaryRow, DataType, Datum, MAX_LENGTH, TypeKind, encode_row};

/// How the number of a key is written; the order of keys is that of their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// `k` BIGINT, the number itself.
    #[default]
    BigInt,
    /// `k` BIGINT and `k2` INT: four keys have each `k`.
    Composite,
    /// `k` STRING of 18 bytes, of which the first nine are the same in all.
    Text,
}

impl Key {
    /// Names of the key columns with their types, in the table and in data files.
    pub fn columns(self) -> Vec<(&'static str, DataType, ArrowType)> {
        let number = ("k", TypeKind::BigInt.not_null(), ArrowType::Int64);
        match self {
            Self::BigInt => vec![number],
            Self::Composite => vec![number, ("k2", TypeKind::Int.not_null(), ArrowType::Int32)],
            Self::Text => vec![(
                "k",
                TypeKind::VarChar(MAX_LENGTH).not_null(),
                ArrowType::Utf8,
            )],
        }
    }

    /// The columns of these keys.
    pub(crate) fn arrays(self, keys: &[i64]) -> Vec<ArrayRef> {
        let numbers = keys.iter().copied();
        match self {
            Self::BigInt => vec![Arc::new(Int64Array::from_iter_values(numbers))],
            Self::Composite => vec![
                Arc::new(Int64Array::from_iter_values(numbers.clone().map(high))),
                Arc::new(Int32Array::from_iter_values(numbers.map(low))),
            ],
            Self::Text => vec![Arc::new(StringArray::from_iter_values(numbers.map(text)))],
        }
    }

    /// One key as metadata has it.
    pub(crate) fn row(self, key: i64) -> BinaryRow {
        let values = match self {
            Self::BigInt => vec![Some(Datum::BigInt(key))],
            Self::Composite => vec![Some(Datum::BigInt(high(key))), Some(Datum::Int(low(key)))],
            Self::Text => vec![Some(Datum::String(text(key)))],
        };
        let columns = self.columns();
        let types: Vec<_> = columns.iter().map(|(_, data_type, _)| data_type).collect();
        encode_row(&types, &values).unwrap_or_default()
    }
}

fn high(key: i64) -> i64 {
    key / 4
}

fn low(key: i64) -> i32 {
    i32::try_from(key % 4).unwrap_or_default()
}

fn text(key: i64) -> String {
    format!("customer-{key:09}")
}
