//! Broken files give errors: no panic, no endless loop, no memory out of proportion.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use apache_avro::Codec;
use paimon_meta::{
    ErrorKind, ManifestColumns, ManifestReader, Result, decode_index_manifest, decode_manifest,
    decode_manifest_list,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::avro_files::{long, recompress};

const GOLDEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../paimon-testkit/golden/plan_dv_partitions_buckets/table/manifest"
);

/// What decoding a broken file of a few KiB may take at most: a block that inflates to the MiB that blocks always may,
/// with its columns.
const MAX_BYTES: u64 = 32 << 20;

/// Some files of each sort: as they are, and with blocks that are not compressed or have a checksum.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let files = fs::read_dir(Path::new(GOLDEN)).unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let files = paths.iter().map(|path| fs::read(path).unwrap());
    files
        .flat_map(|file| {
            let plain = recompress(&file, Codec::Null);
            let snappy = recompress(&file, Codec::Snappy);
            [file, plain, snappy]
        })
        .collect()
});

/// Decodes with every decoder; most of them do not fit the file.
fn decode_all(file: &[u8]) -> [Result<usize>; 4] {
    let columns = || {
        let batches = ManifestReader::new(file, ManifestColumns::default())?;
        batches.map(|batch| batch.map(|batch| batch.len())).sum()
    };
    [
        decode_manifest_list(file).map(|list| list.len()),
        decode_manifest(file).map(|entries| entries.len()),
        decode_index_manifest(file).map(|entries| entries.len()),
        columns(),
    ]
}

/// Decodes, and checks the memory that takes and the kinds of errors.
fn check(file: &[u8]) {
    let used = allocation_counter::measure(|| {
        for decoded in decode_all(file) {
            if let Err(error) = decoded {
                let kind = error.kind();
                assert!(
                    matches!(kind, ErrorKind::Corrupt | ErrorKind::Unsupported),
                    "{error}"
                );
            }
        }
    });
    assert!(used.bytes_max < MAX_BYTES, "{} bytes", used.bytes_max);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn changed_bytes_are_survived(
        file in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..8),
    ) {
        let mut file = file.get(&FILES).clone();
        for (place, byte) in changes {
            *place.get_mut(&mut file) = byte;
        }
        check(&file);
    }

    #[test]
    fn changed_lengths_are_survived(
        file in any::<Index>(),
        place in any::<Index>(),
        length in any::<i64>(),
    ) {
        let mut file = file.get(&FILES).clone();
        let place = place.index(file.len());
        file.splice(place..=place, long(length));
        check(&file);
    }

    #[test]
    fn removed_bytes_are_survived(file in any::<Index>(), from in any::<Index>(), to in any::<Index>()) {
        let mut file = file.get(&FILES).clone();
        let (from, to) = (from.index(file.len()), to.index(file.len()));
        file.drain(from.min(to)..from.max(to));
        check(&file);
    }

    #[test]
    fn ends_are_noticed(file in any::<Index>(), end in any::<Index>()) {
        let file = file.get(&FILES);
        let end = end.index(file.len());
        check(&file[..end]);
        // The files have one block each, so that none of their parts ends between two, but for the header alone.
        if end != header_length(file) {
            prop_assert!(decode_all(&file[..end]).iter().all(Result::is_err));
        }
    }
}

/// Bytes up to the first block: up to the marker that also ends the file.
fn header_length(file: &[u8]) -> usize {
    let sync = &file[file.len() - 16..];
    file.windows(16).position(|window| window == sync).unwrap() + 16
}
