//! Windows of keys: what the key pass decodes, and what it keeps of it.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int8Type, Int64Type};
use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::ScalarBuffer;
use arrow_row::{RowConverter, Rows};
use arrow_schema::DataType as ArrowType;
use arrow_select::filter::FilterBuilder;
use paimon_io::Counter;
use paimon_meta::{
    BinaryRow, DataFileMeta, DataType, Error, FieldId, Frame, Result, ResultExt, RowKind,
    TablePredicate,
};

use super::keys::{KeyEncoder, KeyWindow, one_nan};
use super::layout::laid_out;
use super::needs::FileNeeds;
use super::versions::{HeadRows, Sequences};
use super::whole::Wholeness;
use crate::columns::ColumnPlan;
use crate::evolve::Wanted;
use crate::filter::evaluate;
use crate::filter_pass::is_true;
use crate::opens::{FileNumber, Opens};
use crate::positions::Positions;

/// What all runs of a section share.
#[derive(Debug)]
pub(crate) struct KeyPlan {
    pub(crate) opens: Opens,
    /// Columns of filter, value pass and output.
    pub(crate) columns: Arc<ColumnPlan>,
    /// What every key pass decodes: the key columns, then those of `sequence.field`.
    pub(crate) decoded: Vec<Wanted>,
    /// How many of `decoded` are key columns.
    pub(crate) key_columns: usize,
    /// Types of the key columns.
    pub(crate) key_types: Vec<DataType>,
    pub(crate) encoder: KeyEncoder,
    /// Arrow type of the key column, where it is all that is kept and is written down in the order of the picks.
    pub(crate) ordered_key: Option<ArrowType>,
    /// Makes the columns of `sequence.field` comparable.
    pub(crate) user_order: Option<RowConverter>,
    /// Conditions on key columns alone: all versions of a key pass or fail together, so rows may be left out here.
    pub(crate) key_predicate: Option<TablePredicate>,
    /// What of a file may hold keys that are wanted: the condition on keys, and the range of the part.
    pub(crate) may_match: Option<TablePredicate>,
    /// The range of keys that are read.
    pub(crate) span: KeyWindows,
    pub(crate) batch_size: usize,
    /// A newest version that is whole is the row of its key.
    pub(crate) newest_decides: bool,
}

/// A file of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunFile {
    pub(crate) meta: Arc<DataFileMeta>,
    pub(crate) needs: FileNeeds,
    pub(crate) number: FileNumber,
}

/// A window of keys with what decides between versions.
#[derive(Debug)]
pub(crate) struct KeyChunk {
    pub(crate) piece: u32,
    pub(crate) keys: KeyWindow,
    /// Keys from this one on are above the range that is read.
    pub(crate) end: usize,
    pub(crate) positions: Positions,
    pub(crate) kinds: Option<ScalarBuffer<i8>>,
    sequences: Option<ScalarBuffer<i64>>,
    pub(crate) user: Option<Arc<Rows>>,
    pub(crate) file: RunFile,
    wholeness: Wholeness,
}

impl KeyChunk {
    /// What decides between versions.
    pub(crate) fn rows(&self) -> HeadRows<'_> {
        let (min, max) = self.file.needs.range;
        HeadRows {
            file: &self.file.meta.file_name,
            piece: self.piece,
            positions: &self.positions,
            keys: Some(&self.keys),
            kinds: self.kinds.as_deref(),
            sequences: Sequences {
                min,
                max,
                values: self.sequences.as_deref(),
            },
            user: self.user.as_deref(),
            wholeness: self.wholeness,
            level: self.file.meta.level,
            rank: self.file.needs.rank,
        }
    }
}

/// The bounds of a range of keys as windows of one key; `None` has no bound.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyWindows {
    pub(crate) from: Option<KeyWindow>,
    /// The first key above the range.
    pub(crate) to: Option<KeyWindow>,
}

impl KeyWindows {
    /// Which of ascending keys are in the range.
    pub(super) fn within(&self, keys: &KeyWindow) -> Range<usize> {
        let below = |bound: &KeyWindow| {
            let (mut low, mut high) = (0, keys.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if keys.compare(middle, bound, 0).is_lt() {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let start = self.from.as_ref().map_or(0, below);
        start..self.to.as_ref().map_or(keys.len(), below)
    }
}

impl KeyPlan {
    /// Counts what the key pass does.
    pub(super) fn count(&self, counter: Counter, amount: u64) {
        let resources = &self.opens.opener().context().resources;
        resources.metrics().add(counter, amount);
    }

    /// The smallest key of a file, by its meta.
    pub(super) fn min_key(&self, meta: &DataFileMeta) -> Result<KeyWindow> {
        self.meta_key("_MIN_KEY", &meta.min_key)
            .at(|| Frame::File(meta.file_name.clone()))
    }

    /// The largest key of a file, by its meta.
    pub(super) fn max_key(&self, meta: &DataFileMeta) -> Result<KeyWindow> {
        self.meta_key("_MAX_KEY", &meta.max_key)
            .at(|| Frame::File(meta.file_name.clone()))
    }

    fn meta_key(&self, name: &str, key: &BinaryRow) -> Result<KeyWindow> {
        let types: Vec<&DataType> = self.key_types.iter().collect();
        let values = key.as_ref().datums(&types);
        values
            .and_then(|values| self.encoder.encode_one(&values))
            .at(|| Frame::Field(name.into()))
    }

    /// The rows that pass the condition on keys; `None` if none does.
    pub(super) fn filtered(
        &self,
        positions: Positions,
        columns: Vec<ArrayRef>,
    ) -> Result<Option<(Positions, Vec<ArrayRef>)>> {
        let rows = positions.len() as usize;
        let Some(predicate) = self.key_predicate.as_ref().filter(|_| rows > 0) else {
            return Ok((rows > 0).then_some((positions, columns)));
        };
        let passed = evaluate(predicate, rows, &mut |id| self.key_column(&columns, *id))?;
        let passed = is_true(&passed);
        match passed.count_set_bits() {
            0 => return Ok(None),
            count if count == rows => return Ok(Some((positions, columns))),
            _ => {}
        }
        let mut ranges = Vec::new();
        for (start, end) in passed.set_slices() {
            // A batch is part of a piece, so its rows count below 2^32.
            let (Ok(start), Ok(length)) = (u32::try_from(start), u32::try_from(end - start)) else {
                continue;
            };
            positions.rows(start, length, |row, count| ranges.push(row..row + count));
        }
        let filter = FilterBuilder::new(&BooleanArray::new(passed, None))
            .optimize()
            .build();
        let columns = columns
            .iter()
            .map(|column| filter.filter(column))
            .collect::<Result<Vec<_>, _>>();
        let columns =
            columns.map_err(|error| Error::internal("cannot filter keys").with_source(error))?;
        Ok(Some((Positions::from_ranges(ranges), columns)))
    }

    fn key_column(&self, columns: &[ArrayRef], id: FieldId) -> Result<ArrayRef> {
        let is_column = |wanted: &Wanted| matches!(wanted, Wanted::Field(field) if field.id == id);
        let index = self.decoded.iter().position(is_column);
        let column = index.and_then(|index| columns.get(index)).map(Arc::clone);
        column.ok_or_else(|| Error::internal(format!("column {id} is no key column")))
    }

    /// The decoded columns that later stations need, in the layout of the output.
    pub(super) fn early(&self, columns: &[ArrayRef], file: &RunFile) -> Result<Vec<ArrayRef>> {
        let kind = self.decoded.len() + usize::from(file.needs.sequence);
        let of = |wanted: &Wanted| match wanted {
            Wanted::Kind => Some(kind),
            wanted => self.decoded.iter().position(|decoded| decoded == wanted),
        };
        let column = |wanted| {
            of(wanted)
                .and_then(|index| columns.get(index))
                .map(Arc::clone)
        };
        self.columns
            .early
            .iter()
            .map(|wanted| {
                let column = column(wanted);
                let column =
                    column.ok_or_else(|| Error::internal("an early column was not decoded"))?;
                laid_out(column, self.columns.strings)
            })
            .collect()
    }

    pub(super) fn chunk(
        &self,
        (piece, wholeness): (u32, Wholeness),
        positions: Positions,
        columns: &[ArrayRef],
        file: &RunFile,
    ) -> Result<KeyChunk> {
        let (keys, rest) = columns
            .split_at_checked(self.key_columns)
            .ok_or_else(|| Error::internal("no keys"))?;
        let (user, system) = rest
            .split_at_checked(self.decoded.len() - self.key_columns)
            .ok_or_else(|| Error::internal("no sequence fields"))?;
        let mut system = system.iter();
        let sequences = file.needs.sequence.then(|| system.next()).flatten();
        let kinds = file.needs.kind.then(|| system.next()).flatten();
        let user = match &self.user_order {
            Some(converter) => {
                let rows = converter.convert_columns(&user.iter().map(one_nan).collect::<Vec<_>>());
                Some(Arc::new(rows.map_err(|error| {
                    Error::internal("cannot order sequence fields").with_source(error)
                })?))
            }
            None => None,
        };
        let keys = self.encoder.encode(keys)?;
        Ok(KeyChunk {
            piece,
            end: keys.len(),
            keys,
            positions,
            kinds: kinds.map(checked_kinds).transpose()?,
            sequences: sequences.map(values::<Int64Type>).transpose()?,
            user,
            file: file.clone(),
            wholeness,
        })
    }
}

/// Kind bytes that are all kinds (ME-001): checked here, where the file is known.
fn checked_kinds(column: &ArrayRef) -> Result<ScalarBuffer<i8>> {
    let kinds = values::<Int8Type>(column)?;
    let unknown = kinds.iter().find(|byte| !(0..=3).contains(*byte));
    match unknown.map(|byte| RowKind::from_byte(*byte)) {
        Some(Err(error)) => Err(error.at(Frame::Field("_VALUE_KIND".into()))),
        _ => Ok(kinds),
    }
}

fn values<T: ArrowPrimitiveType>(column: &ArrayRef) -> Result<ScalarBuffer<T::Native>> {
    let array = column.as_primitive_opt::<T>();
    array.map(|array| array.values().clone()).ok_or_else(|| {
        Error::internal(format!(
            "a system column has the type {}",
            column.data_type()
        ))
    })
}
