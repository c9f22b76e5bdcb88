//! Values of a matrix that the reference was asked about (source type × target type × edge values).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use paimon_meta::{Datum, ErrorKind, StringLayout, array_of, datum_at, parse_type};

use super::*;

/// Texts of values and what they become, `from→to|from→to`: `-` is null, `!` a fault.
type Pairs = &'static str;

fn column(values: &[&str], data_type: &DataType, strings: StringLayout) -> ArrayRef {
    let values: Vec<Option<Datum>> = values
        .iter()
        .map(|text| (*text != "-").then(|| Datum::parse(text, data_type).unwrap()))
        .collect();
    let arrow = data_type.to_arrow(strings).unwrap();
    array_of(values.iter().map(Option::as_ref), &arrow).unwrap()
}

fn cast(
    values: &[&str],
    (from, to): (&str, &str),
    strings: StringLayout,
    zone: &str,
) -> (ArrayRef, Faults) {
    let (from, to) = (parse_type(from).unwrap(), parse_type(to).unwrap());
    let arrow = to.to_arrow(strings).unwrap();
    let zone = Zone::parse(zone).unwrap();
    let cast = Cast::new(&from, &to, arrow.clone(), zone).unwrap();
    let mut faults = Faults::default();
    let result = cast.apply(&column(values, &from, strings), &mut faults);
    let result = result.unwrap();
    assert_eq!(result.data_type(), &arrow);
    (result, faults)
}

fn texts(values: &[&str], types: (&str, &str), strings: StringLayout, zone: &str) -> Vec<String> {
    let (array, faults) = cast(values, types, strings, zone);
    let to = parse_type(types.1).unwrap();
    (0..array.len())
        .map(|row| match datum_at(&array, row, &to).unwrap() {
            _ if faults.check(|fault| fault == row).is_err() => "!".to_owned(),
            None => "-".to_owned(),
            Some(Datum::String(text)) => text,
            Some(value) => value.to_string(),
        })
        .collect()
}

fn check(types: (&str, &str), zone: &str, pairs: Pairs) {
    let (mut from, mut expected): (Vec<_>, Vec<_>) = pairs
        .split('|')
        .filter_map(|pair| pair.split_once('→'))
        .unzip();
    from.push("-");
    expected.push("-");
    for strings in [
        StringLayout::View,
        StringLayout::Offset32,
        StringLayout::Offset64,
    ] {
        let found = texts(&from, types, strings, zone);
        assert_eq!(found, expected, "{types:?} {from:?}");
    }
}

fn check_all(cases: &[(&str, &str, Pairs)]) {
    for (from, to, pairs) in cases {
        check((from, to), "UTC", pairs);
    }
}

#[test]
fn numbers_become_numbers_as_in_java() {
    // TF-091, TF-092, TF-093
    check_all(&[
        ("BIGINT", "TINYINT", "300→44|-129→127|127→127"),
        ("BIGINT", "INT", "4294967296→0|2147483648→-2147483648"),
        ("INT", "FLOAT", "16777217→1.6777216E7"),
        ("DOUBLE", "INT", "1e20→2147483647|-1.9→-1|NaN→0"),
        ("DOUBLE", "SMALLINT", "-Infinity→0|3e9→-1|300.7→300"),
        ("DOUBLE", "BIGINT", "1e300→9223372036854775807|2.5→2"),
        ("FLOAT", "DECIMAL(20, 18)", "0.1→0.100000001490116120"),
        ("DOUBLE", "DECIMAL(5, 2)", "1.005→1.01|999.995→-|NaN→!"),
        (
            "DOUBLE",
            "DECIMAL(38, 18)",
            "1e-300→0.000000000000000000|1e20→-",
        ),
        ("INT", "DECIMAL(5, 2)", "999→999.00|1000→-|-1→-1.00"),
        ("DECIMAL(5, 2)", "DECIMAL(10, 0)", "1.49→1|1.50→2|-0.50→-1"),
        (
            "DECIMAL(38, 0)",
            "DECIMAL(38, 18)",
            "99999999999999999999→99999999999999999999.000000000000000000|100000000000000000000→-",
        ),
        (
            "DECIMAL(38, 0)",
            "BIGINT",
            "18446744073709551616→0|9223372036854775808→-9223372036854775808",
        ),
        ("DECIMAL(5, 2)", "TINYINT", "-1.99→-1|300.00→44"),
        ("DECIMAL(5, 2)", "DOUBLE", "0.10→0.1|-999.99→-999.99"),
        ("DECIMAL(38, 18)", "FLOAT", "0.100000000000000000→0.1"),
        ("BOOLEAN", "DECIMAL(2, 1)", "true→1.0|false→0.0"),
        ("BOOLEAN", "DECIMAL(2, 2)", "true→-|false→0.00"),
        ("BOOLEAN", "DOUBLE", "true→1.0"),
        ("TINYINT", "BOOLEAN", "0→false|-128→true"),
    ]);
}

#[test]
fn values_become_text_as_java_and_the_reference_write_it() {
    // TF-095, TF-8.3
    check_all(&[
        (
            "DOUBLE",
            "STRING",
            "1e10→1.0E10|0.001→0.001|1e7→1.0E7|NaN→NaN",
        ),
        ("FLOAT", "VARCHAR(3)", "123456.789→123|-0→-0."),
        ("INT", "CHAR(3)", "1→1  |12345→123"),
        ("DECIMAL(20, 5)", "STRING", "0.00001→0.00001|-12→-12.00000"),
        ("BOOLEAN", "CHAR(5)", "true→true |false→false"),
        (
            "DATE",
            "STRING",
            "1969-12-31→1969-12-31|0001-01-01→0001-01-01",
        ),
        ("TIME(0)", "STRING", "12:00:00→12:00:00"),
        (
            "TIME(3)",
            "STRING",
            "12:00:00→12:00:00.0|12:00:00.12→12:00:00.12|00:00:00.001→00:00:00.001",
        ),
        (
            "TIMESTAMP(0)",
            "STRING",
            "2024-01-02 03:04:05→2024-01-02 03:04:05",
        ),
        (
            "TIMESTAMP(6)",
            "STRING",
            "2024-01-02 03:04:05.12→2024-01-02 03:04:05.120000|1969-12-31 23:59:59.999999→1969-12-31 23:59:59.999999",
        ),
        ("BYTES", "VARCHAR(1)", "616263→abc|c3a9→é|ff→\u{fffd}"),
        ("STRING", "VARCHAR(2)", "日本語→日本|a→a|→"),
        ("STRING", "CHAR(3)", "é→é  |abcd→abc"),
        ("STRING", "BINARY(3)", "a→610000|abcd→616263"),
        ("BYTES", "VARBINARY(2)", "616263→6162|61→61"),
        ("VARBINARY(2)", "BINARY(4)", "6162→61620000"),
    ]);
}

#[test]
fn text_becomes_numbers_by_the_grammar_of_the_reference() {
    // TF-094
    check_all(&[
        (
            "STRING",
            "INT",
            "5.9→5|+5→5|.→0|5.→5|+→!|→!| 1→!|1e3→!|1.5.2→!|2147483648→!|-2147483648→-2147483648|000000000000000000000012→12",
        ),
        ("STRING", "TINYINT", "127→127|128→!|-128→-128"),
        (
            "STRING",
            "BIGINT",
            "-9223372036854775808→-9223372036854775808|9223372036854775808→!",
        ),
        (
            "STRING",
            "DOUBLE",
            " 1.5 →1.5|1e999→Infinity|-NaN→NaN|nan→!|inf→!|1.5d→1.5|5.→5.0|.5→0.5|.→!|1e→!|1_000→!|0x1.8p1→3.0|0x1p-1074→4.9E-324|0x1p-1075→0.0|0x1.8p-1075→4.9E-324",
        ),
        (
            "STRING",
            "FLOAT",
            "16777217→1.6777216E7|3.4028236e38→Infinity|-0x1p3f→-8.0",
        ),
        (
            "STRING",
            "DECIMAL(5, 2)",
            "1.005→1.01|1.004999→1.00|-1.005→-1.01|999.995→-|1e2→100.00|1E-2→0.01|.5→0.50|.→!| 1→!|NaN→!|1e99999999999→!|0e10→0.00|0.000000000000000000000000000000000000000000001→0.00|123456789012345678901234567890123456789012→-",
        ),
        (
            "STRING",
            "BOOLEAN",
            "T→true|Yes→true|1→true|no→false|0→false|on→!| true→!",
        ),
    ]);
}

#[test]
fn text_becomes_dates_and_times_by_the_grammar_of_the_reference() {
    check_all(&[
        (
            "STRING",
            "DATE",
            "2024-1-2→2024-01-02|2024→1975-07-18|2024 →2024-01-01|2024-1→2024-01-01|0→1970-01-01|-1→1969-12-31|2024-01-02 03:04:05→2024-01-02|2024-01-02T03→!|2023-02-29→!|10000-01-01→!|→!",
        ),
        (
            "STRING",
            "TIME(3)",
            "12:34:56.7894→12:34:56.789|12:34:56.7895→12:34:56.79|12→00:00:00.012|12 →12:00:00|1:2→01:02:00|12:34:56.→12:34:56|12:34:56+01→13:34:56|12:34:56-01:30→11:04:56|12:34+01:00→!|abc→!|12:34:56:78→!",
        ),
        (
            "STRING",
            "TIMESTAMP(3)",
            "2024-1-2→2024-01-02T00:00:00|2024-01-02 3:4:5.6789→2024-01-02T03:04:05.678|2024-01-02T03:04→2024-01-02T03:04:00|2024-01-02 03:04→!|2024-02-31→2024-02-29T00:00:00|2024-01-02 24:00:00→2024-01-03T00:00:00|2024-01-02 24:00:01→!|2024-05-→2024-05-01T00:00:00|2024-05→!|0000-01-01→!|10000-01-01→!|1704164645678→2024-01-02T03:04:05.678|2024-01-02 03:04:05Z→!",
        ),
        (
            "STRING",
            "TIMESTAMP(1)",
            "2024-01-02 03:04:05.678→2024-01-02T03:04:05.6|5→!",
        ),
        (
            "STRING",
            "TIMESTAMP(9)",
            "9999-12-31→!|-1→1969-12-31T23:59:59.999999999",
        ),
        (
            "STRING",
            "TIMESTAMP(6) WITH LOCAL TIME ZONE",
            "2024-01-02 03:04:05.6→2024-01-02T03:04:05.6|5→!",
        ),
    ]);
}

#[test]
fn dates_times_and_timestamps_become_each_other() {
    // TF-096, TF-8.3
    check_all(&[
        ("TIMESTAMP(3)", "DATE", "1969-12-31 23:59:59.999→1969-12-31"),
        (
            "TIMESTAMP(3)",
            "TIME(0)",
            "1969-12-31 23:59:59.999→23:59:59.999",
        ),
        (
            "TIMESTAMP(3)",
            "BIGINT",
            "1969-12-31 23:59:59.001→0|1969-12-31 23:59:58.999→-1",
        ),
        (
            "TIMESTAMP(9)",
            "TIMESTAMP(6)",
            "1969-12-31 23:59:59.999999999→1969-12-31T23:59:59.999999|1970-01-01 00:00:00.000000001→1970-01-01T00:00:00",
        ),
        (
            "TIMESTAMP(6)",
            "TIMESTAMP(0)",
            "1969-12-31 23:59:59.999999→1970-01-01T00:00:00|2024-01-02 03:04:05.9→2024-01-02T03:04:05",
        ),
        (
            "TIMESTAMP(6)",
            "TIMESTAMP(9)",
            "2024-01-02 03:04:05.9→2024-01-02T03:04:05.9|9999-12-31→!",
        ),
        ("DATE", "TIMESTAMP(0)", "1969-12-31→1969-12-31T00:00:00"),
        (
            "TIME(3)",
            "TIMESTAMP(3)",
            "12:00:00.12→1970-01-01T12:00:00.12",
        ),
        ("INT", "TIMESTAMP(0)", "-1→1969-12-31T23:59:59"),
    ]);
}

#[test]
fn instants_are_of_the_zone_of_the_reading_process() {
    let ltz = "TIMESTAMP(3) WITH LOCAL TIME ZONE";
    let cases: [((&str, &str), &str, Pairs); 8] = [
        (
            ("TIMESTAMP(3)", ltz),
            "Asia/Shanghai",
            "2024-01-02 03:04:05.6→2024-01-01T19:04:05.6",
        ),
        // Skipped and repeated times of a clock, and local mean time.
        (
            ("TIMESTAMP(3)", ltz),
            "America/New_York",
            "2024-03-10 02:30:00→2024-03-10T07:30:00|2024-11-03 01:30:00→2024-11-03T05:30:00",
        ),
        (
            (ltz, "TIMESTAMP(3)"),
            "Asia/Shanghai",
            "1900-01-01 00:00:00→1900-01-01T08:05:43",
        ),
        (
            (ltz, "DATE"),
            "America/New_York",
            "2024-01-02 03:04:05→2024-01-01",
        ),
        ((ltz, "TIME(0)"), "+08:00", "2024-01-02 03:04:05→11:04:05"),
        (
            (ltz, "STRING"),
            "Asia/Shanghai",
            "2024-01-02 03:04:05→2024-01-02 11:04:05.000",
        ),
        (
            ("DATE", ltz),
            "Asia/Shanghai",
            "2024-01-02→2024-01-01T16:00:00",
        ),
        // The reference stores local time as if it were UTC.
        (("INT", ltz), "Asia/Shanghai", "0→1970-01-01T08:00:00"),
    ];
    for (types, zone, pairs) in cases {
        check(types, zone, pairs);
    }
}

#[test]
fn values_that_fit_are_not_copied() {
    let texts = column(
        &["ab", "-"],
        &parse_type("VARCHAR(9)").unwrap(),
        StringLayout::View,
    );
    for to in ["STRING", "VARCHAR(2)"] {
        let to = parse_type(to).unwrap();
        let arrow = to.to_arrow(StringLayout::View).unwrap();
        let from = parse_type("VARCHAR(9)").unwrap();
        let cast = Cast::new(&from, &to, arrow, Zone::default()).unwrap();
        let result = cast.apply(&texts, &mut Faults::default()).unwrap();
        assert!(Arc::ptr_eq(&result, &texts));
    }
}

#[test]
fn changes_that_no_schema_makes_are_corrupt() {
    for (from, to) in [
        ("DATE", "INT"),
        ("DOUBLE", "BOOLEAN"),
        ("DATE", "VARCHAR(10)"),
        ("TIME(0)", "TIME(3)"),
        ("DECIMAL(5, 2)", "TIMESTAMP(3)"),
        ("SMALLINT", "TIMESTAMP(3)"),
        ("BYTES", "INT"),
        ("TIMESTAMP(3)", "DOUBLE"),
    ] {
        let (from, to) = (parse_type(from).unwrap(), parse_type(to).unwrap());
        let arrow = to.to_arrow(StringLayout::View).unwrap();
        let error = Cast::new(&from, &to, arrow, Zone::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{from} {to}");
    }
}

#[test]
fn fault_says_what_the_text_was() {
    let (_, faults) = cast(&["1", "abc"], ("STRING", "INT"), StringLayout::View, "UTC");
    let error = faults.check(|row| row == 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.message(), "\"abc\" is no value of type INT");
    assert!(faults.check(|row| row == 0).is_ok());
}
