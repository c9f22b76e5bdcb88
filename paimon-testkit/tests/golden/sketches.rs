//! The content of sketch columns, as the golden tables show it.

use datasketches::hll::HllSketch;
use datasketches::theta::CompactThetaSketch;
use paimon_meta::{Error, Result};
use paimon_read::functions::rbm64_values;
use roaring::RoaringBitmap;
use serde_json::{Value, json};

/// Ranges of a bitmap, the estimate of a sketch.
pub(crate) fn content(kind: &str, bytes: &[u8]) -> Result<Value> {
    let corrupt = |error: &dyn std::fmt::Display| Error::corrupt(format!("no {kind}: {error}"));
    match kind {
        "rbm32" => {
            let bitmap = RoaringBitmap::deserialize_from(bytes).map_err(|error| corrupt(&error))?;
            Ok(ranges(bitmap.into_iter().map(u64::from)))
        }
        "rbm64" => Ok(ranges(rbm64_values(bytes)?)),
        "hll" => {
            let sketch = HllSketch::deserialize(bytes).map_err(|error| corrupt(&error))?;
            Ok(json!(sketch.estimate().round()))
        }
        "theta" => {
            let sketch = CompactThetaSketch::deserialize(bytes).map_err(|error| corrupt(&error))?;
            Ok(json!(sketch.estimate()))
        }
        _ => Err(Error::unsupported(format!("sketch {kind}"))),
    }
}

fn ranges(values: impl IntoIterator<Item = u64>) -> Value {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for value in values {
        match ranges.last_mut() {
            Some([_, end]) if *end + 1 == value => *end = value,
            _ => ranges.push([value, value]),
        }
    }
    json!(ranges)
}
