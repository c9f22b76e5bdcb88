//! A choice of partitions by their values.

use std::collections::BTreeMap;

use paimon_meta::{
    Datum, Error, Frame, Options, Predicate, ResolvedTable, Result, ResultExt, TablePredicate,
    parse_partition_value,
};
use serde::{Deserialize, Serialize};

/// Values of some or all partition columns, by name.
pub type PartitionSpec = BTreeMap<String, PartitionValue>;

/// The value of a partition column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PartitionValue {
    /// As a user writes it, or as it stands in the directory's name; the default name means null.
    Text(String),
    /// As a value of the column's type; `None` is null.
    Value(Option<Datum>),
}

/// The condition that a partition is one of those chosen; `None` without a choice.
///
/// # Errors
/// `InvalidInput` for a name that is no partition column and for text that is no value of its type.
pub(crate) fn chosen_partitions(
    table: &ResolvedTable,
    specs: &[PartitionSpec],
) -> Result<Option<TablePredicate>> {
    let chosen = specs.iter().map(|spec| {
        let values = spec
            .iter()
            .map(|(name, value)| is_value(table, name, value));
        values.collect::<Result<Vec<_>>>().map(Predicate::and)
    });
    let chosen = chosen.collect::<Result<Vec<_>>>()?;
    Ok((!chosen.is_empty()).then(|| Predicate::or(chosen)))
}

fn is_value(table: &ResolvedTable, name: &str, value: &PartitionValue) -> Result<TablePredicate> {
    if !table.schema.partition_keys.iter().any(|key| key == name) {
        let keys = table.schema.partition_keys.join(", ");
        let there_are = if keys.is_empty() {
            "the table has none".to_owned()
        } else {
            format!("the table has {keys}")
        };
        return Err(
            Error::invalid_input(format!("no partition column {name:?}, {there_are}"))
                .at(Frame::Column(name.to_owned())),
        );
    }
    let field = table.schema.field(name)?;
    let value = match value {
        PartitionValue::Value(value) => value.clone(),
        PartitionValue::Text(text) => {
            let default_name: String = table.options.value(&Options::PARTITION_DEFAULT_NAME)?;
            parse_partition_value(text, field, &default_name)?
        }
    };
    let predicate = match value {
        Some(value) => Predicate::eq(field.id, field.data_type.clone(), value),
        None => Predicate::is_null(field.id, field.data_type.clone()),
    };
    predicate
        .check(&table.schema.fields)
        .at(|| Frame::Column(name.to_owned()))?;
    Ok(predicate)
}
