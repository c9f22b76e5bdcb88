//! From a location to a table of DataFusion.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::error::Result;
use paimon_io::Resources;
use paimon_meta::{Error, Options, ResolvedTable};
use paimon_plan::{ResolveRequest, SystemTable, Table, TableLocation};
use paimon_read::ChangelogTable;

use crate::error::external;
use crate::metadata_table::MetadataProvider;
use crate::table::{PaimonTable, Shown};

/// What tables are read through, and in which zone.
#[derive(Clone, Debug)]
pub struct Source {
    /// The way to the outside.
    pub resources: Resources,
    /// Zone of times that are written without one, as in [`ResolveRequest::time_zone`].
    pub time_zone: String,
}

impl Source {
    /// These resources, and UTC.
    pub fn new(resources: Resources) -> Self {
        Self {
            resources,
            time_zone: ResolveRequest::default().time_zone,
        }
    }

    /// A request for a table as it is now.
    pub(crate) fn request(&self) -> ResolveRequest {
        ResolveRequest {
            time_zone: self.time_zone.clone(),
            ..ResolveRequest::default()
        }
    }
}

/// The table at a location, which may name a branch and a system table behind it: `…/t`, `…/t$branch_dev`, `…/t$files`. It
/// stays at the snapshot that it has now.
///
/// # Errors
/// As [`Table::resolve`] and [`TableLocation::parse`], as the cause of a DataFusion error; `InvalidInput` for an option that no
/// read obeys ([`Options::is_obeyed`]), or that files are written for ([`Options::unchangeable`]).
pub async fn open_table(
    resources: &Resources,
    location: &str,
    request: &ResolveRequest,
) -> Result<Arc<dyn TableProvider>> {
    verify_keys(request)?;
    let named = TableLocation::parse(location).map_err(external)?;
    let request = ResolveRequest {
        branch: named.branch.or_else(|| request.branch.clone()),
        ..request.clone()
    };
    let table = Table::resolve(resources, &named.table, &request)
        .await
        .map_err(external)?;
    verify_unchanged(&request, &table)?;
    let shown = match named.system_table {
        None => Shown::Rows,
        Some(SystemTable::ReadOptimized) => Shown::TopLevel,
        Some(SystemTable::AuditLog) => Shown::Changelog(ChangelogTable::AuditLog),
        Some(SystemTable::Binlog) => Shown::Changelog(ChangelogTable::Binlog),
        Some(SystemTable::Metadata(which)) => {
            let provider = MetadataProvider::new(table, which, resources.clone())?;
            return Ok(Arc::new(provider));
        }
    };
    let table = PaimonTable::with_shown(table, shown, resources.clone())?;
    Ok(Arc::new(table))
}

/// # Errors
/// `InvalidInput` for a key that means nothing to a read: it is misspelt.
fn verify_keys(request: &ResolveRequest) -> Result<()> {
    match request.options.keys().find(|key| !Options::is_obeyed(key)) {
        None => Ok(()),
        Some(key) => {
            let message = format!("there is no option '{key}' that a read obeys");
            Err(external(Error::invalid_input(message)))
        }
    }
}

/// # Errors
/// `InvalidInput` for an option that no read may change.
fn verify_unchanged(request: &ResolveRequest, table: &ResolvedTable) -> Result<()> {
    let latest = table.schemas.values().next_back();
    let stored = latest.map(|schema| Options(schema.options.clone()));
    let changed =
        stored.and_then(|stored| stored.unchangeable(&request.options).map(str::to_owned));
    match changed {
        None => Ok(()),
        Some(key) => {
            let message =
                format!("a read cannot change the option '{key}', which files are written for");
            Err(external(Error::invalid_input(message)))
        }
    }
}
