//! What the raw and the merge provider have in common: checks before the first request, and the stream over a pick
//! source.

use std::sync::Arc;

use futures_util::stream::try_unfold;
use paimon_format::format_reader;
use paimon_meta::{DataSplit, Error, Frame, Result, ResultExt};

use crate::columns::{PartitionValues, Shape};
use crate::context::ReadContext;
use crate::open::FileOpener;
use crate::stream::BatchStream;
use crate::value_pass::ValuePass;
use crate::window::PickSource;

/// Refuses by name what is not built, before any data file is touched.
///
/// # Errors
/// `Unsupported` that names the feature; `NotFound` for a schema file that is missing; `InvalidInput` of the request.
pub(crate) fn check(split: &DataSplit, context: &ReadContext) -> Result<()> {
    if split.deletion_files.iter().flatten().any(Option::is_some) {
        return Err(Error::unsupported("deletion vectors"));
    }
    let shape = context.shape()?;
    let fields = shape.needed(&context.table.schema)?;
    let mut checked = vec![context.table.schema.id];
    for file in &split.files {
        let frame = || Frame::File(file.file_name.clone());
        format_reader(file.format().unwrap_or_default()).at(frame)?;
        let schema = context.schema_of(file)?;
        if checked.contains(&schema.id) {
            continue;
        }
        checked.push(schema.id);
        for field in &fields {
            crate::evolve::check_readable(field, &context.table, schema).at(frame)?;
        }
    }
    Ok(())
}

/// Partition values of a split by field.
///
/// # Errors
/// `Corrupt` if the split's partition does not decode.
pub(crate) fn partition_values(
    split: &DataSplit,
    context: &ReadContext,
) -> Result<PartitionValues> {
    let fields = context.table.schema.partition_fields()?;
    let types: Vec<_> = fields.iter().map(|field| &field.data_type).collect();
    let values = split
        .partition
        .as_ref()
        .datums(&types)
        .at(|| Frame::Field("_PARTITION".into()))?;
    Ok(fields.into_iter().cloned().zip(values).collect())
}

/// A lazy stream over the picks that `source` makes.
///
/// # Errors
/// Those of the request; all others come out of the stream.
pub(crate) fn stream(
    split: DataSplit,
    context: &Arc<ReadContext>,
    source: impl FnOnce(FileOpener, &Arc<Shape>, DataSplit) -> Result<Box<dyn PickSource>>
    + Send
    + 'static,
) -> Result<BatchStream> {
    let shape = context.shape()?;
    let schema = Arc::clone(&shape.schema);
    let limit = context.request.limit;
    let window_bytes = context.request.window_bytes;
    let opener = FileOpener::new(context, &split);
    let context = Arc::clone(context);
    let start = move || {
        let picks = source(opener, &shape, split)?;
        ValuePass::new(picks, &shape, &context.resources, window_bytes).map(Box::new)
    };
    let batches = try_unfold(State::New(start), |state| async move {
        let mut pass = match state {
            State::New(start) => start()?,
            State::Running(pass) => pass,
        };
        Ok(pass
            .next()
            .await?
            .map(|batch| (batch, State::Running(pass))))
    });
    Ok(BatchStream::new(schema, batches).limited(limit))
}

/// A read that has not begun, or a value pass under way.
enum State<F> {
    New(F),
    Running(Box<ValuePass>),
}
