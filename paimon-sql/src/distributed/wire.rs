//! What is sent between processes, in a frame that tells damage and other versions.
//!
//! ```text
//! "PAIMON" · version (1 byte) · length of the content (4 bytes, little-endian) · content (zstd with checksum)
//! ```

use std::io::Read;

use datafusion::error::Result;
use paimon_meta::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zstd::stream::{Decoder, Encoder};

use crate::error::external;

/// First bytes. No message of Ballista's begins so: its fields are all messages, and `P` is the tag of a number.
const MAGIC: &[u8] = b"PAIMON";
/// What this crate writes, and the only version that it reads: the processes of a cluster are of one version.
const VERSION: u8 = 1;
/// Most bytes of content: a message that says more is damaged.
const MOST: u32 = 1 << 30;

/// Whether bytes begin like a frame.
pub(crate) fn is_frame(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// A frame around content.
///
/// # Errors
/// `InvalidInput`, as the cause, for content that is too long.
pub(crate) fn pack(content: &[u8]) -> Result<Vec<u8>> {
    let length = u32::try_from(content.len()).ok();
    let length = length.filter(|length| *length <= MOST).ok_or_else(|| {
        let found = content.len();
        external(Error::invalid_input(format!(
            "a plan of {found} bytes, expected at most {MOST}"
        )))
    })?;
    let mut frame = MAGIC.to_vec();
    frame.push(VERSION);
    frame.extend_from_slice(&length.to_le_bytes());
    let mut encoder = Encoder::new(frame, zstd::DEFAULT_COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    std::io::copy(&mut &*content, &mut encoder)?;
    Ok(encoder.finish()?)
}

/// The content of a frame.
///
/// # Errors
/// As the cause: `Unsupported` for another version, `Corrupt` for anything that [`pack`] did not make.
pub(crate) fn unpack(frame: &[u8]) -> Result<Vec<u8>> {
    content(frame).map_err(external)
}

fn content(frame: &[u8]) -> paimon_meta::Result<Vec<u8>> {
    let cut = || Error::corrupt("a sent plan that is cut short");
    let frame = frame.strip_prefix(MAGIC).ok_or_else(cut)?;
    let (version, frame) = frame.split_first().ok_or_else(cut)?;
    if *version != VERSION {
        return Err(Error::unsupported(format!(
            "version {version} of sent plans, expected {VERSION}"
        )));
    }
    let (length, body) = frame.split_first_chunk().ok_or_else(cut)?;
    let length = u32::from_le_bytes(*length);
    if length > MOST {
        return Err(Error::corrupt(format!(
            "a sent plan of {length} bytes, expected at most {MOST}"
        )));
    }
    let damaged = |error| Error::corrupt("a sent plan that is damaged").with_source(error);
    let mut content = Vec::new();
    let limit = u64::from(length) + 1;
    let mut decoder = Decoder::new(body).map_err(damaged)?.take(limit);
    decoder.read_to_end(&mut content).map_err(damaged)?;
    let found = content.len();
    if u32::try_from(found) != Ok(length) {
        return Err(Error::corrupt(format!(
            "a sent plan of {found} bytes, expected {length}"
        )));
    }
    Ok(content)
}

/// Data as JSON.
///
/// # Errors
/// `InvalidInput`, as the cause, for what JSON cannot hold.
pub(crate) fn to_json(data: &impl Serialize) -> Result<Vec<u8>> {
    let text = serde_json::to_vec(data);
    let unsaid = |error| Error::invalid_input("a plan that cannot be sent").with_source(error);
    text.map_err(unsaid).map_err(external)
}

/// Data of JSON.
///
/// # Errors
/// `Corrupt`, as the cause.
pub(crate) fn from_json<T: DeserializeOwned>(text: &[u8]) -> Result<T> {
    let data = serde_json::from_slice(text);
    data.map_err(|error| external(not_understood(error)))
}

/// The error for content that is whole, but not what was expected.
pub(crate) fn not_understood(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::corrupt("a sent plan that is not understood").with_source(error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn content_comes_out_as_it_went_in(content: Vec<u8>) {
            let frame = pack(&content).unwrap();
            prop_assert!(is_frame(&frame));
            prop_assert_eq!(unpack(&frame).unwrap(), content);
        }

        #[test]
        fn any_bytes_are_an_error(bytes: Vec<u8>) {
            let frame = [MAGIC, &[VERSION], &bytes].concat();
            prop_assert!(unpack(&frame).is_err());
        }
    }

    #[test]
    fn more_content_than_was_said_is_not_taken_in() {
        let mut frame = pack(&vec![0; 1 << 20]).unwrap();
        frame[MAGIC.len() + 1..][..4].copy_from_slice(&7_u32.to_le_bytes());
        let error = unpack(&frame).unwrap_err().to_string();
        assert!(
            error.contains("a sent plan of 8 bytes, expected 7"),
            "{error}"
        );
        frame[MAGIC.len() + 1..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = unpack(&frame).unwrap_err().to_string();
        assert!(error.contains("expected at most"), "{error}");
    }
}
