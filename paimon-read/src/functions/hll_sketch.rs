//! `hll_sketch`: the union of `HyperLogLog` sketches.
//!
//! Rule: union of Apache `DataSketches` HLL images with as many registers as the newer one has at most, as a compact `HLL_4`
//! one. Nulls: passed over; bytes that meet no others stay as they are (ME-133). Retraction: refused. VARBINARY (ME-134).
//! Source: ME section 4.8, `FieldHllSketchAgg.java`.

use std::panic::{UnwindSafe, catch_unwind};

use arrow_array::ArrayRef;
use datasketches::error::Error as LibraryError;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use paimon_meta::{Error, Result};

use super::column::AggregateColumn;
use super::sketch::{Sketch, merge_sketches, require_bytes};
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct HllSketchUnion;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    require_bytes(Hll::NAME, column)?;
    Ok(Box::new(HllSketchUnion))
}

impl AggregateFunction for HllSketchUnion {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        merge_sketches::<Hll>(values, versions)
    }
}

/// A sketch, and whether it came out of a union.
#[derive(Debug)]
struct Hll {
    sketch: HllSketch,
    is_union: bool,
}

impl Hll {
    /// The sketch as the reference has it in a union: written and read between two of them, which sets the order of its
    /// hashes, on which estimates depend.
    fn operand(self) -> Result<HllSketch, LibraryError> {
        if self.is_union {
            read(&self.sketch.serialize())
        } else {
            Ok(self.sketch)
        }
    }
}

impl Sketch for Hll {
    const NAME: &'static str = "hll_sketch";

    fn decode(bytes: &[u8]) -> Result<Self> {
        let sketch = guarded(|| read(bytes))?;
        Ok(Self {
            sketch,
            is_union: false,
        })
    }

    fn union(self, input: Self) -> Result<Self> {
        let sketch = guarded(|| {
            let (accumulated, input) = (self.operand()?, input.operand()?);
            let mut union = HllUnion::new(input.lg_config_k())?;
            union.update(&input);
            union.update(&accumulated);
            Ok(union.to_sketch(HllType::Hll4))
        })?;
        Ok(Self {
            sketch,
            is_union: true,
        })
    }

    fn encode(self) -> Result<Vec<u8>> {
        guarded(|| Ok(self.sketch.serialize()))
    }
}

/// Reads a sketch. Where it is a set of hashes, they go into a small table that grows, as in the Java library, so that
/// they come out in the same order.
fn read(bytes: &[u8]) -> Result<HllSketch, LibraryError> {
    const LIST_HASHES: usize = 7;
    let sketch = HllSketch::deserialize(bytes)?;
    let Some((hashes, mode)) = set_of_hashes(bytes) else {
        return Ok(sketch);
    };
    let mut set = HllUnion::new(sketch.lg_config_k())?;
    for hashes in hashes.chunks(LIST_HASHES * 4) {
        let count = u8::try_from(hashes.len() / 4).unwrap_or_default();
        let mut list = vec![2, 1, 7, sketch.lg_config_k(), 3, 8, count, mode & !3];
        list.extend_from_slice(hashes);
        set.update(&HllSketch::deserialize(&list)?);
    }
    Ok(set.to_sketch(sketch.target_type()))
}

/// The hashes of a compact set, four bytes each, and its mode byte.
fn set_of_hashes(bytes: &[u8]) -> Option<(&[u8], u8)> {
    let (header, hashes) = bytes.split_first_chunk::<12>()?;
    let [3, _, _, _, _, flags, _, mode, count @ ..] = header else {
        return None;
    };
    let is_compact_set = flags & 8 != 0 && mode & 3 == 1;
    let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
    let hashes = hashes.get(..count.checked_mul(4)?)?;
    is_compact_set.then_some((hashes, *mode))
}

/// Runs the library, which panics on some sketches whose registers contradict each other.
fn guarded<T>(run: impl FnOnce() -> Result<T, LibraryError> + UnwindSafe) -> Result<T> {
    const MESSAGE: &str = "bytes are no HLL sketch";
    match catch_unwind(run) {
        Ok(result) => result.map_err(|error| Error::corrupt(MESSAGE).with_source(error)),
        Err(_) => Err(Error::corrupt(MESSAGE).with_detail("registers contradict each other")),
    }
}
