//! `theta_sketch`: the union of sketches of distinct values.
//!
//! Rule: union of Apache `DataSketches` theta images, compact ones or of sketches that are still updated, as an ordered
//! compact one of up to 4096 hashes. Nulls: passed over; bytes that meet no others stay as they are (ME-133).
//! Retraction: refused. VARBINARY (ME-134).
//! Source: ME section 4.8, `FieldThetaSketchAgg.java`.

use arrow_array::ArrayRef;
use datasketches::theta::{CompactThetaSketch, ThetaUnionBuilder};
use paimon_meta::{Error, Result};

use super::column::AggregateColumn;
use super::sketch::{Sketch, merge_sketches, require_bytes};
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct ThetaSketch;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    require_bytes(CompactThetaSketch::NAME, column)?;
    Ok(Box::new(ThetaSketch))
}

impl AggregateFunction for ThetaSketch {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        merge_sketches::<CompactThetaSketch>(values, versions)
    }
}

impl Sketch for CompactThetaSketch {
    const NAME: &'static str = "theta_sketch";

    fn decode(bytes: &[u8]) -> Result<Self> {
        let compact = compact_image(bytes);
        Self::deserialize(compact.as_deref().unwrap_or(bytes)).map_err(corrupt)
    }

    fn union(self, input: Self) -> Result<Self> {
        let mut union = ThetaUnionBuilder::default().build().map_err(corrupt)?;
        union.update(&self).map_err(corrupt)?;
        union.update(&input).map_err(corrupt)?;
        Ok(union.to_sketch(true))
    }

    fn encode(self) -> Result<Vec<u8>> {
        let mut bytes = self.serialize();
        complete_header(&mut bytes, self.is_empty());
        Ok(bytes)
    }
}

/// The compact image of a sketch that is still updated, a hash table behind a header of 24 bytes, which the Rust library
/// does not read. `None` for all other images.
fn compact_image(bytes: &[u8]) -> Option<Vec<u8>> {
    const QUICK_SELECT: u8 = 2;
    let (header, table) = bytes.split_first_chunk::<24>()?;
    let [_, version, QUICK_SELECT, _, log_slots, flags, seed @ ..] = header else {
        return None;
    };
    let (seed_and_count, theta) = seed.split_at_checked(10)?;
    let slots = 1_usize.checked_shl(u32::from(*log_slots))?;
    let table = table.get(..slots.checked_mul(8)?)?;
    let mut image = vec![3, *version, 3, 0, 0, flags & 4 | 8];
    image.extend_from_slice(seed_and_count);
    image.extend_from_slice(theta);
    let theta = u64::from_le_bytes(theta.try_into().ok()?);
    let hashes = table.chunks_exact(8).filter(|hash| {
        let hash = <[u8; 8]>::try_from(*hash).map_or(0, u64::from_le_bytes);
        hash != 0 && hash < theta
    });
    hashes.for_each(|hash| image.extend_from_slice(hash));
    Some(image)
}

/// Sets what the Java library writes and the Rust one leaves out: the sampling probability of 1.0 and the flags of a
/// single hash (32) and of an empty sketch (16, ordered).
fn complete_header(bytes: &mut [u8], is_empty: bool) {
    let preamble_longs = bytes.first().copied().unwrap_or_default();
    if let (1, Some(flags)) = (preamble_longs, bytes.get_mut(5)) {
        *flags |= if is_empty { 16 } else { 32 };
    } else if let Some(probability) = bytes.get_mut(12..16) {
        probability.copy_from_slice(&1_f32.to_le_bytes());
    }
}

fn corrupt(error: datasketches::error::Error) -> Error {
    Error::corrupt("bytes are no theta sketch").with_source(error)
}
