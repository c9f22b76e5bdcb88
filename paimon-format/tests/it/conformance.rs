//! The contract of `DataFile`, a function per sentence. Each format calls all of them with its writer.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, Field, Schema};
use bytes::Bytes;
use paimon_format::{DataFile, FileColumn, FormatReader, Grain, RowRanges, ScanSpec, prune};
use paimon_meta::{
    CompareOp, DataField, Datum, ErrorKind, FieldId, FilePath, Frame, MAX_LENGTH, Predicate,
    StringLayout, TypeKind,
};
use proptest::prelude::*;

use crate::memory::{MemorySource, now, open, read_all, read_group};

const ROWS: u64 = 1000;
const GROUP_ROWS: usize = 300;

/// A format and how to write a file of it.
pub(crate) struct Subject {
    pub(crate) reader: Arc<dyn FormatReader>,
    /// Writes a batch in groups of so many rows.
    pub(crate) write: fn(&RecordBatch, usize) -> Bytes,
}

/// Calls every function below.
pub(crate) fn conforms(subject: &Subject) {
    layout_covers_all_rows_without_gaps(subject);
    columns_come_as_asked_and_in_order(subject);
    batches_are_full_never_empty_and_stay_in_their_group(subject);
    positions_are_those_of_the_rows(subject);
    rows_outside_the_group_are_ignored(subject);
    no_columns_give_row_counts(subject);
    absent_column_is_null_or_an_error(subject);
    type_that_cannot_be_held_is_an_error_naming_the_column(subject);
    string_layout_is_as_asked(subject);
    cut_file_is_an_error(subject);
    unknown_group_is_an_error(subject);
    asked_fields_of_rows_come_as_asked(subject);
    pruned_rows_do_not_match(subject);
    file_without_rows_gives_none(subject);
}

/// `id` is the row's number, `text` its decimal text, null for every seventh row; `pair` is null for every fifth row,
/// and its `right` for the row behind that.
pub(crate) fn sample() -> RecordBatch {
    let fields = vec![
        Field::new("left", ArrowType::Int64, true),
        Field::new("right", ArrowType::Utf8, true),
    ];
    let schema = Schema::new(vec![
        Field::new("id", ArrowType::Int64, false),
        Field::new("text", ArrowType::Utf8, true),
        Field::new("number", ArrowType::Int64, true),
        Field::new("pair", ArrowType::Struct(fields.clone().into()), true),
    ]);
    let id = Int64Array::from_iter_values(0..ROWS.cast_signed());
    let text: StringArray = (0..ROWS)
        .map(|row| (row % 7 != 0).then(|| row.to_string()))
        .collect();
    let number: Int64Array = (0..ROWS.cast_signed())
        .map(|row| (row % 3 != 0).then_some(row * row))
        .collect();
    let right: StringArray = (0..ROWS)
        .map(|row| (row % 5 != 1).then(|| format!("r{row}")))
        .collect();
    let nulls: NullBuffer = (0..ROWS).map(|row| row % 5 != 0).collect();
    let children: Vec<ArrayRef> = vec![Arc::new(number.clone()), Arc::new(right)];
    let pair = StructArray::new(fields.into(), children, Some(nulls));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(id),
        Arc::new(text),
        Arc::new(number),
        Arc::new(pair),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

fn sample_file(subject: &Subject) -> Arc<dyn DataFile> {
    open(
        subject.reader.as_ref(),
        (subject.write)(&sample(), GROUP_ROWS),
    )
    .unwrap()
}

pub(crate) fn column(name: &str, data_type: paimon_meta::DataType) -> FileColumn {
    FileColumn {
        name: name.to_owned(),
        data_type,
    }
}

pub(crate) fn scan(columns: Vec<FileColumn>, batch_size: usize) -> Arc<ScanSpec> {
    Arc::new(ScanSpec {
        columns,
        batch_size,
        strings: StringLayout::View,
        window_bytes: ScanSpec::WINDOW_BYTES,
    })
}

fn id() -> FileColumn {
    column("id", TypeKind::BigInt.not_null())
}

fn text() -> FileColumn {
    column("text", TypeKind::VarChar(MAX_LENGTH).nullable())
}

fn layout_covers_all_rows_without_gaps(subject: &Subject) {
    let file = sample_file(subject);
    let layout = file.layout();
    assert_eq!(layout.row_count, ROWS);
    assert_eq!(layout.columns, ["id", "text", "number", "pair"]);
    let mut next = 0;
    for group in &layout.groups {
        assert_eq!(group.first_row, next);
        assert!(group.compressed_bytes > 0);
        next += group.row_count;
    }
    assert_eq!(next, ROWS);
}

fn columns_come_as_asked_and_in_order(subject: &Subject) {
    let file = sample_file(subject);
    let scan = scan(vec![text(), id()], 64);
    for (positions, batch) in read_all(file.as_ref(), &scan).unwrap() {
        let fields = batch
            .schema()
            .fields()
            .iter()
            .map(|field| field.as_ref().clone())
            .collect::<Vec<_>>();
        assert_eq!(
            fields,
            [
                Field::new("text", ArrowType::Utf8View, true),
                Field::new("id", ArrowType::Int64, false)
            ]
        );
        assert_rows(&positions, &batch);
    }
}

/// The text and the id of each row are those of its position.
fn assert_rows(positions: &RowRanges, batch: &RecordBatch) {
    assert_eq!(positions.row_count(), batch.num_rows() as u64);
    let ids = batch
        .column_by_name("id")
        .unwrap()
        .as_primitive::<Int64Type>();
    let texts = batch.column_by_name("text").unwrap().as_string_view();
    for (index, position) in positions.positions().enumerate() {
        assert_eq!(ids.value(index), position.cast_signed());
        assert_eq!(texts.is_null(index), position % 7 == 0);
        assert!(texts.is_null(index) || texts.value(index) == position.to_string());
    }
}

fn batches_are_full_never_empty_and_stay_in_their_group(subject: &Subject) {
    let file = sample_file(subject);
    let scan = scan(vec![id()], 64);
    for (group, layout) in file.layout().groups.iter().enumerate() {
        let rows = RowRanges::from_range(0..ROWS);
        let batches = read_group(file.as_ref(), group, &rows, &scan).unwrap();
        let sizes: Vec<u64> = batches
            .iter()
            .map(|(positions, _)| positions.row_count())
            .collect();
        assert!(
            sizes.iter().all(|size| (1..=64).contains(size)),
            "{sizes:?}"
        );
        let mut all = RowRanges::none();
        batches
            .iter()
            .for_each(|(positions, _)| all = all.union(positions));
        assert_eq!(
            all,
            RowRanges::from_range(layout.first_row..layout.first_row + layout.row_count)
        );
    }
}

fn positions_are_those_of_the_rows(subject: &Subject) {
    let file = sample_file(subject);
    let config = ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(ranges in prop::collection::vec((0..ROWS, 1..40u64), 0..40), batch_size in 1..400usize)| {
        let rows = ranges.iter().fold(RowRanges::none(), |rows, (start, length)| {
            rows.union(&RowRanges::from_range(*start..(start + length).min(ROWS)))
        });
        let scan = scan(vec![id(), text()], batch_size);
        let mut got = RowRanges::none();
        for (group, layout) in file.layout().groups.iter().enumerate() {
            for (positions, batch) in read_group(file.as_ref(), group, &rows, &scan).unwrap() {
                prop_assert!(batch.num_rows() <= batch_size && batch.num_rows() > 0);
                prop_assert!(positions.span().start >= layout.first_row);
                prop_assert!(got.span().end <= positions.span().start);
                assert_rows(&positions, &batch);
                got = got.union(&positions);
            }
        }
        prop_assert_eq!(rows.subtract(&got), RowRanges::none());
        if file.layout().selects_rows {
            prop_assert_eq!(got, rows);
        }
    });
}

fn rows_outside_the_group_are_ignored(subject: &Subject) {
    let file = sample_file(subject);
    let last = file.layout().groups.len() - 1;
    // Where there is one group alone, no row is outside it.
    let first_row = file.layout().groups[last].first_row;
    let rows = RowRanges::from_range(0..first_row.min(GROUP_ROWS as u64 / 2));
    assert!(
        read_group(file.as_ref(), last, &rows, &scan(vec![id()], 64))
            .unwrap()
            .is_empty()
    );
    let rows = RowRanges::from_range(ROWS - 1..ROWS + 500);
    let batches = read_group(file.as_ref(), last, &rows, &scan(vec![id(), text()], 64)).unwrap();
    let rows: u64 = batches
        .iter()
        .map(|(positions, _)| positions.row_count())
        .sum();
    assert!(!file.layout().selects_rows || rows == 1);
}

fn no_columns_give_row_counts(subject: &Subject) {
    let file = sample_file(subject);
    let batches = read_all(file.as_ref(), &scan(vec![], 128)).unwrap();
    let rows: usize = batches.iter().map(|(_, batch)| batch.num_rows()).sum();
    assert_eq!(rows as u64, ROWS);
    assert!(
        batches
            .iter()
            .all(|(_, batch)| batch.num_columns() == 0 && (1..=128).contains(&batch.num_rows()))
    );
}

/// RP-256.
fn absent_column_is_null_or_an_error(subject: &Subject) {
    let file = sample_file(subject);
    let absent = column("absent", TypeKind::Int.nullable());
    let batches = read_all(file.as_ref(), &scan(vec![absent.clone(), id()], 64)).unwrap();
    assert!(
        batches
            .iter()
            .all(|(_, batch)| batch.column(0).null_count() == batch.num_rows())
    );
    assert!(
        batches
            .iter()
            .all(|(_, batch)| batch.column(0).data_type() == &ArrowType::Int32)
    );
    let alone = read_all(file.as_ref(), &scan(vec![absent], 64)).unwrap();
    assert_eq!(
        alone
            .iter()
            .map(|(_, batch)| batch.num_rows() as u64)
            .sum::<u64>(),
        ROWS
    );

    let error = read_all(
        file.as_ref(),
        &scan(vec![column("absent", TypeKind::Int.not_null())], 64),
    )
    .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error
            .frames()
            .any(|frame| *frame == Frame::Column("absent".to_owned())),
        "{error}"
    );
    assert!(
        error
            .frames()
            .any(|frame| *frame == Frame::File("memory.file".to_owned())),
        "{error}"
    );
}

fn type_that_cannot_be_held_is_an_error_naming_the_column(subject: &Subject) {
    let file = sample_file(subject);
    let error = read_all(
        file.as_ref(),
        &scan(vec![column("text", TypeKind::Double.nullable())], 64),
    )
    .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error
            .frames()
            .any(|frame| *frame == Frame::Column("text".to_owned())),
        "{error}"
    );
}

fn string_layout_is_as_asked(subject: &Subject) {
    let file = sample_file(subject);
    let layouts = [
        (StringLayout::View, ArrowType::Utf8View),
        (StringLayout::Offset32, ArrowType::Utf8),
        (StringLayout::Offset64, ArrowType::LargeUtf8),
    ];
    for (strings, expected) in layouts {
        let scan = Arc::new(ScanSpec {
            columns: vec![text()],
            batch_size: 64,
            strings,
            window_bytes: ScanSpec::WINDOW_BYTES,
        });
        let batches = read_all(file.as_ref(), &scan).unwrap();
        assert!(
            batches
                .iter()
                .all(|(_, batch)| batch.column(0).data_type() == &expected)
        );
    }
}

fn cut_file_is_an_error(subject: &Subject) {
    let whole = (subject.write)(&sample(), GROUP_ROWS);
    for length in [0, 1, 11, 12, whole.len() / 2, whole.len() - 1] {
        let opened = now(subject
            .reader
            .open(MemorySource::new(whole.slice(..length))));
        let read = opened.and_then(|file| read_all(file.as_ref(), &scan(vec![id()], 64)));
        let error = read.expect_err("a short answer");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("memory.file"), "{error}");
    }
}

fn unknown_group_is_an_error(subject: &Subject) {
    let file = sample_file(subject);
    let beyond = file.layout().groups.len();
    let rows = RowRanges::from_range(0..ROWS);
    let error = read_group(file.as_ref(), beyond, &rows, &scan(vec![id()], 64)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

fn asked_fields_of_rows_come_as_asked(subject: &Subject) {
    let file = sample_file(subject);
    let right = DataField {
        id: FieldId(7),
        name: "right".to_owned(),
        data_type: TypeKind::VarChar(MAX_LENGTH).nullable(),
        description: None,
        default_value: None,
    };
    let pair = column("pair", TypeKind::Row(vec![right]).nullable());
    let rows = RowRanges::from_positions((0..ROWS).filter(|row| row % 3 == 0 || row % 50 < 20));
    let scan = scan(vec![pair, id()], 100);
    for group in 0..file.layout().groups.len() {
        for (positions, batch) in read_group(file.as_ref(), group, &rows, &scan).unwrap() {
            let pairs = batch.column(0).as_struct();
            assert_eq!(pairs.num_columns(), 1);
            let right = pairs.column(0).as_string_view();
            for (index, position) in positions.positions().enumerate() {
                assert_eq!(pairs.is_null(index), position % 5 == 0);
                let expected = (position % 5 > 1).then(|| format!("r{position}"));
                let found = right.is_valid(index).then(|| right.value(index).to_owned());
                assert_eq!(found, expected);
            }
        }
    }
}

/// What a file says of its values may rule out only rows that do not match.
fn pruned_rows_do_not_match(subject: &Subject) {
    let file = sample_file(subject);
    let find = |path: &FilePath| match path.0.first()?.as_str() {
        "id" => Some(id()),
        "text" => Some(text()),
        _ => None,
    };
    let (least, most) = (Datum::BigInt(290), Datum::BigInt(610));
    let of = |name: &str| FilePath(vec![name.to_owned()]);
    let predicate = Predicate::and([
        Predicate::compare(of("id"), id().data_type, CompareOp::GtEq, least),
        Predicate::compare(of("id"), id().data_type, CompareOp::LtEq, most),
        Predicate::is_not_null(of("text"), text().data_type),
        Predicate::is_null(of("unknown"), text().data_type),
    ]);
    let matching = RowRanges::from_positions((290..=610).filter(|row| row % 7 != 0));
    for grain in [Grain::Group, Grain::Page] {
        let kept = now(prune(&file, &predicate, &find, grain)).unwrap();
        assert_eq!(matching.subtract(&kept), RowRanges::none());
        assert!(kept.span().end <= ROWS);
    }
}

fn file_without_rows_gives_none(subject: &Subject) {
    let empty = (subject.write)(&sample().slice(0, 0), GROUP_ROWS);
    let file = open(subject.reader.as_ref(), empty).unwrap();
    assert_eq!(file.layout().row_count, 0);
    assert!(
        read_all(file.as_ref(), &scan(vec![id()], 8))
            .unwrap()
            .is_empty()
    );
    let file = sample_file(subject);
    let none = RowRanges::none();
    assert!(
        read_group(file.as_ref(), 0, &none, &scan(vec![id()], 8))
            .unwrap()
            .is_empty()
    );
}
