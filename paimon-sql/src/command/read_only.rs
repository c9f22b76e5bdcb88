//! Statements that would change a warehouse.

use datafusion::common::plan_err;
use datafusion::error::Result;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::Statement as Sql;

/// Refuses what would write to a table of the warehouse or drop one: DataFusion tells of some of these that there is
/// no such table, and does others without a word.
///
/// # Errors
/// Such a statement is named, and what it is about.
pub(crate) fn verify(context: &SessionContext, plan: &LogicalPlan) -> Result<()> {
    let (what, about) = match plan {
        LogicalPlan::Dml(write) => (write.op.to_string(), write.table_name.to_string()),
        LogicalPlan::Ddl(DdlStatement::DropTable(drop))
            if context.table_exist(drop.name.clone())? =>
        {
            ("DROP TABLE".to_owned(), drop.name.to_string())
        }
        LogicalPlan::Ddl(DdlStatement::CreateCatalogSchema(create)) => {
            ("CREATE SCHEMA".to_owned(), create.schema_name.clone())
        }
        _ => return Ok(()),
    };
    refuse(&what, &about)
}

/// Refuses what makes a table, before the table that is to be made is missed.
///
/// # Errors
/// Such a statement is named, and the table.
pub(crate) fn verify_statement(statement: &Statement) -> Result<()> {
    let table = match statement {
        Statement::CreateExternalTable(create) => &create.name,
        Statement::Statement(statement) => match statement.as_ref() {
            Sql::CreateTable(create) => &create.name,
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    refuse("CREATE TABLE", &table.to_string())
}

fn refuse(what: &str, about: &str) -> Result<()> {
    plan_err!("{what} {about}: a warehouse is only read, views alone are made and dropped")
}
