//! The frame of Java's serialization around an object that writes itself in blocks: a class, then blocks of bytes.

use super::input::Input;
use super::output::Output;
use crate::error::{Error, Result};

pub(super) const DATA_SPLIT: &str = "org.apache.paimon.table.source.DataSplit";
pub(super) const INCREMENTAL_SPLIT: &str = "org.apache.paimon.table.source.IncrementalSplit";

const MAGIC: u16 = 0xaced;
const STREAM_VERSION: u16 = 5;
const NULL: u8 = 0x70;
const REFERENCE: u8 = 0x71;
const CLASS: u8 = 0x72;
const OBJECT: u8 = 0x73;
const STRING: u8 = 0x74;
const BLOCK: u8 = 0x77;
const END: u8 = 0x78;
const LONG_BLOCK: u8 = 0x7a;

/// The class writes itself, and is serializable.
const FLAGS: u8 = 0x03;
/// Bytes of a block, as Java cuts them.
const BLOCK_BYTES: usize = 1024;

/// The class of the one object in the stream, and its bytes.
///
/// # Errors
/// `Corrupt` for what is no such stream, `Unsupported` for an object that does not write itself.
pub(super) fn read(bytes: &[u8]) -> Result<(String, Vec<u8>)> {
    let mut input = Input::new(bytes);
    if (input.short()?, input.short()?) != (MAGIC, STREAM_VERSION) {
        return Err(Error::corrupt("no stream of Java's serialization"));
    }
    expect(&mut input, OBJECT, "an object")?;
    expect(&mut input, CLASS, "a class")?;
    let class = input.utf()?;
    let _serial_version = input.long()?;
    if input.byte()? != FLAGS {
        return Err(Error::unsupported(format!("objects of class {class}")));
    }
    for _ in 0..input.short()? {
        read_field(&mut input)?;
    }
    expect(&mut input, END, "the end of the class")?;
    expect(&mut input, NULL, "no other class above")?;
    let mut data = Vec::new();
    loop {
        let length = match input.byte()? {
            BLOCK => input.byte()?.into(),
            LONG_BLOCK => input.size()?,
            END => break,
            other => {
                return Err(Error::unsupported(format!(
                    "objects of class {class} with content of sort {other:#x}"
                )));
            }
        };
        data.extend_from_slice(input.bytes(length)?);
    }
    input.end()?;
    Ok((class, data))
}

fn expect(input: &mut Input<'_>, expected: u8, what: &str) -> Result<()> {
    match input.byte()? {
        found if found == expected => Ok(()),
        found => Err(Error::corrupt(format!(
            "byte {found:#x} in a stream of Java's serialization, expected {what}"
        ))),
    }
}

/// A field that the class declares; its value is not in the stream.
fn read_field(input: &mut Input<'_>) -> Result<()> {
    let code = input.byte()?;
    input.utf()?;
    if code == b'L' || code == b'[' {
        match input.byte()? {
            STRING => drop(input.utf()?),
            REFERENCE => drop(input.int()?),
            found => {
                return Err(Error::corrupt(format!(
                    "byte {found:#x} in a stream of Java's serialization, expected the type of a field"
                )));
            }
        }
    }
    Ok(())
}

/// An object of a class that reads itself. Fields are not declared: a reader does not miss them.
///
/// # Errors
/// Those of the output.
pub(super) fn write(class: &str, data: &[u8]) -> Result<Vec<u8>> {
    let mut output = Output::default();
    output.short(MAGIC);
    output.short(STREAM_VERSION);
    output.byte(OBJECT);
    output.byte(CLASS);
    output.utf(class)?;
    output.long(match class {
        DATA_SPLIT => 7,
        _ => 1,
    });
    output.byte(FLAGS);
    output.short(0);
    output.byte(END);
    output.byte(NULL);
    for block in data.chunks(BLOCK_BYTES) {
        match u8::try_from(block.len()) {
            Ok(length) => {
                output.byte(BLOCK);
                output.byte(length);
            }
            Err(_) => {
                output.byte(LONG_BLOCK);
                output.size(block.len())?;
            }
        }
        output.bytes(block);
    }
    output.byte(END);
    Ok(output.into_bytes())
}
