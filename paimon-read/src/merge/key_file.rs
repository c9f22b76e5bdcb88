//! Keys of one file, row group by row group.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use paimon_format::{GroupBatches, RowRanges, next_batch};
use paimon_io::Counter;
use paimon_meta::{Error, Result, StringLayout};

use super::chunk::{KeyChunk, KeyPlan, RunFile};
use super::whole::{Wholeness, wholeness};
use crate::evolve::{FileScan, Wanted};
use crate::fetches::{Fetches, Ticket};
use crate::filter_pass::restricted;
use crate::group_rows::Pages;
use crate::open::OpenFile;
use crate::positions::Positions;
use crate::window::{Decoded, JOINED_ROWS, Window};

/// Requests of a key pass in flight.
#[derive(Debug)]
pub(crate) struct KeyRequests {
    pub(crate) files: Fetches<Reading>,
    pub(crate) groups: Fetches<GroupBatches>,
}

/// A file of which keys are being read.
pub(crate) struct Reading {
    pub(super) file: RunFile,
    open: Arc<OpenFile>,
    scan: FileScan,
    /// Row groups that are left, with the rows to read of them.
    groups: VecDeque<(usize, RowRanges)>,
    /// What is known of the values of each row group; empty if nothing is.
    values: Vec<Wholeness>,
    /// The group being decoded.
    group: Option<GroupKeys>,
    /// Keys of the first group.
    first: Option<GroupBatches>,
    /// Keys of the next group, requested.
    ahead: Option<Ticket>,
}

struct GroupKeys {
    number: usize,
    piece: u32,
    first_row: u64,
    row_count: u32,
    /// Rows whose keys count; others are decoded where skipping them costs more.
    rows: RowRanges,
    batches: GroupBatches,
}

/// What a step of reading keys gave.
pub(super) enum Next {
    /// A window of keys.
    Keys(Box<KeyChunk>),
    /// Nothing yet.
    Nothing,
    /// The file has no more.
    End,
}

impl Reading {
    pub(super) async fn new(plan: &KeyPlan, file: RunFile, open: Arc<OpenFile>) -> Result<Self> {
        let mut wanted = plan.decoded.clone();
        wanted.extend(file.needs.sequence.then_some(Wanted::Sequence));
        wanted.extend(file.needs.kind.then_some(Wanted::Kind));
        let scan = plan
            .opens
            .opener()
            .scan(&file.meta, &wanted, plan.batch_size, StringLayout::View)?
            .ok_or_else(|| Error::internal("no keys"))?;
        let keys = plan
            .opens
            .opener()
            .may_match(&file.meta, &open.data, plan.may_match.as_ref())
            .await?;
        let metrics = plan.opens.metrics();
        open.pages.plus(Pages::of(&keys)).count(metrics);
        let mut groups = VecDeque::new();
        for group in 0..open.data.layout().groups.len() {
            let rows = open.rows_of_group(group, None, &keys.rows)?;
            rows.count(metrics);
            if !rows.first.is_empty() {
                groups.push_back((group, rows.first));
            }
        }
        let values = if plan.newest_decides {
            known_values(plan, &open, &scan).await?
        } else {
            Vec::new()
        };
        let mut reading = Self {
            file,
            open,
            scan,
            groups,
            values,
            group: None,
            first: None,
            ahead: None,
        };
        if let Some(keys) = reading.fetch(plan) {
            reading.first = Some(keys.await?);
        }
        Ok(reading)
    }

    /// Decodes the next batch of keys.
    pub(super) async fn next_batch(
        &mut self,
        plan: &KeyPlan,
        window: &mut Window,
        requests: &mut KeyRequests,
    ) -> Result<Next> {
        if self.group.is_none() && !self.next_group(plan, window, requests).await? {
            return Ok(Next::End);
        }
        let Some(group) = self.group.as_mut() else {
            return Ok(Next::End);
        };
        let Some(item) = next_batch(&mut group.batches).await else {
            window.pass(group.piece, group.row_count);
            self.group = None;
            return Ok(Next::Nothing);
        };
        let (rows, batch) = item?;
        plan.count(Counter::RowsDecoded, rows.row_count());
        let (columns, mut faults) = self.scan.decode(&batch)?;
        let (rows, columns) = restricted(rows, &group.rows, columns, &mut faults)?;
        faults.check(|_| true)?;
        let positions = Positions::new(&rows, group.first_row)?;
        let piece = group.piece;
        let Some((positions, columns)) = plan.filtered(positions, columns)? else {
            return Ok(Next::Nothing);
        };
        if plan.ordered_key.is_none() && !plan.columns.early.is_empty() {
            window.keep_early(
                piece,
                Decoded::new(positions.clone(), plan.early(&columns, &self.file)?),
            );
        }
        window.may_pick(positions.len());
        let values = self.values.get(group.number).copied().unwrap_or_default();
        plan.chunk((piece, values), positions, &columns, &self.file)
            .map(|chunk| Next::Keys(Box::new(chunk)))
    }

    /// Leaves the file: no row from here on is picked.
    pub(super) fn leave(self, window: &mut Window) {
        if let Some(group) = self.group {
            window.pass(group.piece, group.row_count);
        }
    }

    /// Goes on to the next row group; requests the one after it.
    async fn next_group(
        &mut self,
        plan: &KeyPlan,
        window: &mut Window,
        requests: &mut KeyRequests,
    ) -> Result<bool> {
        if self.groups.is_empty() {
            return Ok(false);
        }
        let (first, ahead) = (self.first.take(), self.ahead.take());
        let Some((group, rows)) = self.groups.pop_front() else {
            return Ok(false);
        };
        self.ahead = self.fetch(plan).map(|keys| requests.groups.start(keys));
        let batches = match (first, ahead) {
            (Some(keys), _) => keys,
            (None, Some(ticket)) => requests.groups.wait(&ticket).await?,
            (None, None) => return Err(Error::internal("keys were not asked for")),
        };
        let piece = window.open(Arc::clone(&self.open), group, Arc::clone(&plan.columns))?;
        let layout = self.open.group(group)?;
        let outside = Positions::new(&rows, layout.first_row)?;
        outside.rows(0, 1, |row, _| window.pass(piece, row));
        window.close(piece, outside.end());
        self.group = Some(GroupKeys {
            number: group,
            piece,
            first_row: layout.first_row,
            row_count: layout.row_count,
            rows,
            batches,
        });
        Ok(true)
    }

    /// Asks for the keys of the next row group, if one is left.
    fn fetch(&self, plan: &KeyPlan) -> Option<BoxFuture<'static, Result<GroupBatches>>> {
        let (group, rows) = self.groups.front()?;
        plan.count(Counter::RowGroupsFetched, 1);
        let rows = rows.coarsened(u64::from(JOINED_ROWS));
        Some(self.open.data.fetch(*group, &rows, &self.scan.spec))
    }
}

/// What is known of the values of each row group: of the columns of the value pass, and of those of `sequence.field`.
async fn known_values(plan: &KeyPlan, open: &OpenFile, keys: &FileScan) -> Result<Vec<Wholeness>> {
    let mut known = wholeness(&*open.data, keys, &plan.decoded).await?;
    if let Some(late) = &open.late {
        let values = wholeness(&*open.data, late, &plan.columns.late).await?;
        for (group, values) in known.iter_mut().zip(values) {
            group.whole &= values.whole;
            group.sound &= values.sound;
        }
    }
    Ok(known)
}
