//! What stripes say of the values of a column.

use paimon_meta::{DataType, Datum, Error, Result, TypeKind};

use super::column::integer;
use super::proto::Message;
use crate::cell::Cell;
use crate::oracle::order;

/// Bounds of values that are not null; nothing for floats, bytes and nested values.
pub(super) fn statistics(cells: &[Cell], data_type: &DataType) -> Result<Message> {
    let mut said = Message::default();
    let values = || cells.iter().filter_map(Cell::datum);
    let min = values().min_by(|a, b| order(Some(a), Some(b)));
    let max = values().max_by(|a, b| order(Some(a), Some(b)));
    let Some((min, max)) = min.zip(max) else {
        return Ok(said);
    };
    let mut bounds = Message::default();
    let field = match &data_type.kind {
        TypeKind::Boolean => {
            let trues = values().filter(|value| **value == Datum::Boolean(true));
            bounds.number(1, trues.count() as u64);
            5
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Decimal { .. } => {
            for (field, value) in [(1, min), (2, max)] {
                bounds.bytes(field, text(value, data_type)?.as_bytes());
            }
            if data_type.kind.is_text() { 4 } else { 6 }
        }
        TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_) => {
            for (field, value) in [(1, min), (2, max), (3, min), (4, max)] {
                if let Datum::Timestamp { millis, .. } = value {
                    bounds.signed(field, *millis);
                }
            }
            9
        }
        TypeKind::Float | TypeKind::Double | TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            return Ok(said);
        }
        kind => {
            bounds.signed(1, integer(min));
            bounds.signed(2, integer(max));
            if *kind == TypeKind::Date { 7 } else { 2 }
        }
    };
    said.bytes(field, &bounds.0);
    Ok(said)
}

fn text(value: &Datum, data_type: &DataType) -> Result<String> {
    let json = Cell::Scalar(value.clone()).to_json(data_type)?;
    let text = json.as_str().map(str::to_owned);
    text.ok_or_else(|| Error::internal("a text or decimal is no text"))
}
