//! Reading a table as a stream: a first plan by start-up mode, then a plan for every snapshot that has changes (RP-151).
//!
//! ```text
//! options ─ start ─▶ a state, or the snapshot to begin at ─ follow ─▶ snapshot by snapshot: skipped, or a plan
//! ```
//!
//! The caller says when to look again. Following costs what came: a snapshot, its list and its manifests; nothing of the
//! table's size.

mod consumer;
mod follow;
mod start;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use paimon_io::{Resources, join};
use paimon_meta::{
    BranchPaths, ChangelogProducer, Consumer, Error, Frame, Options, ResolvedTable, Result,
    ResultExt, Snapshot,
};
use serde::{Deserialize, Serialize};

use crate::branches::read_schemas;
use crate::plan::Plan;
use crate::scan::ScanRequest;
use crate::snapshots::History;
use crate::travel::Travel;
use crate::zone::Zone;
use start::Start;

/// How far a stream has come. Data: saved with the rows that were made of its plans, it restores the stream behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamPosition {
    /// The snapshot that is looked at next; `None` before the first plan.
    pub next_snapshot: Option<i64>,
    /// Whether a snapshot has been seen: before, a stream may wait for one that is far away.
    pub begun: bool,
    /// Watermark of the last plan, if its snapshot had one.
    pub watermark: Option<i64>,
    /// The stream has come to its end (option `scan.bounded.watermark`).
    pub ended: bool,
}

/// What a look at the table gives.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamStep {
    /// Rows to read, by the splits of a plan that is not empty but for the first one.
    Plan(Box<Plan>),
    /// Nothing new: look again later.
    NotYet,
    /// There will be no more.
    Ended,
}

/// A stream of plans.
#[derive(Debug)]
pub struct StreamScan {
    resources: Resources,
    table: Arc<ResolvedTable>,
    paths: BranchPaths,
    request: ScanRequest,
    rules: Rules,
    position: StreamPosition,
}

/// What the options say of a stream.
#[derive(Clone, Debug)]
struct Rules {
    travel: Travel,
    start: Start,
    producer: ChangelogProducer,
    /// Overwriting commits are changes.
    overwrites: bool,
    /// The stream ends at the first snapshot whose watermark is above.
    bounded_watermark: Option<i64>,
    consumer: Option<String>,
    ignore_progress: bool,
}

impl StreamScan {
    /// A stream of a table that was [resolved as one](crate::ResolveRequest::stream), from its beginning. Requests nothing.
    ///
    /// # Errors
    /// `InvalidInput` for options that no stream can begin with or that contradict each other, `Unsupported` for options
    /// that are not built.
    pub fn new(resources: Resources, table: ResolvedTable, request: ScanRequest) -> Result<Self> {
        let rules = Rules::of(&table)
            .and_then(|rules| merged_only(&table, &request).map(|()| rules))
            .at(|| Frame::Table(table.location.clone()))?;
        Ok(Self {
            paths: BranchPaths::new(&table.branch)?,
            resources,
            table: Arc::new(table),
            request,
            rules,
            position: StreamPosition::default(),
        })
    }

    /// The same stream behind a position that was saved.
    #[must_use]
    pub fn restored(mut self, position: StreamPosition) -> Self {
        self.position = position;
        self
    }

    /// The table to read the last plan with: schemas that came since are among its schemas. The schema to read with stays.
    pub fn table(&self) -> &Arc<ResolvedTable> {
        &self.table
    }

    /// How far the stream has come: behind the last plan.
    pub fn position(&self) -> &StreamPosition {
        &self.position
    }

    /// Looks for the next plan. Snapshots without changes are passed over. If the future is dropped, the position stays
    /// behind the last plan.
    ///
    /// # Errors
    /// `NotFound` if the next snapshot has expired; the message says how far the stream is behind. Else those of planning.
    pub async fn next_step(&mut self) -> Result<StreamStep> {
        if self.position.ended {
            return Ok(StreamStep::Ended);
        }
        let step = match self.position.next_snapshot {
            None => self.first().await,
            Some(next) => self.follow(next).await,
        };
        step.at(|| Frame::Table(self.table.location.clone()))
    }

    /// Writes the position to the file of the consumer that the option `consumer-id` names, so that the snapshots that it
    /// still needs do not expire and another stream of that name goes on from here. Before the first plan there is
    /// nothing to write.
    ///
    /// # Errors
    /// `InvalidInput` if the option is not set, or `Storage`.
    pub async fn store_consumer(&self) -> Result<()> {
        let key = Options::CONSUMER_ID.key;
        let Some(name) = &self.rules.consumer else {
            return Err(Error::invalid_input(format!("option {key} is not set"))
                .at(Frame::Option(key.to_owned())));
        };
        let Some(next_snapshot) = self.position.next_snapshot else {
            return Ok(());
        };
        let path = join(&self.table.location, &self.paths.consumer(name)?);
        let content = consumer::to_json(Consumer { next_snapshot });
        self.resources.put(&path, content.into()).await
    }

    fn history(&self) -> History<'_> {
        History::new(&self.resources, &self.table.location, &self.paths)
    }

    fn ends_at(&self, snapshot: &Snapshot) -> bool {
        let bound = self.rules.bounded_watermark;
        let mark = snapshot.effective_watermark();
        mark.zip(bound).is_some_and(|(mark, bound)| mark > bound)
    }

    /// Reads the schemas again if a snapshot has one that is not known.
    async fn know_schema(&mut self, snapshot: &Snapshot) -> Result<()> {
        if self.table.schemas.contains_key(&snapshot.schema_id) {
            return Ok(());
        }
        let schemas = read_schemas(&self.resources, &self.table.location, &self.paths).await?;
        Arc::make_mut(&mut self.table).schemas = schemas;
        Ok(())
    }
}

impl Rules {
    fn of(table: &ResolvedTable) -> Result<Self> {
        let options = &table.options;
        let zone = Zone::parse(&table.time_zone)?;
        let delay = "streaming.read.snapshot.delay";
        if options.get(delay).is_some() {
            return Err(
                Error::unsupported(format!("option {delay}")).at(Frame::Option(delay.to_owned()))
            );
        }
        let travel = Travel::from_options(options, zone, true)?;
        let producer = options.value(&Options::CHANGELOG_PRODUCER)?;
        Ok(Self {
            start: Start::of(options)?,
            travel,
            producer,
            overwrites: overwrites(table, producer)?,
            bounded_watermark: options.value(&Options::SCAN_BOUNDED_WATERMARK)?,
            consumer: options.value(&Options::CONSUMER_ID)?,
            ignore_progress: options.value(&Options::CONSUMER_IGNORE_PROGRESS)?,
        })
    }
}

/// The top level of a table with a key has no changes, only states.
fn merged_only(table: &ResolvedTable, request: &ScanRequest) -> Result<()> {
    match request.read_optimized && table.schema.has_primary_key() {
        true => Err(Error::invalid_input(
            "$ro of a table with a primary key is no stream: it shows states of the top level",
        )
        .with_hint("the table itself can be read as a stream")),
        false => Ok(()),
    }
}

/// Whether overwriting commits are changes. With changelogs of compactions they would be there twice.
fn overwrites(table: &ResolvedTable, producer: ChangelogProducer) -> Result<bool> {
    let option = &Options::STREAMING_READ_OVERWRITE;
    let wanted = table.options.value(option)?;
    let fault = |message: String| {
        Err(Error::invalid_input(message).at(Frame::Option(option.key.to_owned())))
    };
    if !table.schema.has_primary_key() {
        let other = &Options::STREAMING_READ_APPEND_OVERWRITE;
        return match wanted {
            true => fault(format!(
                "option {} is for tables with a primary key, of this table {} shows what overwrites add",
                option.key, other.key
            )),
            false => table.options.value(other),
        };
    }
    let twice = matches!(
        producer,
        ChangelogProducer::Lookup | ChangelogProducer::FullCompaction
    );
    if wanted && twice {
        return fault(format!(
            "option {} would show changes twice, they are in the changelog of compactions too",
            option.key
        ));
    }
    Ok(wanted)
}
