//! From a table's location and the options of a read to a [`ResolvedTable`] (RP-010 to RP-014).
//!
//! ```text
//! branch ─▶ latest schema ─▶ options, with those of the read over them ─▶ position ─▶ snapshot ─▶ schema to read with
//! ```

use std::collections::BTreeMap;

use paimon_io::Resources;
use paimon_meta::{
    BranchPaths, Error, ErrorKind, Frame, Options, ResolvedTable, Result, ResultExt, Snapshot,
    TableSchema, unsupported_feature,
};

use serde::{Deserialize, Serialize};

use crate::branches::Branch;
use crate::fallback::resolve_fallback;
use crate::snapshots::{Found, History};
use crate::travel::Travel;
use crate::zone::Zone;

/// Which state of a table a read wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveRequest {
    /// Options laid over those of the table (RP-012); `None` takes one away. A snapshot is chosen by the table's own
    /// options for that: `scan.snapshot-id`, `scan.tag-name`, `scan.timestamp`, …
    pub options: BTreeMap<String, Option<String>>,
    /// The branch; `None` for the one that the options name, which is `main` by default.
    pub branch: Option<String>,
    /// Zone of times that are written without one (RP-024): an IANA name, `Z`, or an offset such as `+08:00`.
    pub time_zone: String,
    /// The table is read as a stream: a position says where to begin and need not be there yet.
    pub stream: bool,
}

impl Default for ResolveRequest {
    fn default() -> Self {
        Self {
            options: BTreeMap::new(),
            branch: None,
            time_zone: "UTC".to_owned(),
            stream: false,
        }
    }
}

/// A Paimon table, as a place to start from.
#[derive(Debug)]
pub struct Table(());

impl Table {
    /// Reads the schemas of the table at a location, and the snapshot that the options ask for. The schema to read with is
    /// the latest, or under time travel that of the snapshot with the merged options (RP-013).
    ///
    /// # Errors
    /// `NotFound` if there is no table, or not the branch, snapshot or tag that is asked for; the message says what there
    /// is. `InvalidInput` for options that do not parse or contradict each other. `Unsupported` for tables and reads that
    /// need what is not built yet. `Corrupt` and `Storage` as the files are.
    pub async fn resolve(
        resources: &Resources,
        location: &str,
        request: &ResolveRequest,
    ) -> Result<ResolvedTable> {
        resolve(resources, location, request)
            .await
            .at(|| Frame::Table(location.to_owned()))
    }

    /// Ids of the snapshots that the table's branch has now, ascending; they can be planned with `scan.snapshot-id`.
    ///
    /// # Errors
    /// `Storage`, or `InvalidInput` for a branch that cannot be.
    pub async fn snapshot_ids(resources: &Resources, table: &ResolvedTable) -> Result<Vec<i64>> {
        let paths = BranchPaths::new(&table.branch)?;
        History::new(resources, &table.location, &paths)
            .ids()
            .await
            .at(|| Frame::Table(table.location.clone()))
    }
}

async fn resolve(
    resources: &Resources,
    location: &str,
    request: &ResolveRequest,
) -> Result<ResolvedTable> {
    let branch = Branch::open(resources, location, request).await?;
    let table = resolve_branch(resources, location, branch, request).await?;
    let fallback = resolve_fallback(resources, &table, request).await?;
    Ok(ResolvedTable {
        fallback: fallback.map(Box::new),
        ..table
    })
}

/// A table as one of its branches has it.
///
/// # Errors
/// As [`Table::resolve`].
pub(crate) async fn resolve_branch(
    resources: &Resources,
    location: &str,
    branch: Branch,
    request: &ResolveRequest,
) -> Result<ResolvedTable> {
    let zone = Zone::parse(&request.time_zone)?;
    let Some(latest) = branch.latest() else {
        return Err(Error::internal("a branch without schemas"));
    };
    let mut options = Options(latest.options.clone()).overlaid(&request.options);
    unsupported_feature(&options, latest)?;
    let travel = Travel::from_options(&options, zone, request.stream)?;
    let history = History::new(resources, location, &branch.paths);
    let found = match history.find(&travel).await {
        // A stream waits for what is not there.
        Err(error) if request.stream && error.kind() == ErrorKind::NotFound => Found::default(),
        found => found?,
    };
    if let (Travel::Creation(_), Some(since), false) =
        (&travel, found.created_since, request.stream)
    {
        becomes_file_creation(&mut options, since);
    }
    check_listed(found.snapshot.as_ref(), latest)?;
    let schema = schema_of(&travel, found.snapshot.as_ref(), &branch.schemas)?
        .unwrap_or(latest)
        .clone();
    Ok(ResolvedTable {
        location: location.to_owned(),
        branch: branch.name,
        options,
        snapshot: found.snapshot,
        schema,
        schemas: branch.schemas,
        time_zone: request.time_zone.clone(),
        changes: found.changes,
        fallback: None,
    })
}

/// A start after a commit that is not there keeps files by creation time (RP-021): says so in the resolved options.
pub(crate) fn becomes_file_creation(options: &mut Options, since: i64) {
    options.0.remove(Options::SCAN_CREATION_TIME_MILLIS.key);
    options.0.remove(Options::SCAN_MODE.key);
    options.0.insert(
        Options::SCAN_FILE_CREATION_TIME_MILLIS.key.to_owned(),
        since.to_string(),
    );
}

/// A snapshot is never ahead of the schemas, but a listing of them may be behind, and options of the table with it.
fn check_listed(snapshot: Option<&Snapshot>, latest: &TableSchema) -> Result<()> {
    match snapshot.filter(|snapshot| snapshot.schema_id > latest.id) {
        None => Ok(()),
        Some(snapshot) => Err(Error::corrupt(format!(
            "the snapshot was written with it, the latest schema there is {}",
            latest.id
        ))
        .with_hint(
            "if the schema was changed just now, the store's listing may be late: read again",
        )
        .at(Frame::Schema(snapshot.schema_id))
        .at(Frame::Snapshot(snapshot.id))),
    }
}

/// The snapshot's schema, if that is the one to read with.
fn schema_of<'a>(
    travel: &Travel,
    snapshot: Option<&Snapshot>,
    schemas: &'a BTreeMap<i64, TableSchema>,
) -> Result<Option<&'a TableSchema>> {
    match snapshot.filter(|_| travel.changes_schema()) {
        None => Ok(None),
        Some(snapshot) => schemas.get(&snapshot.schema_id).map(Some).ok_or_else(|| {
            Error::corrupt(format!(
                "schema {} of the snapshot does not exist",
                snapshot.schema_id
            ))
            .at(Frame::Schema(snapshot.schema_id))
            .at(Frame::Snapshot(snapshot.id))
        }),
    }
}

#[cfg(test)]
mod tests;
