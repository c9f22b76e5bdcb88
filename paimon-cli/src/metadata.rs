//! Metadata tables, `TABLE$files`: their rows without a plan.

use std::sync::Arc;

use paimon_meta::{DataField, Error, FieldId, Result, StringLayout};
use paimon_plan::{MetadataRows, MetadataTable, SystemTable, TableLocation, metadata_rows};
use paimon_read::{BatchStream, ReadRequest, RowKinds, block_on, read_blocking, read_rows};

use crate::args::Selection;
use crate::condition::Condition;
use crate::failure::Failure;
use crate::reading::row_kinds;
use crate::resolving::resolve_metadata;

/// A metadata table that was read, and what is asked of it.
pub(crate) struct Listing {
    rows: Arc<MetadataRows>,
    request: ReadRequest,
}

impl Listing {
    /// Reads the metadata table that the command line names; `None` if it names none.
    ///
    /// # Errors
    /// Usage for a condition that is no SQL or flags that metadata has no use for; else those of resolving and reading.
    pub(crate) fn open(selection: &Selection) -> Result<Option<Self>, Failure> {
        let named = TableLocation::parse(&selection.table)?;
        let Some(SystemTable::Metadata(which)) = named.system_table else {
            return Ok(None);
        };
        let condition = selection.condition.as_deref().map(Condition::parse);
        let condition = condition.transpose().map_err(Failure::Usage)?;
        if selection.bucket.is_some() || !selection.partitions.is_empty() {
            let fault = "rows of metadata are in no partition and no bucket";
            return Err(Failure::Usage(
                Error::invalid_input(fault).with_hint("a condition: --where"),
            ));
        }
        let request = request(selection, which, condition)?;
        let (resources, table) = resolve_metadata(selection, which)?;
        let rows = block_on(metadata_rows(&resources, &table, which))?;
        Ok(Some(Self {
            rows: Arc::new(rows),
            request,
        }))
    }

    /// The rows.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) fn batches(&self, strings: StringLayout) -> Result<BatchStream> {
        let request = ReadRequest {
            strings,
            ..self.request.clone()
        };
        self.read(&request)
    }

    /// How many rows there are.
    ///
    /// # Errors
    /// Those of evaluating the condition.
    pub(crate) fn count(&self) -> Result<u64> {
        let request = ReadRequest {
            projection: Some(Vec::<FieldId>::new()),
            ..self.request.clone()
        };
        let mut batches = read_blocking(self.read(&request)?);
        let mut rows = 0_u64;
        while let Some(batch) = batches.next_batch() {
            rows = rows.saturating_add(batch?.num_rows() as u64);
        }
        Ok(rows)
    }

    fn read(&self, request: &ReadRequest) -> Result<BatchStream> {
        let (rows, strings) = (Arc::clone(&self.rows), request.strings);
        let fields = &self.rows.schema().fields;
        read_rows(fields, self.rows.len(), request, move |range, columns| {
            rows.batch(range, columns, strings)
        })
    }

    /// The columns of the output in order, row kinds left out.
    pub(crate) fn fields(&self) -> Vec<DataField> {
        let schema = self.rows.schema();
        match &self.request.projection {
            None => schema.fields.clone(),
            Some(ids) => ids
                .iter()
                .filter_map(|id| schema.field_by_id(*id).cloned())
                .collect(),
        }
    }

    /// Whether rows come with their kinds.
    pub(crate) fn row_kinds(&self) -> RowKinds {
        self.request.row_kinds
    }
}

fn request(
    selection: &Selection,
    which: MetadataTable,
    condition: Option<Condition>,
) -> Result<ReadRequest> {
    let schema = which.schema();
    let predicate = condition.map(|condition| condition.on(&schema));
    let request = ReadRequest {
        predicate: predicate.transpose()?,
        limit: selection.limit,
        row_kinds: row_kinds(selection),
        ..ReadRequest::default()
    };
    match &selection.columns {
        None => Ok(request),
        Some(names) => request.with_columns(&schema, &names.0),
    }
}
