//! Queries of seeds, for whatever schema a history ends with.

use paimon_meta::DataField;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::values::value_of;
use crate::query::Query;

/// What a query is made of; [`QuerySeed::of`] fits it to columns.
#[derive(Clone, Debug)]
pub struct QuerySeed {
    columns: Option<Vec<u8>>,
    filter: Option<FilterSeed>,
    limit: Option<u8>,
}

#[derive(Clone, Debug)]
enum FilterSeed {
    Compare(u8, u8, u8),
    In(u8, Vec<u8>, bool),
    Between(u8, u8, u8),
    Null(u8, bool),
    All(Vec<FilterSeed>),
    Any(Vec<FilterSeed>),
}

/// Queries with columns in any order, conditions up to three deep, limits of a few rows.
pub fn query_seeds() -> impl Strategy<Value = QuerySeed> {
    let columns = option::weighted(0.6, vec(any::<u8>(), 0..=4));
    let filter = option::weighted(0.7, filters());
    let limit = option::weighted(0.3, 0..30_u8);
    (columns, filter, limit).prop_map(|(columns, filter, limit)| QuerySeed {
        columns,
        filter,
        limit,
    })
}

fn filters() -> impl Strategy<Value = FilterSeed> {
    let number = || 0..40_u8;
    let leaf = prop_oneof![
        4 => (any::<u8>(), any::<u8>(), number()).prop_map(|(a, b, c)| FilterSeed::Compare(a, b, c)),
        1 => (any::<u8>(), vec(number(), 1..=4), any::<bool>()).prop_map(|(a, b, c)| FilterSeed::In(a, b, c)),
        2 => (any::<u8>(), number(), number()).prop_map(|(a, b, c)| FilterSeed::Between(a, b, c)),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(a, b)| FilterSeed::Null(a, b)),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..=3).prop_map(FilterSeed::All),
            vec(inner, 1..=3).prop_map(FilterSeed::Any),
        ]
    })
}

impl QuerySeed {
    /// The query for a schema's columns. Conditions are about columns of single values only.
    pub fn of(&self, fields: &[DataField]) -> Query {
        let columns = self.columns.as_ref().map(|columns| {
            let mut names: Vec<String> = Vec::new();
            for seed in columns {
                let field = fields.get(usize::from(*seed) % fields.len().max(1));
                let name = field.map(|field| field.name.clone());
                names.extend(name.filter(|name| !names.contains(name)));
            }
            names
        });
        let scalars: Vec<&DataField> = fields
            .iter()
            .filter(|field| field.data_type.kind.is_scalar())
            .collect();
        let filter = self.filter.as_ref().filter(|_| !scalars.is_empty());
        Query {
            columns,
            filter: filter.map(|filter| filter.json(&scalars)),
            limit: self.limit.map(u64::from),
        }
    }
}

impl FilterSeed {
    fn json(&self, fields: &[&DataField]) -> Value {
        let column = |seed: u8| fields.get(usize::from(seed) % fields.len().max(1));
        let name = |seed: u8| column(seed).map(|field| field.name.clone());
        let literal = |seed: u8, number: u8| {
            column(seed).map_or(Value::Null, |field| value_of(&field.data_type, number))
        };
        match self {
            Self::Compare(seed, operator, number) => {
                let operator = ["=", "!=", "<", "<=", ">", ">="]
                    .get(usize::from(*operator) % 6)
                    .unwrap_or(&"=");
                json!([operator, name(*seed), literal(*seed, *number)])
            }
            Self::In(seed, numbers, negated) => {
                let literals: Vec<Value> = numbers
                    .iter()
                    .map(|number| literal(*seed, *number))
                    .collect();
                json!([
                    if *negated { "not_in" } else { "in" },
                    name(*seed),
                    literals
                ])
            }
            Self::Between(seed, a, b) => {
                let (from, to) = (a.min(b), a.max(b));
                json!([
                    "between",
                    name(*seed),
                    literal(*seed, *from),
                    literal(*seed, *to)
                ])
            }
            Self::Null(seed, negated) => {
                json!([
                    if *negated { "is_not_null" } else { "is_null" },
                    name(*seed)
                ])
            }
            Self::All(parts) | Self::Any(parts) => {
                let operator = if matches!(self, Self::All(_)) {
                    "and"
                } else {
                    "or"
                };
                let parts = parts.iter().map(|part| part.json(fields));
                Value::from_iter(std::iter::once(json!(operator)).chain(parts))
            }
        }
    }
}
