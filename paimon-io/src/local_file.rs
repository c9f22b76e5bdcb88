//! Reading local files into buffers that are used again: where the polling thread may block, else on a thread of the runtime
//! that may.

use std::fs::File;
use std::io::{Error, Read, Result, Seek, SeekFrom};
use std::ops::Range;

use bytes::Bytes;
use tokio::runtime::Handle;

use crate::buffers::Buffers;

/// Most bytes that are reserved before any is read: a file may be shorter than a caller believes.
const RESERVED_BYTES: u64 = 16 << 20;

/// The bytes of a range, fewer if the file ends before. Outside a runtime, the polling thread is the caller's own and reads.
pub(crate) async fn read(file: File, range: Range<u64>, buffers: &Buffers) -> Result<Bytes> {
    let Ok(runtime) = Handle::try_current() else {
        return read_here(file, range, buffers);
    };
    let buffers = buffers.clone();
    let work = runtime.spawn_blocking(move || read_here(file, range, &buffers));
    work.await.unwrap_or_else(|ended| Err(Error::other(ended)))
}

/// The bytes of a range, fewer if the file ends before.
fn read_here(mut file: File, range: Range<u64>, buffers: &Buffers) -> Result<Bytes> {
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
        assert_eq!(read_here(whole, 2..5, &buffers).unwrap(), &b"234"[..]);
        assert_eq!(read_here(file, 8..20, &buffers).unwrap(), &b"89"[..]);
    }

    #[test]
    fn a_runtime_reads_on_a_thread_that_may_block() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let buffers = Buffers::default();
        let bytes = runtime.block_on(read(file, 2..5, &buffers)).unwrap();
        assert_eq!(bytes, &b"234"[..]);
        let address = bytes.as_ptr();
        drop(bytes);
        let again = buffers.take(3);
        assert_eq!(again.as_ptr(), address);
    }
}
