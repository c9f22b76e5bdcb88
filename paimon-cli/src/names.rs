//! Conditions with the names of columns.

use paimon_meta::{Predicate, TablePredicate, TableSchema};

/// A condition as SQL text that `--where` takes.
pub(crate) fn condition_text(predicate: &TablePredicate, schema: &TableSchema) -> String {
    let named = predicate.try_map(&mut |leaf| {
        let name = schema.field_by_id(leaf.column).map_or_else(
            || format!("column {}", leaf.column),
            |field| column_text(&field.name),
        );
        Some(Predicate::leaf(
            name,
            leaf.data_type.clone(),
            leaf.test.clone(),
        ))
    });
    named.map(|named| named.to_string()).unwrap_or_default()
}

/// A column as SQL text: in double quotes where it must be.
pub(crate) fn column_text(name: &str) -> String {
    let plain = name.bytes().enumerate().all(|(index, byte)| {
        byte == b'_' || byte.is_ascii_alphabetic() || (index > 0 && byte.is_ascii_digit())
    });
    if plain && !name.is_empty() {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        for (name, text) in [("k_1", "k_1"), ("1k", "\"1k\""), ("a \"b", "\"a \"\"b\"")] {
            assert_eq!(column_text(name), text);
        }
    }
}
