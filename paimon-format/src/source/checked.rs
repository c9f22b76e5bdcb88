//! Reading for decoders that trust lengths.

use std::ops::Range;

use bytes::Bytes;
use paimon_meta::{Error, Result};

use super::ByteSource;

/// Reads ranges and checks that the source kept its contract.
pub(crate) async fn read_all(
    source: &dyn ByteSource,
    ranges: Vec<Range<u64>>,
) -> Result<Vec<Bytes>> {
    let buffers = source.read(ranges.clone()).await?;
    let as_asked = buffers.len() == ranges.len()
        && ranges
            .iter()
            .zip(&buffers)
            .all(|(range, buffer)| range.end - range.start == buffer.len() as u64);
    if as_asked {
        return Ok(buffers);
    }
    let lengths: Vec<usize> = buffers.iter().map(Bytes::len).collect();
    Err(Error::internal(format!(
        "{} returned buffers of {lengths:?} bytes for {ranges:?}",
        source.name()
    )))
}

/// [`read_all`] for one range.
pub(crate) async fn read_one(source: &dyn ByteSource, range: Range<u64>) -> Result<Bytes> {
    Ok(read_all(source, vec![range])
        .await?
        .pop()
        .unwrap_or_default())
}
