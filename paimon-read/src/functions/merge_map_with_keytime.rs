//! `merge_map_with_keytime`: of entries of one key the one with the latest time.
//!
//! Rule: values are rows, one field of which (`ts-field`, the last one by default) is a time. A later time replaces, the
//! same does not; times compare as text of UTF-16 units does, so "9" is later than "10". A null row takes the key out, a
//! row without time is passed over (ME-124). Nulls: passed over. Retraction: refused. MAP of ROW of two fields or more.
//! Source: ME section 4.6, `FieldMergeMapWithKeyTimeAgg.java`.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_row::Rows;
use arrow_schema::DataType;
use paimon_meta::{Error, Result, TypeKind};

use super::column::AggregateColumn;
use super::elements::{Accumulated, Keyed, Lists, comparable, merge_maps, row_of};
use super::fold::Fold;
use super::versions::{retraction_refused, type_not_declared};
use super::{AggregateFunction, MergeFault, Merged, Versions};

const NAME: &str = "merge_map_with_keytime";

#[derive(Debug)]
struct MergeMapWithKeyTime {
    /// Position of the time in the rows.
    time_field: usize,
}

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    let fields = match &column.data_type().kind {
        TypeKind::Map(_, value) => match &value.kind {
            TypeKind::Row(fields) if fields.len() >= 2 => Some(fields),
            _ => None,
        },
        _ => None,
    };
    column.require(NAME, fields.is_some(), "MAP of ROW of two fields or more")?;
    let fields = fields.map(Vec::as_slice).unwrap_or_default();
    let time_field = match column.text("ts-field") {
        Some(name) => column.position(fields, "ts-field", name)?,
        None => fields.len().saturating_sub(1),
    };
    Ok(Box::new(MergeMapWithKeyTime { time_field }))
}

impl AggregateFunction for MergeMapWithKeyTime {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        let (lists, map) = Lists::of_maps(NAME, values)?;
        let keys = comparable(std::slice::from_ref(map.keys()))?;
        let rows = map.values().as_struct_opt();
        let times = rows.and_then(|rows| rows.columns().get(self.time_field));
        let mut maps = Maps {
            lists,
            keys: &keys,
            rows: map.values(),
            times: times.ok_or_else(|| type_not_declared(NAME, values))?,
        };
        merge_maps(&mut maps, map, values, versions)
    }
}

struct Maps<'a> {
    lists: Lists<'a>,
    keys: &'a Rows,
    rows: &'a ArrayRef,
    times: &'a ArrayRef,
}

impl<'a> Maps<'a> {
    fn put(&self, keyed: &mut Keyed<'a>, entry: u32) -> Result<()> {
        let key = row_of(self.keys, entry)?;
        if self.rows.is_null(entry as usize) {
            keyed.remove(key);
            return Ok(());
        }
        if !self.has_time(entry) {
            return Ok(());
        }
        let old = keyed.get_mut(key).map(|old| *old);
        let is_later = match old.filter(|old| self.has_time(*old)) {
            Some(old) => compare_utf16(self.time(entry)?, self.time(old)?).is_gt(),
            None => true,
        };
        if is_later {
            keyed.put(key, entry);
        }
        Ok(())
    }

    fn has_time(&self, entry: u32) -> bool {
        self.rows.is_valid(entry as usize) && self.times.is_valid(entry as usize)
    }

    /// The reference does not ask for the type of the time before two of them meet.
    fn time(&self, entry: u32) -> Result<&'a str> {
        let entry = entry as usize;
        match self.times.data_type() {
            DataType::Utf8 => Ok(self.times.as_string::<i32>().value(entry)),
            DataType::LargeUtf8 => Ok(self.times.as_string::<i64>().value(entry)),
            DataType::Utf8View => Ok(self.times.as_string_view().value(entry)),
            other => Err(Error::invalid_input(format!(
                "aggregate function {NAME} needs times that are text, not {other}"
            ))),
        }
    }
}

/// The order of `String.compareTo`, which is not that of code points.
fn compare_utf16(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

impl<'a> Fold for Maps<'a> {
    type Value = Accumulated<'a>;

    fn value(&self, row: u32) -> Result<Option<Self::Value>> {
        Ok(self.lists.elements(row).map(Accumulated::Untouched))
    }

    fn add(
        &mut self,
        accumulated: Option<Self::Value>,
        input: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        let (accumulated, input) = match (accumulated, input) {
            (Some(accumulated), Some(input)) => (accumulated, input),
            (one, other) => return Ok(one.or(other)),
        };
        let mut keyed = accumulated.keyed(self.keys)?;
        for entry in input {
            self.put(&mut keyed, entry)?;
        }
        Ok(Some(Accumulated::Merged(keyed)))
    }

    fn retract(
        &mut self,
        _: Option<Self::Value>,
        _: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        Err(retraction_refused(NAME))
    }
}
