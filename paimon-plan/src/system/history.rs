//! `$snapshots`, `$tags`, `$branches`, `$consumers`.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_io::{Resources, join};
use paimon_meta::{
    BRANCH_DIRECTORY, BranchPaths, CommitKind, Consumer, Error, Frame, ResolvedTable, Result,
    ResultExt, Snapshot, Tag,
};

use super::cell::{Cell, Rows, time};
use crate::snapshots::History;
use crate::zone::Zone;

/// The snapshots from the earliest to the latest; one that expires meanwhile is left out.
pub(super) async fn snapshots(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let zone = Zone::parse(&table.time_zone)?;
    let paths = BranchPaths::new(&table.branch)?;
    let history = History::new(resources, &table.location, &paths);
    let Some(latest) = history.latest().await? else {
        return Ok(Rows::new());
    };
    let ids = history.ids_from_earliest().await?;
    let ids = ids.into_iter().filter(|id| *id <= latest.id);
    let snapshots = ids.map(|id| history.read_if_exists(id));
    let snapshots: Vec<Option<Snapshot>> = stream::iter(snapshots)
        .buffered(resources.io_concurrency())
        .try_collect()
        .await?;
    let snapshots = snapshots.iter().flatten();
    Ok(snapshots
        .map(|snapshot| snapshot_row(snapshot, zone))
        .collect())
}

fn snapshot_row(snapshot: &Snapshot, zone: Zone) -> Vec<Cell> {
    vec![
        snapshot.id.into(),
        snapshot.schema_id.into(),
        (&snapshot.commit_user).into(),
        snapshot.commit_identifier.into(),
        kind_text(snapshot.commit_kind).into(),
        time(zone.wall_of(snapshot.time_millis)),
        (&snapshot.base_manifest_list).into(),
        (&snapshot.delta_manifest_list).into(),
        snapshot.changelog_manifest_list.as_deref().into(),
        snapshot.total_record_count.into(),
        snapshot.delta_record_count.into(),
        snapshot.changelog_record_count.into(),
        snapshot.watermark.into(),
        snapshot.next_row_id.into(),
        snapshot.operation.as_deref().into(),
        snapshot.writer_version.as_deref().into(),
    ]
}

fn kind_text(kind: CommitKind) -> &'static str {
    match kind {
        CommitKind::Append => "APPEND",
        CommitKind::Compact => "COMPACT",
        CommitKind::Overwrite => "OVERWRITE",
        CommitKind::Analyze => "ANALYZE",
    }
}

/// The tags by name.
pub(super) async fn tags(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let zone = Zone::parse(&table.time_zone)?;
    let paths = BranchPaths::new(&table.branch)?;
    let directory = join(&table.location, &paths.tag_directory());
    let mut rows = Rows::new();
    for (name, file) in named_files(resources, &directory, "tag-").await? {
        let tag = Tag::from_json(&file).at(|| Frame::Tag(name.clone()))?;
        let snapshot = &tag.snapshot;
        rows.push(vec![
            name.into(),
            snapshot.id.into(),
            snapshot.schema_id.into(),
            time(zone.wall_of(snapshot.time_millis)),
            snapshot.total_record_count.into(),
            tag.create_time_millis.map_or(Cell::Null, time),
            tag.time_retained.map(duration_text).into(),
        ]);
    }
    Ok(rows)
}

/// The branches by name, and when they were made: the oldest time of their files, 1970 if they have none.
pub(super) async fn branches(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let zone = Zone::parse(&table.time_zone)?;
    let directory = join(&table.location, BRANCH_DIRECTORY);
    let names = resources.list_directories(&directory).await?;
    let mut rows = Rows::new();
    for name in names.iter().filter_map(|name| name.strip_prefix("branch-")) {
        let paths = BranchPaths::new(name)?;
        let schemas = join(&table.location, &paths.schema_directory());
        let times = resources.list_times(&schemas).await?;
        let oldest = times.iter().map(|(_, millis)| *millis).min();
        let created = oldest.map_or(0, |millis| zone.wall_of(millis));
        rows.push(vec![name.into(), time(created)]);
    }
    Ok(rows)
}

/// The consumers by id.
pub(super) async fn consumers(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let paths = BranchPaths::new(&table.branch)?;
    let directory = join(&table.location, &paths.consumer_directory());
    let mut rows = Rows::new();
    for (name, file) in named_files(resources, &directory, "consumer-").await? {
        let consumer = Consumer::from_json(&file).at(|| Frame::File(format!("consumer-{name}")))?;
        rows.push(vec![name.into(), consumer.next_snapshot.into()]);
    }
    Ok(rows)
}

/// The files of a directory whose names begin with `prefix`, by the rest of their names; those that go meanwhile are left
/// out.
async fn named_files(
    resources: &Resources,
    directory: &str,
    prefix: &str,
) -> Result<Vec<(String, Bytes)>> {
    let names = resources.list_names(directory).await?;
    let files = names.into_iter().filter_map(|(name, _)| {
        let rest = name.strip_prefix(prefix)?.to_owned();
        let file = resources.get_if_exists(&join(directory, &name));
        Some(async move { Ok::<_, Error>(file.await?.map(|file| (rest, file))) })
    });
    let files = stream::iter(files).buffered(resources.io_concurrency());
    files
        .try_filter_map(|file| async { Ok(file) })
        .try_collect()
        .await
}

/// A duration as Java's `Duration` writes it: `PT25H1M1.5S`.
fn duration_text(duration: Duration) -> String {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut text = "PT".to_owned();
    for (value, unit) in [(hours, 'H'), (minutes, 'M')] {
        if value > 0 {
            text.push_str(&format!("{value}{unit}"));
        }
    }
    if nanos > 0 {
        let fraction = format!("{nanos:09}");
        text.push_str(&format!("{seconds}.{}S", fraction.trim_end_matches('0')));
    } else if seconds > 0 || text == "PT" {
        text.push_str(&format!("{seconds}S"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_java_writes_them() {
        let cases = [
            (Duration::ZERO, "PT0S"),
            (Duration::from_secs(86400), "PT24H"),
            (Duration::from_millis(90_061_500), "PT25H1M1.5S"),
            (Duration::from_secs(61), "PT1M1S"),
            (Duration::from_millis(250), "PT0.25S"),
        ];
        for (duration, text) in cases {
            assert_eq!(duration_text(duration), text);
        }
    }
}
