use arrow_array::types::Int32Type;
use arrow_array::{Int32Array, StringViewArray};
use futures_util::stream;
use paimon_meta::{CompareOp, Test};

use super::*;
use crate::read_blocking;

fn table() -> TableSchema {
    let column = |id, name| field(FieldId(id), name, TypeKind::Int.not_null());
    TableSchema {
        version: 3,
        id: 0,
        fields: vec![column(0, "k"), column(1, "v")],
        highest_field_id: 1,
        partition_keys: Vec::new(),
        primary_keys: vec!["k".to_owned()],
        options: std::collections::BTreeMap::new(),
        comment: None,
        time_millis: 0,
    }
}

/// Rows of the table as its reader gives them, one batch a list: kind and value of the only column read.
fn rows(view: &ChangelogView, batches: &[&[(i8, i32)]]) -> BatchStream {
    assert_eq!(view.columns.len(), 1);
    let schema = Arc::new(Schema::new(vec![
        Field::new(ROW_KIND_COLUMN, ArrowType::Int8, false),
        Field::new("v", ArrowType::Int32, false),
    ]));
    let batch = |rows: &&[(i8, i32)]| {
        let kinds = Int8Array::from_iter_values(rows.iter().map(|row| row.0));
        let values = Int32Array::from_iter_values(rows.iter().map(|row| row.1));
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(kinds), Arc::new(values)]).unwrap()
    };
    let batches: Vec<_> = batches.iter().map(batch).map(Ok).collect();
    BatchStream::new(schema, stream::iter(batches))
}

fn read(
    which: ChangelogTable,
    request: &ReadRequest,
    batches: &[&[(i8, i32)]],
    streaming: bool,
) -> Vec<RecordBatch> {
    let view = Arc::new(ChangelogView::new(which, &table(), request).unwrap());
    let mut read = read_blocking(view.read(rows(&view, batches), streaming));
    std::iter::from_fn(|| read.next_batch())
        .map(Result::unwrap)
        .collect()
}

fn texts(batches: &[RecordBatch], column: usize) -> Vec<String> {
    let arrays = batches
        .iter()
        .map(|batch| batch.column(column).as_string_view());
    let texts = arrays.flat_map(StringViewArray::iter);
    texts.map(|text| text.unwrap().to_owned()).collect()
}

fn lists(batches: &[RecordBatch], column: usize) -> Vec<Vec<i32>> {
    let arrays = batches
        .iter()
        .map(|batch| batch.column(column).as_list::<i32>());
    let lists = arrays.flat_map(ListArray::iter);
    lists
        .map(|list| list.unwrap().as_primitive::<Int32Type>().values().to_vec())
        .collect()
}

fn projected(ids: &[i32]) -> ReadRequest {
    ReadRequest {
        projection: Some(ids.iter().copied().map(FieldId).collect()),
        ..ReadRequest::default()
    }
}

const KIND: i32 = KIND_ID.0;

#[test]
fn audit_log_has_the_kind_where_it_is_asked_for() {
    // RP-650
    let batches = read(
        ChangelogTable::AuditLog,
        &projected(&[1, KIND]),
        &[&[(0, 5), (3, 6)]],
        false,
    );
    assert_eq!(texts(&batches, 1), ["+I", "-D"]);
    assert_eq!(
        batches[0].column(0).as_primitive::<Int32Type>().values(),
        &[5, 6]
    );
    assert_eq!(batches[0].schema().field(1).name(), "rowkind");
}

#[test]
fn binlog_has_lists_of_one_in_a_batch_read() {
    let batches = read(
        ChangelogTable::Binlog,
        &projected(&[KIND, 1]),
        &[&[(1, 5), (2, 6)]],
        false,
    );
    assert_eq!(texts(&batches, 0), ["-U", "+U"]);
    assert_eq!(lists(&batches, 1), [[5], [6]]);
}

#[test]
fn binlog_folds_updates_of_a_stream_over_batches() {
    // RP-650: what follows the row before an update forms one row with it.
    let batches: [&[(i8, i32)]; 4] = [
        &[(0, 1), (1, 5)],
        &[(2, 6), (3, 7), (1, 8)],
        &[(2, 9)],
        &[(1, 10)],
    ];
    let batches = read(
        ChangelogTable::Binlog,
        &projected(&[KIND, 1]),
        &batches,
        true,
    );
    assert_eq!(texts(&batches, 0), ["+I", "+U", "-D", "+U", "-U"]);
    assert_eq!(
        lists(&batches, 1),
        [vec![1], vec![5, 6], vec![7], vec![8, 9], vec![10]]
    );
}

fn test(column: FieldId, kind: TypeKind, value: Datum) -> TablePredicate {
    Predicate::leaf(column, kind.not_null(), Test::Compare(CompareOp::Eq, value))
}

#[test]
fn conditions_on_the_kind_are_the_views_and_others_the_tables() {
    let on_kind = test(
        KIND_ID,
        TypeKind::VarChar(2),
        Datum::String("-D".to_owned()),
    );
    let on_value = test(FieldId(1), TypeKind::Int, Datum::Int(6));
    let request = ReadRequest {
        predicate: Some(Predicate::and([on_kind.clone(), on_value.clone()])),
        limit: Some(1),
        ..projected(&[1])
    };
    let view = ChangelogView::new(ChangelogTable::AuditLog, &table(), &request).unwrap();
    assert_eq!(view.predicate(), Some(&on_value));
    assert_eq!((view.limit(), view.request(None).limit), (None, None));
    let batches = read(
        ChangelogTable::AuditLog,
        &request,
        &[&[(0, 6), (3, 6), (3, 6)]],
        false,
    );
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
    assert_eq!(batches[0].num_columns(), 1);
}

#[test]
fn rows_of_the_view_are_inserts() {
    let request = ReadRequest {
        row_kinds: RowKinds::Keep,
        ..projected(&[1])
    };
    let batches = read(ChangelogTable::AuditLog, &request, &[&[(3, 5)]], false);
    assert_eq!(batches[0].schema().field(0).name(), ROW_KIND_COLUMN);
    assert_eq!(
        batches[0].column(0).as_primitive::<Int8Type>().values(),
        &[0]
    );
}

#[test]
fn unknown_columns_are_invalid_input() {
    let error =
        ChangelogView::new(ChangelogTable::AuditLog, &table(), &projected(&[9])).unwrap_err();
    assert_eq!(error.kind(), paimon_meta::ErrorKind::InvalidInput);
}
