//! The footer of a stripe: which streams there are, and how values are encoded.

use std::ops::Range;

use paimon_meta::{Error, Result};

use super::chunk::Inflater;
use super::footer::{MOST_FOOTER, Stripe};
use super::proto::Message;

/// A stream of a stripe.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) kind: u64,
    pub(super) column: usize,
    /// In the file.
    pub(super) bytes: Range<u64>,
}

/// How the values of a column are encoded in a stripe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Encoding {
    pub(super) kind: u64,
    pub(super) dictionary_size: u64,
}

/// The footer of a stripe.
#[derive(Debug, Default)]
pub(super) struct StripeFooter {
    pub(super) streams: Vec<Stream>,
    pub(super) encodings: Vec<Encoding>,
    pub(super) writer_zone: String,
}

impl StripeFooter {
    /// The footer of a stripe, its streams compared with the bytes that the stripe has.
    ///
    /// # Errors
    /// `Corrupt` if it is damaged.
    pub(super) fn parse(stripe: &Stripe, inflater: &Inflater) -> Result<Self> {
        let bytes = inflater.all(stripe.footer.clone(), MOST_FOOTER)?;
        let mut footer = Self::default();
        let mut message = Message::new(&bytes);
        let mut start = stripe.streams.start;
        while let Some((field, value)) = message.next()? {
            match field {
                1 => {
                    let stream = stream(value.message()?, start)?;
                    start = stream.bytes.end;
                    footer.streams.push(stream);
                }
                2 => footer.encodings.push(encoding(value.message()?)?),
                3 => footer.writer_zone = String::from_utf8_lossy(value.bytes()?).into_owned(),
                4 => return Err(Error::unsupported("encrypted ORC files")),
                _ => {}
            }
        }
        if start > stripe.streams.end {
            let end = stripe.streams.end;
            return Err(Error::corrupt(format!(
                "streams end at {start}, expected before {end}"
            )));
        }
        Ok(footer)
    }
}

impl StripeFooter {
    /// Whether a column has a stream of that kind.
    pub(super) fn has(&self, column: usize, kind: u64) -> bool {
        let mut streams = self.streams.iter();
        streams.any(|stream| stream.column == column && stream.kind == kind)
    }

    /// Whether the values of a column are in a dictionary.
    pub(super) fn has_dictionary(&self, column: usize) -> bool {
        let encoding = self.encodings.get(column);
        encoding.is_some_and(|encoding| matches!(encoding.kind, 1 | 3))
    }
}

fn stream(mut message: Message<'_>, start: u64) -> Result<Stream> {
    let (mut kind, mut column, mut length) = (0, 0, 0);
    while let Some((field, value)) = message.next()? {
        match field {
            1 => kind = value.number()?,
            2 => column = value.number()?,
            3 => length = value.number()?,
            _ => {}
        }
    }
    Ok(Stream {
        kind,
        column: usize::try_from(column).unwrap_or(usize::MAX),
        bytes: start..start.saturating_add(length),
    })
}

fn encoding(mut message: Message<'_>) -> Result<Encoding> {
    let mut encoding = Encoding::default();
    while let Some((field, value)) = message.next()? {
        match field {
            1 => encoding.kind = value.number()?,
            2 => encoding.dictionary_size = value.number()?,
            _ => {}
        }
    }
    Ok(encoding)
}
