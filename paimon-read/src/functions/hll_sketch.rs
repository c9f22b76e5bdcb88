//! `hll_sketch`: the union of `HyperLogLog` sketches.
//!
//! Rule: union of Apache `DataSketches` HLL images with as many registers as the newer one has at most, as a compact `HLL_4`
//! one. Nulls: passed over; bytes that meet no others stay as they are (ME-133). Retraction: refused. VARBINARY (ME-134).
//! Source: ME section 4.8, `FieldHllSketchAgg.java`.

use std::panic::{UnwindSafe, catch_unwind};

use arrow_array::ArrayRef;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use paimon_meta::{Error, Result};

use super::column::AggregateColumn;
use super::sketch::{Sketch, merge_sketches, require_bytes};
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct HllSketchUnion;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    require_bytes(HllSketch::NAME, column)?;
    Ok(Box::new(HllSketchUnion))
}

impl AggregateFunction for HllSketchUnion {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        merge_sketches::<HllSketch>(values, versions)
    }
}

impl Sketch for HllSketch {
    const NAME: &'static str = "hll_sketch";

    fn decode(bytes: &[u8]) -> Result<Self> {
        guarded(|| Self::deserialize(bytes))
    }

    fn union(self, input: Self) -> Result<Self> {
        guarded(|| {
            let mut union = HllUnion::new(input.lg_config_k())?;
            union.update(&input);
            union.update(&self);
            Ok(union.to_sketch(HllType::Hll4))
        })
    }

    fn encode(self) -> Result<Vec<u8>> {
        guarded(|| Ok(self.serialize()))
    }
}

/// Runs the library, which panics on some sketches whose registers contradict each other.
fn guarded<T>(
    run: impl FnOnce() -> Result<T, datasketches::error::Error> + UnwindSafe,
) -> Result<T> {
    const MESSAGE: &str = "bytes are no HLL sketch";
    match catch_unwind(run) {
        Ok(result) => result.map_err(|error| Error::corrupt(MESSAGE).with_source(error)),
        Err(_) => Err(Error::corrupt(MESSAGE).with_detail("registers contradict each other")),
    }
}
