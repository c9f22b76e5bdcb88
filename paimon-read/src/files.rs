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
use crate::fetches::{Fetches, Ticket};
use crate::open::{FileOpener, OpenFile};
use crate::window::{PickSource, Window};

/// Files whose opening is requested before they are needed.
const FILES_AHEAD: usize = 4;

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
    opener: FileOpener,
    columns: Arc<ColumnPlan>,
    files: VecDeque<FileRows>,
    opens: Fetches<Option<Arc<OpenFile>>>,
    opening: VecDeque<(Ticket, Option<RowRanges>)>,
    current: Option<Current>,
}

impl FilePicks {
    pub(crate) fn new(opener: FileOpener, columns: Arc<ColumnPlan>, files: Vec<FileRows>) -> Self {
        let files = if columns.nothing_passes {
            VecDeque::new()
        } else {
            files.into()
        };
        Self {
            opener,
            columns,
            files,
            opens: Fetches::new(),
            opening: VecDeque::new(),
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
        while self.opening.len() < FILES_AHEAD
            && let Some(FileRows { meta, rows }) = self.files.pop_front()
        {
            let open = self.opener.open_matching(&meta, &self.columns);
            self.opening.push_back((self.opens.start(open), rows));
        }
        let Some((ticket, rows)) = self.opening.pop_front() else {
            return Ok(false);
        };
        let file = self.opens.wait(ticket).await?;
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
