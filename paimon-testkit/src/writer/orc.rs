//! ORC files: stripes of encoded columns, statistics of stripes, no row index. Facts: table-format sections 7.5, 8.1 and 8.2,
//! and the ORC specification.

mod column;
mod proto;
mod runs;
mod statistics;
mod types;

use paimon_meta::{DataField, Error, Result};

use self::column::StripeColumns;
use self::proto::Message;
use crate::cell::Cell;

/// How an ORC file is laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrcLayout {
    /// Rows of a stripe at most.
    pub(super) stripe_rows: usize,
    /// Whether texts have dictionaries.
    pub(super) dictionary: bool,
    /// Whether chunks are compressed, with zstd.
    pub(super) compressed: bool,
}

const MAGIC: &[u8] = b"ORC";

/// Bytes of a chunk at most; few, so that values cross chunks.
const CHUNK: usize = 256;

/// The number of the zstd codec.
const ZSTD: u64 = 5;

/// The number of the last fix that the writer has (`ORC-135`): its statistics of texts and timestamps are right.
const WRITER_VERSION: u64 = 6;

/// An ORC file of columns, each with a value for every row.
///
/// # Errors
/// `Unsupported` for types and values that the format does not hold.
pub(super) fn orc_file(columns: &[(DataField, Vec<Cell>)], layout: OrcLayout) -> Result<Vec<u8>> {
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    let mut file = MAGIC.to_vec();
    let (mut footer, mut metadata) = (Message::default(), Message::default());
    let stripe_rows = layout.stripe_rows.max(1);
    for start in (0..rows).step_by(stripe_rows) {
        let end = rows.min(start.saturating_add(stripe_rows));
        let stripe = StripeColumns::of(columns, start..end, layout)?;
        let stripe_footer = layout.chunks(&stripe.footer(), CHUNK)?;
        let mut information = Message::default();
        information.number(1, file.len() as u64);
        information.number(2, 0);
        information.number(3, stripe.data.len() as u64);
        information.number(4, stripe_footer.len() as u64);
        information.number(5, (end - start) as u64);
        footer.bytes(3, &information.0);
        metadata.bytes(1, &stripe.statistics.0);
        file.extend_from_slice(&stripe.data);
        file.extend_from_slice(&stripe_footer);
    }
    let content = file.len() - MAGIC.len();
    footer.number(1, MAGIC.len() as u64);
    footer.number(2, content as u64);
    types::write(columns.iter().map(|(field, _)| field), &mut footer)?;
    footer.number(6, rows as u64);
    footer.number(8, 0);
    let metadata = layout.chunks(&metadata.0, CHUNK)?;
    let footer = layout.chunks(&footer.0, CHUNK)?;
    file.extend_from_slice(&metadata);
    file.extend_from_slice(&footer);
    let postscript = layout.postscript(footer.len(), metadata.len());
    file.extend_from_slice(&postscript.0);
    file.push(u8::try_from(postscript.0.len()).unwrap_or(u8::MAX));
    Ok(file)
}

impl OrcLayout {
    fn postscript(self, footer_bytes: usize, metadata_bytes: usize) -> Message {
        let mut postscript = Message::default();
        postscript.number(1, footer_bytes as u64);
        postscript.number(2, if self.compressed { ZSTD } else { 0 });
        postscript.number(3, CHUNK as u64);
        // Version 0.12.
        postscript.number(4, 0);
        postscript.number(4, 12);
        postscript.number(5, metadata_bytes as u64);
        postscript.number(6, WRITER_VERSION);
        postscript.bytes(8000, MAGIC);
        postscript
    }

    /// Bytes in chunks, each compressed where that makes it smaller.
    fn chunks(self, bytes: &[u8], size: usize) -> Result<Vec<u8>> {
        if !self.compressed {
            return Ok(bytes.to_vec());
        }
        let mut out = Vec::new();
        for chunk in bytes.chunks(size) {
            let smaller = zstd::bulk::compress(chunk, 1)
                .map_err(|error| Error::internal("cannot compress").with_source(error))?;
            let (stored, original) = if smaller.len() < chunk.len() {
                (smaller.as_slice(), 0)
            } else {
                (chunk, 1)
            };
            let head = stored.len() << 1 | original;
            out.extend(head.to_le_bytes().iter().take(3));
            out.extend_from_slice(stored);
        }
        Ok(out)
    }
}
