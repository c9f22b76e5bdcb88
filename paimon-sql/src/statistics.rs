//! What a plan knows of its rows, for the optimiser.

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use datafusion::common::stats::Precision as SqlPrecision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use paimon_meta::{Datum, TableSchema, array_of};
use paimon_plan::{PlanStatistics, Precision};

/// Statistics of the columns of `output`, in its order. Unless `all_rows`, rows may be left out, so nothing is exact.
pub(crate) fn to_sql(
    known: &PlanStatistics,
    schema: &TableSchema,
    output: &Schema,
    all_rows: bool,
) -> Statistics {
    let column = |name: &str| {
        let id = schema.field(name).ok()?.id;
        known.columns.iter().find(|summary| summary.column == id)
    };
    let columns = output.fields().iter().map(|field| {
        let Some(summary) = column(field.name()) else {
            return ColumnStatistics::new_unknown();
        };
        let value = |bound: &Precision<Datum>| {
            precision(bound, |datum| {
                let array: ArrayRef = array_of([Some(datum)], field.data_type()).ok()?;
                ScalarValue::try_from_array(&array, 0).ok()
            })
        };
        ColumnStatistics {
            null_count: precision(&summary.nulls, count),
            min_value: value(&summary.min),
            max_value: value(&summary.max),
            ..ColumnStatistics::new_unknown()
        }
    });
    let statistics = Statistics {
        num_rows: precision(&known.rows, count),
        // The size of files says little of the size of batches, but it is what there is.
        total_byte_size: count(&known.bytes).map_or(SqlPrecision::Absent, SqlPrecision::Inexact),
        column_statistics: columns.collect(),
    };
    if all_rows {
        statistics
    } else {
        statistics.to_inexact()
    }
}

fn count(value: &u64) -> Option<usize> {
    usize::try_from(*value).ok()
}

fn precision<T, U>(known: &Precision<T>, map: impl Fn(&T) -> Option<U>) -> SqlPrecision<U>
where
    U: std::fmt::Debug + Clone + PartialEq + Eq + PartialOrd,
{
    let (value, exact) = match known {
        Precision::Exact(value) => (map(value), true),
        Precision::Inexact(value) => (map(value), false),
        _ => (None, false),
    };
    match value {
        Some(value) if exact => SqlPrecision::Exact(value),
        Some(value) => SqlPrecision::Inexact(value),
        None => SqlPrecision::Absent,
    }
}
