//! Buffers that are used again: fresh memory costs a page fault every four KiB, which a scan of local files notices.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// Most bytes of free buffers that are kept.
const KEPT_BYTES: usize = 32 << 20;

/// A free buffer is used for a request of at least this share of it.
const LEAST_SHARE: usize = 4;

/// Free buffers. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers(Arc<Mutex<Free>>);

#[derive(Debug, Default)]
struct Free {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
}

/// A buffer that goes back when it is dropped.
struct Lent {
    buffer: Vec<u8>,
    home: Buffers,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.home.give_back(std::mem::take(&mut self.buffer));
    }
}

impl Buffers {
    /// An empty buffer with room for at least `length` bytes.
    pub(crate) fn take(&self, length: usize) -> Vec<u8> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &Vec<u8>| {
            let room = buffer.capacity();
            length <= room && room / LEAST_SHARE <= length
        };
        let fitting = free.buffers.iter().position(fits);
        match fitting {
            Some(index) => {
                let buffer = free.buffers.swap_remove(index);
                free.bytes -= buffer.capacity();
                buffer
            }
            None => Vec::with_capacity(length),
        }
    }

    /// The content of a buffer, which comes back when nobody uses it any more.
    pub(crate) fn lend(&self, buffer: Vec<u8>) -> Bytes {
        Bytes::from_owner(Lent {
            buffer,
            home: self.clone(),
        })
    }

    fn give_back(&self, mut buffer: Vec<u8>) {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if free.bytes + buffer.capacity() <= KEPT_BYTES {
            buffer.clear();
            free.bytes += buffer.capacity();
            free.buffers.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_when_nobody_holds_its_bytes() {
        let buffers = Buffers::default();
        let mut buffer = buffers.take(1000);
        let address = buffer.as_ptr();
        buffer.extend_from_slice(b"abc");
        let bytes = buffers.lend(buffer);
        let slice = bytes.slice(1..2);
        drop(bytes);
        let other = buffers.take(1000);
        assert_ne!(other.as_ptr(), address);
        assert_eq!(slice, &b"b"[..]);
        drop(slice);
        let again = buffers.take(900);
        assert_eq!((again.as_ptr(), again.len()), (address, 0));
    }

    #[test]
    fn large_buffers_are_not_spent_on_small_requests_and_not_all_are_kept() {
        let buffers = Buffers::default();
        drop(buffers.lend(buffers.take(1 << 20)));
        assert!(buffers.take(1000).capacity() < 1 << 20);
        drop(buffers.lend(Vec::with_capacity(KEPT_BYTES)));
        assert_eq!(buffers.0.lock().unwrap().buffers.len(), 1);
    }
}
