//! A session with everything of this crate in it.

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::SessionStateDefaults;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::prelude::{SessionConfig, SessionContext};
use paimon_io::Resources;

use crate::catalog::{DEFAULT_DATABASE, PaimonCatalog};
use crate::function::PaimonTableFunction;
use crate::limits::physical_optimizer_rules;
use crate::map_entry::MapEntryPlanner;
use crate::open::Source;

/// Name of the catalog that a warehouse is.
pub const CATALOG: &str = "paimon";

/// What a session has.
#[derive(Clone, Debug)]
pub struct SessionRequest {
    /// Where tables are read from, and in which zone.
    pub source: Source,
    /// A directory of databases, in which `db.table` names a table; without, tables are named by `paimon_table` alone.
    pub warehouse: Option<String>,
    /// What relative paths in `paimon_table` are relative to; without, they are refused.
    pub directory: Option<String>,
    /// Settings of DataFusion.
    pub config: SessionConfig,
}

impl SessionRequest {
    /// No warehouse, no directory, and the settings that DataFusion has by default.
    pub fn new(resources: Resources) -> Self {
        Self {
            source: Source::new(resources),
            warehouse: None,
            directory: None,
            config: SessionConfig::new(),
        }
    }
}

/// A session with the tables of a warehouse and the function `paimon_table`.
///
/// # Errors
/// Those of listing the warehouse.
pub async fn session(request: &SessionRequest) -> Result<SessionContext> {
    with_tables(
        SessionContext::new_with_state(session_state(request)),
        request,
    )
    .await
}

/// A state with the settings of a session.
pub(crate) fn session_state(request: &SessionRequest) -> SessionState {
    let config = match &request.warehouse {
        Some(_) => request
            .config
            .clone()
            .with_default_catalog_and_schema(CATALOG, DEFAULT_DATABASE)
            .with_create_default_catalog_and_schema(false),
        None => request.config.clone(),
    };
    let mut planners: Vec<Arc<dyn ExprPlanner>> = vec![Arc::new(MapEntryPlanner)];
    planners.extend(SessionStateDefaults::default_expr_planners());
    SessionStateBuilder::new_with_default_features()
        .with_expr_planners(planners)
        .with_config(config.with_information_schema(true))
        .with_physical_optimizer_rules(physical_optimizer_rules())
        .build()
}

/// Adds tables and functions.
///
/// # Errors
/// As [`session`].
pub(crate) async fn with_tables(
    context: SessionContext,
    request: &SessionRequest,
) -> Result<SessionContext> {
    if let Some(warehouse) = &request.warehouse {
        let catalog = PaimonCatalog::open(&request.source, warehouse).await?;
        context.register_catalog(CATALOG, Arc::new(catalog));
    }
    let function = PaimonTableFunction::new(request.source.clone(), request.directory.clone());
    context.register_udtf("paimon_table", Arc::new(function));
    Ok(context)
}
