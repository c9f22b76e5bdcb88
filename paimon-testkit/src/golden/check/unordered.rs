//! Arrays whose order the reference takes from a hash table: nested tables with a key (merge-engines section 4.7).

use serde_json::Value;

use crate::golden::{GoldenCase, GoldenRead};
use crate::json::JsonRow;

/// The rows with the elements of such arrays in one order.
pub(super) fn in_one_order(case: &GoldenCase, read: &GoldenRead, rows: &[JsonRow]) -> Vec<JsonRow> {
    let leading = usize::from(read.request.has_kinds());
    let columns = read.columns.iter().enumerate();
    let keyed: Vec<usize> = columns
        .filter(|(_, column)| has_nested_key(case, &column.name))
        .map(|(index, _)| index + leading)
        .collect();
    let ordered = |row: &JsonRow| {
        let mut row = row.clone();
        for column in &keyed {
            if let Some(Value::Array(elements)) = row.get_mut(*column) {
                elements.sort_by_key(Value::to_string);
            }
        }
        row
    };
    rows.iter().map(ordered).collect()
}

fn has_nested_key(case: &GoldenCase, column: &str) -> bool {
    let options = case.definition.get("options");
    options.is_some_and(|options| options.get(format!("fields.{column}.nested-key")).is_some())
}
