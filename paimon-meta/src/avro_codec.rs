//! Compression of the blocks of Avro files, with a bound on what comes out.

use std::fmt;
use std::io::{self, Read};

use bzip2::read::BzDecoder;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use liblzma::read::XzDecoder;
use liblzma::stream::Stream;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use crate::error::{Error, Result};

/// What a block may always inflate to. Writers start a new block every 64 KiB or less.
const SMALL_BLOCK_BYTES: usize = 1 << 20;
/// What a block may inflate to at most: arrays of a few blocks must stay below 2 GiB.
const LARGE_BLOCK_BYTES: usize = 1 << 28;
/// What a block may inflate to in between, as a multiple of its own size: real manifests stay below 100.
const INFLATION: usize = 1024;
/// Memory for an xz stream: its highest preset takes 65 MiB.
const XZ_MEMORY_BYTES: u64 = 128 << 20;
/// Output asked from zstd at once: its largest block.
const ZSTD_STEP_BYTES: usize = 128 << 10;

/// A codec of Avro files (table-format section 4.1), with what it keeps from block to block.
pub struct AvroCodec(Codec);

enum Codec {
    Null,
    Deflate,
    Snappy,
    Zstandard(Decoder<'static>),
    Bzip2,
    Xz,
}

impl fmt::Debug for AvroCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AvroCodec").field(&self.name()).finish()
    }
}

impl AvroCodec {
    /// The codec by its name in the header of a file: `null`, `deflate`, `snappy`, `zstandard`, `bzip2`, `xz`.
    ///
    /// # Errors
    /// `Unsupported`, naming it, for any other.
    pub fn from_name(name: &[u8]) -> Result<Self> {
        let codec = match name {
            b"null" => Codec::Null,
            b"deflate" => Codec::Deflate,
            b"snappy" => Codec::Snappy,
            b"zstandard" => Codec::Zstandard(Decoder::new().map_err(|error| {
                Error::internal("zstandard decoder cannot be made").with_source(error)
            })?),
            b"bzip2" => Codec::Bzip2,
            b"xz" => Codec::Xz,
            other => {
                let name = String::from_utf8_lossy(other);
                return Err(Error::unsupported(format!("avro codec {name}")));
            }
        };
        Ok(Self(codec))
    }

    fn name(&self) -> &'static str {
        match self.0 {
            Codec::Null => "null",
            Codec::Deflate => "deflate",
            Codec::Snappy => "snappy",
            Codec::Zstandard(_) => "zstandard",
            Codec::Bzip2 => "bzip2",
            Codec::Xz => "xz",
        }
    }

    /// Appends what `block` inflates to: at most 1 MiB, or 1024 times its length, and never more than 256 MiB.
    ///
    /// # Errors
    /// `Corrupt` if it does not inflate or to more than that.
    pub fn decompress(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let limit = block
            .len()
            .saturating_mul(INFLATION)
            .clamp(SMALL_BLOCK_BYTES, LARGE_BLOCK_BYTES);
        let fits = match &mut self.0 {
            Codec::Null => copy(block, limit, out),
            Codec::Deflate => read_limited(DeflateDecoder::new(block), limit, out),
            Codec::Snappy => snappy(block, limit, out),
            Codec::Zstandard(decoder) => zstandard(decoder, block, limit, out),
            Codec::Bzip2 => read_limited(BzDecoder::new(block), limit, out),
            Codec::Xz => Stream::new_stream_decoder(XZ_MEMORY_BYTES, 0)
                .map_err(io::Error::from)
                .and_then(|stream| read_limited(XzDecoder::new_stream(block, stream), limit, out)),
        };
        match fits {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::corrupt(format!(
                "{} block of {} bytes inflates to more than {limit} bytes",
                self.name(),
                block.len()
            ))),
            Err(error) => {
                let message = format!("{} block of {} bytes", self.name(), block.len());
                Err(Error::corrupt(format!("{message} does not inflate")).with_source(error))
            }
        }
    }
}

// Each function below appends what its block inflates to, and gives false if that is more than `limit` bytes.

fn copy(block: &[u8], limit: usize, out: &mut Vec<u8>) -> io::Result<bool> {
    if block.len() > limit {
        return Ok(false);
    }
    out.extend_from_slice(block);
    Ok(true)
}

fn read_limited(reader: impl Read, limit: usize, out: &mut Vec<u8>) -> io::Result<bool> {
    let one_more = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let read = reader.take(one_more).read_to_end(out)?;
    Ok(read <= limit)
}

/// Raw snappy, then the CRC-32 of what it inflates to, big-endian.
fn snappy(block: &[u8], limit: usize, out: &mut Vec<u8>) -> io::Result<bool> {
    let Some((data, expected)) = block.split_last_chunk() else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let length = snap::raw::decompress_len(data)?;
    if length > limit {
        return Ok(false);
    }
    let start = out.len();
    out.resize(start + length, 0);
    let target = out.get_mut(start..).unwrap_or_default();
    let written = snap::raw::Decoder::new().decompress(data, target)?;
    let mut crc = Crc::new();
    crc.update(target);
    if written != length || crc.sum() != u32::from_be_bytes(*expected) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "checksum does not match",
        ));
    }
    Ok(true)
}

/// One or more frames. The decoder is kept, for making one costs as much as a small block.
fn zstandard(
    decoder: &mut Decoder<'static>,
    block: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> io::Result<bool> {
    decoder.reinit()?;
    let start = out.len();
    let mut input = InBuffer::around(block);
    loop {
        out.reserve(ZSTD_STEP_BYTES);
        let (written, room) = (out.len(), out.capacity());
        let mut output = OutBuffer::around_pos(out, written);
        let missing = decoder.run(&mut input, &mut output)?;
        let full = output.pos() == room;
        if out.len() - start > limit {
            return Ok(false);
        }
        match (missing, input.pos() == block.len()) {
            (0, true) => return Ok(true),
            (0, false) => decoder.reinit()?,
            (_, true) if !full => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn inflate(codec: &str, block: &[u8]) -> Result<Vec<u8>> {
        let mut out = b"before".to_vec();
        AvroCodec::from_name(codec.as_bytes())?.decompress(block, &mut out)?;
        Ok(out.strip_prefix(b"before").unwrap().to_vec())
    }

    fn deflate(codec: &str, data: &[u8]) -> Vec<u8> {
        match codec {
            "deflate" => {
                let mut encoder = flate2::write::DeflateEncoder::new(vec![], Default::default());
                encoder.write_all(data).unwrap();
                encoder.finish().unwrap()
            }
            "snappy" => {
                let mut crc = Crc::new();
                crc.update(data);
                let block = snap::raw::Encoder::new().compress_vec(data).unwrap();
                [block, crc.sum().to_be_bytes().to_vec()].concat()
            }
            "zstandard" => zstd::encode_all(data, 1).unwrap(),
            "bzip2" => {
                let mut encoder = bzip2::write::BzEncoder::new(vec![], Default::default());
                encoder.write_all(data).unwrap();
                encoder.finish().unwrap()
            }
            "xz" => liblzma::encode_all(data, 0).unwrap(),
            _ => data.to_vec(),
        }
    }

    const CODECS: [&str; 6] = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"];

    #[test]
    fn blocks_inflate_to_what_was_deflated() {
        let data: Vec<_> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        for codec in CODECS {
            assert_eq!(
                inflate(codec, &deflate(codec, b"")).unwrap(),
                b"",
                "{codec}"
            );
            assert!(
                inflate(codec, &deflate(codec, &data)).unwrap() == data,
                "{codec}"
            );
        }
    }

    #[test]
    fn blocks_that_inflate_beyond_reason_are_refused() {
        let zeros = vec![0; 40 << 20];
        for codec in ["zstandard", "bzip2", "xz"] {
            let block = deflate(codec, &zeros);
            let error = inflate(codec, &block).unwrap_err();
            let message = format!(
                "{codec} block of {} bytes inflates to more than",
                block.len()
            );
            assert!(error.message().starts_with(&message), "{error}");
        }
        // 4 GiB by its length alone, which must not be allocated.
        let error = inflate("snappy", &[255, 255, 255, 255, 15, 0, 0, 0, 0, 0]).unwrap_err();
        assert_eq!(
            error.message(),
            "snappy block of 10 bytes inflates to more than 1048576 bytes"
        );
    }

    #[test]
    fn blocks_cut_anywhere_are_refused() {
        let data: Vec<_> = (0..5000u32).flat_map(u32::to_le_bytes).collect();
        for codec in &CODECS[1..] {
            let block = deflate(codec, &data);
            for end in [0, 1, 3, block.len() / 2, block.len() - 1] {
                let inflated = inflate(codec, &block[..end]);
                assert!(
                    inflated.is_err(),
                    "{codec} block cut at {end} of {}",
                    block.len()
                );
            }
        }
    }

    #[test]
    fn snappy_checksum_is_verified() {
        let mut block = deflate("snappy", b"data");
        *block.last_mut().unwrap() ^= 1;
        let error = inflate("snappy", &block).unwrap_err();
        let message = "snappy block of 10 bytes does not inflate: checksum does not match";
        assert_eq!(error.to_string(), format!("corrupt: {message}"));
    }

    #[test]
    fn zstandard_frames_may_follow_each_other() {
        let frames = [deflate("zstandard", b"one "), deflate("zstandard", b"two")].concat();
        assert_eq!(inflate("zstandard", &frames).unwrap(), b"one two");
    }
}
