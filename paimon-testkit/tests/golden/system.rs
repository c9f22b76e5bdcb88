//! Reads of system tables.

use std::sync::Arc;

use futures_util::TryStreamExt;
use paimon_io::Resources;
use paimon_meta::{DataType, Error, FieldId, ResolvedTable, Result, StringLayout, TableSchema};
use paimon_plan::{MetadataTable, SystemTable, metadata_rows};
use paimon_read::{ChangelogTable, ChangelogView, ReadRequest, RowKinds, block_on, read_rows};
use paimon_testkit::{GoldenRequest, GoldenRows, JsonRows};

/// The system table of a request, if it names one.
pub(crate) fn system_table(request: &GoldenRequest) -> Result<Option<SystemTable>> {
    let name = request.system_table.as_deref();
    name.map(SystemTable::parse).transpose()
}

/// The view of a request on `$audit_log` or `$binlog`.
pub(crate) fn changelog_view(
    table: &TableSchema,
    request: &GoldenRequest,
    batch_size: usize,
) -> Result<Option<Arc<ChangelogView>>> {
    let which = match system_table(request)? {
        Some(SystemTable::AuditLog) => ChangelogTable::AuditLog,
        Some(SystemTable::Binlog) => ChangelogTable::Binlog,
        _ => return Ok(None),
    };
    let mut read = ReadRequest {
        limit: request.limit,
        batch_size,
        row_kinds: row_kinds(request),
        ..ReadRequest::default()
    };
    if let Some(columns) = &request.columns {
        read = read.with_columns(&which.schema(table), columns)?;
    }
    let view = ChangelogView::new(which, table, &read)?;
    Ok(Some(Arc::new(view)))
}

/// Whether rows begin with their kind.
pub(crate) fn row_kinds(request: &GoldenRequest) -> RowKinds {
    if request.has_kinds() {
        RowKinds::Show
    } else {
        RowKinds::Drop
    }
}

/// The rows of a metadata table.
pub(crate) fn metadata(
    resources: &Resources,
    table: &ResolvedTable,
    which: MetadataTable,
    request: &GoldenRequest,
    batch_size: usize,
) -> Result<GoldenRows> {
    let rows = Arc::new(block_on(metadata_rows(resources, table, which))?);
    let schema = rows.schema().clone();
    let mut read = ReadRequest {
        predicate: request.predicate(&schema.fields)?,
        limit: request.limit,
        batch_size,
        ..ReadRequest::default()
    };
    if let Some(columns) = &request.columns {
        read = read.with_columns(&schema, columns)?;
    }
    let length = rows.len();
    let batches = read_rows(&schema.fields, length, &read, move |range, columns| {
        rows.batch(range, columns, StringLayout::View)
    })?;
    let batches: Vec<_> = block_on(batches.try_collect())?;
    let (columns, types) = shown(&schema, read.projection.as_deref())?;
    let rows = batches
        .iter()
        .map(|batch| JsonRows::new(batch, &types)?.rows());
    let rows: Vec<_> = rows.collect::<Result<_>>()?;
    Ok(GoldenRows {
        columns,
        rows: rows.into_iter().flatten().collect(),
    })
}

/// Names and types of the columns in the output.
fn shown(
    schema: &TableSchema,
    projection: Option<&[FieldId]>,
) -> Result<(Vec<String>, Vec<DataType>)> {
    let all = || schema.fields.iter().map(|field| field.id).collect();
    let ids: Vec<FieldId> = projection.map_or_else(all, <[FieldId]>::to_vec);
    let fields = ids.iter().map(|id| {
        let field = schema.field_by_id(*id);
        let field = field.ok_or_else(|| Error::internal("a column that is not there"))?;
        Ok((field.name.clone(), field.data_type.clone()))
    });
    fields
        .collect::<Result<Vec<_>>>()
        .map(|fields| fields.into_iter().unzip())
}
