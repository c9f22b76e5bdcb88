//! From the command line to a resolved table.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use paimon_io::{ResourceParts, Resources, Spawn};
use paimon_meta::{Options, ResolvedTable, Result};
use paimon_plan::{MetadataTable, ResolveRequest, Table, TableLocation};
use paimon_read::{ManifestFormats, block_on};

use crate::args::Selection;
use crate::environment;
use crate::state::options;
use crate::threads::Threads;

/// The table as the command line wants it.
///
/// # Errors
/// `Unsupported` for what is not built, and those of resolving.
pub(crate) fn resolve(selection: &Selection) -> Result<(Resources, ResolvedTable)> {
    resolve_as(selection, false)
}

/// The table whose metadata is shown. A fallback branch has a part in its partitions only (RP-537).
///
/// # Errors
/// As [`resolve`].
pub(crate) fn resolve_metadata(
    selection: &Selection,
    which: MetadataTable,
) -> Result<(Resources, ResolvedTable)> {
    let mut options = options(selection);
    if which != MetadataTable::Partitions {
        options.insert(Options::SCAN_FALLBACK_BRANCH.key.to_owned(), None);
    }
    resolve_with(selection, options, false)
}

/// The same, as a stream or not.
///
/// # Errors
/// As [`resolve`].
pub(crate) fn resolve_as(
    selection: &Selection,
    stream: bool,
) -> Result<(Resources, ResolvedTable)> {
    resolve_with(selection, options(selection), stream)
}

fn resolve_with(
    selection: &Selection,
    options: BTreeMap<String, Option<String>>,
    stream: bool,
) -> Result<(Resources, ResolvedTable)> {
    let named = TableLocation::parse(&selection.table)?;
    let location = environment::location(&named.table)?;
    let resources = resources(jobs(selection));
    let request = ResolveRequest {
        options,
        branch: named.branch.or_else(|| selection.branch.clone()),
        time_zone: environment::time_zone(),
        stream,
    };
    let table = block_on(Table::resolve(&resources, &location, &request))?;
    Ok((resources, table))
}

/// How many tasks run at once.
pub(crate) fn jobs(selection: &Selection) -> NonZeroUsize {
    selection.jobs.unwrap_or_else(environment::cores)
}

/// Local files, with threads of our own where more than one is wanted.
pub(crate) fn resources(jobs: NonZeroUsize) -> Resources {
    let threads = Some(jobs).filter(|jobs| jobs.get() > 1);
    let threads = threads.and_then(Threads::start);
    Resources::new(ResourceParts {
        spawn: threads.map(|threads| Arc::new(threads) as Arc<dyn Spawn>),
        manifest_format: Some(Arc::new(ManifestFormats)),
        ..ResourceParts::default()
    })
}
