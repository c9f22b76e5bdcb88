//! Messages of protocol buffers.

/// A message that is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(pub(super) Vec<u8>);

impl Message {
    pub(super) fn number(&mut self, field: u64, value: u64) {
        varint(field << 3, &mut self.0);
        varint(value, &mut self.0);
    }

    pub(super) fn signed(&mut self, field: u64, value: i64) {
        self.number(field, zigzag(value));
    }

    /// Bytes, a text, or a message.
    pub(super) fn bytes(&mut self, field: u64, bytes: &[u8]) {
        varint(field << 3 | 2, &mut self.0);
        varint(bytes.len() as u64, &mut self.0);
        self.0.extend_from_slice(bytes);
    }
}

/// Seven bits a byte, the lowest first.
pub(super) fn varint(value: impl Into<u128>, out: &mut Vec<u8>) {
    let mut value = value.into();
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(byte);
            return;
        }
        out.push(byte | 0x80);
    }
}

/// Small numbers of both signs as small ones without.
pub(super) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}
