//! From the command line to a planned read, the same for all commands.
//!
//! ```text
//! Selection ─▶ Opened: condition parsed, table resolved ─▶ Reading: planned, with the request for its rows
//! ```

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use paimon_io::Resources;
use paimon_meta::{
    DataField, Error, ErrorKind, FieldId, Frame, ResolvedTable, Result, Split, StringLayout,
    TablePredicate, TableSchema,
};
use paimon_plan::{Plan, ScanRequest, SystemTable, Table, TableLocation, plan};
use paimon_read::{
    ChangelogTable, ChangelogView, FineTimestamps, ReadRequest, ReadTask, RowKinds, TableReader,
    block_on,
};

use crate::args::Selection;
use crate::condition::Condition;
use crate::failure::Failure;
use crate::resolving::{jobs, resolve_as};
use crate::row_reader::RowReader;
use crate::state::scan_request;

/// The view that rows are seen through, and the condition on it.
type View = Option<(ChangelogTable, Option<TablePredicate>)>;

/// What the command line asks for, of a table that was resolved.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) resources: Resources,
    pub(crate) table: Arc<ResolvedTable>,
    /// Columns asked for; `None` is all.
    projection: Option<Vec<FieldId>>,
    view: View,
    limit: Option<u64>,
    pub(crate) row_kinds: RowKinds,
    /// Unit of timestamps of 7 to 9 digits.
    fine_timestamps: FineTimestamps,
    pub(crate) jobs: NonZeroUsize,
}

impl Asked {
    /// Resolves the table, as a stream or not.
    ///
    /// # Errors
    /// Usage for a condition that is no SQL; else those of resolving.
    pub(crate) fn of(selection: &Selection, stream: bool) -> Result<(Self, ScanRequest), Failure> {
        let condition = selection.condition.as_deref().map(Condition::parse);
        let condition = condition.transpose().map_err(Failure::Usage)?;
        let system = TableLocation::parse(&selection.table)?.system_table;
        let which = changelog_table(selection, system, stream)?;
        let (resources, table) = resolve_as(selection, stream)?;
        let seen = which.map(|which| which.schema(&table.schema));
        let schema = seen.as_ref().unwrap_or(&table.schema);
        let predicate = condition
            .map(|condition| condition.on(schema))
            .transpose()?;
        let projection = selection.columns.as_ref().map(|names| {
            let ids = names
                .0
                .iter()
                .map(|name| schema.field(name).map(|field| field.id));
            ids.collect::<Result<Vec<_>>>()
        });
        let projection = projection.transpose()?;
        let asked = ReadRequest {
            projection: projection.clone(),
            predicate: predicate.clone(),
            limit: selection.limit,
            ..ReadRequest::default()
        };
        let view = which.map(|which| ChangelogView::new(which, &table.schema, &asked));
        let scan = match view.transpose()? {
            None => scan_request(selection, predicate.clone(), selection.limit)?,
            Some(view) => scan_request(selection, view.predicate().cloned(), view.limit())?,
        };
        let scan = ScanRequest {
            read_optimized: system == Some(SystemTable::ReadOptimized),
            ..scan
        };
        let asked = Self {
            resources,
            table: Arc::new(table),
            projection,
            view: which.map(|which| (which, predicate)),
            limit: selection.limit,
            // The rows of a view say it themselves.
            row_kinds: match which {
                None => row_kinds(selection),
                Some(_) => RowKinds::Drop,
            },
            fine_timestamps: if selection.micros {
                FineTimestamps::Microseconds
            } else {
                FineTimestamps::Nanoseconds
            },
            jobs: jobs(selection),
        };
        Ok((asked, scan))
    }

    /// The same with a plan.
    pub(crate) fn with(self, plan: Plan) -> Reading {
        Reading {
            resources: self.resources,
            table: self.table,
            plan,
            projection: self.projection,
            view: self.view,
            limit: self.limit,
            row_kinds: self.row_kinds,
            fine_timestamps: self.fine_timestamps,
            jobs: self.jobs,
        }
    }

    /// The columns of the output in order, row kinds left out.
    pub(crate) fn fields(&self) -> Vec<DataField> {
        fields(&self.table, &self.view, self.projection.as_deref())
    }

    /// Whether the rows are seen through a view, and so are not those of the table.
    pub(crate) fn has_view(&self) -> bool {
        self.view.is_some()
    }

    /// A request for all rows that satisfy a condition.
    pub(crate) fn request(
        &self,
        predicate: Option<TablePredicate>,
        strings: StringLayout,
    ) -> ReadRequest {
        ReadRequest {
            projection: self.projection.clone(),
            predicate,
            strings,
            row_kinds: self.row_kinds,
            fine_timestamps: self.fine_timestamps,
            ..ReadRequest::default()
        }
    }

    /// Schema of the rows.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) fn schema(&self, strings: StringLayout) -> Result<SchemaRef> {
        let request = self.request(None, strings);
        if let Some((which, _)) = &self.view {
            return ChangelogView::new(*which, &self.table.schema, &request)
                .map(|view| view.schema());
        }
        let table = Arc::clone(&self.table);
        TableReader::new(table, request, self.resources.clone()).map(|reader| reader.schema())
    }
}

fn fields(table: &ResolvedTable, view: &View, projection: Option<&[FieldId]>) -> Vec<DataField> {
    let seen = view.as_ref().map(|(which, _)| which.schema(&table.schema));
    let schema = seen.as_ref().unwrap_or(&table.schema);
    match projection {
        None => schema.fields.clone(),
        Some(ids) => ids
            .iter()
            .filter_map(|id| schema.field_by_id(*id).cloned())
            .collect(),
    }
}

/// A read that was resolved and planned.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) resources: Resources,
    pub(crate) table: Arc<ResolvedTable>,
    pub(crate) plan: Plan,
    /// Columns asked for; `None` is all.
    projection: Option<Vec<FieldId>>,
    view: View,
    pub(crate) limit: Option<u64>,
    pub(crate) row_kinds: RowKinds,
    /// Unit of timestamps of 7 to 9 digits.
    fine_timestamps: FineTimestamps,
    pub(crate) jobs: NonZeroUsize,
}

impl Reading {
    /// Resolves and plans what the command line asks for.
    ///
    /// # Errors
    /// Usage for a condition that is no SQL; else those of resolving and planning.
    pub(crate) fn open(selection: &Selection) -> Result<Self, Failure> {
        let (asked, scan) = Asked::of(selection, false)?;
        let (resources, table) = (&asked.resources, &asked.table);
        let plan = block_on(plan(resources, table, &scan))
            .map_err(|error| with_older_snapshot(error, resources, table))?;
        Ok(asked.with(plan))
    }

    /// The request for the rows: what is left of the condition is evaluated on each.
    pub(crate) fn request(&self, strings: StringLayout) -> ReadRequest {
        ReadRequest {
            projection: self.projection.clone(),
            predicate: self.plan.residual(),
            limit: self.limit,
            strings,
            row_kinds: self.row_kinds,
            fine_timestamps: self.fine_timestamps,
            ..ReadRequest::default()
        }
    }

    /// A reader of the plan's tasks, below the view if there is one.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) fn reader(&self, request: ReadRequest) -> Result<TableReader> {
        self.row_reader(request).map(RowReader::into_table)
    }

    /// A reader of the rows, through the view if there is one.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) fn row_reader(&self, request: ReadRequest) -> Result<RowReader> {
        self.row_reader_over(request, self.resources.clone())
    }

    /// The same over resources that count for themselves.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) fn row_reader_over(
        &self,
        request: ReadRequest,
        resources: Resources,
    ) -> Result<RowReader> {
        let table = Arc::clone(&self.table);
        let Some((which, condition)) = &self.view else {
            let table = TableReader::new(table, request, resources)?;
            return Ok(RowReader::new(table, None));
        };
        let asked = ReadRequest {
            predicate: condition.clone(),
            ..request
        };
        let view = ChangelogView::new(*which, &self.table.schema, &asked)?;
        let request = view.request(self.plan.residual());
        let table = TableReader::new(table, request, resources)?;
        Ok(RowReader::new(table, Some(view)))
    }

    /// Whether the rows are seen through a view, and so are not those of the table.
    pub(crate) fn has_view(&self) -> bool {
        self.view.is_some()
    }

    /// Whether metadata can tell how many rows of the plan there are.
    pub(crate) fn is_counted_by_metadata(&self) -> bool {
        self.view.is_none() && self.plan.residual().is_none()
    }

    /// The task of a split.
    ///
    /// # Errors
    /// Those of the plan.
    pub(crate) fn task(&self, split: usize) -> Result<ReadTask> {
        self.plan.split(split).map(ReadTask::new)
    }

    /// The schema of the rows of a task's files: that of the table, or of the branch that it falls back to.
    pub(crate) fn schema_of(&self, task: &ReadTask) -> &TableSchema {
        let branch = match &task.split {
            Split::Fallback(_) => self.table.fallback.as_deref(),
            _ => None,
        };
        &branch.unwrap_or(&self.table).schema
    }

    /// Refuses what cannot be read, before the first row.
    ///
    /// # Errors
    /// `Unsupported`, naming the split.
    pub(crate) fn check(&self, reader: &TableReader) -> Result<()> {
        (0..self.plan.len()).try_for_each(|split| {
            let task = self.task(split)?;
            let refusal = reader.provider(&task).err();
            refusal.map_or(Ok(()), |error| Err(self.error_in(split, error)))
        })
    }

    /// An error with the split, snapshot and table it came from.
    pub(crate) fn error_in(&self, split: usize, error: Error) -> Error {
        let error = with_older_snapshot(error, &self.resources, &self.table);
        let error = error.at(Frame::Split(split as u64));
        let snapshot = self.plan.snapshot_id().map(Frame::Snapshot);
        let error = match snapshot {
            Some(snapshot) => error.at(snapshot),
            None => error,
        };
        error.at(Frame::Table(self.table.location.clone()))
    }

    /// The columns of the output in order, row kinds left out.
    pub(crate) fn fields(&self) -> Vec<DataField> {
        fields(&self.table, &self.view, self.projection.as_deref())
    }
}

/// The view that a system table is.
///
/// # Errors
/// Metadata tables have no plan: usage where a stream of plans is asked for, else `Unsupported`.
fn changelog_table(
    selection: &Selection,
    system: Option<SystemTable>,
    stream: bool,
) -> Result<Option<ChangelogTable>, Failure> {
    match system {
        None | Some(SystemTable::ReadOptimized) => Ok(None),
        Some(SystemTable::AuditLog) => Ok(Some(ChangelogTable::AuditLog)),
        Some(SystemTable::Binlog) => Ok(Some(ChangelogTable::Binlog)),
        Some(system) if stream => Err(Failure::Usage(
            Error::invalid_input(format!(
                "{system} is no stream: its rows are made of metadata"
            ))
            .with_hint("without --stream it is read as it is now"),
        )),
        Some(system) => Err(Error::unsupported(format!("plan of {system}"))
            .with_hint("paimon scan and paimon count read it")
            .at(Frame::Table(selection.table.clone()))
            .into()),
    }
}

pub(crate) fn row_kinds(selection: &Selection) -> RowKinds {
    if selection.keep_deletes {
        RowKinds::Keep
    } else if selection.rowkind {
        RowKinds::Show
    } else {
        RowKinds::Drop
    }
}

/// Metadata that cannot be read may be that of one snapshot only: names the one before, if there is one.
fn with_older_snapshot(error: Error, resources: &Resources, table: &ResolvedTable) -> Error {
    let at_fault = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::NotFound);
    let Some(snapshot) = table.snapshot.as_ref().filter(|_| at_fault) else {
        return error;
    };
    let ids = block_on(Table::snapshot_ids(resources, table)).unwrap_or_default();
    match ids.into_iter().rfind(|id| *id < snapshot.id) {
        Some(older) if error.hint().is_none() => {
            error.with_hint(format!("an older snapshot: --snapshot {older}"))
        }
        _ => error,
    }
}
