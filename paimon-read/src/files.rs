//! Picks of files that are read as they are: every row of every row group that is wanted and not deleted, in file order.
//!
//! Serves raw splits, and sections of one file without retract rows inside a merge split.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_format::RowRanges;
use paimon_io::Counter;
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
    /// Rows of the part that is read.
    part: Option<RowRanges>,
    /// Those of them that may match.
    rows: RowRanges,
    next_group: usize,
}

/// Picks rows of files.
#[derive(Debug)]
pub(crate) struct FilePicks {
    opens: Opens,
    columns: Arc<ColumnPlan>,
    files: VecDeque<(FileNumber, FileRows)>,
    current: Option<Current>,
}

impl FilePicks {
    pub(crate) fn new(opens: Opens, columns: Arc<ColumnPlan>, mut files: Vec<FileRows>) -> Self {
        if columns.nothing_passes {
            files.clear();
        }
        let add = |file: FileRows| {
            let number = opens.add(ComingFile {
                meta: Arc::clone(&file.meta),
                columns: Arc::clone(&columns),
                may_stay_closed: true,
                rows_before: opens.rows(),
            });
            (number, file)
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
        let file = &current.file;
        let rows = file.rows_of_group(group, current.part.as_ref(), &current.rows)?;
        rows.count(self.opens.metrics());
        if rows.first.is_empty() {
            return Ok(true);
        }
        let piece = window.open(Arc::clone(file), group, Arc::clone(&self.columns))?;
        window.pick_rows(piece, &rows.first)?;
        window.pass(piece, file.group(group)?.row_count);
        Ok(true)
    }

    async fn next_file(&mut self) -> Result<bool> {
        let Some((number, FileRows { meta, rows: part })) = self.files.pop_front() else {
            return Ok(false);
        };
        let metrics = self.opens.metrics();
        let Some(file) = self.opens.take(number).await? else {
            let rows = part.map_or(meta.row_count, |part| part.row_count());
            metrics.add(Counter::FilesSkipped, 1);
            metrics.add(Counter::RowsSkipped, rows);
            return Ok(true);
        };
        file.pages.count(metrics);
        self.current = Some(Current {
            rows: file.rows_of_part(part.as_ref()),
            part,
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
