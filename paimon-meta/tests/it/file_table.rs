//! What a plan of many files costs in memory.

use apache_avro::Codec;
use paimon_meta::{FileTable, FileTableBuilder, KeepStats, ManifestColumns, ManifestReader};
use serde_json::{Value, json};

use crate::avro_files::{manifest_schema, write};

/// A compacted file of a table with a BIGINT key, a date as partition and statistics of one column.
fn entry(index: u32) -> Value {
    let long = |value: u32| {
        let value = u64::from(value).to_le_bytes();
        [&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], value.as_slice()].concat()
    };
    let header = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 16, 0, 0, 0];
    let date = format!("202405{:02}", index / 1000 % 28);
    let partition = [header.as_slice(), date.as_bytes()].concat();
    let stats =
        json!({"_MIN_VALUES": long(index), "_MAX_VALUES": long(index), "_NULL_COUNTS": [0]});
    json!({
        "_VERSION": 2, "_KIND": 0, "_PARTITION": partition,
        "_BUCKET": index % 16, "_TOTAL_BUCKETS": 16,
        "_FILE": {
            "_FILE_NAME": format!("data-f9a1b2c3-d4e5-4f60-8a7b-{index:012x}-{}.parquet", index % 10),
            "_FILE_SIZE": 134_217_728, "_ROW_COUNT": 1_000_000,
            "_MIN_KEY": long(index), "_MAX_KEY": long(index + 1),
            "_KEY_STATS": stats, "_VALUE_STATS": stats,
            "_MIN_SEQUENCE_NUMBER": index, "_MAX_SEQUENCE_NUMBER": index, "_SCHEMA_ID": 3,
            "_LEVEL": 5, "_EXTRA_FILES": [], "_CREATION_TIME": 1_700_000_000_000_i64,
            "_DELETE_ROW_COUNT": 0, "_FILE_SOURCE": 1,
        },
    })
}

fn decode(file: &[u8], columns: ManifestColumns, keep: KeepStats) -> FileTable {
    let mut builder = FileTableBuilder::new();
    for batch in ManifestReader::new(file, columns).unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.len() {
            builder.push(&batch, row, keep).unwrap();
        }
    }
    builder.finish()
}

#[test]
fn a_file_of_a_plan_takes_at_most_250_bytes() {
    let entries: Vec<_> = (0..10_000).map(entry).collect();
    let file = write(&manifest_schema(), &entries, Codec::Snappy, 64_000);
    let mut table = FileTable::default();
    let used = allocation_counter::measure(|| {
        table = decode(&file, ManifestColumns::default(), KeepStats::default());
    });
    assert_eq!(table.len(), entries.len());
    let live = usize::try_from(used.bytes_current).unwrap();
    assert!(live / table.len() <= 250, "{} bytes", live / table.len());
    let reported = table.heap_bytes();
    assert!(
        live.abs_diff(reported) < live / 100,
        "{live} bytes, {reported} reported"
    );
}

#[test]
fn decoding_keeps_no_more_than_the_table_and_a_batch() {
    let entries: Vec<_> = (0..20_000).map(entry).collect();
    let file = write(&manifest_schema(), &entries, Codec::Snappy, 64_000);
    let used = allocation_counter::measure(|| {
        drop(decode(
            &file,
            ManifestColumns::default(),
            KeepStats::default(),
        ));
    });
    // Vectors grow by doubling, so up to three times the table is alive for a moment.
    let table = 3 * 250 * 20_000;
    let batch = 4 << 20;
    assert!(used.bytes_max < table + batch, "{} bytes", used.bytes_max);
}

#[test]
fn manifests_can_be_decoded_on_any_thread() {
    fn check<T: Send>() {}
    check::<ManifestReader<'static>>();
    check::<FileTableBuilder>();
    check::<FileTable>();
}
