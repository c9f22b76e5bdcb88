//! Picks of files that are read as they are: every row of every row group that is wanted and not deleted, in file order.
//!
//! Serves raw splits, and sections of one file without retract rows inside a merge split.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_format::RowRanges;
use paimon_meta::{DataFileMeta, Result};

use crate::columns::ColumnPlan;
use crate::open::OpenFile;
use crate::opens::{ComingFile, FileNumber, Opens};
use crate::window::{PickSource, Window};

/// A file, and which rows of it are read; `None` is all.
#[derive(Clone, Debug)]
pub(crate) struct FileRows {
    pub(crate) meta: Arc<DataFileMeta>,
    pub(crate) rows: Option<RowRanges>,
}

/// A file whose row groups are handed out one by one.
#[derive(Debug)]
struct Current {
    file: Arc<OpenFile>,
    rows: RowRanges,
    next_group: usize,
}

/// Picks rows of files.
#[derive(Debug)]
pub(crate) struct FilePicks {
    opens: Opens,
    columns: Arc<ColumnPlan>,
    files: VecDeque<(FileNumber, Option<RowRanges>)>,
    current: Option<Current>,
}

impl FilePicks {
    pub(crate) fn new(opens: Opens, columns: Arc<ColumnPlan>, mut files: Vec<FileRows>) -> Self {
        if columns.nothing_passes {
            files.clear();
        }
        let add = |file: FileRows| {
            let number = opens.add(ComingFile {
                meta: file.meta,
                columns: Arc::clone(&columns),
                may_stay_closed: true,
                rows_before: opens.rows(),
            });
            (number, file.rows)
        };
        let files = files.into_iter().map(add).collect();
        Self {
            opens,
            columns,
            files,
            current: None,
        }
    }

    async fn next_group(&mut self, window: &mut Window) -> Result<bool> {
        let Some(current) = &mut self.current else {
            return self.next_file().await;
        };
        if current.next_group == current.file.data.layout().groups.len() {
            self.current = None;
            return Ok(true);
        }
        let group = current.next_group;
        current.next_group += 1;
        let layout = current.file.group(group)?;
        let rows = layout.first_row..layout.first_row + u64::from(layout.row_count);
        let rows = RowRanges::from_range(rows).intersect(&current.rows);
        let rows = current.file.deletions.left_of(rows);
        if rows.is_empty() {
            return Ok(true);
        }
        let piece = window.open(Arc::clone(&current.file), group, Arc::clone(&self.columns))?;
        window.pick_rows(piece, &rows)?;
        window.pass(piece, layout.row_count);
        Ok(true)
    }

    async fn next_file(&mut self) -> Result<bool> {
        let Some((number, rows)) = self.files.pop_front() else {
            return Ok(false);
        };
        let file = self.opens.take(number).await?;
        self.current = file.map(|file| Current {
            rows: match rows {
                Some(rows) => rows.intersect(&file.may_match),
                None => file.may_match.clone(),
            },
            file,
            next_group: 0,
        });
        Ok(true)
    }
}

impl PickSource for FilePicks {
    fn step<'a>(&'a mut self, window: &'a mut Window) -> BoxFuture<'a, Result<bool>> {
        self.next_group(window).boxed()
    }
}
