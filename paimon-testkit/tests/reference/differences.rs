//! Where 1.4.2, which is asked here, and 2.1 or this reader differ. The list is closed: what differs beside it is a fault.
//! A history that touches one of them is thrown away and another one is drawn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::axes::Case;

/// A difference, by its number in `docs/differences.md`.
pub(crate) struct Difference {
    pub(crate) number: &'static str,
    pub(crate) what: &'static str,
    touches: fn(&Case) -> bool,
}

pub(crate) const DIFFERENCES: &[Difference] = &[
    Difference {
        number: "ME 1.2",
        what: "1.4.2 compares float keys with < and >, so that zeros are one key and NaN is any",
        touches: |case| {
            let types = columns(case).filter(|(name, _)| is_key(case, name));
            types
                .into_iter()
                .any(|(_, data_type)| is_one_of(data_type, &["FLOAT", "DOUBLE"]))
        },
    },
    Difference {
        number: "ME 1.3",
        what: "1.4.2 does not put retracts before adds where sequence numbers are equal",
        touches: |case| steps(case).any(|step| step.get("parallel").is_some()),
    },
    Difference {
        number: "ME 2.6",
        what: "the reference forgets the groups that remove rows where they are not read",
        touches: |case| {
            option(case, "partial-update.remove-record-on-sequence-group").is_some()
                && case.reads.iter().any(|read| read.get("columns").is_some())
        },
    },
    Difference {
        number: "ME 3.1",
        what: "1.4.2 takes columns of the key in sequence groups",
        touches: |case| {
            options(case).any(|(key, value)| {
                let sequence = key
                    .strip_prefix("fields.")
                    .and_then(|key| key.strip_suffix(".sequence-group"));
                sequence.is_some_and(|sequence| {
                    sequence
                        .split(',')
                        .chain(value.split(','))
                        .any(|name| is_key(case, name))
                })
            })
        },
    },
    Difference {
        number: "ME 4.2",
        what: "1.4.2 has no max and min of BOOLEAN",
        touches: |case| {
            aggregated(case, &["max", "min"])
                .any(|(_, data_type)| is_one_of(data_type, &["BOOLEAN"]))
        },
    },
    Difference {
        number: "ME 4.3",
        what: "integers of 1.4.2 wrap where those of 2.1 overflow",
        touches: may_overflow,
    },
    Difference {
        number: "ME 4.4",
        what: "listagg of 1.4.2 joins white space, and leaves a lone empty text where that of 2.1 leaves null",
        touches: |case| {
            aggregated(case, &["listagg"]).any(|(name, _)| {
                let texts = cells(case, name).filter_map(Value::as_str);
                texts.into_iter().any(|text| text.trim().is_empty())
            })
        },
    },
    Difference {
        number: "ME 4.5",
        what: "1.4.2 compares bytes in collect and merge_map by identity",
        touches: |case| {
            aggregated(case, &["collect", "merge_map"]).any(|(_, data_type)| {
                data_type.to_string().contains("BYTES") || data_type.to_string().contains("BINARY")
            })
        },
    },
    Difference {
        number: "ME 4.7",
        what: "count-limit of 1.4.2 keeps updates out as well as new keys",
        touches: |case| {
            aggregated(case, &["nested_update"]).any(|(name, _)| {
                let about = |option: &str| self::option(case, &format!("fields.{name}.{option}"));
                about("count-limit").is_some() && about("nested-key").is_some()
            })
        },
    },
    Difference {
        number: "ME-127",
        what: "1.4.2 takes the first list of nested rows as it is, with keys that are there twice",
        touches: |case| {
            aggregated(case, &["nested_update", "nested_partial_update"]).any(|(name, _)| {
                let mut lists = cells(case, name).filter_map(Value::as_array);
                lists.any(|rows| {
                    let keys: BTreeSet<String> =
                        rows.iter().map(|row| row[0].to_string()).collect();
                    keys.len() < rows.len()
                })
            })
        },
    },
    Difference {
        number: "ME-129",
        what: "1.4.2 does not know nested-sequence-field and nested-key-null-strategy",
        touches: |case| {
            options(case).any(|(key, _)| {
                key.ends_with(".nested-sequence-field")
                    || key.ends_with(".nested-key-null-strategy")
            })
        },
    },
    Difference {
        number: "TF-4.6",
        what: "conditions of 1.4.2 compare bytes as signed",
        touches: |case| {
            let bytes = columns(case).filter(|(_, data_type)| {
                let text = data_type.as_str().unwrap_or_default();
                text.contains("BYTES") || text.contains("BINARY")
            });
            bytes.into_iter().any(|(name, _)| {
                let texts = cells(case, name).filter_map(Value::as_str);
                texts.into_iter().any(|hex| {
                    let digits = hex.bytes().step_by(2);
                    digits.into_iter().any(|digit| digit >= b'8')
                })
            })
        },
    },
];

/// The first difference that a case touches.
pub(crate) fn touched(case: &Case) -> Option<&'static Difference> {
    DIFFERENCES
        .iter()
        .find(|difference| (difference.touches)(case))
}

/// Sums and products of absolute values that leave the type.
fn may_overflow(case: &Case) -> bool {
    aggregated(case, &["sum", "product"]).any(|(name, data_type)| {
        let most = match data_type
            .as_str()
            .map(|text| text.trim_end_matches(" NOT NULL"))
        {
            Some("TINYINT") => i128::from(i8::MAX),
            Some("SMALLINT") => i128::from(i16::MAX),
            Some("INT") => i128::from(i32::MAX),
            Some("BIGINT") => i128::from(i64::MAX),
            _ => return false,
        };
        let product = function(case, name) == Some("product");
        // Products of one key; sums of all.
        let mut totals = BTreeMap::<String, i128>::new();
        for (row, number) in rows(case).zip(cells(case, name)) {
            let number = i128::from(number.as_i64().unwrap_or(0)).abs();
            let total = totals.entry(key_of(case, row)).or_insert(1);
            *total = if product {
                total.saturating_mul(number.max(1))
            } else {
                total.saturating_add(number)
            };
        }
        totals.into_values().any(|total| total > most)
    })
}

fn columns(case: &Case) -> impl Iterator<Item = (&str, &Value)> {
    let columns = case.text["columns"].as_array().unwrap().iter();
    columns.map(|column| (column[0].as_str().unwrap(), &column[1]))
}

fn is_key(case: &Case, name: &str) -> bool {
    let key = case.text["primary_key"].as_array();
    key.is_some_and(|key| key.iter().any(|column| column == name))
}

fn is_one_of(data_type: &Value, names: &[&str]) -> bool {
    let text = data_type.as_str().unwrap_or_default();
    names.contains(&text.trim_end_matches(" NOT NULL"))
}

fn options(case: &Case) -> impl Iterator<Item = (&str, &str)> {
    let options = case.text["options"].as_object().unwrap().iter();
    options.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
}

fn option<'a>(case: &'a Case, key: &str) -> Option<&'a str> {
    case.text["options"].get(key)?.as_str()
}

fn function<'a>(case: &'a Case, column: &str) -> Option<&'a str> {
    let own = option(case, &format!("fields.{column}.aggregate-function"));
    own.or_else(|| option(case, "fields.default-aggregate-function"))
}

/// Columns with one of these functions, and their types.
fn aggregated<'a>(case: &'a Case, names: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a Value)> {
    columns(case).filter(|(column, _)| {
        function(case, column).is_some_and(|function| names.contains(&function))
    })
}

fn steps(case: &Case) -> impl Iterator<Item = &Value> {
    case.text["steps"].as_array().unwrap().iter()
}

/// All rows that are written.
fn rows(case: &Case) -> impl Iterator<Item = &Value> {
    fn list(value: &Value) -> impl Iterator<Item = &Value> {
        value.as_array().into_iter().flatten()
    }
    steps(case).flat_map(|step| {
        list(&step["files"])
            .flat_map(list)
            .chain(list(&step["write"]))
    })
}

/// The values of a column in all rows; none where the schema changes, and with it what stands where.
fn cells<'a>(case: &'a Case, name: &str) -> impl Iterator<Item = &'a Value> {
    let altered = steps(case).any(|step| step.get("alter").is_some());
    let at = 1 + columns(case)
        .position(|(column, _)| column == name)
        .unwrap();
    rows(case)
        .filter(move |_| !altered)
        .map(move |row| &row[at])
}

fn key_of(case: &Case, row: &Value) -> String {
    let keys = columns(case)
        .zip(1..)
        .filter(|((name, _), _)| is_key(case, name));
    keys.map(|(_, at): (_, usize)| row[at].to_string() + " ")
        .collect()
}
