mod laws;
mod list_laws;
mod lists;
mod nested;
mod numbers;
mod selections;
mod sketches;
mod texts;

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};
use arrow_select::take::take;
use paimon_meta::{DataField, DataType, FieldId, Options, Result, parse_type};

use super::Step::{Add, AddReversed, Replace, ReplaceThenRetract, Retract, Skip};
use super::{AggregateFunction, MergeFault, Merged, Step, Versions, aggregate_function};

/// A type as in schema JSON: text, or an object.
fn typed(text: &str) -> DataType {
    if text.starts_with('{') {
        return serde_json::from_str(text).unwrap();
    }
    parse_type(text).unwrap()
}

/// The function of a column `c`.
fn function(
    name: &str,
    data_type: &str,
    options: &[(&str, &str)],
) -> Result<Box<dyn AggregateFunction>> {
    let field = DataField {
        id: FieldId(0),
        name: "c".to_owned(),
        data_type: typed(data_type),
        description: None,
        default_value: None,
    };
    let own = |(key, value): &(&str, &str)| (format!("fields.c.{key}"), (*value).to_owned());
    let options = Options(options.iter().map(own).collect());
    aggregate_function(name, &field, &options)
}

/// The results as an array, whether they were chosen or computed.
fn results(merged: Merged, values: &ArrayRef) -> ArrayRef {
    match merged {
        Merged::Chosen(rows) => take(values, &rows, None).unwrap(),
        Merged::Computed(array) => array,
    }
}

/// What a function makes of groups of steps that follow each other in the value array.
fn merge_with(
    function: &dyn AggregateFunction,
    values: &ArrayRef,
    groups: &[&[Step]],
) -> Result<ArrayRef> {
    let steps = groups.concat();
    let mut offsets = vec![0];
    for group in groups {
        offsets.push(offsets.last().unwrap() + u32::try_from(group.len()).unwrap());
    }
    let versions = Versions::new(&offsets, &steps)?;
    let merged = function
        .merge(values, &versions)
        .map_err(MergeFault::into_error)?;
    let results = results(merged, values);
    assert_eq!(results.data_type(), values.data_type());
    assert_eq!(results.len(), groups.len());
    Ok(results)
}

fn merge(
    name: &str,
    data_type: &str,
    options: &[(&str, &str)],
    values: &ArrayRef,
    groups: &[&[Step]],
) -> Result<ArrayRef> {
    merge_with(&*function(name, data_type, options)?, values, groups)
}

fn ints(values: &[Option<i32>]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

/// What a function makes of one group of integers.
fn of_ints(name: &str, versions: &[(Step, Option<i32>)]) -> Result<Option<i32>> {
    of_ints_with(name, &[], versions)
}

fn of_ints_with(
    name: &str,
    options: &[(&str, &str)],
    versions: &[(Step, Option<i32>)],
) -> Result<Option<i32>> {
    let (steps, values): (Vec<_>, Vec<_>) = versions.iter().copied().unzip();
    let array = merge(name, "INT", options, &ints(&values), &[&steps])?;
    let results = array.as_any().downcast_ref::<Int32Array>().unwrap();
    Ok(results.iter().next().unwrap())
}
