use super::*;
use crate::error::ErrorKind;
use crate::options::Options;
use crate::types::parse_type;

/// A key, its murmur hash, its bucket of 5 by default, of 2147483647 by hive, of 7 by mod: what the reference's own
/// classes give (1.4.2).
type Case = (&'static str, Option<Datum>, i32, i32, i32, Option<i32>);

#[track_caller]
fn check(cases: &[Case]) {
    for (data_type, value, murmur, default, hive, modulo) in cases {
        let data_type = parse_type(data_type).unwrap();
        let (types, values) = ([&data_type], [value.clone()]);
        let bucket =
            |function: BucketFunction, total| function.hash(&types, &values).unwrap().bucket(total);
        assert_eq!(
            murmur_hash(encode_row(&types, &values).unwrap().row_bytes()),
            *murmur,
            "{value:?}"
        );
        assert_eq!(
            bucket(BucketFunction::Default, 5),
            Some(*default),
            "{value:?}"
        );
        assert_eq!(
            bucket(BucketFunction::Hive, i32::MAX),
            Some(*hive),
            "{value:?}"
        );
        if modulo.is_some() {
            assert_eq!(bucket(BucketFunction::Mod, 7), *modulo, "{value:?}");
        }
    }
}

fn text(value: &str) -> Option<Datum> {
    Some(Datum::String(value.to_owned()))
}

#[test]
fn check_values_of_section_1_4() {
    // TF-062
    let (int, string) = (parse_type("INT").unwrap(), parse_type("STRING").unwrap());
    let cases: [(&[&DataType], &[Option<Datum>], _, _); 4] = [
        (&[&int], &[Some(Datum::Int(1))], 1_465_514_398, 2),
        (&[&int], &[Some(Datum::Int(5))], 260_196_596, 0),
        (&[&string], &[text("abc")], -101_922_419, 3),
        (
            &[&int, &string],
            &[Some(Datum::Int(5)), text("abc")],
            761_334_957,
            1,
        ),
    ];
    for (types, values, hash, bucket) in cases {
        assert_eq!(
            murmur_hash(encode_row(types, values).unwrap().row_bytes()),
            hash
        );
        assert_eq!(
            BucketFunction::Default
                .hash(types, values)
                .unwrap()
                .bucket(4),
            Some(bucket)
        );
    }
}

const NUMBERS: &[Case] = &[
    ("INT", Some(Datum::Int(7)), -348_168_691, 1, 7, Some(0)),
    (
        "INT",
        Some(Datum::Int(-3)),
        -528_982_515,
        0,
        2_147_483_645,
        Some(4),
    ),
    ("INT", None, -1_748_325_344, 4, 0, Some(0)),
    (
        "BIGINT",
        Some(Datum::BigInt(-3)),
        -1_512_827_124,
        4,
        2,
        Some(4),
    ),
    (
        "BIGINT",
        Some(Datum::BigInt(123_456_789_012_345)),
        2_069_159_288,
        3,
        101_560_113,
        Some(5),
    ),
    (
        "TINYINT",
        Some(Datum::TinyInt(-1)),
        2_004_758_659,
        4,
        0,
        None,
    ),
    (
        "BOOLEAN",
        Some(Datum::Boolean(true)),
        1_465_514_398,
        3,
        1,
        None,
    ),
    (
        "FLOAT",
        Some(Datum::Float(1.5)),
        -173_842_779,
        4,
        1_069_547_520,
        None,
    ),
    ("FLOAT", Some(Datum::Float(-0.0)), 916_225_219, 4, 0, None),
    (
        "DOUBLE",
        Some(Datum::Double(-2.25)),
        -413_435_051,
        1,
        1_073_872_896,
        None,
    ),
    (
        "DOUBLE",
        Some(Datum::Double(f64::NAN)),
        -1_323_214_697,
        2,
        2_146_959_360,
        None,
    ),
    (
        "DATE",
        Some(Datum::Date(19_724)),
        1_827_046_836,
        1,
        19_724,
        None,
    ),
];

#[test]
fn numbers_hash_as_in_the_reference() {
    check(NUMBERS);
}

#[test]
fn text_bytes_and_decimals_hash_as_in_the_reference() {
    let big = 123_456_789_012_345_678_901_230_000_000_001i128;
    check(&[
        (
            "STRING",
            text("héllo wörld"),
            769_328_861,
            1,
            17_241_503,
            None,
        ),
        (
            "BYTES",
            Some(Datum::Binary(vec![1, 0xfe, 3])),
            1_689_412_357,
            2,
            902,
            None,
        ),
        (
            "DECIMAL(10, 4)",
            Some(Datum::Decimal(-123_400, 4)),
            -1_247_514_534,
            4,
            2_147_445_396,
            None,
        ),
        (
            "DECIMAL(38, 10)",
            Some(Datum::Decimal(big, 10)),
            1_463_316_110,
            0,
            1_990_902_356,
            None,
        ),
        (
            "DECIMAL(38, 0)",
            Some(Datum::Decimal(-12_345_678_901_234_567_890_123_000, 0)),
            470_753_463,
            3,
            1_365_477_274,
            None,
        ),
        (
            "DECIMAL(38, 10)",
            Some(Datum::Decimal(0, 10)),
            728_486_185,
            0,
            0,
            None,
        ),
    ]);
}

#[test]
fn hive_folds_the_columns_and_refuses_timestamps() {
    let types = ["INT", "STRING", "BYTES", "DECIMAL(10, 4)"].map(|text| parse_type(text).unwrap());
    let types: Vec<&DataType> = types.iter().collect();
    let values = [
        Some(Datum::Int(7)),
        text("hello"),
        Some(Datum::Binary(vec![1, 2, 3])),
        Some(Datum::Decimal(123_400, 4)),
    ];
    assert_eq!(
        BucketFunction::Hive
            .hash(&types, &values)
            .unwrap()
            .bucket(i32::MAX),
        Some(805_989_529)
    );
    let timestamp = parse_type("TIMESTAMP(6)").unwrap();
    let value = Some(Datum::Timestamp {
        millis: 1_704_164_645_678,
        nanos: 901_000,
    });
    let error = BucketFunction::Hive
        .hash(&[&timestamp], std::slice::from_ref(&value))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        BucketFunction::Hive
            .hash(&[&timestamp], &[None])
            .unwrap()
            .bucket(4),
        Some(0)
    );
    assert_eq!(
        BucketFunction::Default
            .hash(&[&timestamp], &[value])
            .unwrap()
            .bucket(5),
        Some(4)
    );
}

#[test]
fn keys_that_a_function_does_not_take_and_buckets_that_are_none() {
    let string = parse_type("STRING").unwrap();
    let error = BucketFunction::Mod
        .hash(&[&string], &[text("a")])
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let error = BucketFunction::Default
        .hash(&[&string], &[Some(Datum::Int(1))])
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let hash = BucketFunction::Default
        .hash(&[&string], &[text("a")])
        .unwrap();
    assert_eq!(
        [hash.bucket(0), hash.bucket(-1), hash.bucket(-2)],
        [None; 3]
    ); // RP-062
}

#[test]
fn function_is_named_by_an_option() {
    let of = |name: &str| {
        Options([("bucket-function.type".to_owned(), name.to_owned())].into())
            .value(&Options::BUCKET_FUNCTION_TYPE)
    };
    assert_eq!(
        Options::default()
            .value(&Options::BUCKET_FUNCTION_TYPE)
            .unwrap(),
        BucketFunction::Default
    );
    assert_eq!(of("MOD").unwrap(), BucketFunction::Mod);
    assert_eq!(of("hive").unwrap(), BucketFunction::Hive);
    assert_eq!(of("crc").unwrap_err().kind(), ErrorKind::InvalidInput);
}
