//! The files that record the changes of a range of snapshots (RP-152). Costs what the range costs: one request a snapshot,
//! its manifest list and the manifests on it; what was there before is not looked at.

use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_io::Resources;
use paimon_meta::{
    BranchPaths, ChangeFiles, CommitKind, Error, Frame, ResolvedTable, Result, ResultExt, Snapshot,
};

use crate::list_file::ListFile;
use crate::plan::Plan;
use crate::scan::{Scan, ScanRequest};
use crate::snapshots::History;
use crate::vectors::VectorEntries;
use crate::view::View;

/// Plans the changes after one snapshot up to another.
///
/// # Errors
/// `NotFound` if a snapshot of the range is gone, `InvalidInput` if a commit of the range took files away, which no row of
/// the result would tell; else those of planning.
pub(crate) async fn plan_range(
    resources: &Resources,
    table: &ResolvedTable,
    request: &ScanRequest,
    (after, to): (i64, &Snapshot),
    files: ChangeFiles,
) -> Result<Plan> {
    let scan = Scan::new(table, request, View::Range)?;
    let paths = BranchPaths::new(&table.branch)?;
    let history = History::new(resources, &table.location, &paths);
    let ids = after.saturating_add(1)..to.id;
    let earlier = ids.map(|id| history.by_id(id));
    let lists = stream::iter(earlier)
        .buffered(resources.io_concurrency())
        .try_filter_map(|snapshot| async move { Ok(change_list(&snapshot, files)) });
    let mut lists: Vec<ListFile> = lists.try_collect().await?;
    lists.extend(change_list(to, files));
    let entries = scan.read(resources, lists).await;
    let planned = entries.and_then(|entries| match entries.deleted.is_empty() {
        true => scan.assemble(Some(to), entries, &VectorEntries::default()),
        false => Err(Error::invalid_input(format!(
            "a commit of the range took away file {}",
            entries.deleted.file_name(0)
        ))
        .with_hint("incremental-between-scan-mode = diff compares the two states")),
    });
    planned.at(|| Frame::Snapshot(to.id))
}

/// The manifest list of a snapshot's changes, if they count.
fn change_list(snapshot: &Snapshot, files: ChangeFiles) -> Option<ListFile> {
    match files {
        ChangeFiles::Delta => {
            (snapshot.commit_kind == CommitKind::Append).then(|| ListFile::delta(snapshot))
        }
        ChangeFiles::Changelog => {
            ListFile::changelog(snapshot).filter(|_| snapshot.commit_kind != CommitKind::Overwrite)
        }
    }
}
