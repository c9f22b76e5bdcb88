use super::directory::{MAGIC, VERSION};
use super::*;
use crate::error::ErrorKind;
use crate::types::TypeKind;

fn string() -> DataType {
    TypeKind::VarChar(100).nullable()
}

fn text(value: &str) -> Datum {
    Datum::String(value.to_owned())
}

/// A container of indexes: column, type, body; `None` was never written to.
fn container(indexes: &[(&str, &str, Option<&[u8]>)]) -> Vec<u8> {
    let named = |name: &str| {
        let length = u16::try_from(name.len()).unwrap();
        [&length.to_be_bytes()[..], name.as_bytes()].concat()
    };
    let head: usize = 24
        + indexes
            .iter()
            .map(|(column, kind, _)| column.len() + kind.len() + 16)
            .sum::<usize>();
    let int = |value: usize| u32::try_from(value).unwrap().to_be_bytes();
    let mut bytes = [
        &MAGIC.to_be_bytes()[..],
        &VERSION.to_be_bytes(),
        &int(head),
        &int(indexes.len()),
    ]
    .concat();
    let mut bodies = Vec::new();
    for (column, kind, body) in indexes {
        bytes.extend(named(column));
        bytes.extend(int(1));
        bytes.extend(named(kind));
        match body {
            Some(body) => {
                bytes.extend(int(head + bodies.len()));
                bytes.extend(int(body.len()));
                bodies.extend_from_slice(body);
            }
            None => bytes.extend([0xFF; 8]),
        }
    }
    bytes.extend(int(0));
    assert_eq!(bytes.len(), head);
    bytes.extend(bodies);
    bytes
}

fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap()
}

/// A bitmap index of version 2 with one block, of columns of text: rows of each value, and rows with null.
fn bitmaps(values: &[(&str, &[u32])], nulls: &[u32], row_count: u32) -> Vec<u8> {
    let stored = |rows: &[u32]| {
        let mut bytes = Vec::new();
        RoaringBitmap::from_iter(rows)
            .serialize_into(&mut bytes)
            .unwrap();
        bytes
    };
    let mut bodies: Vec<u8> = Vec::new();
    let mut place = |rows: &[u32]| match rows {
        [row] => (!row, 0),
        rows => {
            let (offset, bitmap) = (length(bodies.len()), stored(rows));
            bodies.extend(&bitmap);
            (offset, length(bitmap.len()))
        }
    };
    let mut bytes = vec![2];
    bytes.extend(row_count.to_be_bytes());
    bytes.extend(length(values.len()).to_be_bytes());
    bytes.push(u8::from(!nulls.is_empty()));
    if !nulls.is_empty() {
        let (offset, length) = place(nulls);
        bytes.extend(offset.to_be_bytes());
        bytes.extend(length.to_be_bytes());
    }
    let value = |value: &str| {
        let size = length(value.len());
        [&size.to_be_bytes()[..], value.as_bytes()].concat()
    };
    let mut block = length(values.len()).to_be_bytes().to_vec();
    for (text, rows) in values {
        let (offset, length) = place(rows);
        block.extend(value(text));
        block.extend(offset.to_be_bytes());
        block.extend(length.to_be_bytes());
    }
    bytes.extend(1_u32.to_be_bytes());
    bytes.extend(value(values[0].0));
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend(length(block.len()).to_be_bytes());
    bytes.extend(block);
    bytes.extend(bodies);
    bytes
}

fn may_match(index: &[u8], predicate: &Predicate<&'static str>) -> bool {
    selected(index, predicate, 5).is_none_or(|rows| !rows.is_empty())
}

/// Rows that may match, in a file of so many.
fn selected(
    index: &[u8],
    predicate: &Predicate<&'static str>,
    row_count: u64,
) -> Option<Vec<Range<u64>>> {
    let data_type = string();
    let column = |name: &&'static str| Some((*name, &data_type));
    let index = FileIndex::decode(index).unwrap();
    let rows = index.selection(predicate, &column, row_count, 1).unwrap();
    let may_match = index.may_match(predicate, &column, row_count).unwrap();
    assert_eq!(may_match, rows.as_ref().is_none_or(|rows| !rows.is_empty()));
    rows
}

fn eq(column: &'static str, value: &str) -> Predicate<&'static str> {
    Predicate::eq(column, string(), text(value))
}

#[test]
fn bitmaps_know_the_rows_of_each_value() {
    let body = bitmaps(&[("a", &[0, 2]), ("b", &[1])], &[3, 4], 5);
    let index = container(&[("v", "bitmap", Some(&body)), ("w", "bitmap", None)]);
    for (predicate, expected) in [
        (eq("v", "a"), true),
        (eq("v", "c"), false),
        (eq("w", "c"), true),
        (
            Predicate::is_in("v", string(), vec![Some(text("c")), Some(text("b"))]),
            true,
        ),
        (Predicate::not_eq("v", string(), text("a")), true),
        (Predicate::is_null("v", string()), true),
        (Predicate::is_not_null("v", string()), true),
        (Predicate::lt("v", string(), text("a")), true),
        (Predicate::and([eq("v", "a"), eq("v", "b")]), false),
        (Predicate::or([eq("v", "c"), eq("v", "b")]), true),
        (Predicate::or([eq("v", "c"), eq("v", "d")]), false),
    ] {
        assert_eq!(may_match(&index, &predicate), expected, "{predicate:?}");
    }
    let not_a = Predicate::not_eq("v", string(), text("a"));
    assert_eq!(selected(&index, &not_a, 5), Some(vec![1..2, 3..5]));
    let both = Predicate::or([eq("v", "b"), Predicate::is_null("v", string())]);
    assert_eq!(selected(&index, &both, 5), Some(vec![1..2, 3..5]));
    let full = bitmaps(&[("a", &[0, 1, 2])], &[], 3);
    let index = container(&[("v", "bitmap", Some(&full))]);
    for nothing in [
        Predicate::not_eq("v", string(), text("a")),
        Predicate::is_null("v", string()),
    ] {
        assert_eq!(selected(&index, &nothing, 3), Some(Vec::new()));
    }
}

#[test]
fn what_is_not_known_admits_every_row() {
    let index = container(&[
        ("v", "an index of later", Some(&[1])),
        ("w", "bitmap", Some(&[9])),
    ]);
    assert!(may_match(&index, &eq("v", "a")));
    assert!(may_match(&index, &eq("w", "a")));
    assert!(may_match(&index, &eq("x", "a")));
}

#[test]
fn a_filter_without_a_bit_holds_nothing_and_with_all_bits_anything() {
    let filter = |bits: u8| [&3_u32.to_be_bytes()[..], &[bits; 16]].concat();
    for (bits, expected) in [(0, false), (0xFF, true)] {
        let body = filter(bits);
        let index = container(&[("v", "bloom-filter", Some(&body))]);
        assert_eq!(may_match(&index, &eq("v", "a")), expected);
        assert!(may_match(&index, &Predicate::is_null("v", string())));
        assert!(may_match(
            &index,
            &Predicate::not_eq("v", string(), text("a"))
        ));
    }
}

#[test]
fn ranges_with_short_gaps_are_joined() {
    let body = bitmaps(&[("a", &[0, 1, 4, 9])], &[], 10);
    let index = container(&[("v", "bitmap", Some(&body))]);
    let data_type = string();
    let column = |name: &&'static str| Some((*name, &data_type));
    let index = FileIndex::decode(&index).unwrap();
    let ranges = |gap| index.selection(&eq("v", "a"), &column, 10, gap).unwrap();
    assert_eq!(ranges(0), Some(vec![0..2, 4..5, 9..10]));
    assert_eq!(ranges(2), Some(vec![0..2, 4..5, 9..10]));
    assert_eq!(ranges(3), Some(vec![0..5, 9..10]));
    assert_eq!(ranges(5), Some(vec![0..10]));
}

#[test]
fn an_index_of_other_rows_is_corrupt() {
    let body = bitmaps(&[("a", &[0, 2])], &[], 3);
    let index = container(&[("v", "bitmap", Some(&body))]);
    let data_type = string();
    let column = |name: &&'static str| Some((*name, &data_type));
    let found = FileIndex::decode(&index).unwrap();
    let error = found.may_match(&eq("v", "a"), &column, 4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error.to_string().contains("of 3 rows, the file has 4"),
        "{error}"
    );
}

#[test]
fn what_was_not_read_admits_every_row() {
    let body = bitmaps(&[("a", &[0, 2]), ("b", &[1])], &[3, 4], 5);
    let bytes = container(&[("v", "bitmap", Some(&body)), ("w", "bitmap", Some(&body))]);
    let length = usize::try_from(FileIndexDirectory::length(&bytes).unwrap()).unwrap();
    let directory = FileIndexDirectory::decode(&bytes[..length]).unwrap();
    let [v, w] = directory.places() else {
        panic!("{directory:?}")
    };
    assert_eq!((v.column.as_str(), w.column.as_str()), ("v", "w"));
    assert_eq!((v.range.start, w.range.start), (length as u64, v.range.end));
    let data_type = string();
    let column = |name: &&'static str| Some((*name, &data_type));
    let index = FileIndex::of_bodies(&directory, |range| (range == &v.range).then_some(&body[..]));
    assert!(!index.may_match(&eq("v", "c"), &column, 5).unwrap());
    assert!(index.may_match(&eq("w", "c"), &column, 5).unwrap());
}

#[test]
fn damage_is_corrupt() {
    let body = bitmaps(&[("a", &[0, 2]), ("b", &[1])], &[3, 4], 5);
    let index = container(&[("v", "bitmap", Some(&body))]);
    let data_type = string();
    let column = |name: &&'static str| Some((*name, &data_type));
    for end in 0..index.len() {
        let found = FileIndex::decode(&index[..end])
            .and_then(|index| index.may_match(&eq("v", "a"), &column, 5));
        assert_eq!(found.unwrap_err().kind(), ErrorKind::Corrupt, "{end}");
    }
    let mut other = index.clone();
    other[0] = 1; // not the magic number
    assert_eq!(
        FileIndex::decode(&other).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    let mut newer = index;
    newer[11] = 2;
    assert_eq!(
        FileIndex::decode(&newer).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}
