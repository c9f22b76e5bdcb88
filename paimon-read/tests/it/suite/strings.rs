//! Layouts of text and bytes, and what batches keep alive.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType as ArrowType;
use paimon_meta::{CompareOp, Datum, Predicate, RowKind, StringLayout};
use paimon_read::ReadRequest;

use super::table::{Layout, Record, TestTable, batches, rows};

/// Each layout with its Arrow types of text and bytes.
const LAYOUTS: [(StringLayout, ArrowType, ArrowType); 3] = [
    (
        StringLayout::View,
        ArrowType::Utf8View,
        ArrowType::BinaryView,
    ),
    (StringLayout::Offset32, ArrowType::Utf8, ArrowType::Binary),
    (
        StringLayout::Offset64,
        ArrowType::LargeUtf8,
        ArrowType::LargeBinary,
    ),
];

#[test]
fn every_layout_holds_the_same_values() {
    let columns = [
        ("k", "STRING NOT NULL"),
        ("v", "VARCHAR(100)"),
        ("b", "BYTES"),
        ("c", "BINARY(2)"),
    ];
    let table = TestTable::new(&columns, &["k"]);
    let old = [
        "+I 0 a x 00 0102",
        "+I 1 a-key-longer-than-a-view - - -",
        "+I 2 b é ffff 0304",
    ];
    let new = [
        "+I 3 b a-value-longer-than-a-view 000102030405060708090a0b0c0d -",
        "+I 4 c - 01 -",
    ];
    let row = |line: &str| line.splitn(3, ' ').nth(2).unwrap().to_owned();
    let raw = old.map(row);
    let merged = [row(old[0]), row(old[1]), row(new[0]), row(new[1])];
    let files = vec![table.write("a", &old), table.write("b", &new)];
    for (strings, text, bytes) in LAYOUTS {
        let reader = table.reader(ReadRequest {
            strings,
            batch_size: 2,
            ..ReadRequest::default()
        });
        let schema = reader.schema();
        let types = schema.fields().iter().map(|field| field.data_type());
        assert!(types.eq([&text, &text, &bytes, &bytes]), "{strings:?}");
        let found = rows(&reader, table.raw_split(files[..1].to_vec())).unwrap();
        assert_eq!(found, raw, "{strings:?}");
        let found = rows(&reader, table.split(files.clone())).unwrap();
        assert_eq!(found, merged, "{strings:?}");
    }
}

#[test]
fn conditions_and_sequence_fields_on_text_hold_in_every_layout() {
    let columns = [("k", "INT NOT NULL"), ("s", "STRING"), ("b", "BYTES")];
    let table = TestTable::new(&columns, &["k"]).option("sequence.field", "s,b");
    let files = vec![
        table.write("a", &["+I 0 1 y 00", "+I 1 2 x ff", "+I 2 3 - 01"]),
        table.write("b", &["+I 3 1 x ff", "+I 4 2 x 00", "+I 5 3 - 02"]),
    ];
    let s = table.field("s");
    let b = table.field("b");
    let predicate = Predicate::or([
        Predicate::compare(
            s.id,
            s.data_type.clone(),
            CompareOp::GtEq,
            Datum::String("y".into()),
        ),
        Predicate::compare(b.id, b.data_type, CompareOp::Eq, Datum::Binary(vec![2])),
    ]);
    for strings in [
        StringLayout::View,
        StringLayout::Offset32,
        StringLayout::Offset64,
    ] {
        let request = ReadRequest {
            strings,
            ..ReadRequest::default()
        };
        let all = table
            .rows(table.split(files.clone()), request.clone())
            .unwrap();
        assert_eq!(all, ["1 y 00", "2 x ff", "3 - 02"]);
        let request = ReadRequest {
            predicate: Some(predicate.clone()),
            ..request
        };
        let some = table.rows(table.split(files.clone()), request).unwrap();
        assert_eq!(some, ["1 y 00", "3 - 02"]);
    }
}

const LENGTH: usize = 200;

/// Long texts: keys, a number to filter by, a text of [`LENGTH`] bytes.
fn long_texts(table: &TestTable, keys: impl Iterator<Item = i32>, first: i64) -> Vec<Record> {
    assert_eq!(table.table.schema.fields.len(), 3);
    keys.zip(first..)
        .map(|(key, sequence)| Record {
            kind: RowKind::Insert,
            sequence,
            values: vec![
                Some(Datum::Int(key)),
                Some(Datum::Int(key % 100)),
                Some(Datum::String(format!("{key:0>LENGTH$}"))),
            ],
        })
        .collect()
}

/// Bytes of the texts of batches, and of the buffers that they keep alive, each buffer counted once.
fn own_and_alive(batches: &[RecordBatch]) -> (usize, usize) {
    let mut buffers = HashMap::new();
    let mut own = 0;
    for batch in batches {
        let texts = batch.column_by_name("v").unwrap().as_string_view();
        own += texts.len() * LENGTH;
        for buffer in texts.data_buffers() {
            buffers.insert(buffer.data_ptr().as_ptr() as usize, buffer.len());
        }
    }
    (own, buffers.into_values().sum())
}

#[test]
fn batches_keep_little_more_alive_than_their_own_bytes() {
    let rows = 60_000;
    let columns = [("k", "INT NOT NULL"), ("n", "INT"), ("v", "STRING")];
    let table = TestTable::new(&columns, &["k"]).laid_out(Layout {
        group_rows: 20_000,
        page_rows: 2000,
        thin: true,
        ..Layout::default()
    });
    let all = table.write_records("all", &long_texts(&table, 0..rows, 0));
    let odd = (1..rows).step_by(2);
    let newer = table.write_records("newer", &long_texts(&table, odd, 1_000_000));
    let n = table.field("n");
    let predicate = Predicate::eq(n.id, n.data_type, Datum::Int(4));
    for (predicate, files) in [
        (None, vec![all.clone()]),
        (None, vec![all.clone(), newer.clone()]),
        (Some(predicate.clone()), vec![all.clone()]),
        (Some(predicate), vec![all, newer]),
    ] {
        let sparse = predicate.is_some();
        let reader = table.reader(ReadRequest {
            predicate,
            ..ReadRequest::default()
        });
        let batches = batches(&reader, table.split(files)).unwrap();
        let (own, alive) = own_and_alive(&batches);
        assert_eq!(own / LENGTH, if sparse { 600 } else { 60_000 });
        // A page or two may be kept whole.
        let pages = 2 << 20;
        assert!(alive <= 2 * own + pages, "{own} bytes keep {alive} alive");
    }
}
