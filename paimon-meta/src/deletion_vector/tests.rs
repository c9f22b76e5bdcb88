use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;

/// The worked examples of TF 6.2: positions 0, 5 and 1000.
const ROARING: [u8; 22] = [
    0x3A, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0x10, 0, 0, 0, 0, 0, 5, 0, 0xE8, 3,
];

fn example_32() -> Vec<u8> {
    [
        &[0, 0, 0, 0x1A, 0x5E, 0x43, 0xF2, 0xD0][..],
        &ROARING,
        &[0x6F, 0x7C, 0xC1, 0x89],
    ]
    .concat()
}

fn example_64() -> Vec<u8> {
    [
        &[0, 0, 0, 0x26, 0xD1, 0xD3, 0x39, 0x64][..],
        &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &ROARING,
        &[0xC6, 0x70, 0x0D, 0x5B],
    ]
    .concat()
}

fn file(length: u64, cardinality: Option<u64>) -> DeletionFile {
    DeletionFile {
        path: "index/i".to_owned(),
        offset: 1,
        length,
        cardinality,
    }
}

/// A vector as it is written, with the length that its meta gives.
fn encoded(vector: &DeletionVector, is_64: bool) -> (Vec<u8>, u64) {
    let mut body = Vec::new();
    if is_64 {
        body.extend(MAGIC_64.to_le_bytes());
        body.extend((vector.bitmaps.len() as u64).to_le_bytes());
    } else {
        body.extend(MAGIC_32.to_be_bytes());
    }
    for (key, bitmap) in &vector.bitmaps {
        if is_64 {
            body.extend(key.to_le_bytes());
        }
        bitmap.serialize_into(&mut body).unwrap();
    }
    if vector.is_empty() && !is_64 {
        RoaringBitmap::new().serialize_into(&mut body).unwrap();
    }
    let length = u32::try_from(body.len()).unwrap();
    let bytes = [
        &length.to_be_bytes()[..],
        &body,
        &crc32fast::hash(&body).to_be_bytes(),
    ]
    .concat();
    (bytes, u64::from(length) + if is_64 { 8 } else { 0 })
}

fn positions(vector: &DeletionVector) -> Vec<u64> {
    vector.ranges(0..u64::MAX).flatten().collect()
}

fn message(bytes: &[u8], file: &DeletionFile) -> String {
    let error = DeletionVector::decode(bytes, file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    error.message().to_owned()
}

#[test]
fn magic_tells_the_format_and_with_it_what_the_length_covers() {
    // TF-064, TF-065, TF-067
    let small = DeletionVector::decode(&example_32(), &file(26, Some(3))).unwrap();
    let large = DeletionVector::decode(&example_64(), &file(46, Some(3))).unwrap();
    assert_eq!(positions(&small), [0, 5, 1000]);
    assert_eq!(small, large);
    assert_eq!((small.cardinality(), small.last()), (3, Some(1000)));
}

#[test]
fn bytes_of_the_next_vector_do_not_matter() {
    // TF-066: the format, and with it the end, is not known before the bytes are there.
    let bytes = [example_64(), vec![9; 8]].concat();
    assert!(DeletionVector::decode(&bytes, &file(46, None)).is_ok());
    assert_eq!(file(46, None).byte_range().unwrap(), 1..55);
    let error = file(u64::MAX - 3, None).byte_range().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn damage_is_named() {
    let mut bytes = example_32();
    bytes[4] = 0x5F;
    let expected =
        "magic number of the deletion vector is 0x5f43f2d0, expected 0x5e43f2d0 or 0xd1d33964";
    assert_eq!(message(&bytes, &file(26, None)), expected);

    let expected = "the deletion vector has 26 bytes, the index manifest says 27";
    assert_eq!(message(&example_32(), &file(27, None)), expected);
    let expected = "the deletion vector has 46 bytes, the index manifest says 38";
    assert_eq!(message(&example_64(), &file(38, None)), expected);

    // RP-263
    let mut bytes = example_32();
    bytes[20] ^= 1;
    let found = message(&bytes, &file(26, None));
    assert!(
        found.starts_with("checksum of the deletion vector is 0x"),
        "{found}"
    );
    assert!(found.ends_with(", expected 0x6f7cc189"), "{found}");

    let expected = "the deletion vector marks 3 rows, the index manifest says 4";
    assert_eq!(message(&example_32(), &file(26, Some(4))), expected);
}

/// An index file of an older table, whose metas tell no cardinality: version byte 1, then vectors of one bitmap each, of
/// positions 0, 5 and 1000, and of 3 alone.
fn version_1() -> (Vec<u8>, [DeletionFile; 2]) {
    const LONE: [u8; 18] = [
        0x3A, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 3, 0,
    ];
    let lone = framed(&[&MAGIC_32.to_be_bytes()[..], &LONE].concat());
    let bytes = [&[1][..], &example_32(), &lone].concat();
    let second = DeletionFile {
        offset: 1 + example_32().len() as u64,
        ..file(22, None)
    };
    (bytes, [file(26, None), second])
}

/// The bytes that a reader asks for, as many as the file has.
fn stored<'a>(bytes: &'a [u8], file: &DeletionFile) -> &'a [u8] {
    let range = file.byte_range().unwrap();
    let at = |place: u64| usize::try_from(place).unwrap().min(bytes.len());
    &bytes[at(range.start)..at(range.end)]
}

#[test]
fn version_1_payloads_of_older_tables_are_decoded() {
    // TF-064 to TF-068: each by its place in the file; a cardinality that is not there is unknown.
    let (bytes, metas) = version_1();
    let decoded = metas.map(|meta| {
        let vector = DeletionVector::decode(stored(&bytes, &meta), &meta).unwrap();
        positions(&vector)
    });
    assert_eq!(decoded, [vec![0, 5, 1000], vec![3]]);
}

#[test]
fn version_1_payloads_that_are_damaged_are_named() {
    // RP-263
    let (bytes, metas) = version_1();
    type Damage = fn(&mut [u8], &mut DeletionFile);
    let cases: [(&str, Damage); 6] = [
        ("magic number", |bytes, _| bytes[4] ^= 1),
        ("checksum", |bytes, _| bytes[8] ^= 1),
        ("checksum", |bytes, _| *bytes.last_mut().unwrap() ^= 1),
        ("bytes, the index manifest says", |bytes, _| bytes[3] += 1),
        ("bytes, the index manifest says", |_, meta| meta.length -= 1),
        ("rows, the index manifest says 7", |_, meta| {
            meta.cardinality = Some(7);
        }),
    ];
    for mut meta in metas {
        let whole = stored(&bytes, &meta)[..usize::try_from(meta.length).unwrap() + 8].to_vec();
        for (expected, damage) in &cases {
            let (mut bytes, before) = (whole.clone(), meta.clone());
            damage(&mut bytes, &mut meta);
            let found = message(&bytes, &meta);
            assert!(found.contains(expected), "{found}");
            meta = before;
        }
        // Cut anywhere, its frame too.
        for end in 0..whole.len() {
            message(&whole[..end], &meta);
        }
    }
}

#[test]
fn every_cut_is_corrupt() {
    for (bytes, length) in [(example_32(), 26), (example_64(), 46)] {
        for end in 0..bytes.len() {
            message(&bytes[..end], &file(length, Some(3)));
        }
    }
}

/// A body with its frame, whose checksum fits.
fn framed(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap();
    [
        &length.to_be_bytes()[..],
        body,
        &crc32fast::hash(body).to_be_bytes(),
    ]
    .concat()
}

#[test]
fn broken_bitmaps_with_a_fitting_checksum_are_corrupt() {
    let magic = MAGIC_64.to_le_bytes();
    let of_64 = |count: u64, rest: &[&[u8]]| {
        framed(&[&magic[..], &count.to_le_bytes(), &rest.concat()].concat())
    };
    let key = |key: u32| key.to_le_bytes();
    let cases = [
        of_64(u64::MAX, &[]),
        of_64(1, &[&key(MAX_KEY + 1), &ROARING]),
        of_64(2, &[&key(1), &ROARING, &key(1), &ROARING]),
        of_64(2, &[&key(1), &ROARING, &key(0), &ROARING]),
        of_64(1, &[&key(0), &ROARING, &[0]]),
        framed(&[&MAGIC_32.to_be_bytes()[..], &ROARING, &[0]].concat()),
        framed(&MAGIC_32.to_be_bytes()),
    ];
    for bytes in cases {
        let is_64 = bytes[4..8] == magic;
        let length = bytes.len() as u64 - if is_64 { 0 } else { 8 };
        message(&bytes, &file(length, None));
    }
}

#[test]
fn keys_of_bitmaps_may_have_gaps() {
    let vector: DeletionVector = [3, 5 << 32, (5 << 32) + 1, 9 << 32].into_iter().collect();
    let (bytes, length) = encoded(&vector, true);
    let decoded = DeletionVector::decode(&bytes, &file(length, Some(4))).unwrap();
    assert_eq!(positions(&decoded), [3, 5 << 32, (5 << 32) + 1, 9 << 32]);
    assert!(decoded.contains(9 << 32) && !decoded.contains(9));
    let inside = decoded.ranges(4..(5 << 32) + 1).collect::<Vec<_>>();
    assert_eq!(inside, [5 << 32..(5 << 32) + 1]);
}

#[test]
fn an_empty_vector_deletes_nothing() {
    // RP-262
    for is_64 in [false, true] {
        let (bytes, length) = encoded(&DeletionVector::default(), is_64);
        let decoded = DeletionVector::decode(&bytes, &file(length, Some(0))).unwrap();
        assert!(decoded.is_empty());
        assert_eq!((decoded.last(), positions(&decoded)), (None, Vec::new()));
    }
}

#[test]
fn run_containers_are_decoded() {
    // TF-074
    let mut bitmap: RoaringBitmap = (10..70_000).collect();
    bitmap.optimize();
    let vector = DeletionVector::from_bitmaps(vec![(0, bitmap)]);
    let (bytes, length) = encoded(&vector, false);
    assert!(bytes.len() < 100, "{} bytes are not runs", bytes.len());
    let decoded = DeletionVector::decode(&bytes, &file(length, None)).unwrap();
    assert!(positions(&decoded).into_iter().eq(10..70_000));
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        positions in proptest::collection::btree_set(0_u64..200_000, 0..300),
        is_64: bool,
        start in 0_u64..200_000,
        length in 0_u64..200_000,
    ) {
        let vector: DeletionVector = positions.iter().copied().collect();
        let (bytes, meta_length) = encoded(&vector, is_64);
        let meta = file(meta_length, Some(positions.len() as u64));
        let decoded = DeletionVector::decode(&bytes, &meta).unwrap();
        let rows = start..start + length;
        let inside: Vec<u64> = decoded.ranges(rows.clone()).flatten().collect();
        let expected: Vec<u64> = positions.range(rows).copied().collect();
        prop_assert_eq!(inside, expected);
        prop_assert_eq!(decoded.last(), positions.last().copied());
        prop_assert!(positions.iter().all(|position| decoded.contains(*position)));
    }

    #[test]
    fn any_bytes_are_decoded_or_corrupt(bytes in proptest::collection::vec(any::<u8>(), 0..64), length in 0_u64..64) {
        if let Err(error) = DeletionVector::decode(&bytes, &file(length, None)) {
            prop_assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
        for body in [MAGIC_32.to_be_bytes(), MAGIC_64.to_le_bytes()] {
            let bytes = framed(&[&body[..], &bytes].concat());
            let length = bytes.len() as u64 - if body == MAGIC_32.to_be_bytes() { 8 } else { 0 };
            if let Err(error) = DeletionVector::decode(&bytes, &file(length, None)) {
                prop_assert_eq!(error.kind(), ErrorKind::Corrupt);
            }
        }
    }
}
