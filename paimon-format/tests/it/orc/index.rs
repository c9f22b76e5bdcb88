//! Row indexes and statistics, in files of the reference.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch, UInt64Array};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use bytes::Bytes;
use paimon_format::{DataFile, FileColumn, FormatReader, Grain, OrcReader, RowRanges, prune};
use paimon_meta::{
    CompareOp, DataField, DataType, Datum, FieldId, FilePath, MAX_LENGTH, Predicate, TypeKind,
    datum_at,
};
use proptest::prelude::*;

use crate::conformance::{column, scan};
use crate::memory::{MemorySource, now, open, read_all, read_group};

const ROWS: u64 = 4300;

fn file(name: &str) -> Bytes {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    std::fs::read(format!("{folder}/{name}.orc"))
        .unwrap()
        .into()
}

fn field(name: &str, data_type: DataType) -> DataField {
    DataField {
        id: FieldId(0),
        name: name.to_owned(),
        data_type,
        description: None,
        default_value: None,
    }
}

fn columns() -> Vec<FileColumn> {
    let text = || TypeKind::VarChar(MAX_LENGTH).nullable();
    let list = |of: TypeKind| TypeKind::Array(Box::new(of.nullable()));
    let key = TypeKind::VarChar(MAX_LENGTH).not_null();
    let map = TypeKind::Map(Box::new(key), Box::new(list(TypeKind::BigInt).nullable()));
    let row = vec![field("x", TypeKind::Int.nullable()), field("y", text())];
    let decimal = TypeKind::Decimal {
        precision: 20,
        scale: 3,
    };
    let columns = [
        ("id", TypeKind::BigInt.not_null()),
        ("small", TypeKind::SmallInt.nullable()),
        ("tiny", TypeKind::TinyInt.nullable()),
        ("flag", TypeKind::Boolean.nullable()),
        ("word", text()),
        ("text", text()),
        ("price", decimal.nullable()),
        ("ratio", TypeKind::Double.nullable()),
        ("single", TypeKind::Float.nullable()),
        ("day", TypeKind::Date.nullable()),
        ("at", TypeKind::Timestamp(6).nullable()),
        ("instant", TypeKind::LocalZonedTimestamp(3).nullable()),
        ("bytes", TypeKind::VarBinary(10).nullable()),
        ("padded", TypeKind::Char(4).nullable()),
        ("r", TypeKind::Row(row).nullable()),
        ("l", list(TypeKind::Int).nullable()),
        ("m", map.nullable()),
        ("t", TypeKind::Time(0).nullable()),
        ("nothing", TypeKind::Int.nullable()),
    ];
    columns
        .into_iter()
        .map(|(name, data_type)| column(name, data_type))
        .collect()
}

/// All rows, decoded from the first to the last.
fn whole(file: &dyn DataFile, columns: &[FileColumn]) -> RecordBatch {
    let batches = read_all(file, &scan(columns.to_vec(), 1024)).unwrap();
    let batches: Vec<RecordBatch> = batches.into_iter().map(|(_, batch)| batch).collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

/// The selected rows, by all stripes.
fn selected(
    file: &dyn DataFile,
    rows: &RowRanges,
    columns: &[FileColumn],
    size: usize,
) -> Vec<RecordBatch> {
    let scan = scan(columns.to_vec(), size);
    let groups = 0..file.layout().groups.len();
    let batches = groups.flat_map(|group| read_group(file, group, rows, &scan).unwrap());
    batches.map(|(_, batch)| batch).collect()
}

#[test]
fn rows_behind_a_seek_are_those_of_a_whole_read() {
    for name in ["plain", "chunked"] {
        let file = open(&OrcReader::default(), file(name)).unwrap();
        let columns = columns();
        let whole = whole(file.as_ref(), &columns);
        let config = ProptestConfig {
            cases: 60,
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        let ranges = prop::collection::vec((0..ROWS, 1..900u64), 1..4);
        proptest!(config, |(ranges in ranges, size in 1..2000usize, first in 0..19usize, count in 1..19usize)| {
            let rows = ranges.iter().fold(RowRanges::none(), |rows, (start, length)| {
                rows.union(&RowRanges::from_range(*start..(start + length).min(ROWS)))
            });
            let asked = first..(first + count).min(columns.len());
            let got = selected(file.as_ref(), &rows, &columns[asked.clone()], size);
            let got = concat_batches(&got[0].schema(), &got).unwrap();
            let positions: UInt64Array = rows.positions().collect();
            let indices: Vec<usize> = asked.collect();
            let expected = take_record_batch(&whole.project(&indices).unwrap(), &positions).unwrap();
            prop_assert_eq!(got, expected);
        });
    }
}

/// TF-4.6, TF-8.2.
#[test]
fn bounds_hold_for_all_rows() {
    for name in ["plain", "chunked"] {
        let file = open(&OrcReader::default(), file(name)).unwrap();
        let columns = columns();
        let whole = whole(file.as_ref(), &columns);
        for (index, column) in columns.iter().enumerate() {
            for grain in [Grain::Group, Grain::Page] {
                let Some(bounds) = now(file.bounds(column, grain)).unwrap() else {
                    assert!(
                        matches!(column.name.as_str(), "r" | "l" | "m"),
                        "{column:?}"
                    );
                    continue;
                };
                let mut known = 0;
                for (range, ends) in bounds.starts.windows(2).enumerate() {
                    let rows = usize::try_from(ends[0]).unwrap()..usize::try_from(ends[1]).unwrap();
                    let part = whole.column(index).slice(rows.start, rows.len());
                    assert_eq!(bounds.null_counts.value(range), part.null_count() as u64);
                    let kind = &column.data_type;
                    let min = datum_at(&bounds.min, range, kind).unwrap();
                    let max = datum_at(&bounds.max, range, kind).unwrap();
                    known += usize::from(min.is_some());
                    for row in 0..part.len() {
                        let Some(value) = datum_at(&part, row, kind).unwrap() else {
                            continue;
                        };
                        let order = |bound: &Option<Datum>| {
                            bound
                                .as_ref()
                                .map_or(Some(Ordering::Equal), |bound| value.compare(bound))
                        };
                        assert_ne!(order(&min), Some(Ordering::Less), "{column:?} {min:?}");
                        assert_ne!(order(&max), Some(Ordering::Greater), "{column:?} {max:?}");
                    }
                }
                let unsafe_ones = ["ratio", "single", "bytes", "padded", "nothing"];
                let safe = !unsafe_ones.contains(&column.name.as_str());
                assert_eq!(known > 0, safe, "{column:?}");
            }
        }
        let groups = now(file.bounds(&columns[0], Grain::Page)).unwrap().unwrap();
        assert!(groups.starts.len() > 5 && groups.exact, "{groups:?}");
    }
}

#[test]
fn groups_of_rows_are_pruned() {
    let file = open(&OrcReader::default(), file("plain")).unwrap();
    let id = columns().remove(0);
    let path = FilePath(vec!["id".to_owned()]);
    let find = |_: &FilePath| Some(id.clone());
    let data_type = id.data_type.clone();
    let above = Predicate::compare(path, data_type, CompareOp::Gt, Datum::BigInt(4100));
    let rows = now(prune(&file, &above, &find, Grain::Page)).unwrap();
    assert_eq!(rows.span().end, ROWS);
    assert!((200..1001).contains(&rows.row_count()), "{rows:?}");
}

/// A file of more than a megabyte, whose footer stands far behind its stripes.
fn stretched(file: &Bytes) -> Bytes {
    let postscript = usize::from(file[file.len() - 1]);
    let start = file.len() - 1 - postscript;
    // The length of the footer, as the first field.
    let (mut footer, mut shift) = (0, 0);
    assert_eq!(file[start], 8);
    for byte in &file[start + 1..] {
        footer |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let stripes_end = start - footer;
    [
        &file[..stripes_end],
        &vec![0; 1 << 20],
        &file[stripes_end..],
    ]
    .concat()
    .into()
}

#[test]
fn bytes_of_other_groups_are_not_fetched() {
    let source = MemorySource::new(stretched(&file("plain")));
    let reader = OrcReader::default();
    let file = now(reader.open(Arc::clone(&source) as _)).unwrap();
    let columns = columns();
    let fetched = |rows: &RowRanges| {
        source.take_requests();
        let got = selected(file.as_ref(), rows, &columns, 4096);
        let rows: usize = got.iter().map(RecordBatch::num_rows).sum();
        let requests = source.take_requests();
        let bytes = requests
            .iter()
            .flatten()
            .map(|range| range.end - range.start);
        (rows as u64, bytes.sum::<u64>())
    };
    let (rows, all) = fetched(&RowRanges::from_range(0..ROWS));
    assert_eq!(rows, ROWS);
    let (rows, some) = fetched(&RowRanges::from_range(1200..1210));
    assert_eq!(rows, 10);
    assert!(some * 3 < all * 2, "{some} of {all} bytes");
}
