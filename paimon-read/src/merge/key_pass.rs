//! The key pass of one section: picks of the rows that make its result, in key order, without reading a value.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::types::{BinaryViewType, StringViewType};
use arrow_row::Rows;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_io::Counter;
use paimon_meta::{Error, MergeEngine, Result};

use super::chunk::KeyPlan;
use super::deduplicate::Deduplicate;
use super::first_row::FirstRow;
use super::kernel::{Head, Keys, Sink, merge};
use super::key_file::KeyRequests;
use super::keys::{KeyWindow, Views};
use super::members::Members;
use super::picked_keys::PickedKeys;
use super::picker::{Picker, Rules};
use super::run::{Run, RunHead};
use super::versions::HeadRows;
use crate::fetches::Fetches;
use crate::window::{PickSource, Window};

/// Files whose first keys are requested before the merge reaches them.
const KEYS_AHEAD: usize = 8;
/// Most files that are decoded before the merge goes on, where it must come to all of them before any loaded window ends.
const MOST_AT_ONCE: usize = 256;

/// The key pass of one section.
pub(crate) struct KeyPass {
    plan: Arc<KeyPlan>,
    rules: Rules,
    runs: Vec<Run>,
    /// Runs whose head must be loaded before the merge can go on, the one with the least key last.
    dry: Vec<usize>,
    /// How many files are decoded the next time that the merge comes to one. It starts small, for the first rows' sake, and
    /// doubles, so that many runs do not stop the merge one by one.
    at_once: usize,
    requests: KeyRequests,
}

impl KeyPass {
    pub(crate) fn new(plan: KeyPlan, rules: Rules, runs: Vec<Run>) -> Self {
        let requests = KeyRequests {
            files: Fetches::new(),
            groups: Fetches::new(),
        };
        Self {
            plan: Arc::new(plan),
            rules,
            runs,
            dry: Vec::new(),
            at_once: KEYS_AHEAD,
            requests,
        }
    }

    async fn advance(&mut self, window: &mut Window) -> Result<bool> {
        if let Some(dry) = self.dry.last().copied() {
            self.open(dry).await?;
            self.prepare_ahead()?;
            let run = self.runs.get_mut(dry);
            let run = run.ok_or_else(|| Error::internal("no such run"))?;
            run.load(&self.plan, window, &mut self.requests).await?;
            if !run.is_dry() {
                self.dry.pop();
            }
            return Ok(true);
        }
        self.prepare_ahead()?;
        self.merge(window)
    }

    /// Opens the file that a run stands before, if nobody did.
    async fn open(&mut self, run: usize) -> Result<()> {
        let run = self.runs.get_mut(run);
        if let Some((file, run)) = run.and_then(|run| Some((run.unopened()?, run))) {
            let open = self.plan.opens.take(file).await?;
            run.prepare(&self.plan, open, &mut self.requests)?;
        }
        Ok(())
    }

    /// Requests the first keys of open files with the least keys, so that these requests overlap.
    fn prepare_ahead(&mut self) -> Result<()> {
        let next = self.dry.iter().rev().take(KEYS_AHEAD);
        for run in next.copied().collect::<Vec<_>>() {
            let Some(run) = self.runs.get_mut(run) else {
                continue;
            };
            let open = run
                .unopened()
                .and_then(|file| self.plan.opens.take_open(file));
            if let Some(open) = open {
                run.prepare(&self.plan, open?, &mut self.requests)?;
            }
        }
        if self.dry.len() >= KEYS_AHEAD {
            return Ok(());
        }
        let mut requested = self.runs.iter().filter(|run| run.is_preparing()).count();
        while requested < KEYS_AHEAD {
            let waiting = self.runs.iter_mut();
            let waiting = waiting.filter_map(|run| Some((run.unopened()?, run)));
            let next = waiting.min_by(|(_, a), (_, b)| match (a.sentinel(), b.sentinel()) {
                (Some(a), Some(b)) => a.compare(0, b, 0),
                _ => Ordering::Equal,
            });
            let Some((file, run)) = next else { break };
            let Some(open) = self.plan.opens.take_open(file) else {
                break;
            };
            run.prepare(&self.plan, open?, &mut self.requests)?;
            requested += 1;
        }
        Ok(())
    }

    /// Merges what is loaded; false when all runs are finished.
    fn merge(&mut self, window: &mut Window) -> Result<bool> {
        let live: Vec<usize> = (0..self.runs.len())
            .filter(|run| self.head(*run).is_some())
            .collect();
        let heads: Vec<LiveHead<'_>> = live.iter().filter_map(|run| self.head(*run)).collect();
        if heads.is_empty() {
            return Ok(false);
        }
        let rows: Vec<HeadRows<'_>> = heads.iter().map(|head| head.rows).collect();
        let key_column = self.plan.ordered_key.as_ref();
        let picked = match (key_column, heads.first()) {
            (Some(column), Some(head)) => PickedKeys::like(head.keys, column),
            _ => None,
        };
        let mut picker = Picker::new(self.rules, &rows, window, picked);
        let (stop, positions) = pick(&heads, &mut picker)?;
        let picked_rows = picker.picked_rows();
        if let (Some(picked), Some(column)) = (picker.finish(), key_column) {
            window.keep_ordered(picked.into_column(column)?)?;
        }
        let used_up = heads
            .iter()
            .zip(&positions)
            .map(|(head, position)| !head.sentinel && *position == head.end);
        let dry = used_up
            .enumerate()
            .filter(|(head, used_up)| *used_up || *head == stop);
        let passed: usize = heads
            .iter()
            .zip(&positions)
            .map(|(head, position)| position - head.position)
            .sum();
        let lost = passed.saturating_sub(picked_rows);
        let comes_to_file = heads.get(stop).is_some_and(|head| head.sentinel);
        let dry: Vec<usize> = dry
            .filter_map(|(head, _)| live.get(head).copied())
            .collect();
        for (run, position) in live.iter().zip(positions) {
            if let Some(run) = self.runs.get_mut(*run) {
                run.advance_to(position, window);
            }
        }
        self.dry = dry;
        if comes_to_file {
            self.come_to_more();
        }
        let metrics = self.plan.opens.opener().context().resources.metrics();
        metrics.add(Counter::RowsLost, lost as u64);
        Ok(true)
    }

    /// Adds runs whose next files the merge comes to before any loaded window ends: they will all be open then.
    fn come_to_more(&mut self) {
        let ends = self.runs.iter().filter_map(Run::loaded_end);
        let Some((end, last)) = ends.min_by(|(a, at), (b, other)| a.compare(*at, b, *other)) else {
            return;
        };
        let known = self.dry.as_slice();
        let waiting = self.runs.iter().enumerate();
        let waiting = waiting.filter(|(run, _)| !known.contains(run));
        let mut waiting: Vec<(usize, &KeyWindow)> = waiting
            .filter_map(|(number, run)| Some((number, run.sentinel()?)))
            .filter(|(_, keys)| keys.compare(0, end, last).is_le())
            .collect();
        waiting.sort_by(|(_, a), (_, b)| a.compare(0, b, 0));
        waiting.truncate(self.at_once);
        let more: Vec<usize> = waiting.iter().rev().map(|(run, _)| *run).collect();
        self.dry.splice(0..0, more);
        self.at_once = (self.at_once * 2).min(MOST_AT_ONCE);
    }

    /// What the kernel sees of a run; `None` when it is finished.
    fn head(&self, run: usize) -> Option<LiveHead<'_>> {
        match &self.runs.get(run)?.head {
            RunHead::Finished => None,
            RunHead::Sentinel(keys) => Some(LiveHead {
                keys,
                position: 0,
                end: keys.len(),
                sentinel: true,
                rows: HeadRows::none(),
            }),
            RunHead::Loaded(chunk, position) => Some(LiveHead {
                keys: &chunk.keys,
                position: *position,
                end: chunk.end,
                sentinel: false,
                rows: chunk.rows(),
            }),
        }
    }
}

impl PickSource for KeyPass {
    fn step<'a>(&'a mut self, window: &'a mut Window) -> BoxFuture<'a, Result<bool>> {
        self.advance(window).boxed()
    }
}

/// The head of a run that is not finished.
struct LiveHead<'a> {
    keys: &'a KeyWindow,
    position: usize,
    end: usize,
    sentinel: bool,
    rows: HeadRows<'a>,
}

/// Merges with the sink of the engine.
fn pick(heads: &[LiveHead<'_>], picker: &mut Picker<'_>) -> Result<(usize, Vec<usize>)> {
    match picker.rules.engine {
        MergeEngine::Deduplicate => merge_heads(heads, &mut Deduplicate(picker)),
        MergeEngine::FirstRow => merge_heads(heads, &mut FirstRow(picker)),
        _ => merge_heads(heads, &mut Members::new(picker)),
    }
}

/// Runs the kernel on the form that the section's keys have; returns the head that stopped it and all new positions.
fn merge_heads<S: Sink>(heads: &[LiveHead<'_>], sink: &mut S) -> Result<(usize, Vec<usize>)> {
    let first = heads.first().map(|head| head.keys);
    match first {
        Some(KeyWindow::Narrow(_)) => merge_form(heads, narrow, sink),
        Some(KeyWindow::Long(_)) => merge_form(heads, long, sink),
        Some(KeyWindow::Wide(_)) => merge_form(heads, wide, sink),
        Some(KeyWindow::Packed(_)) => merge_form(heads, packed, sink),
        Some(KeyWindow::Text(_)) => merge_form(heads, text, sink),
        Some(KeyWindow::Bytes(_)) => merge_form(heads, bytes, sink),
        Some(KeyWindow::Rows(_)) => merge_form(heads, rows, sink),
        None => Err(Error::internal("a merge of nothing")),
    }
}

fn merge_form<'a, K: Keys, S: Sink>(
    heads: &[LiveHead<'a>],
    form: impl Fn(&'a KeyWindow) -> Option<K>,
    sink: &mut S,
) -> Result<(usize, Vec<usize>)> {
    let typed = |head: &LiveHead<'a>| {
        let LiveHead {
            position,
            end,
            sentinel,
            ..
        } = *head;
        form(head.keys).map(|keys| Head {
            keys,
            position,
            end,
            sentinel,
        })
    };
    let typed: Option<Vec<Head<K>>> = heads.iter().map(typed).collect();
    let mut typed = typed.ok_or_else(|| Error::internal("keys of two forms in one section"))?;
    let stop = merge(&mut typed, sink)?;
    Ok((stop, typed.iter().map(|head| head.position).collect()))
}

macro_rules! form {
    ($name:ident, $variant:ident, $keys:ty, $of:expr) => {
        fn $name(window: &KeyWindow) -> Option<$keys> {
            match window {
                KeyWindow::$variant(keys) => Some($of(keys)),
                _ => None,
            }
        }
    };
}

form!(narrow, Narrow, &[i32], AsRef::as_ref);
form!(long, Long, &[i64], AsRef::as_ref);
form!(wide, Wide, &[i128], AsRef::as_ref);
form!(packed, Packed, &[u128], Vec::as_slice);
form!(text, Text, Views<'_, StringViewType>, Views);
form!(bytes, Bytes, Views<'_, BinaryViewType>, Views);
form!(rows, Rows, &Rows, AsRef::as_ref);
