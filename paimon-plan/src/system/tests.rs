use paimon_meta::{DeletionVectorRange, ErrorKind};

use super::cell::{Cell, Rows, time};
use super::*;

fn rows(which: MetadataTable, cells: Rows) -> MetadataRows {
    MetadataRows {
        schema: which.schema(),
        cells: Box::new(cells),
    }
}

#[test]
fn batches_have_the_rows_and_columns_asked_for() {
    let row = |name: &str, next: i64| vec![name.into(), next.into()];
    let rows = rows(
        MetadataTable::Consumers,
        vec![row("a", 3), row("b", 5), row("c", 7)],
    );
    let columns = [FieldId(1), FieldId(0)];
    let batch = rows.batch(1..3, &columns, StringLayout::View).unwrap();
    let expected = RecordBatch::try_from_iter([
        (
            "next_snapshot_id",
            Arc::new(arrow_array::Int64Array::from(vec![5, 7])) as _,
        ),
        (
            "consumer_id",
            Arc::new(arrow_array::StringViewArray::from(vec!["b", "c"])) as _,
        ),
    ]);
    assert_eq!(batch.columns(), expected.unwrap().columns());
    assert!(!batch.schema().field(0).is_nullable());
    let counting = rows.batch(0..3, &[], StringLayout::View).unwrap();
    assert_eq!((counting.num_rows(), counting.num_columns()), (3, 0));
    let error = rows
        .batch(0..1, &[FieldId(2)], StringLayout::View)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(rows.batch(0..4, &[], StringLayout::View).is_err());
}

#[test]
fn lists_of_texts_and_vectors_become_arrow_lists() {
    let vectors = |names: &[&str]| {
        let vector = |name: &&str| DeletionVectorRange {
            data_file: (*name).to_owned(),
            offset: 1,
            length: 22,
            cardinality: None,
        };
        Cell::Vectors(names.iter().map(vector).collect())
    };
    let mut row = vec![Cell::Null; 7];
    let mut cells = Vec::new();
    for cell in [vectors(&["a", "b"]), Cell::Null, vectors(&[])] {
        row[6] = cell;
        cells.push(row.clone());
    }
    let rows = rows(MetadataTable::TableIndexes, cells);
    let batch = rows
        .batch(0..3, &[FieldId(6)], StringLayout::Offset32)
        .unwrap();
    let lists = batch
        .column(0)
        .as_any()
        .downcast_ref::<arrow_array::ListArray>();
    let lists = lists.unwrap();
    let lengths: Vec<_> = lists
        .iter()
        .map(|list| list.map(|list| list.len()))
        .collect();
    assert_eq!(lengths, [Some(2), None, Some(0)]);
}

#[test]
fn times_are_milliseconds_without_zone() {
    let rows = rows(MetadataTable::Branches, vec![vec!["b".into(), time(9)]]);
    let batch = rows.batch(0..1, &[FieldId(1)], StringLayout::View).unwrap();
    let expected = arrow_array::TimestampMillisecondArray::from(vec![9]);
    assert_eq!(
        batch.column(0).as_ref(),
        &expected as &dyn arrow_array::Array
    );
}
