//! From a table's location and the options of a read to a [`ResolvedTable`] (RP-010 to RP-014).
//!
//! ```text
//! schema/*  ─▶ latest schema ─▶ options, with those of the read over them ─▶ position ─▶ snapshot ─▶ schema to read with
//! ```

use std::collections::BTreeMap;

use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_io::{Resources, join};
use paimon_meta::{
    BranchPaths, Error, Frame, MAIN_BRANCH, Options, ResolvedTable, Result, ResultExt, Snapshot,
    TableSchema, unsupported_feature,
};

use serde::{Deserialize, Serialize};

use crate::snapshots::{Found, History, numbered_files};
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
}

impl Default for ResolveRequest {
    fn default() -> Self {
        Self {
            options: BTreeMap::new(),
            branch: None,
            time_zone: "UTC".to_owned(),
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
    /// `NotFound` if there is no table, or not the snapshot or tag that is asked for; the message says what there is.
    /// `InvalidInput` for options that do not parse or contradict each other. `Unsupported` for tables and reads that
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
    let zone = Zone::parse(&request.time_zone)?;
    let branch = checked_branch(request.branch.as_deref())?;
    let paths = BranchPaths::new(branch)?;
    let schemas = read_schemas(resources, location, &paths).await?;
    let Some((_, latest)) = schemas.last_key_value() else {
        return Err(no_table(resources, location).await);
    };
    let mut options = Options(latest.options.clone()).overlaid(&request.options);
    refuse(&options, latest)?;
    let travel = Travel::from_options(&options, zone)?;
    let Found {
        snapshot,
        created_since,
    } = History::new(resources, location, &paths)
        .find(&travel)
        .await?;
    if let (Travel::Creation(_), Some(since)) = (&travel, created_since) {
        becomes_file_creation(&mut options, since);
    }
    let schema = schema_of(&travel, snapshot.as_ref(), &schemas)?
        .unwrap_or(latest)
        .clone();
    Ok(ResolvedTable {
        location: location.to_owned(),
        branch: branch.to_owned(),
        options,
        snapshot,
        schema,
        schemas,
        time_zone: request.time_zone.clone(),
    })
}

fn checked_branch(branch: Option<&str>) -> Result<&'static str> {
    match branch.map(str::trim) {
        None | Some("" | MAIN_BRANCH) => Ok(MAIN_BRANCH),
        Some(_) => Err(Error::unsupported("branches")),
    }
}

/// Refuses by name what would change rows and is not built.
fn refuse(options: &Options, schema: &TableSchema) -> Result<()> {
    checked_branch(options.get("branch")).at(|| Frame::Option("branch".to_owned()))?;
    const FALLBACK: &str = "scan.fallback-branch";
    if options
        .get(FALLBACK)
        .is_some_and(|branch| !branch.trim().is_empty())
    {
        return Err(Error::unsupported("fallback branch").at(Frame::Option(FALLBACK.to_owned())));
    }
    unsupported_feature(options, schema)
}

/// A start after a commit that is not there keeps files by creation time (RP-021): says so in the resolved options.
fn becomes_file_creation(options: &mut Options, since: i64) {
    options.0.remove(Options::SCAN_CREATION_TIME_MILLIS.key);
    options.0.remove(Options::SCAN_MODE.key);
    options.0.insert(
        Options::SCAN_FILE_CREATION_TIME_MILLIS.key.to_owned(),
        since.to_string(),
    );
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

/// All schemas of the branch by id.
async fn read_schemas(
    resources: &Resources,
    location: &str,
    paths: &BranchPaths,
) -> Result<BTreeMap<i64, TableSchema>> {
    let directory = join(location, &paths.schema_directory());
    let ids = numbered_files(resources, &directory, "schema-").await?;
    let schemas = ids.into_iter().map(|id| {
        let file = resources.get(&join(location, &paths.schema(id)));
        async move {
            let schema = TableSchema::from_json(&file.await?);
            Ok((
                id,
                schema
                    .and_then(|schema| checked_id(schema, id))
                    .at(|| Frame::Schema(id))?,
            ))
        }
    });
    stream::iter(schemas)
        .buffered(resources.io_concurrency())
        .try_collect()
        .await
}

fn checked_id(schema: TableSchema, id: i64) -> Result<TableSchema> {
    if schema.id == id {
        Ok(schema)
    } else {
        Err(Error::corrupt(format!(
            "schema has id {}, its file name says {id}",
            schema.id
        ))
        .at(Frame::Field("id".to_owned())))
    }
}

/// What there is instead of a table.
async fn no_table(resources: &Resources, location: &str) -> Error {
    let listing = async {
        let files = resources.list_names(location).await?;
        let directories = resources.list_directories(location).await?;
        Ok(files.is_empty() && directories.is_empty())
    };
    match listing.await {
        Err(error) => error,
        Ok(true) => Error::not_found(format!("there is nothing at {location}")),
        Ok(false) => Error::not_found(format!(
            "{location} is no Paimon table: it has no file schema/schema-<number>"
        )),
    }
}

#[cfg(test)]
mod tests;
