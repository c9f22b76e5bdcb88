//! From the command line to a stream of planned reads.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use paimon_meta::{DataField, Error, Result, StringLayout};
use paimon_plan::{StreamScan, StreamStep};
use paimon_read::{RowKinds, block_on};

use crate::args::Selection;
use crate::failure::Failure;
use crate::reading::{Asked, Reading};

/// A stream of plans, each to be read like one of its own. Kinds are always part of the rows.
#[derive(Debug)]
pub(crate) struct Following {
    asked: Asked,
    scan: StreamScan,
}

/// What a look at the table gives.
#[derive(Debug)]
pub(crate) enum Next {
    /// A plan to read.
    Reading(Box<Reading>),
    /// Nothing new.
    NotYet,
    /// There will be no more.
    Ended,
}

impl Following {
    /// Resolves what the command line asks for.
    ///
    /// # Errors
    /// As [`Reading::open`].
    pub(crate) fn open(selection: &Selection) -> Result<Self, Failure> {
        let (mut asked, scan_request) = Asked::of(selection, true)?;
        if asked.row_kinds == RowKinds::Drop && !asked.has_view() {
            asked.row_kinds = RowKinds::Show;
        }
        let table = asked.table.as_ref().clone();
        let scan = StreamScan::new(asked.resources.clone(), table, scan_request)?;
        Ok(Self { asked, scan })
    }

    /// Looks for the next plan.
    ///
    /// # Errors
    /// Those of planning.
    pub(crate) fn next(&mut self) -> Result<Next> {
        Ok(match block_on(self.scan.next_step())? {
            StreamStep::NotYet => Next::NotYet,
            StreamStep::Ended => Next::Ended,
            StreamStep::Plan(plan) => {
                self.asked.table = Arc::clone(self.scan.table());
                Next::Reading(Box::new(self.asked.clone().with(*plan)))
            }
        })
    }

    /// Writes how far the stream has come to the file of its consumer.
    ///
    /// # Errors
    /// `InvalidInput` if no consumer is named, or `Storage`.
    pub(crate) fn store_consumer(&self) -> Result<()> {
        block_on(self.scan.store_consumer())
    }

    /// The columns of the output in order, row kinds left out.
    pub(crate) fn fields(&self) -> Vec<DataField> {
        self.asked.fields()
    }

    /// Whether and how kinds are part of the rows.
    pub(crate) fn row_kinds(&self) -> RowKinds {
        self.asked.row_kinds
    }

    /// Schema of the rows.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) fn schema(&self, strings: StringLayout) -> Result<SchemaRef> {
        self.asked.schema(strings)
    }
}

/// A command that shows one plan.
///
/// # Errors
/// Usage if a stream is asked for.
pub(crate) fn refuse_stream(selection: &Selection) -> Result<(), Failure> {
    if selection.stream {
        return Err(Failure::Usage(Error::invalid_input(
            "--stream is for scan and plan",
        )));
    }
    Ok(())
}
