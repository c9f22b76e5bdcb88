//! When a split of a primary-key table is read without a merge.

use paimon_meta::{DataSplit, Split};
use paimon_read::{ReadRequest, ReadTask, RowKinds, RowOrder};

use super::table::TestTable;

/// A table with a split of one file that may be read raw, and the name of the provider after a change to either.
fn provider(change: impl FnOnce(&mut DataSplit, &mut ReadRequest)) -> &'static str {
    let table = TestTable::simple();
    let mut split = table.raw_split(vec![table.write("a", &["+I 0 1 x", "+I 1 2 y"])]);
    let mut request = ReadRequest::default();
    change(&mut split, &mut request);
    let task = ReadTask::new(Split::Data(split));
    table.reader(request).provider(&task).unwrap()
}

#[test]
fn raw_split_of_files_without_retracts_is_read_raw() {
    // RP-200, RP-211
    assert_eq!(provider(|_, _| {}), "raw");
}

#[test]
fn split_without_the_raw_flag_is_merged() {
    assert_eq!(provider(|split, _| split.raw_convertible = false), "merge");
}

#[test]
fn kept_retracts_turn_raw_reading_off() {
    // RP-210, RP-218
    assert_eq!(
        provider(|_, request| request.row_kinds = RowKinds::Show),
        "raw"
    );
    assert_eq!(
        provider(|_, request| request.row_kinds = RowKinds::Keep),
        "merge"
    );
}

#[test]
fn streaming_split_is_not_read_raw() {
    // RP-303
    assert_eq!(provider(|split, _| split.streaming = true), "as written");
    let waiting = |split: &mut DataSplit| {
        split.bucket = -2;
        split.raw_convertible = false;
    };
    assert_eq!(provider(|split, _| waiting(split)), "as written");
}

#[test]
fn file_with_retracts_is_merged() {
    // RP-211
    let with_deletes = |split: &mut DataSplit| split.files[0].delete_row_count = Some(1);
    assert_eq!(provider(|split, _| with_deletes(split)), "merge");
}

#[test]
fn one_unknown_count_among_known_ones_is_merged() {
    // RP-211
    let unknown = |split: &mut DataSplit| {
        let file = split.files[0].clone();
        split.files.push(file);
        split.files[1].delete_row_count = None;
    };
    assert_eq!(provider(|split, _| unknown(split)), "merge");
}

#[test]
fn several_files_are_merged_only_if_key_order_is_wanted() {
    let two = |split: &mut DataSplit| {
        let file = split.files[0].clone();
        split.files.push(file);
    };
    assert_eq!(provider(|split, _| two(split)), "raw");
    assert_eq!(
        provider(|_, request| request.order = RowOrder::Key),
        "raw",
        "one file is in key order"
    );
    assert_eq!(
        provider(|split, request| {
            two(split);
            request.order = RowOrder::Key;
        }),
        "merge"
    );
}

#[test]
fn levels_are_not_looked_at() {
    // RP-212
    assert_eq!(provider(|split, _| split.files[0].level = 3), "raw");
}

#[test]
fn retracts_of_a_file_with_unknown_count_are_merged_and_dropped() {
    // RP-211: the planner takes a null count for none and sets the raw flag.
    let table = TestTable::simple();
    let mut file = table.write("a", &["+I 0 1 x", "-D 1 2 y", "-U 2 3 z", "+U 3 4 w"]);
    file.delete_row_count = None;
    let split = table.raw_split(vec![file]);
    let rows = table.rows(split, ReadRequest::default()).unwrap();
    assert_eq!(rows, ["1 x", "4 w"]);
}

#[test]
fn splits_of_append_tables_are_read_raw_whatever_they_say() {
    // RP-201
    let table = TestTable::new(&[("a", "INT"), ("b", "STRING")], &[]);
    let mut first = table.write("f", &["+I 0 3 x", "+I 1 - -"]);
    first.delete_row_count = None;
    let second = table.write("g", &["+I 2 1 y"]);
    let split = table.split(vec![first, second]);
    let task = ReadTask::new(Split::Data(split.clone()));
    let reader = table.reader(ReadRequest::default());
    assert_eq!(reader.provider(&task).unwrap(), "raw");
    // RP-250: files in the order of the split, rows in the order of the file.
    assert_eq!(
        table.rows(split, ReadRequest::default()).unwrap(),
        ["3 x", "- -", "1 y"]
    );
}
