//! Reading local files where the polling thread may block: without the copy of zeros that a buffer costs elsewhere.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};
use std::ops::Range;

use bytes::Bytes;

use crate::buffers::Buffers;

/// Most bytes that are reserved before any is read: a file may be shorter than a caller believes.
const RESERVED_BYTES: u64 = 16 << 20;

/// Whether reading here blocks nobody else: outside a runtime, the thread is the caller's own.
pub(crate) fn may_block() -> bool {
    tokio::runtime::Handle::try_current().is_err()
}

/// The bytes of a range, fewer if the file ends before.
pub(crate) fn read(mut file: File, range: Range<u64>, buffers: &Buffers) -> Result<Bytes> {
    let length = range.end.saturating_sub(range.start);
    file.seek(SeekFrom::Start(range.start))?;
    let reserved = usize::try_from(length.min(RESERVED_BYTES)).unwrap_or_default();
    let mut bytes = buffers.take(reserved);
    file.take(length).read_to_end(&mut bytes)?;
    Ok(buffers.lend(bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_range_is_read_and_a_short_file_gives_what_it_has() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let whole = file.try_clone().unwrap();
        let buffers = Buffers::default();
        assert_eq!(read(whole, 2..5, &buffers).unwrap(), &b"234"[..]);
        assert_eq!(read(file, 8..20, &buffers).unwrap(), &b"89"[..]);
    }
}
