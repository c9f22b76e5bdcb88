//! `rbm32`: the union of bitmaps of 32-bit numbers.
//!
//! Rule: union of bitmaps in the portable Roaring format, in runs where those are shorter (ME-131). Nulls: passed over;
//! bytes that meet no others stay as they are. Retraction: refused. VARBINARY (ME-134).
//! Source: ME section 4.8, `FieldRoaringBitmap32Agg.java`.

use arrow_array::ArrayRef;
use paimon_meta::{Error, Result};
use roaring::RoaringBitmap;

use super::column::AggregateColumn;
use super::sketch::{Sketch, merge_sketches, require_bytes};
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct RoaringBitmap32;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    require_bytes(RoaringBitmap::NAME, column)?;
    Ok(Box::new(RoaringBitmap32))
}

impl AggregateFunction for RoaringBitmap32 {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        merge_sketches::<RoaringBitmap>(values, versions)
    }
}

impl Sketch for RoaringBitmap {
    const NAME: &'static str = "rbm32";

    fn decode(bytes: &[u8]) -> Result<Self> {
        Self::deserialize_from(bytes).map_err(|error| {
            Error::corrupt("bytes are no 32-bit Roaring bitmap").with_source(error)
        })
    }

    fn union(self, input: Self) -> Result<Self> {
        Ok(self | input)
    }

    fn encode(mut self) -> Result<Vec<u8>> {
        self.optimize();
        let mut bytes = Vec::with_capacity(self.serialized_size());
        let written = self.serialize_into(&mut bytes);
        written.map_err(|error| Error::internal("bitmap cannot be written").with_source(error))?;
        Ok(bytes)
    }
}
