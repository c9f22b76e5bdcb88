//! `map['key']` where keys are not of the type that a literal has.

use arrow_schema::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::functions::core::expr_fn::get_field;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawFieldAccessExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, GetFieldAccess};

/// Gives a literal key the type of the map's keys, which are texts as views or numbers of any width: DataFusion 55.2 compares
/// them as they are, and fails.
#[derive(Debug)]
pub(crate) struct MapEntryPlanner;

impl ExprPlanner for MapEntryPlanner {
    fn plan_field_access(
        &self,
        access: RawFieldAccessExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawFieldAccessExpr>> {
        let key = match (
            key_type(&access.expr.get_type(schema)?),
            literal(&access.field_access),
        ) {
            (Some(key_type), Some(literal)) if !literal.is_null() => literal.cast_to(key_type).ok(),
            _ => None,
        };
        Ok(match key {
            Some(key) => PlannerResult::Planned(get_field(access.expr, key)),
            None => PlannerResult::Original(access),
        })
    }
}

/// The type of a map's keys.
fn key_type(map: &DataType) -> Option<&DataType> {
    let DataType::Map(entries, _) = map else {
        return None;
    };
    match entries.data_type() {
        DataType::Struct(fields) => fields.first().map(|key| key.data_type()),
        _ => None,
    }
}

fn literal(access: &GetFieldAccess) -> Option<&ScalarValue> {
    match access {
        GetFieldAccess::NamedStructField { name } => Some(name),
        GetFieldAccess::ListIndex { key } => match key.as_ref() {
            Expr::Literal(key, _) => Some(key),
            _ => None,
        },
        GetFieldAccess::ListRange { .. } => None,
    }
}
