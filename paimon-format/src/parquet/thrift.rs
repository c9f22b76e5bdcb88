//! Thrift's compact protocol, as far as it takes to see that a structure is whole before the decoder believes it.
//!
//! ```text
//! struct   fields, then 0        field   id difference << 4 | type, or type and the id as a zigzag varint
//! list     size << 4 | type, or 15 << 4 | type and the size as a varint, then the elements
//! binary   length as a varint, then the bytes            integers   zigzag varints, bytes as they are
//! ```
//!
//! The decoder reserves memory for as many elements as a list or a group of the schema claims to have, and follows the
//! schema as deep as it goes. It knows fields by their id alone, so that a field of another type than it should have is
//! refused here.

/// Structures inside structures; real metadata has less than ten.
const DEPTH: usize = 32;
/// Groups inside groups of a schema.
const SCHEMA_DEPTH: usize = 128;

/// The type of a field or element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    const TRUE: Self = Self(1);
    const FALSE: Self = Self(2);
    const BYTE: Self = Self(3);
    const I16: Self = Self(4);
    pub(super) const I32: Self = Self(5);
    pub(super) const I64: Self = Self(6);
    const DOUBLE: Self = Self(7);
    const BINARY: Self = Self(8);
    const LIST: Self = Self(9);
    const SET: Self = Self(10);
    const MAP: Self = Self(11);
    pub(super) const STRUCT: Self = Self(12);
    const UUID: Self = Self(13);
}

/// What is left to read. All methods give `None` for what is no valid encoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compact<'a>(&'a [u8]);

impl<'a> Compact<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Bytes not read yet.
    pub(super) fn remaining(&self) -> usize {
        self.0.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn advance(&mut self, count: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// An integer of any width.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let zigzag = self.varint()?;
        Some((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }

    /// Calls `read` with the id and type of each field of a structure; it must read the field.
    pub(super) fn fields(
        &mut self,
        mut read: impl FnMut(&mut Self, i64, Kind) -> Option<()>,
    ) -> Option<()> {
        let mut id = 0;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(());
            }
            let delta = i64::from(header >> 4);
            id = if delta == 0 {
                self.integer()?
            } else {
                id + delta
            };
            // The decoder cuts ids to 16 bits and would see another field.
            i16::try_from(id).ok()?;
            read(self, id, Kind(header & 0x0F))?;
        }
    }

    /// The number of elements of a list and their type. Each takes a byte at least.
    fn list(&mut self) -> Option<(u64, Kind)> {
        let header = self.byte()?;
        let size = if header >> 4 == 15 {
            self.varint()?
        } else {
            u64::from(header >> 4)
        };
        (size <= self.0.len() as u64).then_some((size, Kind(header & 0x0F)))
    }

    /// Reads a field of any type.
    pub(super) fn skip(&mut self, kind: Kind) -> Option<()> {
        self.skip_nested(kind, DEPTH)
    }

    fn skip_nested(&mut self, kind: Kind, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // The value of a field is its type; an element has a byte.
            Kind::TRUE | Kind::FALSE => Some(()),
            Kind::BYTE => self.advance(1),
            Kind::I16 | Kind::I32 | Kind::I64 => self.varint().map(drop),
            Kind::DOUBLE => self.advance(8),
            Kind::UUID => self.advance(16),
            Kind::BINARY => {
                let length = self.varint()?;
                self.advance(length)
            }
            Kind::LIST | Kind::SET => {
                let (size, kind) = self.list()?;
                (0..size).try_for_each(|_| self.skip_element(kind, depth))
            }
            Kind::MAP => self.skip_map(depth),
            Kind::STRUCT => self.fields(|this, _, kind| this.skip_nested(kind, depth)),
            _ => None,
        }
    }

    fn skip_element(&mut self, kind: Kind, depth: usize) -> Option<()> {
        match kind {
            Kind::TRUE | Kind::FALSE => self.advance(1),
            kind => self.skip_nested(kind, depth),
        }
    }

    fn skip_map(&mut self, depth: usize) -> Option<()> {
        let size = self.varint()?;
        if size == 0 {
            return Some(());
        }
        let kinds = self.byte()?;
        (0..size).try_for_each(|_| {
            self.skip_element(Kind(kinds >> 4), depth)?;
            self.skip_element(Kind(kinds & 0x0F), depth)
        })
    }
}

/// Whether the bytes begin with a whole structure.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    Compact::new(bytes).skip(Kind::STRUCT).is_some()
}

/// Whether the bytes begin with a whole footer whose schema is one tree of sensible depth.
pub(super) fn is_whole_footer(bytes: &[u8]) -> bool {
    /// The schema, depth first.
    const SCHEMA: i64 = 2;
    let mut footer = Compact::new(bytes);
    footer
        .fields(|footer, id, kind| match (id, kind) {
            (SCHEMA, Kind::LIST) => schema(footer),
            (SCHEMA, _) => None,
            _ => footer.skip(kind),
        })
        .is_some()
}

fn schema(footer: &mut Compact<'_>) -> Option<()> {
    /// Children of a group; leaves have none.
    const CHILDREN: i64 = 5;
    let (size, kind) = footer.list()?;
    if kind != Kind::STRUCT {
        return None;
    }
    // Nodes that are still to come at each level.
    let mut levels = vec![1_i64];
    for _ in 0..size {
        while levels.last() == Some(&0) {
            levels.pop();
        }
        *levels.last_mut()? -= 1;
        let mut children = 0;
        footer.fields(|node, id, kind| match (id, kind) {
            (CHILDREN, Kind::I32) => node.integer().map(|count| children = count),
            (CHILDREN, _) => None,
            _ => node.skip(kind),
        })?;
        if children < 0 || children.cast_unsigned() >= size || levels.len() > SCHEMA_DEPTH {
            return None;
        }
        levels.push(children);
    }
    levels.iter().all(|left| *left == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list field 1 of that many elements of type `kind`, with `rest` behind it.
    fn list(size: u8, kind: Kind, rest: &[u8]) -> Vec<u8> {
        let header = [0x10 | Kind::LIST.0, 0xF0 | kind.0, size];
        [&header, rest].concat()
    }

    #[test]
    fn list_longer_than_the_bytes_is_not_whole() {
        assert!(is_whole(&list(3, Kind::BYTE, &[1, 2, 3, 0])));
        assert!(!is_whole(&list(5, Kind::BYTE, &[1, 2, 3, 0])));
    }

    #[test]
    fn long_ids_negative_numbers_and_every_type_are_read() {
        // Field 300 by its own id, a map of one entry, a double, a set of booleans.
        let fields = [
            &[Kind::I64.0, 0xD8, 0x04, 0x03][..],
            &[0x10 | Kind::MAP.0, 1, Kind::BYTE.0 << 4 | Kind::I32.0, 7, 9],
            &[0x10 | Kind::DOUBLE.0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0x10 | Kind::SET.0, 0x21, 1, 0],
            &[0x10 | Kind::BINARY.0, 2, b'a', b'b', 0],
        ];
        let bytes = fields.concat();
        assert!(is_whole(&bytes));
        for length in 0..bytes.len() {
            assert!(!is_whole(&bytes[..length]), "{length}");
        }
        let mut ids = Vec::new();
        let read = Compact::new(&bytes).fields(|rest, id, kind| {
            ids.push(id);
            if id == 300 {
                rest.integer().map(|value| assert_eq!(value, -2))
            } else {
                rest.skip(kind)
            }
        });
        assert!(read.is_some());
        assert_eq!(ids, [300, 301, 302, 303, 304]);
    }

    #[test]
    fn endless_nesting_and_endless_numbers_are_refused() {
        assert!(!is_whole(&[0x10 | Kind::STRUCT.0; 10_000]));
        assert!(!is_whole(
            &[&[0x10 | Kind::I64.0][..], &[0xFF; 20]].concat()
        ));
    }

    /// A footer with a schema of nodes that have so many children.
    fn footer(children: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x20 | Kind::LIST.0, 0xF0 | Kind::STRUCT.0];
        bytes.extend([
            u8::try_from(children.len() & 0x7F).unwrap() | 0x80,
            u8::try_from(children.len() >> 7).unwrap(),
        ]);
        for count in children {
            // Zigzag of small numbers fits a byte.
            bytes.extend([0x50 | Kind::I32.0, count * 2, 0]);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn schema_must_be_one_tree() {
        assert!(is_whole_footer(&footer(&[2, 0, 1, 0])));
        assert!(is_whole_footer(&footer(&[0])));
        assert!(!is_whole_footer(&footer(&[2, 0])), "a child is missing");
        assert!(!is_whole_footer(&footer(&[1, 0, 0])), "a node too many");
        assert!(
            !is_whole_footer(&footer(&[60, 0])),
            "more children than nodes"
        );
        let chain = |length: usize| footer(&[vec![1; length], vec![0]].concat());
        assert!(is_whole_footer(&chain(100)));
        assert!(!is_whole_footer(&chain(1000)));
    }
}
