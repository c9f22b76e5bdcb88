//! Arrays whose order the reference takes from a hash table: nested tables with a key, and lists of distinct elements
//! (merge-engines sections 4.5 and 4.7).

use serde_json::Value;

use crate::golden::{GoldenCase, GoldenRead};
use crate::json::JsonRow;

/// The rows with the elements of such arrays in one order.
pub(crate) fn in_one_order(case: &GoldenCase, read: &GoldenRead, rows: &[JsonRow]) -> Vec<JsonRow> {
    let leading = usize::from(read.request.has_kinds());
    let columns = read.columns.iter().enumerate();
    let hashed: Vec<usize> = columns
        .filter(|(_, column)| is_hashed(case, &column.name))
        .map(|(index, _)| index + leading)
        .collect();
    let ordered = |row: &JsonRow| {
        let mut row = row.clone();
        for column in &hashed {
            if let Some(Value::Array(elements)) = row.get_mut(*column) {
                elements.sort_by_key(Value::to_string);
            }
        }
        row
    };
    rows.iter().map(ordered).collect()
}

fn is_hashed(case: &GoldenCase, column: &str) -> bool {
    let option = |name: &str| {
        let options = case.definition.get("options")?;
        options.get(format!("fields.{column}.{name}"))?.as_str()
    };
    option("nested-key").is_some() || option("distinct") == Some("true")
}
