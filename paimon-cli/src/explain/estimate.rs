//! What a read comes to at most, before it: told by footers and indexes, with the reader's own steps.

use paimon_io::Counter;
use paimon_meta::{Error, ErrorKind, Result, StringLayout};
use paimon_read::{Estimate, TableReader, block_on};
use serde::Serialize;

use crate::human::{count, number, size};
use crate::paper::Paper;
use crate::reading::Reading;
use crate::resolving::resources;

/// The estimate of a plan.
#[derive(Debug, Default, Serialize)]
pub(super) struct Estimated {
    /// What is left of the files that were looked at.
    #[serde(flatten)]
    pub(super) seen: Estimate,
    /// The same of all files, if all are like those.
    pub(super) all: Estimate,
    /// Whether every file of the other splits was looked at: then no read comes to more.
    pub(super) at_most: bool,
    /// Splits of which nothing is told: two states that are compared, and what nobody can read.
    pub(super) untold_splits: u64,
    /// Requests for footers, indexes and deletion vectors.
    pub(super) requests: u64,
    pub(super) requested_bytes: u64,
    /// Why there is no estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// Looks into at most `most` files of the plan, evenly over its splits. What goes wrong there is told and no error: the read
/// will meet it, the rest of an explanation need not.
///
/// # Errors
/// Those of the request.
pub(super) fn estimate(reading: &Reading, most: u64) -> Result<Estimated> {
    // Caches of its own, so that the read, if it is measured, finds nothing there.
    let resources = resources(reading.jobs);
    let request = reading.request(StringLayout::View);
    let reader = reading.row_reader_over(request, resources.clone())?;
    let mut found = Estimated::default();
    if let Err(error) = look(reading, reader.table(), most, &mut found) {
        found.error = Some(error.to_string());
    }
    found.at_most = found.error.is_none() && found.seen.files_seen == found.seen.files;
    let metrics = resources.metrics();
    found.requests = metrics.get(Counter::Requests);
    found.requested_bytes = metrics.get(Counter::RequestedBytes);
    Ok(found)
}

fn look(reading: &Reading, reader: &TableReader, most: u64, found: &mut Estimated) -> Result<()> {
    let all = reading.plan.files().len() as u64;
    let (mut files, mut rows) = (0_u64, 0_u64);
    for split in reading.plan.iter() {
        let before = share(files, most, all);
        files = files.saturating_add(split.files().len() as u64);
        let most = usize::try_from(share(files, most, all) - before).unwrap_or(usize::MAX);
        let estimate = block_on(reader.estimate(reading.task(split.index())?, most));
        match estimate {
            Ok(Some(estimate)) => {
                found.seen = found.seen.plus(estimate);
                rows = rows.saturating_add(split.row_count());
            }
            Ok(None) => found.untold_splits += 1,
            Err(error) if is_unsupported(&error) => found.untold_splits += 1,
            Err(error) => return Err(error),
        }
    }
    found.all = scaled(found.seen, rows);
    Ok(())
}

fn is_unsupported(error: &Error) -> bool {
    error.kind() == ErrorKind::Unsupported
}

/// How many of the first `files` of `all` files are looked at, where at most `most` of them are.
fn share(files: u64, most: u64, all: u64) -> u64 {
    let share = u128::from(files) * u128::from(most.min(all));
    let share = share.checked_div(u128::from(all)).unwrap_or_default();
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// Of all files with so many rows, if they are like those that were looked at.
fn scaled(seen: Estimate, rows: u64) -> Estimate {
    let part = |figure: u64, of: u64, all: u64| {
        let part = u128::from(figure) * u128::from(all);
        let part = part.checked_div(u128::from(of)).unwrap_or_default();
        u64::try_from(part).unwrap_or(u64::MAX)
    };
    if seen.files_seen == seen.files {
        return seen;
    }
    let of_files = |figure| part(figure, seen.files_seen, seen.files);
    let of_rows = |figure| part(figure, seen.rows, rows);
    Estimate {
        files: seen.files,
        files_seen: seen.files_seen,
        files_kept: of_files(seen.files_kept),
        row_groups: of_files(seen.row_groups),
        key_row_groups: of_files(seen.key_row_groups),
        row_groups_kept: of_files(seen.row_groups_kept),
        pages: of_files(seen.pages),
        pages_kept: of_files(seen.pages_kept),
        rows,
        key_rows: of_rows(seen.key_rows),
        rows_deleted: of_rows(seen.rows_deleted),
        rows_kept: of_rows(seen.rows_kept),
    }
}

/// The lines between the explanation and what was measured.
pub(super) fn lines(paper: &mut Paper, estimated: &Estimated) {
    if let Some(error) = &estimated.error {
        paper.gap();
        paper.line("estimated", &format!("nothing: {error}"));
        return;
    }
    let seen = &estimated.seen;
    if seen.files == 0 && estimated.untold_splits == 0 {
        return;
    }
    paper.gap();
    paper.line("estimated", &source(estimated));
    if seen.files_seen == 0 {
        return;
    }
    let all = &estimated.all;
    paper.line(
        "  files",
        &format!(
            "{} planned, {} to open, {} excluded by their indexes",
            number(all.files),
            number(all.files_kept),
            number(all.files.saturating_sub(all.files_kept)),
        ),
    );
    paper.line("  groups", &groups(all));
    paper.line("  rows", &rows(all, estimated.at_most));
}

/// What was looked at.
fn source(estimated: &Estimated) -> String {
    let seen = &estimated.seen;
    let all = count(seen.files, "file");
    let files = match seen.files_seen {
        0 if seen.files > 0 => format!("nothing: none of {all} is looked into"),
        0 => return untold(estimated.untold_splits),
        seen if estimated.at_most => format!("from footers and indexes of {}", count(seen, "file")),
        seen => format!(
            "from {} of {all}, as if the others were like them",
            number(seen)
        ),
    };
    let requests = match estimated.requests {
        0 => String::new(),
        requests => format!(
            "; {}, {}",
            count(requests, "request"),
            size(estimated.requested_bytes)
        ),
    };
    match estimated.untold_splits {
        0 => format!("{files}{requests}"),
        splits => format!("{files}{requests}; {}", untold(splits)),
    }
}

fn untold(splits: u64) -> String {
    format!("nothing is told of {}", count(splits, "split"))
}

fn groups(all: &Estimate) -> String {
    let kept = match all.key_row_groups {
        0 => format!("{} kept", number(all.row_groups_kept)),
        keys => format!(
            "keys read in {}, {} kept for values",
            number(keys),
            number(all.row_groups_kept)
        ),
    };
    format!(
        "{}, {kept}{}",
        count(all.row_groups, "row group"),
        pages(all.pages, all.pages_kept)
    )
}

/// What is kept of pages, where a condition tells them apart.
pub(super) fn pages(all: u64, kept: u64) -> String {
    match all {
        0 => String::new(),
        all => format!("; {} of {} kept", number(kept), count(all, "page")),
    }
}

fn rows(all: &Estimate, at_most: bool) -> String {
    let left_out = all.rows_kept.saturating_add(all.rows_deleted);
    let keys = match all.key_rows {
        0 => String::new(),
        keys => format!(", keys of {} read", number(keys)),
    };
    format!(
        "{} planned{keys}, {} skipped, {} deleted by vectors; {} {} come out",
        number(all.rows),
        number(all.rows.saturating_sub(left_out)),
        number(all.rows_deleted),
        if at_most { "at most" } else { "about" },
        number(all.rows_kept),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_looked_into_evenly() {
        let shares = |most| [10, 20, 25, 100].map(|files| share(files, most, 100));
        assert_eq!(shares(0), [0; 4]);
        assert_eq!(shares(10), [1, 2, 2, 10]);
        assert_eq!(shares(1000), [10, 20, 25, 100]);
        assert_eq!(share(0, 5, 0), 0);
    }

    #[test]
    fn what_was_not_looked_at_is_taken_to_be_alike() {
        let seen = Estimate {
            files: 100,
            files_seen: 10,
            files_kept: 5,
            row_groups: 20,
            rows: 1000,
            rows_kept: 30,
            ..Estimate::default()
        };
        let all = scaled(seen, 5000);
        assert_eq!((all.files_kept, all.row_groups), (50, 200));
        assert_eq!((all.rows, all.rows_kept), (5000, 150));
        let whole = Estimate {
            files_seen: 100,
            ..seen
        };
        assert_eq!(scaled(whole, 1000), whole);
        assert_eq!(
            scaled(
                Estimate {
                    files_seen: 0,
                    rows: 0,
                    ..seen
                },
                7
            )
            .rows,
            7
        );
    }
}
