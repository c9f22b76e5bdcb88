//! `merge_map`: all entries of the maps.
//!
//! Rule: union; of entries of one key the newer one, whatever its value (ME-122). Equal bytes are one key (ME-123). The
//! order of entries is open; here it is that of their keys' first appearance. Nulls: passed over; null values of entries
//! count. Retraction: the keys are taken out, values are not compared. MAP.
//! Source: ME section 4.2, `FieldMergeMapAgg.java`.

use arrow_array::ArrayRef;
use arrow_row::Rows;
use paimon_meta::{Result, TypeKind};

use super::column::AggregateColumn;
use super::elements::{Accumulated, Lists, comparable, merge_maps, row_of};
use super::fold::Fold;
use super::{AggregateFunction, MergeFault, Merged, Versions};

const NAME: &str = "merge_map";

#[derive(Debug)]
struct MergeMap;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    let fits = matches!(column.data_type().kind, TypeKind::Map(..));
    column.require(NAME, fits, "MAP")?;
    Ok(Box::new(MergeMap))
}

impl AggregateFunction for MergeMap {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        let (lists, map) = Lists::of_maps(NAME, values)?;
        let keys = comparable(std::slice::from_ref(map.keys()))?;
        let mut maps = Maps { lists, keys: &keys };
        merge_maps(&mut maps, map, values, versions)
    }
}

struct Maps<'a> {
    lists: Lists<'a>,
    keys: &'a Rows,
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
            keyed.put(row_of(self.keys, entry)?, entry);
        }
        Ok(Some(Accumulated::Merged(keyed)))
    }

    fn retract(
        &mut self,
        accumulated: Option<Self::Value>,
        input: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        let (accumulated, input) = match (accumulated, input) {
            (Some(accumulated), Some(input)) if !input.is_empty() => (accumulated, input),
            (accumulated, _) => return Ok(accumulated),
        };
        let mut keyed = accumulated.keyed(self.keys)?;
        for entry in input {
            keyed.remove(row_of(self.keys, entry)?);
        }
        Ok(Some(Accumulated::Merged(keyed)))
    }
}
