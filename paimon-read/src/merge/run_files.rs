//! The files of a section as its runs read them.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use paimon_meta::{DataFileMeta, Error, Result};

use super::chunk::{KeyPlan, RunFile};
use super::needs::FileNeeds;
use super::section::KeyedFile;
use crate::opens::ComingFile;
use crate::parts::SpanOf;

/// A file of a run before it has a number.
struct Place {
    run: usize,
    meta: Arc<DataFileMeta>,
    needs: FileNeeds,
    /// Rows of sections before, and of its run: rows of other runs may come later.
    rows_before: u64,
}

/// Runs of files with the needs of each, which are in the same order. The files are added to those that will be opened:
/// a merge comes to them by their least keys.
///
/// # Errors
/// `Internal` if there are fewer needs than files.
pub(super) fn run_files(
    runs: Vec<Vec<KeyedFile>>,
    needs: Vec<FileNeeds>,
    plan: &KeyPlan,
    span: &SpanOf,
) -> Result<Vec<VecDeque<RunFile>>> {
    let opens = &plan.opens;
    let (mut needs, before) = (needs.into_iter(), opens.rows());
    let mut files = Vec::new();
    let mut found: Vec<VecDeque<RunFile>> = Vec::with_capacity(runs.len());
    for (run, metas) in runs.into_iter().enumerate() {
        found.push(VecDeque::with_capacity(metas.len()));
        let mut rows_before = before;
        for KeyedFile { meta } in metas {
            let needs = needs.next();
            let needs = needs.ok_or_else(|| Error::internal("needs of a file"))?;
            let rows = meta.row_count;
            files.push(Place {
                run,
                meta,
                needs,
                rows_before,
            });
            rows_before = rows_before.saturating_add(rows);
        }
    }
    // Stable: within a run files stand in key order already. All keys have been decoded before.
    files.sort_by(|a, b| {
        let order = span.compare(&a.meta.min_key, &b.meta.min_key);
        order.unwrap_or(Ordering::Equal)
    });
    for place in files {
        let number = opens.add(ComingFile {
            meta: Arc::clone(&place.meta),
            columns: Arc::clone(&plan.columns),
            may_stay_closed: false,
            rows_before: place.rows_before,
        });
        if let Some(run) = found.get_mut(place.run) {
            run.push_back(RunFile {
                meta: place.meta,
                needs: place.needs,
                number,
            });
        }
    }
    Ok(found)
}
