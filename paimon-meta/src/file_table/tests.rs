use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::stats::SimpleStats;

/// One BIGINT.
fn row(value: i64) -> BinaryRow {
    BinaryRow::from_parts(1, &[[0; 8], value.to_le_bytes()].concat()).unwrap()
}

fn file(name: &str) -> DataFileMeta {
    DataFileMeta {
        file_name: name.to_owned(),
        file_size: 1000,
        row_count: 20,
        min_key: row(1),
        max_key: row(9),
        key_stats: SimpleStats {
            min_values: row(1),
            max_values: row(9),
            null_counts: Some(vec![Some(0)]),
        },
        value_stats: SimpleStats {
            min_values: row(-5),
            max_values: row(5),
            null_counts: None,
        },
        min_sequence_number: 10,
        max_sequence_number: 29,
        schema_id: 1,
        level: 5,
        extra_files: vec![],
        creation_time_millis: None,
        delete_row_count: None,
        embedded_index: None,
        file_source: None,
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

/// Partition of the file at an index of [`table`], and its bucket.
fn place(index: usize) -> (BinaryRow, i32) {
    let bucket = i32::try_from(index).unwrap();
    (row(i64::from(bucket) % 3), bucket)
}

fn table(files: &[DataFileMeta]) -> FileTable {
    let mut builder = FileTableBuilder::new();
    for (index, file) in files.iter().enumerate() {
        let (partition, bucket) = place(index);
        builder
            .push_file(&partition, bucket, 8, file, KeepStats::ALL)
            .unwrap();
    }
    builder.finish()
}

fn files(table: &FileTable) -> Vec<DataFileMeta> {
    (0..table.len())
        .map(|index| table.file(index).unwrap())
        .collect()
}

prop_compose! {
    fn stats()(
        min in any::<i64>(),
        max in any::<i64>(),
        null_counts in option::of(vec(option::of(0..i64::MAX), 0..3)),
    ) -> SimpleStats {
        SimpleStats { min_values: row(min), max_values: row(max), null_counts }
    }
}

fn names() -> impl Strategy<Value = Vec<String>> {
    vec("[a-cé]{0,2}", 0..3)
}

prop_compose! {
    fn any_file()(
        file_name in "[a-zé0-9]{0,12}",
        numbers in any::<(u64, u64, i64, i64, i64, i32)>(),
        keys in any::<(i64, i64)>(),
        (key_stats, value_stats) in (stats(), stats()),
        extra_files in names(),
        known in any::<(Option<i64>, Option<u64>, Option<bool>, Option<i64>)>(),
        embedded_index in option::of(vec(any::<u8>(), 0..4)),
        (value_stats_cols, write_cols) in (option::of(names()), option::of(names())),
        external_path in option::of("[a-zé/]{0,4}"),
        write_cols_sequences in option::of(vec(any::<i64>(), 0..3)),
    ) -> DataFileMeta {
        let (creation_time_millis, delete_row_count, source, first_row_id) = known;
        DataFileMeta {
            file_name, file_size: numbers.0, row_count: numbers.1, min_key: row(keys.0),
            max_key: row(keys.1), key_stats, value_stats, min_sequence_number: numbers.2,
            max_sequence_number: numbers.3, schema_id: numbers.4, level: numbers.5, extra_files,
            creation_time_millis, delete_row_count, embedded_index,
            file_source: source.map(|compact| if compact { FileSource::Compact } else { FileSource::Append }),
            value_stats_cols, external_path, first_row_id, write_cols, write_cols_sequences,
        }
    }
}

proptest! {
    #[test]
    fn files_come_out_as_they_went_in(metas in vec(any_file(), 0..20)) {
        let table = table(&metas);
        prop_assert_eq!(files(&table), metas);
        for index in 0..table.len() {
            let found = (table.partition(index).clone(), table.bucket(index));
            prop_assert_eq!(found, place(index));
            prop_assert_eq!(table.total_buckets(index), 8);
        }
    }

    #[test]
    fn tables_survive_the_wire(metas in vec(any_file(), 0..10)) {
        let table = table(&metas);
        let wire = serde_json::to_string(&table).unwrap();
        prop_assert_eq!(serde_json::from_str::<FileTable>(&wire).unwrap(), table);
    }

    #[test]
    fn appending_tables_is_pushing_their_files(
        first in vec(any_file(), 0..6),
        second in vec(any_file(), 0..6),
    ) {
        let mut builder = FileTableBuilder::new();
        builder.append(table(&first)).unwrap();
        builder.append(table(&second)).unwrap();
        let both = builder.finish();
        let partitions = |length| (0..length).map(|index| place(index).0);
        prop_assert!(partitions(first.len())
            .chain(partitions(second.len()))
            .eq((0..both.len()).map(|index| both.partition(index).clone())));
        prop_assert_eq!(files(&both), [first, second].concat());
    }

    #[test]
    fn permuting_takes_the_files_of_the_order(
        metas in vec(any_file(), 1..8),
        order in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let order: Vec<_> = order.iter().map(|index| index.index(metas.len())).collect();
        let indexes: Vec<_> = order.iter().map(|index| u32::try_from(*index).unwrap()).collect();
        let table = table(&metas);
        let permuted = table.clone().permute(&indexes).unwrap();
        let expected: Vec<_> = order.iter().map(|index| metas[*index].clone()).collect();
        prop_assert_eq!(files(&permuted), expected);
        for (index, from) in order.iter().enumerate() {
            prop_assert_eq!(permuted.partition(index), table.partition(*from));
            prop_assert_eq!(permuted.identity(index), table.identity(*from));
        }
    }
}

// RP-089, RP-090: as the reference drops them.
#[test]
fn dropped_statistics_are_empty_and_of_no_columns() {
    let mut written = file("a");
    written.value_stats_cols = Some(vec!["v".to_owned()]);
    let push = |keep| {
        let mut builder = FileTableBuilder::new();
        builder.push_file(&row(0), 0, 1, &written, keep).unwrap();
        builder.finish()
    };
    let none = push(KeepStats::default());
    assert!(none.key_stats(0).is_none() && none.value_stats(0).is_none());
    let meta = none.file(0).unwrap();
    assert_eq!(meta.key_stats, SimpleStats::default());
    assert_eq!(meta.value_stats, SimpleStats::default());
    assert_eq!(meta.value_stats_cols, Some(vec![]));
    let keys = push(KeepStats {
        key: true,
        value: false,
    })
    .file(0)
    .unwrap();
    assert_eq!(
        (keys.key_stats, keys.value_stats),
        (written.key_stats.clone(), SimpleStats::default())
    );
    assert_eq!(push(KeepStats::ALL).file(0).unwrap(), written);
}

#[test]
fn negative_null_counts_are_unknown() {
    let mut written = file("a");
    written.key_stats.null_counts = Some(vec![Some(-1), Some(3), None]);
    let table = table(&[written]);
    let stats = table.key_stats(0).unwrap();
    let counts: Vec<_> = (0..4).map(|index| stats.null_count(index)).collect();
    assert_eq!(counts, [None, Some(3), None, None]);
    assert_eq!(stats.null_counts_len(), Some(3));
}

#[test]
fn equal_partitions_and_equal_lists_are_kept_once() {
    let mut written = file("a");
    written.write_cols = Some(vec!["some_column".to_owned(), "another_column".to_owned()]);
    let many = table(&vec![written.clone(); 1000]);
    assert_eq!(many.partitions(), [row(0), row(1), row(2)]);
    let lists = many.heap_bytes() - table(&vec![file("a"); 1000]).heap_bytes();
    assert!(lists < 10_000, "{lists} bytes");
}

/// The identity of `changed`, next to that of a file with something in each part of it, is equal or not.
fn same_identity(change: impl FnOnce(&mut DataFileMeta)) -> bool {
    let mut before = file("a");
    before.extra_files = vec!["x".to_owned(), "y".to_owned()];
    before.embedded_index = Some(vec![1]);
    before.external_path = Some("p".to_owned());
    let mut after = before.clone();
    change(&mut after);
    let mut builder = FileTableBuilder::new();
    builder
        .push_file(&row(0), 0, 1, &before, KeepStats::ALL)
        .unwrap();
    builder
        .push_file(&row(0), 0, 9, &after, KeepStats::ALL)
        .unwrap();
    let table = builder.finish();
    let hashes: std::collections::HashSet<_> = [table.identity(0), table.identity(1)].into();
    assert_eq!(hashes.len() == 1, table.identity(0) == table.identity(1));
    hashes.len() == 1
}

// RP-040, RP-041.
#[test]
fn identity_is_of_place_level_name_side_files_and_paths() {
    assert!(same_identity(|_| {}));
    assert!(same_identity(|file| file.file_size += 1));
    assert!(same_identity(|file| file.row_count += 1));
    assert!(same_identity(|file| file.schema_id += 1));
    assert!(same_identity(
        |file| file.value_stats = SimpleStats::default()
    ));
    assert!(!same_identity(|file| file.level = 4));
    assert!(!same_identity(|file| file.file_name.push('b')));
    assert!(!same_identity(|file| file.extra_files.reverse()));
    assert!(!same_identity(|file| file.embedded_index = None));
    assert!(!same_identity(|file| file.external_path = None));
}

// RP-040.
#[test]
fn identity_is_of_partition_and_bucket() {
    let mut builder = FileTableBuilder::new();
    for (partition, bucket) in [(0, 0), (1, 0), (0, 1)] {
        builder
            .push_file(&row(partition), bucket, 1, &file("a"), KeepStats::ALL)
            .unwrap();
    }
    let table = builder.finish();
    assert_ne!(table.identity(0), table.identity(1));
    assert_ne!(table.identity(0), table.identity(2));
    // Across tables, whose partitions have other numbers.
    assert_eq!(
        table.identity(1),
        table.clone().permute(&[1]).unwrap().identity(0)
    );
}

#[test]
fn unsound_tables_from_outside_are_refused() {
    let mut written = file("é");
    written.extra_files = vec!["x".to_owned()];
    written.write_cols = Some(vec!["v".to_owned()]);
    let wire = serde_json::to_value(table(&[written.clone(), written])).unwrap();
    assert!(serde_json::from_value::<FileTable>(wire.clone()).is_ok());
    for (pointer, value) in [
        ("/partition_ids", json!([0, 7])),
        ("/partition_ids", json!([0])),
        ("/levels", json!([1, 2, 3])),
        ("/flags", json!([0, 12])),
        ("/file_names/ends", json!([2])),
        ("/file_names/ends", json!([1, 4])),
        ("/file_names/ends", json!([2, 5])),
        ("/min_keys/ends", json!([30, 20])),
        ("/extra_files/rows", json!([1, 1])),
        ("/extra_files/rows", json!([0, 2])),
        ("/extra_files/values/lists", json!([0, 1])),
        ("/write_cols/values/ends", json!([3])),
        ("/key_stats/values/has_null_counts", json!([true])),
    ] {
        let mut wire = wire.clone();
        *wire.pointer_mut(pointer).unwrap() = value;
        let table: Result<FileTable, serde_json::Error> = serde_json::from_value::<FileTable>(wire);
        assert!(table.is_err(), "{pointer}");
    }
    assert!(serde_json::from_value::<FileTable>(Value::Null).is_err());
}
