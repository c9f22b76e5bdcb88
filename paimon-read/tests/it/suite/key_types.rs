//! Keys of every type, alone and together.

use paimon_meta::Datum;

use super::table::{Record, TestTable};
use paimon_meta::RowKind;

/// Types with values in ascending order (ME 1.2).
const TYPES: [(&str, &[&str]); 16] = [
    ("BOOLEAN", &["false", "true"]),
    ("TINYINT", &["-128", "-1", "0", "1", "127"]),
    ("SMALLINT", &["-32768", "-1", "0", "5", "32767"]),
    ("INT", &["-2147483648", "-1", "0", "7", "2147483647"]),
    (
        "BIGINT",
        &["-9223372036854775808", "-1", "0", "9223372036854775807"],
    ),
    (
        "FLOAT",
        &["-Infinity", "-1.5", "-0.0", "0.0", "1.5", "Infinity", "NaN"],
    ),
    (
        "DOUBLE",
        &[
            "-Infinity",
            "-1e+300",
            "-0.0",
            "0.0",
            "1e-300",
            "Infinity",
            "NaN",
        ],
    ),
    (
        "DECIMAL(5, 2)",
        &["-999.99", "-0.01", "0.00", "0.01", "12.50"],
    ),
    (
        "DECIMAL(38, 10)",
        &[
            "-1234567890123456789012345678.0000000001",
            "0.0000000000",
            "1.5000000000",
        ],
    ),
    (
        "STRING",
        &[
            "",
            "A",
            "a",
            "a-longer-than-a-view",
            "a-longer-than-a-view!",
            "aa",
            "b",
            "é",
            "😀",
        ],
    ),
    ("CHAR(3)", &["a", "ab", "abc"]),
    (
        "BYTES",
        &[
            "",
            "00",
            "0001",
            "01",
            "7f",
            "80",
            "ff",
            "ff00000000000000000000000000",
        ],
    ),
    ("DATE", &["1969-12-31", "1970-01-01", "2024-02-29"]),
    ("TIME", &["00:00:00", "12:00:00.001", "23:59:59.999"]),
    (
        "TIMESTAMP(3)",
        &[
            "1969-12-31T23:59:59.999",
            "1970-01-01T00:00:00",
            "2024-01-02T03:04:05.006",
        ],
    ),
    (
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        &["1969-12-31T23:59:59.999999Z", "2024-01-02T03:04:05.000006Z"],
    ),
];

fn parse(text: &str, data_type: &paimon_meta::DataType) -> Option<Datum> {
    // The empty text is a value, which a list of words cannot hold.
    Some(Datum::parse(text, data_type).unwrap())
}

fn record(sequence: usize, mut key: Vec<Option<Datum>>, value: &str) -> Record {
    key.push(Some(Datum::String(value.to_owned())));
    Record {
        kind: RowKind::Insert,
        sequence: i64::try_from(sequence).unwrap(),
        values: key,
    }
}

/// Writes three runs over ascending keys: all of them, every second one, and the last again; the newest must win.
fn merge(table: &TestTable, keys: &[Vec<Option<Datum>>]) -> Vec<String> {
    let run = |name: &str, from: usize, picked: Vec<usize>| {
        let records: Vec<Record> = picked
            .iter()
            .map(|key| record(from + key, keys[*key].clone(), name))
            .collect();
        table.write_records(name, &records)
    };
    let last = keys.len() - 1;
    let files = vec![
        run("all", 0, (0..keys.len()).collect()),
        run(
            "odd",
            100,
            (0..keys.len()).filter(|key| key % 2 == 1).collect(),
        ),
        run("last", 200, vec![last]),
    ];
    let columns = table.columns(&["v"]);
    table.rows(table.split(files), columns).unwrap()
}

fn winners(keys: usize) -> Vec<&'static str> {
    (0..keys)
        .map(|key| match key {
            _ if key + 1 == keys => "last",
            _ if key % 2 == 1 => "odd",
            _ => "all",
        })
        .collect()
}

#[test]
fn every_type_can_be_a_key() {
    for (data_type, values) in TYPES {
        let not_null = format!("{data_type} NOT NULL");
        let table = TestTable::new(&[("k", &not_null), ("v", "STRING")], &["k"]);
        let key_type = table.field("k").data_type;
        let keys: Vec<_> = values
            .iter()
            .map(|value| vec![parse(value, &key_type)])
            .collect();
        assert_eq!(merge(&table, &keys), winners(keys.len()), "{data_type}");
    }
}

#[test]
fn every_nullable_type_can_be_a_key_with_null_first() {
    for (data_type, values) in TYPES {
        let table = TestTable::new(&[("k", data_type), ("v", "STRING")], &["k"]);
        let key_type = table.field("k").data_type;
        let mut keys = vec![vec![None]];
        keys.extend(values.iter().map(|value| vec![parse(value, &key_type)]));
        assert_eq!(merge(&table, &keys), winners(keys.len()), "{data_type}");
    }
}

#[test]
fn every_type_can_be_part_of_a_key_of_two_columns() {
    for (data_type, values) in TYPES {
        let not_null = format!("{data_type} NOT NULL");
        for first in [true, false] {
            let columns = [
                ("k", not_null.as_str()),
                ("n", "SMALLINT NOT NULL"),
                ("v", "STRING"),
            ];
            let order: &[&str] = if first { &["k", "n"] } else { &["n", "k"] };
            let table = TestTable::new(&columns, order);
            let key_type = table.field("k").data_type;
            let value =
                |value: &str, n: i16| vec![parse(value, &key_type), Some(Datum::SmallInt(n))];
            let mut keys = Vec::new();
            if first {
                keys.extend(
                    values
                        .iter()
                        .flat_map(|text| [value(text, -3), value(text, 4)]),
                );
            } else {
                for n in [-3, 4] {
                    keys.extend(values.iter().map(|text| value(text, n)));
                }
            }
            assert_eq!(
                merge(&table, &keys),
                winners(keys.len()),
                "{data_type} {order:?}"
            );
        }
    }
}

#[test]
fn keys_come_out_as_they_went_in() {
    for (data_type, values) in TYPES {
        let not_null = format!("{data_type} NOT NULL");
        let table = TestTable::new(&[("k", &not_null), ("v", "STRING")], &["k"]);
        let key_type = table.field("k").data_type;
        let records: Vec<Record> = values
            .iter()
            .enumerate()
            .map(|(sequence, value)| record(sequence, vec![parse(value, &key_type)], "x"))
            .collect();
        let files = vec![
            table.write_records("a", &records),
            table.write_records("b", &records),
        ];
        let rows = table
            .rows(table.split(files), table.columns(&["k"]))
            .unwrap();
        assert_eq!(rows, values, "{data_type}");
    }
}

#[test]
fn minus_zero_and_zero_are_two_keys_and_nan_is_one() {
    // ME 1.2 (2.1)
    for data_type in ["FLOAT NOT NULL", "DOUBLE NOT NULL"] {
        let table = TestTable::new(&[("k", data_type), ("v", "STRING")], &["k"]);
        let files = vec![
            table.write("a", &["+I 0 -0.0 a", "+I 1 0.0 a", "+I 2 NaN a"]),
            table.write("b", &["+I 3 0.0 b", "+I 4 NaN b"]),
        ];
        assert_eq!(table.merged(files), ["-0.0 a", "0.0 b", "NaN b"]);
    }
}

#[test]
fn every_type_can_be_a_sequence_field() {
    // RP-334: the larger value wins, or the smaller one in descending order; null loses in both.
    for (data_type, values) in TYPES {
        for descending in [false, true] {
            let columns = [("k", "INT NOT NULL"), ("s", data_type), ("v", "STRING")];
            let mut table = TestTable::new(&columns, &["k"]).option("sequence.field", "s");
            if descending {
                table = table.option("sequence.field.sort-order", "descending");
            }
            let sequence_type = table.field("s").data_type;
            let mut sequences: Vec<_> = values
                .iter()
                .map(|value| parse(value, &sequence_type))
                .collect();
            if descending {
                sequences.reverse();
            }
            sequences.insert(0, None);
            // Each key has two neighbours; the file with the later one has the smaller sequence number.
            let write = |name: &str, from: usize, first: i64| {
                let records: Vec<Record> = (0..sequences.len() - 1)
                    .zip(first..)
                    .map(|(key, number)| Record {
                        kind: RowKind::Insert,
                        sequence: number,
                        values: vec![
                            Some(Datum::Int(i32::try_from(key).unwrap())),
                            sequences[key + from].clone(),
                            Some(Datum::String(name.to_owned())),
                        ],
                    })
                    .collect();
                table.write_records(name, &records)
            };
            let files = vec![write("later", 1, 0), write("earlier", 0, 1000)];
            let rows = table.rows(table.split(files), table.columns(&["v"]));
            let expected = vec!["later"; sequences.len() - 1];
            assert_eq!(rows.unwrap(), expected, "{data_type} {descending}");
        }
    }
}
