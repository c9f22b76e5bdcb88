//! Chunks: the unit of compression.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf, Bytes};
use flate2::{Decompress, FlushDecompress, Status};
use paimon_meta::{Error, Result};
use zstd::bulk::Decompressor;

/// What a chunk inflates to at most, where the postscript does not say it.
const DEFAULT_CHUNK: u64 = 256 << 10;
/// The most it may say: a chunk's length has 23 bits.
const MOST_CHUNK: u64 = 1 << 23;
/// Bytes of a chunk's head.
const HEAD: usize = 3;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compression {
    codec: Codec,
    /// What a chunk inflates to at most.
    chunk: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Codec {
    None,
    Zlib,
    Snappy,
    Lz4,
    Zstd,
}

impl Compression {
    /// From the postscript: number of the codec, size of a chunk.
    ///
    /// # Errors
    /// `Unsupported` for a codec that the reference does not write, `Corrupt` for a chunk that cannot be that large.
    pub(super) fn new(codec: u64, chunk: Option<u64>) -> Result<Self> {
        let codec = match codec {
            0 => Codec::None,
            1 => Codec::Zlib,
            2 => Codec::Snappy,
            3 => return Err(Error::unsupported("ORC codec lzo")),
            4 => Codec::Lz4,
            5 => Codec::Zstd,
            6 => return Err(Error::unsupported("ORC codec brotli")),
            other => return Err(Error::unsupported(format!("ORC codec {other}"))),
        };
        let chunk = chunk.unwrap_or(DEFAULT_CHUNK);
        let size = usize::try_from(chunk).ok().filter(|_| chunk <= MOST_CHUNK);
        let chunk = size.ok_or_else(|| {
            Error::corrupt(format!(
                "chunks of {chunk} bytes, at most {MOST_CHUNK} are possible"
            ))
        })?;
        Ok(Self { codec, chunk })
    }
}

impl Compression {
    /// Whether there are chunks.
    pub(super) fn has_chunks(self) -> bool {
        self.codec != Codec::None
    }

    /// The most bytes of a stream, as they are stored, behind the place where a run of `run` bytes begins that the run
    /// can need.
    pub(super) fn reach(self, run: usize) -> u64 {
        if !self.has_chunks() {
            return run as u64;
        }
        let chunks = 2 + run / self.chunk.max(1);
        chunks.saturating_mul(HEAD + self.chunk) as u64
    }
}

/// Inflates the chunks of a file; shared by all its streams that are read together.
#[derive(Clone)]
pub(super) struct Inflater {
    compression: Compression,
    kept: Arc<Mutex<Kept>>,
}

/// What is kept from chunk to chunk.
#[derive(Default)]
struct Kept {
    scratch: Vec<u8>,
    zlib: Option<Decompress>,
    zstd: Option<Decompressor<'static>>,
}

impl Inflater {
    pub(super) fn new(compression: Compression) -> Self {
        Self {
            compression,
            kept: Arc::default(),
        }
    }

    /// The next chunk of a stream, inflated; `None` at its end.
    ///
    /// # Errors
    /// `Corrupt` for a chunk that is not whole, does not inflate, or inflates to more than a chunk may have.
    pub(super) fn next(&self, stream: &mut Bytes) -> Result<Option<Bytes>> {
        if stream.is_empty() {
            return Ok(None);
        }
        if self.compression.codec == Codec::None {
            return Ok(Some(std::mem::take(stream)));
        }
        let Some([a, b, c]) = stream.first_chunk::<HEAD>().copied() else {
            return Err(Error::corrupt("stream ends in the head of a chunk"));
        };
        stream.advance(HEAD);
        let head = u32::from_le_bytes([a, b, c, 0]);
        let length = usize::try_from(head >> 1).unwrap_or(usize::MAX);
        if length > stream.len() {
            let left = stream.len();
            return Err(Error::corrupt(format!(
                "chunk of {length} bytes, {left} are left of its stream"
            )));
        }
        let chunk = stream.split_to(length);
        if head & 1 == 1 {
            return Ok(Some(chunk));
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.inflate(self.compression, &chunk).map(Some)
    }

    /// All that a stream inflates to.
    ///
    /// # Errors
    /// As [`Self::next`], and `Corrupt` if it inflates to more than `most` bytes.
    pub(super) fn all(&self, mut stream: Bytes, most: usize) -> Result<Bytes> {
        let Some(first) = self.next(&mut stream)? else {
            return Ok(Bytes::new());
        };
        let mut inflated = Vec::new();
        let mut next = Some(first);
        while let Some(chunk) = next {
            if stream.is_empty() && inflated.is_empty() {
                return Ok(chunk);
            }
            inflated.extend_from_slice(&chunk);
            if inflated.len() > most {
                return Err(Error::corrupt(format!(
                    "inflates to more than {most} bytes"
                )));
            }
            next = self.next(&mut stream)?;
        }
        Ok(inflated.into())
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inflater").field(&self.compression).finish()
    }
}

impl Kept {
    /// Inflates into a buffer of the largest size and copies what came out, so that a stream of few bytes keeps few.
    fn inflate(&mut self, compression: Compression, chunk: &[u8]) -> Result<Bytes> {
        let failed = |message: String| {
            let bytes = chunk.len();
            Error::corrupt(format!("chunk of {bytes} bytes does not inflate")).with_detail(message)
        };
        if self.scratch.len() < compression.chunk {
            self.scratch.resize(compression.chunk, 0);
        }
        let Self {
            scratch,
            zlib,
            zstd,
        } = self;
        let out = scratch.get_mut(..compression.chunk).unwrap_or_default();
        let written = match compression.codec {
            Codec::None => 0,
            Codec::Zlib => {
                let zlib = zlib.get_or_insert_with(|| Decompress::new(false));
                zlib.reset(false);
                let status = zlib.decompress(chunk, out, FlushDecompress::Finish);
                match status.map_err(|error| failed(error.to_string()))? {
                    Status::StreamEnd => usize::try_from(zlib.total_out()).unwrap_or(0),
                    _ => return Err(failed("not whole, or too long".to_owned())),
                }
            }
            Codec::Snappy => {
                let length = snap::raw::decompress_len(chunk);
                let length = length.map_err(|error| failed(error.to_string()))?;
                let out = out.get_mut(..length);
                let out = out.ok_or_else(|| failed(format!("{length} bytes are too many")))?;
                let written = snap::raw::Decoder::new().decompress(chunk, out);
                written.map_err(|error| failed(error.to_string()))?
            }
            Codec::Lz4 => lz4_flex::block::decompress_into(chunk, out)
                .map_err(|error| failed(error.to_string()))?,
            Codec::Zstd => {
                let zstd = match zstd {
                    Some(zstd) => zstd,
                    none => none.insert(Decompressor::new().map_err(|error| {
                        Error::internal("zstd decoder cannot be made").with_source(error)
                    })?),
                };
                zstd.decompress_to_buffer(chunk, out)
                    .map_err(|error| failed(error.to_string()))?
            }
        };
        Ok(Bytes::copy_from_slice(
            out.get(..written).unwrap_or_default(),
        ))
    }
}
