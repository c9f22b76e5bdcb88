//! The functions by name.

use paimon_meta::{DataField, Options, Result};

use super::column::AggregateColumn;
use super::ignore_retract::IgnoreRetract;
use super::{
    AggregateFunction, bool_and, bool_or, collect, first_non_null_value, first_value, hll_sketch,
    last_non_null_value, last_value, listagg, max, merge_map, merge_map_with_keytime, min,
    nested_partial_update, nested_update, primary_key, product, rbm32, rbm64, sum, theta_sketch,
};

type Constructor = fn(&AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>>;

/// Every function of the reference. One more function is one more file and one more line.
const FUNCTIONS: &[(&str, Constructor)] = &[
    ("bool_and", bool_and::new),
    ("bool_or", bool_or::new),
    ("collect", collect::new),
    ("first_non_null_value", first_non_null_value::new),
    ("first_not_null_value", first_non_null_value::new),
    ("first_value", first_value::new),
    ("hll_sketch", hll_sketch::new),
    ("last_non_null_value", last_non_null_value::new),
    ("last_value", last_value::new),
    ("listagg", listagg::new),
    ("max", max::new),
    ("merge_map", merge_map::new),
    ("merge_map_with_keytime", merge_map_with_keytime::new),
    ("min", min::new),
    ("nested_partial_update", nested_partial_update::new),
    ("nested_update", nested_update::new),
    ("primary-key", primary_key::new),
    ("product", product::new),
    ("rbm32", rbm32::new),
    ("rbm64", rbm64::new),
    ("sum", sum::new),
    ("theta_sketch", theta_sketch::new),
];

/// The function of that name for a column, as the options `fields.<column>...` of the table want it.
///
/// Which function a column has, is for the caller to say (ME-086): `primary-key` for columns of the key, `last_value`
/// for those of `sequence.field`, else what the options name.
///
/// # Errors
/// `InvalidInput` for a name that is no function (ME-136), a type that the function does not take, and options that do
/// not fit.
pub fn aggregate_function(
    name: &str,
    field: &DataField,
    options: &Options,
) -> Result<Box<dyn AggregateFunction>> {
    let column = AggregateColumn { field, options };
    let Some((_, constructor)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
        return Err(column.refuse(format!("aggregate function {name} is not known")));
    };
    let ignores = column.flag("ignore-retract")?;
    // ME-092
    if ignores && options.boolean("aggregation.remove-record-on-delete", false)? {
        return Err(column.refuse(format!(
            "{} and aggregation.remove-record-on-delete exclude each other",
            column.key("ignore-retract")
        )));
    }
    let function = constructor(&column)?;
    Ok(if ignores {
        Box::new(IgnoreRetract(function))
    } else {
        function
    })
}
