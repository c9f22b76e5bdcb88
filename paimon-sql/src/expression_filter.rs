//! Expressions of DataFusion as filters between key and value pass.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{BooleanArray, RecordBatch};
use datafusion::error::Result as SqlResult;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use paimon_meta::{Error, FieldId, Result, StringLayout, TableSchema, arrow_schema};
use paimon_read::RowFilter;

/// A row passes if all expressions are true for it. Expressions that change while the query runs (bounds that a join or a
/// sort has found) are evaluated as they are at that time.
#[derive(Debug)]
pub(crate) struct ExpressionFilter {
    columns: Vec<FieldId>,
    expression: Arc<dyn PhysicalExpr>,
}

impl ExpressionFilter {
    /// A filter of expressions over columns that have the names of the table's; `None` without an expression.
    pub(crate) fn new(
        expressions: &[Arc<dyn PhysicalExpr>],
        schema: &TableSchema,
    ) -> SqlResult<Option<Self>> {
        if expressions.is_empty() {
            return Ok(None);
        }
        let all = conjunction(expressions.iter().cloned());
        let mut names: Vec<String> = collect_columns(&all)
            .into_iter()
            .map(|column| column.name().to_owned())
            .collect();
        names.sort_unstable();
        names.dedup();
        let fields = names.iter().map(|name| schema.field(name));
        let fields = fields
            .collect::<Result<Vec<_>>>()
            .map_err(crate::error::external)?;
        let layout = arrow_schema(fields.iter().copied(), StringLayout::View)
            .map_err(crate::error::external)?;
        Ok(Some(Self {
            columns: fields.iter().map(|field| field.id).collect(),
            expression: reassign_expr_columns(all, &layout)?,
        }))
    }
}

impl RowFilter for ExpressionFilter {
    fn columns(&self) -> &[FieldId] {
        &self.columns
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let evaluated = self
            .expression
            .evaluate(batch)
            .and_then(|value| value.into_array(batch.num_rows()));
        let passed = evaluated.map_err(|error| {
            Error::invalid_input(format!("condition {}", self.expression)).with_source(error)
        })?;
        let passed = passed.as_boolean_opt().ok_or_else(|| {
            Error::invalid_input(format!("condition {} is not boolean", self.expression))
        })?;
        Ok(passed.clone())
    }
}
