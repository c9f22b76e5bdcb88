//! The row filter between the passes: its columns are decoded for picked rows only, the rest for rows that pass.
//!
//! So a condition on values helps a merge as much as a raw file, and no stale version can come back: what it sees has
//! already won. Row groups whose bounds exclude the condition are not decoded at all.

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat;
use arrow_select::filter::FilterBuilder;
use paimon_format::{GroupBatches, RowRanges, next_batch};
use paimon_io::{Counter, Metrics};
use paimon_meta::{Error, FieldId, Frame, Result, ResultExt};

use crate::cast::Faults;
use crate::columns::{FilterPlan, Origin, constant_column};
use crate::compact::copied;
use crate::fetches::yield_now;
use crate::filter::{RowFilter, evaluate};
use crate::piece_values::Survivors;
use crate::positions::Positions;
use crate::window::{Decoded, Piece};

/// Evaluates the filter on the picked rows of a piece, of which `batches` are the filter's columns; leaves the survivors
/// and their filter columns in the piece.
///
/// # Errors
/// Of the file, and of the caller's own filter.
pub(crate) async fn filter_piece(
    piece: &mut Piece,
    batches: Option<GroupBatches>,
    batch_size: usize,
    metrics: &Metrics,
) -> Result<()> {
    let columns = Arc::clone(&piece.columns);
    let Some(filter) = &columns.filter else {
        return Ok(());
    };
    let file = Arc::clone(&piece.file);
    let mut survivors = Survivors::default();
    let mut asked = 0;
    if let (Some(scan), Some(mut batches)) = (file.filter.as_ref(), batches) {
        let winners = filter.wants_winners().then(|| piece.wanted());
        while let Some(item) = next_batch(&mut batches).await {
            let (rows, batch) = item.at(|| Frame::File(file.name.clone()))?;
            metrics.add(Counter::RowsDecoded, rows.row_count());
            let (columns, mut faults) =
                scan.decode(&batch).at(|| Frame::File(file.name.clone()))?;
            faults.at(0, || Frame::File(file.name.clone()));
            let (rows, columns) = match &winners {
                Some(winners) => restricted(rows, winners, columns, &mut faults)?,
                None => (rows, columns),
            };
            if !rows.is_empty() {
                let block = Decoded::new(Positions::new(&rows, piece.first_row)?, columns)
                    .with_faults(faults);
                asked += rows.row_count();
                let kept = filter_block(piece, filter, block, &mut survivors)?;
                piece.values.filtered.extend(kept);
            }
            yield_now().await;
        }
    } else if file.filter.is_none() {
        let wanted = piece.wanted().intersect(&file.may_match);
        for block in blocks_without_columns(piece, filter, &wanted, batch_size)? {
            asked += u64::from(block.positions.len());
            filter_block(piece, filter, block, &mut survivors)?;
        }
    }
    metrics.add(Counter::RowsFiltered, asked - survivors.len().min(asked));
    piece.values.survivors = Some(survivors);
    Ok(())
}

/// Decoded rows and their columns without the rows that were only decoded because they stand between wanted ones.
pub(crate) fn restricted(
    rows: RowRanges,
    wanted: &RowRanges,
    columns: Vec<ArrayRef>,
    faults: &mut Faults,
) -> Result<(RowRanges, Vec<ArrayRef>)> {
    let kept = rows.intersect(&wanted.clip(rows.span()));
    if kept.row_count() == rows.row_count() {
        return Ok((rows, columns));
    }
    let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    let mut mask = BooleanBufferBuilder::new(count(rows.row_count()));
    // Each range that is kept lies in one that was decoded.
    let mut next = kept.ranges().iter().peekable();
    for decoded in rows.ranges() {
        let mut at = decoded.start;
        while let Some(range) = next.next_if(|range| range.end <= decoded.end) {
            mask.append_n(count(range.start - at), false);
            mask.append_n(count(range.end - range.start), true);
            at = range.end;
        }
        mask.append_n(count(decoded.end - at), false);
    }
    let mask = mask.finish();
    let columns = filtered(&columns, mask.clone())?;
    keep_faults(faults, &mask);
    Ok((kept, columns))
}

/// Moves faults with their rows where only those are kept for which a bit is set.
fn keep_faults(faults: &mut Faults, mask: &BooleanBuffer) {
    faults.move_rows(0, |row| {
        let kept = row < mask.len() && mask.value(row);
        kept.then(|| mask.slice(0, row).count_set_bits())
    });
}

/// The rows of columns for which a bit is set.
fn filtered(columns: &[ArrayRef], mask: BooleanBuffer) -> Result<Vec<ArrayRef>> {
    let filter = FilterBuilder::new(&BooleanArray::new(mask, None))
        .optimize()
        .build();
    let columns = columns.iter().map(|column| filter.filter(column));
    columns
        .collect::<Result<_, _>>()
        .map_err(|error| Error::internal("cannot filter a column").with_source(error))
}

/// Rows to evaluate where the filter decodes nothing: those of the early columns if it needs them, else ranges of at most
/// a batch.
fn blocks_without_columns(
    piece: &Piece,
    filter: &FilterPlan,
    wanted: &RowRanges,
    batch_size: usize,
) -> Result<Vec<Decoded>> {
    if filter.needs_early() {
        return Ok(piece
            .early
            .iter()
            .map(|early| Decoded::new(early.positions.clone(), Vec::new()))
            .collect());
    }
    let step = u32::try_from(batch_size).unwrap_or(u32::MAX);
    let positions = Positions::new(wanted, piece.first_row)?;
    let mut blocks = Vec::new();
    positions.rows(0, positions.len(), |mut first, count| {
        let end = first + count;
        while first < end {
            let length = step.min(end - first);
            blocks.push(Decoded::new(Positions::From { first, length }, Vec::new()));
            first += length;
        }
    });
    Ok(blocks)
}

/// Evaluates the filter on one block; returns what is kept of its columns.
fn filter_block(
    piece: &Piece,
    filter: &FilterPlan,
    block: Decoded,
    survivors: &mut Survivors,
) -> Result<Option<Decoded>> {
    // A row with a value that could not be cast is not known to fail the condition. If it was picked, it is an error.
    let passed = block
        .faults
        .and_rows(evaluate_filter(piece, filter, &block)?);
    let mut ranges = Vec::new();
    for (start, end) in passed.set_slices() {
        // A block is part of a piece, so its rows count below 2^32.
        let (Ok(start), Ok(length)) = (u32::try_from(start), u32::try_from(end - start)) else {
            continue;
        };
        block.positions.rows(start, length, |row, count| {
            survivors.push(row, count);
            ranges.push(row..row + count);
        });
    }
    if ranges.is_empty() {
        return Ok(None);
    }
    keep(block, &passed, ranges).map(Some)
}

fn keep(
    mut block: Decoded,
    passed: &BooleanBuffer,
    ranges: Vec<std::ops::Range<u32>>,
) -> Result<Decoded> {
    let kept = passed.count_set_bits();
    if kept == passed.len() {
        return Ok(block);
    }
    let mut arrays = filtered(&block.arrays, passed.clone())?;
    if kept * 2 < passed.len() {
        // The rest of the piece may take long to come: do not hold whole pages for a few rows until then.
        arrays = arrays.iter().map(copied).collect();
    }
    keep_faults(&mut block.faults, passed);
    Ok(Decoded::new(Positions::from_ranges(ranges), arrays).with_faults(block.faults))
}

/// The rows of a block that pass; unknown does not.
fn evaluate_filter(piece: &Piece, filter: &FilterPlan, block: &Decoded) -> Result<BooleanBuffer> {
    let rows = block.positions.len() as usize;
    let mut passed = BooleanBuffer::new_set(rows);
    if let Some(predicate) = &filter.predicate {
        let answer = evaluate(predicate, rows, &mut |id| {
            filter_column(piece, filter, block, *id)
        })?;
        passed = is_true(&answer);
    }
    if let Some(row_filter) = &filter.row_filter {
        let given = row_filter.columns().iter().map(|id| {
            let column = filter_column(piece, filter, block, *id)?;
            Ok((filter.field(*id)?.name.as_str(), column))
        });
        let given = given.collect::<Result<Vec<_>>>()?;
        passed = &passed & &row_filter_answer(&**row_filter, given, rows)?;
    }
    Ok(passed)
}

/// The rows that pass a filter of the caller's own; `given` are its columns by name.
///
/// # Errors
/// Those of the filter; `InvalidInput` if it does not answer for every row.
pub(crate) fn row_filter_answer(
    filter: &dyn RowFilter,
    given: Vec<(&str, ArrayRef)>,
    rows: usize,
) -> Result<BooleanBuffer> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = given
        .into_iter()
        .map(|(name, column)| (Field::new(name, column.data_type().clone(), true), column))
        .unzip();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
    let batch = batch.map_err(|error| {
        Error::internal("cannot build a batch for the row filter").with_source(error)
    })?;
    let answer = filter.evaluate(&batch)?;
    if answer.len() != rows {
        let message = format!(
            "the row filter gave {} answers for {rows} rows",
            answer.len()
        );
        return Err(Error::invalid_input(message));
    }
    Ok(is_true(&answer))
}

pub(crate) fn is_true(answer: &BooleanArray) -> BooleanBuffer {
    match answer.nulls() {
        Some(nulls) => answer.values() & nulls.inner(),
        None => answer.values().clone(),
    }
}

/// A column of the filter for the rows of a block.
fn filter_column(
    piece: &Piece,
    filter: &FilterPlan,
    block: &Decoded,
    id: FieldId,
) -> Result<ArrayRef> {
    let missing = || Error::internal(format!("filter column {id} is not decoded"));
    match filter.origin(id)? {
        Origin::Filtered(index) => block.arrays.get(*index).map(Arc::clone).ok_or_else(missing),
        Origin::Early(index) => early_column(piece, &block.positions, *index),
        constant => {
            let rows = block.positions.len() as usize;
            constant_column(constant, piece.columns.strings, rows)?.ok_or_else(missing)
        }
    }
}

/// An early column for some rows of the piece.
fn early_column(piece: &Piece, positions: &Positions, index: usize) -> Result<ArrayRef> {
    let mut slices = Vec::new();
    let mut held = piece.early.iter().peekable();
    let mut missing = false;
    positions.rows(0, positions.len(), |mut row, count| {
        let end = row + count;
        while row < end {
            while held.next_if(|early| early.positions.end() <= row).is_some() {}
            let found = held.peek().and_then(|early| {
                Some((early.arrays.get(index)?, early.positions.find(row, &mut 0)?))
            });
            let Some((array, (start, following))) = found else {
                missing = true;
                return;
            };
            let taken = following.min(end - row);
            slices.push(array.slice(start as usize, taken as usize));
            row += taken;
        }
    });
    if missing {
        return Err(Error::internal(
            "early columns do not cover the rows of the filter",
        ));
    }
    match slices.as_slice() {
        [one] => Ok(Arc::clone(one)),
        many => concat(&many.iter().map(AsRef::as_ref).collect::<Vec<_>>())
            .map_err(|error| Error::internal("cannot join early columns").with_source(error)),
    }
}
