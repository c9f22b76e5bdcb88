//! Variants as JSON text, as the reference's `GenericVariant.toJson` writes them.
//!
//! ```text
//! metadata   header (offset size, version 1), count, offsets, names
//! value      header: 2 bits basic type, 6 bits about it
//!              0 primitive   the 6 bits are its type
//!              1 short text  the 6 bits are its length
//!              2 object      count, name ids, offsets, values
//!              3 array       count, offsets, values
//! ```
//! Facts: TF-087 and the Variant section of the Parquet format. Numbers are little endian.

use paimon_meta::{Error, Frame, Result, ResultExt, double_text, float_text};

use super::scalar;

/// Deepest nesting that is written.
const MAX_DEPTH: usize = 200;

/// The JSON text of a variant.
///
/// # Errors
/// `Corrupt` if the bytes are no variant.
pub(super) fn to_json(value: &[u8], metadata: &[u8]) -> Result<String> {
    let mut out = Vec::new();
    let names = Names::new(metadata).at(|| Frame::Field("metadata".to_owned()))?;
    write(&mut out, value, &names, 0).at(|| Frame::Field("value".to_owned()))?;
    String::from_utf8(out).map_err(|_| Error::corrupt("variant has text that is not UTF-8"))
}

fn corrupt(what: &str) -> Error {
    Error::corrupt(format!("variant {what}"))
}

fn slice(bytes: &[u8], start: usize, length: usize) -> Result<&[u8]> {
    let end = start.checked_add(length);
    let found = end.and_then(|end| bytes.get(start..end));
    found.ok_or_else(|| {
        corrupt(&format!(
            "has {} bytes, expected {length} from {start} on",
            bytes.len()
        ))
    })
}

/// An unsigned number of up to 4 bytes.
fn unsigned(bytes: &[u8], start: usize, width: usize) -> Result<usize> {
    let bytes = slice(bytes, start, width)?;
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

fn array<const N: usize>(bytes: &[u8], start: usize) -> Result<[u8; N]> {
    let found = slice(bytes, start, N)?.first_chunk();
    found.copied().ok_or_else(|| corrupt("number is cut short"))
}

/// The names of object members.
struct Names<'a> {
    bytes: &'a [u8],
    width: usize,
    count: usize,
}

impl<'a> Names<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self> {
        let header = unsigned(bytes, 0, 1)?;
        if header & 0x0f != 1 {
            return Err(corrupt(&format!(
                "version is {}, expected 1",
                header & 0x0f
            )));
        }
        let width = (header >> 6) + 1;
        Ok(Self {
            bytes,
            width,
            count: unsigned(bytes, 1, width)?,
        })
    }

    fn get(&self, id: usize) -> Result<&'a str> {
        if id >= self.count {
            return Err(corrupt(&format!(
                "name id is {id}, expected less than {}",
                self.count
            )));
        }
        let offset = |index: usize| unsigned(self.bytes, 1 + (index + 1) * self.width, self.width);
        let (start, end) = (offset(id)?, offset(id + 1)?);
        let names = 1 + (self.count + 2) * self.width;
        let length = end
            .checked_sub(start)
            .ok_or_else(|| corrupt("name offsets go back"))?;
        let name = slice(self.bytes, names + start, length)?;
        std::str::from_utf8(name).map_err(|_| corrupt("name is not UTF-8"))
    }
}

fn write(out: &mut Vec<u8>, value: &[u8], names: &Names<'_>, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(corrupt(&format!("is nested more than {MAX_DEPTH} deep")));
    }
    let header = unsigned(value, 0, 1)?;
    let about = header >> 2;
    match header & 3 {
        0 => primitive(out, value, about),
        1 => text(out, slice(value, 1, about)?),
        2 => object(out, value, about, names, depth),
        _ => elements(out, value, about, names, depth),
    }
}

fn text(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    let value = std::str::from_utf8(bytes).map_err(|_| corrupt("text is not UTF-8"))?;
    scalar::text(out, value);
    Ok(())
}

fn object(
    out: &mut Vec<u8>,
    value: &[u8],
    about: usize,
    names: &Names<'_>,
    depth: usize,
) -> Result<()> {
    let (offset_width, id_width) = ((about & 3) + 1, (about >> 2 & 3) + 1);
    let count_width = if about >> 4 & 1 == 1 { 4 } else { 1 };
    let count = unsigned(value, 1, count_width)?;
    let ids = 1 + count_width;
    let offsets = ids + count * id_width;
    let data = offsets + (count + 1) * offset_width;
    out.push(b'{');
    for index in 0..count {
        if index > 0 {
            out.push(b',');
        }
        let id = unsigned(value, ids + index * id_width, id_width)?;
        scalar::text(out, names.get(id)?);
        out.push(b':');
        let start = data + unsigned(value, offsets + index * offset_width, offset_width)?;
        write(
            out,
            value.get(start..).unwrap_or_default(),
            names,
            depth + 1,
        )?;
    }
    out.push(b'}');
    Ok(())
}

fn elements(
    out: &mut Vec<u8>,
    value: &[u8],
    about: usize,
    names: &Names<'_>,
    depth: usize,
) -> Result<()> {
    let offset_width = (about & 3) + 1;
    let count_width = if about >> 2 & 1 == 1 { 4 } else { 1 };
    let count = unsigned(value, 1, count_width)?;
    let offsets = 1 + count_width;
    let data = offsets + (count + 1) * offset_width;
    out.push(b'[');
    for index in 0..count {
        if index > 0 {
            out.push(b',');
        }
        let start = data + unsigned(value, offsets + index * offset_width, offset_width)?;
        write(
            out,
            value.get(start..).unwrap_or_default(),
            names,
            depth + 1,
        )?;
    }
    out.push(b']');
    Ok(())
}

fn primitive(out: &mut Vec<u8>, value: &[u8], kind: usize) -> Result<()> {
    match kind {
        0 => out.extend_from_slice(b"null"),
        1 => scalar::boolean(out, true),
        2 => scalar::boolean(out, false),
        3 => scalar::integer(out, i8::from_le_bytes(array(value, 1)?)),
        4 => scalar::integer(out, i16::from_le_bytes(array(value, 1)?)),
        5 => scalar::integer(out, i32::from_le_bytes(array(value, 1)?)),
        6 => scalar::integer(out, i64::from_le_bytes(array(value, 1)?)),
        7 => {
            let number = f64::from_le_bytes(array(value, 1)?);
            out.extend_from_slice(double_text(number).as_bytes());
        }
        8 => decimal(out, i32::from_le_bytes(array(value, 2)?).into(), value)?,
        9 => decimal(out, i64::from_le_bytes(array(value, 2)?).into(), value)?,
        10 => decimal(out, i128::from_le_bytes(array(value, 2)?), value)?,
        11 => scalar::date(out, i32::from_le_bytes(array(value, 1)?).into()),
        12 => timestamp(out, i64::from_le_bytes(array(value, 1)?), "+00:00"),
        13 => timestamp(out, i64::from_le_bytes(array(value, 1)?), ""),
        14 => {
            let number = f32::from_le_bytes(array(value, 1)?);
            out.extend_from_slice(float_text(number).as_bytes());
        }
        15 => base64(out, slice(value, 5, unsigned(value, 1, 4)?)?),
        16 => text(out, slice(value, 5, unsigned(value, 1, 4)?)?)?,
        20 => uuid(out, array(value, 1)?),
        other => {
            return Err(Error::unsupported(format!(
                "variant of primitive type {other}"
            )));
        }
    }
    Ok(())
}

/// Without trailing zeros, as the reference gives it out.
fn decimal(out: &mut Vec<u8>, mut unscaled: i128, value: &[u8]) -> Result<()> {
    let [mut scale] = array(value, 1)?;
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    scalar::plain_decimal(out, unscaled, scale);
    Ok(())
}

/// Microseconds since the epoch, with a space between date and time.
fn timestamp(out: &mut Vec<u8>, micros: i64, offset: &str) {
    let seconds = micros.div_euclid(1_000_000);
    out.push(b'"');
    scalar::plain_date(out, seconds.div_euclid(86_400));
    out.push(b' ');
    scalar::plain_time(
        out,
        seconds.rem_euclid(86_400),
        micros.rem_euclid(1_000_000) * 1000,
    );
    out.extend_from_slice(offset.as_bytes());
    out.push(b'"');
}

fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.push(b'"');
    for chunk in bytes.chunks(3) {
        let number = chunk
            .iter()
            .fold(0u32, |number, byte| number << 8 | u32::from(*byte));
        let number = number << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let index = number >> (18 - 6 * digit) & 63;
            let found = usize::try_from(index)
                .ok()
                .and_then(|index| DIGITS.get(index));
            out.push(
                found
                    .copied()
                    .filter(|_| digit <= chunk.len())
                    .unwrap_or(b'='),
            );
        }
    }
    out.push(b'"');
}

/// In the usual groups; its bytes are big endian.
fn uuid(out: &mut Vec<u8>, bytes: [u8; 16]) {
    let number = u128::from_be_bytes(bytes);
    let mut digits = format!("{number:032x}");
    for at in [20, 16, 12, 8] {
        digits.insert(at, '-');
    }
    scalar::text(out, &digits);
}
