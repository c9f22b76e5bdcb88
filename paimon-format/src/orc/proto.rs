//! Protocol buffers, as far as ORC has them.

use paimon_meta::{Error, Result};

/// The fields of a message, in the order they are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    rest: &'a [u8],
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Fixed width; no field that is read here has it.
    Other,
}

impl<'a> Value<'a> {
    pub(super) fn number(self) -> Result<u64> {
        match self {
            Self::Number(value) => Ok(value),
            _ => Err(damaged()),
        }
    }

    pub(super) fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(damaged()),
        }
    }

    pub(super) fn message(self) -> Result<Message<'a>> {
        self.bytes().map(Message::new)
    }

    /// A number, or many of them packed.
    pub(super) fn numbers(self, into: &mut Vec<u64>) -> Result<()> {
        match self {
            Self::Number(value) => into.push(value),
            Self::Bytes(bytes) => {
                let mut packed = Message::new(bytes);
                while !packed.rest.is_empty() {
                    into.push(packed.varint()?);
                }
            }
            Self::Other => return Err(damaged()),
        }
        Ok(())
    }
}

impl<'a> Message<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The number and value of the next field.
    ///
    /// # Errors
    /// `Corrupt` if it is not whole.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Value<'a>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.take(8).map(|_| Value::Other)?,
            2 => {
                let length = self.varint()?;
                let length = usize::try_from(length).map_err(|_| damaged())?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Other)?,
            _ => return Err(damaged()),
        };
        Ok(Some((tag >> 3, value)))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or_else(damaged)?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(damaged())
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(bytes)
    }
}

fn damaged() -> Error {
    Error::corrupt("footer is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_unknown_ones_stepped_over() {
        // 1: 300, 2: "ab", 3: fixed 64, 4: packed 1 and 128, 5: fixed 32.
        let bytes = [
            &[8, 0xac, 2, 18, 2, b'a', b'b', 25][..],
            &[0; 8],
            &[34, 3, 1, 0x80, 1, 45],
            &[0; 4],
        ]
        .concat();
        let mut message = Message::new(&bytes);
        assert_eq!(message.next().unwrap().unwrap().1.number().unwrap(), 300);
        assert_eq!(message.next().unwrap().unwrap().1.bytes().unwrap(), b"ab");
        assert!(matches!(message.next().unwrap(), Some((3, Value::Other))));
        let mut numbers = Vec::new();
        let packed = message.next().unwrap().unwrap().1;
        packed.numbers(&mut numbers).unwrap();
        assert_eq!(numbers, [1, 128]);
        assert!(message.next().unwrap().is_some());
        assert!(message.next().unwrap().is_none());
        for length in [1, 2, 4, 5, 9, 20] {
            let mut message = Message::new(&bytes[..length]);
            let read = std::iter::from_fn(|| message.next().transpose());
            assert!(read.collect::<Result<Vec<_>>>().is_err(), "{length}");
        }
    }
}
