use std::collections::BTreeSet;

use proptest::collection::btree_set;
use proptest::prelude::*;

use super::*;

fn unhex(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn bitmap(values: &BTreeSet<u64>) -> Bitmap64 {
    let mut bitmap = Bitmap64::default();
    for value in values {
        let low = u32::try_from(value & 0xFFFF).unwrap();
        bitmap.0.entry(value >> 16).or_default().insert(low);
    }
    bitmap
}

fn values(bitmap: &Bitmap64) -> BTreeSet<u64> {
    let of_key = |(key, low): (&u64, &RoaringBitmap)| {
        let key = key << 16;
        low.iter()
            .map(move |low| key | u64::from(low))
            .collect::<Vec<_>>()
    };
    bitmap.0.iter().flat_map(of_key).collect()
}

/// Written by the reference: {7, 8589934595, 1099511627776}.
const THREE_KEYS: &str = "01030000000000000000020002000000000100000200000000020004000000000000000000020000000000000004\
    000000000000020000000000000000000004000000000001000000010000000000000001000000fe030000000102010000000300010201000000\
    0000010201000000070003000000000000000000000002000000";

/// Written by the reference: {65536..=65540, 196608, 262144, 327680, 393216}, with a place for a container that is not there.
const FIVE_KEYS: &str = "0105000000000000000105000500000000000000000605040301000000000000000004000000000000000001000000\
    000000000004000000000000000003010000000000000004000000000000000004020000000000000004000000000000000005030000000000\
    000004000000000000000006040000000000000001000000fe0600000001000500000001000000040001020100000000000102010000000000\
    010201000000000001020100000000000005000000000000000000000004000000";

#[test]
fn bitmaps_of_the_reference_are_read() {
    // ME-132
    let found = values(&Bitmap64::decode(&unhex(FIVE_KEYS)).unwrap());
    let wanted = (65536..=65540).chain([196_608, 262_144, 327_680, 393_216]);
    assert_eq!(found, wanted.collect());
    assert!(values(&Bitmap64::decode(&[0]).unwrap()).is_empty());
}

#[test]
fn bitmaps_are_written_as_the_reference_writes_them() {
    // ME-132: but for the order of containers, which is that of keys here, and free places among them.
    let three = Bitmap64::decode(&unhex("01010000000000000004000000000000000000000000000000000001000000fe01000000010201000000090001000000000000000000000000000000")).unwrap();
    assert_eq!(values(&three), [9].into());
    let written = "01010000000000000004000000000000000000000000000000000001000000fe01000000010201000000090001000000000000000000000000000000";
    assert_eq!(three.encode().unwrap(), unhex(written));
    let five = Bitmap64::decode(&unhex(FIVE_KEYS))
        .unwrap()
        .encode()
        .unwrap();
    let tree = 9 + 25 + 5 * 18;
    assert_eq!(five[..tree], unhex(FIVE_KEYS)[..tree]);
    assert_eq!(Bitmap64::default().encode().unwrap(), [0]);
    assert!(values(&Bitmap64::decode(&unhex(THREE_KEYS)).unwrap()).contains(&(1 << 40)));
}

#[test]
fn branches_of_every_size_come_back() {
    // 2 to 256 children, below a shared prefix.
    for children in [2, 4, 5, 16, 17, 48, 49, 256] {
        let all: BTreeSet<u64> = (0..children)
            .map(|child| 0x7700_0000_0000 | (255 - child) << 24 | 3)
            .collect();
        let bytes = bitmap(&all).encode().unwrap();
        assert_eq!(
            values(&Bitmap64::decode(&bytes).unwrap()),
            all,
            "{children}"
        );
    }
}

#[test]
fn contradictions_are_refused() {
    let good = unhex(FIVE_KEYS);
    for length in 0..good.len() - 17 {
        assert!(Bitmap64::decode(&good[..length]).is_err(), "{length}");
    }
    let mut keys = good.clone();
    keys[1] = 6;
    assert!(
        Bitmap64::decode(&keys)
            .unwrap_err()
            .message()
            .contains("5 keys, expected 6")
    );
    let mut shared = good;
    // The container of the second key is that of the first one.
    let second = 9 + 25 + 18 + 10;
    shared[second] = 0;
    assert!(
        Bitmap64::decode(&shared)
            .unwrap_err()
            .message()
            .contains("no container of its own")
    );
}

/// Values of few keys, with runs and dense stretches.
fn numbers() -> impl Strategy<Value = BTreeSet<u64>> {
    let key = prop_oneof![
        0..4_u64,
        (0..300_u64).prop_map(|byte| byte << 20),
        0..(1_u64 << 48)
    ];
    let stretch = (key, 0..0xF000_u64, 1..5000_u64, 1..4_u64);
    let values = |(key, start, length, step): (u64, u64, u64, u64)| {
        let end = (start + length).min(0x1_0000);
        let low = (start..end).step_by(usize::try_from(step).unwrap());
        low.map(move |low| key << 16 | low).collect::<Vec<_>>()
    };
    btree_set(stretch, 0..6).prop_map(move |all| all.into_iter().flat_map(values).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_bitmaps_come_back(a in numbers(), b in numbers()) {
        let bytes = bitmap(&a).encode().unwrap();
        let decoded = Bitmap64::decode(&bytes).unwrap();
        prop_assert_eq!(values(&decoded), a.clone());
        let union = decoded.union(bitmap(&b)).unwrap();
        prop_assert_eq!(values(&union), a.union(&b).copied().collect());
    }

    #[test]
    fn no_bytes_panic(at in 0..200_usize, byte: u8, cut in 0..200_usize) {
        let mut bytes = unhex(FIVE_KEYS);
        let length = bytes.len();
        bytes[at % length] = byte;
        let _ = Bitmap64::decode(&bytes);
        let _ = Bitmap64::decode(&bytes[cut % length..]);
    }
}

#[test]
fn values_of_a_bitmap_are_ascending() {
    let values = rbm64_values(&unhex(THREE_KEYS)).unwrap();
    assert_eq!(values, [7, 8_589_934_595, 1_099_511_627_776]);
    assert!(rbm64_values(&[0]).unwrap().is_empty());
    assert!(rbm64_values(&[]).is_err());
}
