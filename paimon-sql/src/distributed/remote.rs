//! A session whose queries run on a cluster.

use std::sync::Arc;

use ballista_core::config::BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK;
use ballista_core::extension::{SessionConfigExt, SessionStateExt};
use ballista_core::utils::default_session_builder;
use datafusion::error::Result;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};

use super::logical_codec::PaimonLogicalCodec;
use crate::limits::physical_optimizer_rules;
use crate::session::{SessionRequest, session_state, with_tables};

/// A session with the same tables as [`session`](fn@crate::session), whose queries run on the executors of the scheduler at
/// `HOST:PORT`. Tables are opened here, and planned by the scheduler; views and settings are this session's, and questions
/// about its catalog are answered here.
///
/// [`SessionConfigExt::new_with_ballista`] has settings that suit a cluster. Two are made here: each task is one partition, so that all
/// executors get some; and plans are not changed while a query runs, for so Ballista 55.0 repeats rows of a sorted union.
///
/// # Errors
/// Those of listing the warehouse. That the scheduler cannot be reached is told by the first query.
pub async fn remote_session(request: &SessionRequest, scheduler: &str) -> Result<SessionContext> {
    let codec = PaimonLogicalCodec::new(request.source.resources.clone());
    let config = request.config.clone().upgrade_for_ballista();
    let config = config
        .with_ballista_adaptive_query_planner(false)
        .set_usize(BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK, 1);
    let request = SessionRequest {
        config: config.with_ballista_logical_extension_codec(Arc::new(codec)),
        ..request.clone()
    };
    let state = session_state(&request).upgrade_for_ballista(format!("http://{scheduler}"))?;
    with_tables(SessionContext::new_with_state(state), &request).await
}

/// What a scheduler plans with: the state that Ballista makes, with the rules of this crate, so that the order of keys is of use.
///
/// # Errors
/// Those of Ballista.
pub fn scheduler_session_state(config: SessionConfig) -> Result<SessionState> {
    let builder = SessionStateBuilder::new_from_existing(default_session_builder(config)?);
    let rules = physical_optimizer_rules();
    Ok(builder.with_physical_optimizer_rules(rules).build())
}
