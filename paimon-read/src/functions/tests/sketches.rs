//! Functions on sketches and bitmaps. The bytes were written by the reference.

use arrow_array::cast::AsArray;
use arrow_array::{BinaryArray, BinaryViewArray, LargeBinaryArray};
use paimon_meta::ErrorKind;
use proptest::prelude::*;

use super::*;

fn unhex(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const NAMES: [&str; 4] = ["rbm32", "rbm64", "hll_sketch", "theta_sketch"];

/// What a function makes of one group.
fn union(name: &str, versions: &[(Step, Option<&[u8]>)]) -> Result<Option<Vec<u8>>> {
    let (steps, values): (Vec<_>, Vec<_>) = versions.iter().copied().unzip();
    let values: ArrayRef = Arc::new(BinaryViewArray::from(values));
    let merged = merge(name, "BYTES", &[], &values, &[&steps])?;
    Ok(merged
        .as_binary_view()
        .iter()
        .next()
        .unwrap()
        .map(<[u8]>::to_vec))
}

fn union_of(name: &str, a: &str, b: &str) -> String {
    let (a, b) = (unhex(a), unhex(b));
    hex(&union(name, &[(Add, Some(&a)), (Add, Some(&b))])
        .unwrap()
        .unwrap())
}

#[test]
fn bitmaps_of_32_bits_unite() {
    // ME-131: {1, 5, 70000..=70010} and {2, 5, 70005..=70020}
    let a = "3b300100020000010001000a0001000500010070110a00";
    let b = "3b300100020000010001000f0002000500010075110f00";
    assert_eq!(
        union_of("rbm32", a, b),
        "3b300100020000020001001400010002000500010070111400"
    );
    let empty = "3a30000000000000";
    assert_eq!(union_of("rbm32", a, empty), a);
    assert_eq!(union_of("rbm32", empty, empty), empty);
}

#[test]
fn bitmaps_of_64_bits_unite() {
    // ME-132: {9} and nothing.
    let a = "01010000000000000004000000000000000000000000000000000001000000fe01000000010201000000090001000000000000000000000000000000";
    assert_eq!(union_of("rbm64", a, "00"), a);
    assert_eq!(union_of("rbm64", "00", a), a);
    assert_eq!(union_of("rbm64", a, a), a);
    assert_eq!(union_of("rbm64", "00", "00"), "00");
}

#[test]
fn theta_sketches_unite() {
    // ME-133: {1, 2, 3} and {3, 4}, {9} and nothing.
    let a = "02030300001acc93030000000000803f15f97dcbbd86a105c397fc1281709d1eba40b3c1da06695d";
    let b = "02030300001acc93020000000000803f40de2ee1c9db3d08ba40b3c1da06695d";
    let wanted = "02030300001acc93040000000000803f15f97dcbbd86a10540de2ee1c9db3d08c397fc1281709d1eba40b3c1da06695d";
    assert_eq!(union_of("theta_sketch", a, b), wanted);
    let (single, empty) = ("01030300003acc931ad1300b998c2f22", "01030300001e0000");
    assert_eq!(union_of("theta_sketch", single, empty), single);
    assert_eq!(union_of("theta_sketch", single, single), single);
}

#[test]
fn theta_sketches_that_are_still_updated_unite() {
    // ME-133: 200 numbers with 16 nominal entries, and nothing.
    let updated = "c30302040500cc93160000000000803f614ecd35427f6f0b40de2ee1c9db3d086aa9cade240aed05e2dacf9fcdeabe04\
        63319a572b2de60700000000000000002596796c863eb20500000000000000000000000000000000e8a7bd68fe0b8604\
        698bb991b86857080a22dbb71c875f01000000000000000088655737d10a7401ed0b4d6d52ba06054962bb9062b6fc03\
        0f5d1190dc88b10300000000000000000000000000000000b21e8b1c4525480bf385d11765f6c5080000000000000000\
        15f97dcbbd86a105a0fd066176e58e08f7ce79d2837fc905fa74b34c16b16e000000000000000000fa69f9593ca28308\
        fb38798913248f01dc3f9f540c995a080000000000000000be111e938546fe080000000000000000";
    let compact = "02030300001acc93050000000000803f40de2ee1c9db3d08fe162113fb98bc10bd3273724691cc14ba40b3c1da06695d\
        e0f48bea9983c37c";
    let wanted = "03030300001acc93160000000000803f614ecd35427f6f0bfa74b34c16b16e000a22dbb71c875f0188655737d10a7401\
        fb38798913248f010f5d1190dc88b1034962bb9062b6fc03e8a7bd68fe0b8604e2dacf9fcdeabe04ed0b4d6d52ba0605\
        15f97dcbbd86a1052596796c863eb205f7ce79d2837fc9056aa9cade240aed0563319a572b2de60740de2ee1c9db3d08\
        698bb991b8685708dc3f9f540c995a08fa69f9593ca28308a0fd066176e58e08f385d11765f6c508be111e938546fe08\
        b21e8b1c4525480b";
    assert_eq!(union_of("theta_sketch", updated, compact), wanted);
    let empty = format!(
        "c30302040504cc93000000000000803fffffffffffffff7f{}",
        "0".repeat(512)
    );
    assert_eq!(union_of("theta_sketch", &empty, compact), compact);
    assert!(
        union(
            "theta_sketch",
            &[(Add, Some(&unhex(updated)[..200])), (Add, Some(b"x"))]
        )
        .is_err()
    );
}

#[test]
fn hll_sketches_unite() {
    // ME-133: {1, 2, 3} and {3, 4}; hashes stand in any order.
    let a = "0201070a030803002bf2fb06862ff90d75816607";
    let b = "0201070a030802087581660781bc5d06";
    let wanted = "0201070a030804007581660781bc5d062bf2fb06862ff90d";
    assert_eq!(union_of("hll_sketch", a, b), wanted);
    let updated =
        "0201070603000300cbd7c2042bf2fb06862ff90d0000000000000000000000000000000000000000";
    let one = "0201070603080100b54cad0f";
    assert_eq!(
        union_of("hll_sketch", updated, one),
        "0201070603080400b54cad0fcbd7c2042bf2fb06862ff90d"
    );
    let empty = "0201070c030c0000";
    assert_eq!(union_of("hll_sketch", empty, empty), empty);
}

#[test]
fn hll_sketches_of_different_sizes_unite_in_the_order_of_the_reference() {
    // ME-133: 50 numbers of which the reference keeps hashes, and one in fewer registers. The order in which hashes are
    // taken over decides the estimate.
    let hashes = "0301070c070800013200000081bc5d060222b4048469cc05862ff90dc66234078dc48909cea0ef05935431059407c204\
        8fc3b00697bb601a1abcd0059e2d6a07a17ae409223beb05aa7387162bf2fb062c460506ae3c881130435f0e32256205\
        34a2610e35a93104b62f0906b83ff9073f904804c1e91705c3dd5104c4b59f0736470907c6196a04c87a2404cbd7c204\
        cef05b1fd2167307b05b4612d7783406597fd40ddb522d04b856a90c9ee49b18fc2d420a6de51d076ec53406ef2df707\
        464ab70475816607f671f2067b65e6087c74b907";
    let one = "0201070803080100b54cad0f";
    let wanted = "0a010708000800027ca01ec206aa494000000000404e6c400000000000000000d1000000000000000001000000000000\
        000000000001000000010000001001000301130100000010000000010000000000000000300000000000000000001001\
        000010000020010010000103000020100010016000000006200000000005000404003001030000001010010101100007\
        000100100010000000000000000000100000000100000200";
    assert_eq!(union_of("hll_sketch", hashes, one), wanted);
}

#[test]
fn bytes_that_meet_no_others_are_not_looked_at() {
    // ME-133
    let bytes: &[u8] = b"no sketch";
    for name in NAMES {
        for versions in [
            &[(Add, None), (Add, Some(bytes)), (Skip, Some(b"x"))][..],
            &[(Add, Some(b"x")), (Replace, Some(bytes)), (Add, None)],
            &[(Add, Some(bytes)), (AddReversed, None)],
        ] {
            assert_eq!(union(name, versions).unwrap().unwrap(), bytes);
        }
        assert_eq!(union(name, &[(Add, None), (Add, None)]).unwrap(), None);
    }
}

#[test]
fn bytes_that_are_no_sketch_are_named_with_their_row() {
    // ME section 2.5
    for name in NAMES {
        let versions = [(Add, None), (Add, Some(&b"no"[..])), (Add, Some(b"no"))];
        let error = union(name, &versions).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("bytes are no"), "{error}");
        assert!(error.to_string().contains("row 2"), "{error}");
        // ME-135
        assert!(union(name, &[(Add, None), (Retract, None)]).is_err());
    }
}

#[test]
fn every_layout_of_bytes_keeps_its_layout() {
    let sketches = [
        "3a30000000000000",
        "3b300100020000010001000a0001000500010070110a00",
    ]
    .map(unhex);
    let values = || sketches.iter().map(Some);
    let layouts: [(ArrayRef, ArrayRef); 3] = [
        (
            Arc::new(BinaryArray::from_iter(values())),
            Arc::new(BinaryArray::from_iter(values().skip(1))),
        ),
        (
            Arc::new(LargeBinaryArray::from_iter(values())),
            Arc::new(LargeBinaryArray::from_iter(values().skip(1))),
        ),
        (
            Arc::new(BinaryViewArray::from_iter(values())),
            Arc::new(BinaryViewArray::from_iter(values().skip(1))),
        ),
    ];
    for (values, wanted) in layouts {
        assert_eq!(
            &merge("rbm32", "BYTES", &[], &values, &[&[Add, Add]]).unwrap(),
            &wanted
        );
    }
}

#[test]
fn sketches_need_bytes_of_any_length() {
    // ME-134
    for name in NAMES {
        assert!(function(name, "VARBINARY(10)", &[]).is_ok());
        for kind in ["BINARY(10)", "STRING", "INT"] {
            assert!(function(name, kind, &[]).is_err());
        }
    }
}

/// A sketch of each kind, to be damaged.
fn sketches() -> [(&'static str, Vec<u8>); 6] {
    let registers = {
        let mut sketch =
            datasketches::hll::HllSketch::new(8, datasketches::hll::HllType::Hll4).unwrap();
        (0..40_000_u32).for_each(|value| sketch.update(value));
        sketch.serialize()
    };
    let coupons = {
        let mut sketch =
            datasketches::hll::HllSketch::new(12, datasketches::hll::HllType::Hll8).unwrap();
        (0..40_u32).for_each(|value| sketch.update(value));
        sketch.serialize()
    };
    let theta = {
        let mut sketch = datasketches::theta::ThetaSketchBuilder::default()
            .build()
            .unwrap();
        (0..9000_u32).for_each(|value| sketch.update(value));
        sketch.compact(true).serialize()
    };
    [
        (
            "rbm32",
            unhex("3b300100020000010001000a0001000500010070110a00"),
        ),
        (
            "rbm64",
            unhex(
                "01010000000000000004000000000000000000000000000000000001000000fe01000000010201000000090001000000000000000000000000000000",
            ),
        ),
        ("hll_sketch", registers),
        ("hll_sketch", coupons),
        ("theta_sketch", unhex("01030300003acc931ad1300b998c2f22")),
        ("theta_sketch", theta),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn damaged_sketches_never_panic(at: prop::sample::Index, byte: u8, header in 0..48_usize, cut: prop::sample::Index) {
        for (name, good) in sketches() {
            let mut damaged = good.clone();
            let length = good.len();
            damaged[at.index(length)] = byte;
            let mut other = good.clone();
            other[header % length] = byte;
            for bad in [&damaged[..], &other, &good[..cut.index(length)]] {
                let _ = union(name, &[(Add, Some(&good)), (Add, Some(bad))]);
                let _ = union(name, &[(Add, Some(bad)), (Add, Some(&good))]);
            }
        }
    }
}
