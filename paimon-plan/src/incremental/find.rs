//! From the bounds of changes to the snapshots that hold them.

use paimon_meta::{ChangeFiles, ChangeRange, Error, Frame, Options, Result, Snapshot};

use super::auto_tag::TagPeriod;
use super::bounds::{Bounds, Incremental, fault};
use crate::snapshots::{Found, History, ranges, there_are};

/// The changes of the latest snapshot (RP-021).
///
/// # Errors
/// `Corrupt` and `Storage` as the files are.
pub(crate) async fn latest_delta(history: &History<'_>) -> Result<Found> {
    Ok(match history.latest().await? {
        None => nothing(None),
        Some(latest) => {
            let after = latest.id.saturating_sub(1);
            files(latest, after, ChangeFiles::Delta)
        }
    })
}

/// The changes between bounds.
///
/// # Errors
/// `NotFound` and `InvalidInput` where the reference fails, with what there is; `Corrupt` and `Storage` as the files are.
pub(crate) async fn find(history: &History<'_>, wanted: &Incremental) -> Result<Found> {
    match &wanted.bounds {
        Bounds::Names {
            from,
            to,
            tags_as_ids,
        } => between_names(history, (from, to), *tags_as_ids, wanted.files).await,
        Bounds::Times { from, to } => between_times(history, (*from, *to), wanted.files).await,
        Bounds::AutoTag(name, period) => to_auto_tag(history, name, *period).await,
    }
}

fn nothing(snapshot: Option<Snapshot>) -> Found {
    Found {
        snapshot,
        created_since: None,
        changes: Some(ChangeRange::Nothing),
    }
}

fn files(to: Snapshot, after: i64, files: ChangeFiles) -> Found {
    Found {
        snapshot: Some(to),
        created_since: None,
        changes: Some(ChangeRange::Files { after, files }),
    }
}

fn diff(from: Snapshot, to: Snapshot) -> Found {
    Found {
        snapshot: Some(to),
        created_since: None,
        changes: Some(ChangeRange::Diff(Box::new(from))),
    }
}

async fn between_names(
    history: &History<'_>,
    (from, to): (&str, &str),
    tags_as_ids: bool,
    mode: Option<ChangeFiles>,
) -> Result<Found> {
    let key = Options::INCREMENTAL_BETWEEN.key;
    let tags = (
        history.tag_if_exists(from).await?,
        history.tag_if_exists(to).await?,
    );
    if let (Some(start), Some(end)) = tags {
        if tags_as_ids {
            let mode = mode.ok_or_else(|| {
                let other = Options::INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT.key;
                fault(other, format!("option {other} has no meaning for a diff"))
            })?;
            return between_ids(history, start.id, end.id, mode).await;
        }
        if end.id < start.id {
            let (start, end) = (start.id, end.id);
            return Err(fault(
                key,
                format!("tag {to:?} is of snapshot {end}, before tag {from:?} of snapshot {start}"),
            ));
        }
        return Ok(if start.id == end.id {
            nothing(Some(end))
        } else {
            diff(start, end)
        });
    }
    let (Ok(start), Ok(end)) = (from.parse::<i64>(), to.parse::<i64>()) else {
        let tags = there_are("tags", &history.tags().await?.join(", "));
        let snapshots = there_are("snapshots", &ranges(&history.ids().await?));
        return Err(Error::not_found(format!(
            "{from:?} and {to:?} are neither two tags nor two snapshot ids, {tags} and {snapshots}"
        ))
        .at(Frame::Option(key.to_owned())));
    };
    if end < start {
        return Err(fault(
            key,
            format!("option {key} ends at snapshot {end}, before it begins at {start}"),
        ));
    }
    if start == end || history.earliest().await?.is_none() {
        return Ok(nothing(history.latest().await?));
    }
    match mode {
        None => Ok(diff(history.by_id(start).await?, history.by_id(end).await?)),
        Some(mode) => between_ids(history, start, end, mode).await,
    }
}

/// A range of ids, of which the first need not exist (RP-152).
async fn between_ids(
    history: &History<'_>,
    start: i64,
    end: i64,
    mode: ChangeFiles,
) -> Result<Found> {
    let (Some(earliest), Some(latest)) = (history.earliest().await?, history.latest().await?)
    else {
        return Ok(nothing(None));
    };
    if start < earliest.id.saturating_sub(1) || end > latest.id {
        return Err(Error::not_found(format!(
            "changes after snapshot {start} up to {end} are not all there, the table has snapshots {} to {}",
            earliest.id, latest.id
        ))
        .at(Frame::Option(Options::INCREMENTAL_BETWEEN.key.to_owned())));
    }
    if start >= end {
        return Ok(nothing(Some(latest)));
    }
    let to = if end == latest.id {
        latest
    } else {
        history.by_id(end).await?
    };
    Ok(files(to, start, mode))
}

async fn between_times(
    history: &History<'_>,
    (from, to): (i64, i64),
    mode: Option<ChangeFiles>,
) -> Result<Found> {
    let (Some(earliest), Some(latest)) = (history.earliest().await?, history.latest().await?)
    else {
        return Ok(nothing(None));
    };
    if from == to || from > latest.time_millis || to < earliest.time_millis {
        return Ok(nothing(Some(latest)));
    }
    let start = history.at_or_before(from).await?;
    let end = history.at_or_before(to).await?.unwrap_or(latest);
    Ok(match (mode, start) {
        (Some(mode), Some(start)) if earliest.time_millis <= from => {
            if start.id >= end.id {
                nothing(Some(end))
            } else {
                files(end, start.id, mode)
            }
        }
        (Some(mode), _) => files(end, earliest.id.saturating_sub(1), mode),
        (None, Some(start)) => diff(start, end),
        // What the earliest snapshot added is no change, even if there was none before it: the reference starts there.
        (None, None) => diff(earliest, end),
    })
}

/// The difference to a tag from the nearest earlier one, both made automatically (RP-153).
async fn to_auto_tag(history: &History<'_>, name: &str, period: TagPeriod) -> Result<Found> {
    let Some(time) = period.minutes(name) else {
        let key = Options::INCREMENTAL_TO_AUTO_TAG.key;
        return Err(fault(
            key,
            format!("tag {name:?} was not made automatically: its name is no time of that period"),
        ));
    };
    let Some(end) = history.tag_if_exists(name).await? else {
        return Ok(nothing(history.latest().await?));
    };
    let tags = history.tags().await?;
    let earlier = tags
        .iter()
        .filter_map(|tag| Some((period.minutes(tag).filter(|at| *at < time)?, tag)));
    let start = match earlier.max_by_key(|(at, _)| *at) {
        Some((_, tag)) => history.tag_if_exists(tag).await?,
        None => None,
    };
    Ok(match start {
        Some(start) => diff(start, end),
        None => nothing(Some(end)),
    })
}
