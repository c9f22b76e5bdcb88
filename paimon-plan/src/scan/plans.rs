//! Plans of a state, and of changes in its place.

use futures_util::future::try_join;
use paimon_io::Resources;
use paimon_meta::{ChangeRange, Frame, ResolvedTable, Result, ResultExt, Snapshot};

use super::{Scan, ScanRequest};
use crate::incremental::{plan_diff, plan_range};
use crate::list_file::{ListFile, state_lists};
use crate::manifests::Entries;
use crate::plan::Plan;
use crate::vectors::VectorEntries;
use crate::view::View;

/// Plans the changes that a table was resolved to.
///
/// # Errors
/// As [`plan`](crate::plan).
pub(super) async fn plan_changes(
    resources: &Resources,
    table: &ResolvedTable,
    request: &ScanRequest,
    changes: &ChangeRange,
) -> Result<Plan> {
    let Some(to) = &table.snapshot else {
        return Scan::new(table, request, View::Range)?.assemble(
            None,
            Entries::default(),
            &VectorEntries::default(),
        );
    };
    match changes {
        ChangeRange::Nothing => Scan::new(table, request, View::Range)?.assemble(
            Some(to),
            Entries::default(),
            &VectorEntries::default(),
        ),
        ChangeRange::Files { after, files } => {
            plan_range(resources, table, request, (*after, to), *files).await
        }
        ChangeRange::Diff(from) => plan_diff(resources, table, request, (from, to)).await,
    }
}

/// Plans a state: that of a snapshot.
///
/// # Errors
/// As [`plan`](crate::plan).
pub(crate) async fn plan_state(
    resources: &Resources,
    table: &ResolvedTable,
    snapshot: Option<&Snapshot>,
    request: &ScanRequest,
    view: View,
) -> Result<Plan> {
    let scan = Scan::new(table, request, view)?;
    let Some(snapshot) = snapshot else {
        return scan.assemble(None, Entries::default(), &VectorEntries::default());
    };
    let entries = scan.read(resources, state_lists(snapshot));
    try_join(entries, scan.vectors(resources, snapshot))
        .await
        .and_then(|(entries, vectors)| scan.assemble(Some(snapshot), entries, &vectors))
        .at(|| Frame::Snapshot(snapshot.id))
}

/// Plans what one snapshot changed.
///
/// # Errors
/// As [`plan`](crate::plan).
pub(crate) async fn plan_changes_of(
    resources: &Resources,
    table: &ResolvedTable,
    snapshot: &Snapshot,
    request: &ScanRequest,
    view: View,
) -> Result<Plan> {
    let scan = Scan::new(table, request, view)?;
    let list = match view {
        View::Changelog => ListFile::changelog(snapshot),
        _ => Some(ListFile::delta(snapshot)),
    };
    let entries = scan.read(resources, list.into_iter().collect());
    entries
        .await
        .and_then(|entries| scan.assemble(Some(snapshot), entries, &VectorEntries::default()))
        .at(|| Frame::Snapshot(snapshot.id))
}
