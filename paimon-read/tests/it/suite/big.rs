//! Files of more than 1 MiB, which are not read whole, and which of their columns a read asked for.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use object_store::ObjectStoreExt;
use object_store::path::Path;
use paimon_io::{Coalesce, ResourceParts, Resources, StoreRegistry};
use paimon_meta::{DataFileMeta, Datum, RowKind};
use paimon_read::block_on;
use paimon_testkit::{CountingStore, RequestKind};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::table::{Layout, Record, TestTable};

/// Rows of a row group.
pub(crate) const GROUP: usize = 3000;

/// `k INT, a STRING, n BIGINT, b STRING`, about 300 bytes a row.
pub(crate) fn big_table() -> TestTable {
    let columns = [
        ("k", "INT NOT NULL"),
        ("a", "STRING"),
        ("n", "BIGINT"),
        ("b", "STRING"),
    ];
    TestTable::new(&columns, &["k"]).laid_out(Layout {
        group_rows: GROUP,
        page_rows: 500,
        ..Layout::default()
    })
}

/// Rows of keys with ascending sequence numbers.
pub(crate) fn records(keys: Range<i32>, sequence: i64, tag: &str) -> Vec<Record> {
    let text = |key: i32| Some(Datum::String(format!("{tag}{key:0>140}")));
    keys.zip(sequence..)
        .map(|(key, sequence)| Record {
            kind: RowKind::Insert,
            sequence,
            values: vec![
                Some(Datum::Int(key)),
                text(key),
                Some(Datum::BigInt(i64::from(key) * 7)),
                text(key),
            ],
        })
        .collect()
}

/// Resources over a store that joins no ranges but those that touch, so that each request is of known columns.
pub(crate) fn exact(store: Arc<CountingStore>) -> Resources {
    let registry = StoreRegistry::new();
    registry.register("memory://", store).unwrap();
    Resources::new(ResourceParts {
        stores: Arc::new(registry),
        coalesce: Coalesce {
            gap_bytes: 0,
            request_bytes: 1 << 30,
            ..Coalesce::default()
        },
        ..ResourceParts::default()
    })
}

fn footer(table: &TestTable, file: &DataFileMeta) -> ParquetMetaData {
    let path = Path::from(format!("t/{}/{}", table.bucket_path, file.file_name));
    let bytes = block_on(async { table.store.get(&path).await?.bytes().await });
    ParquetMetaDataReader::new()
        .parse_and_finish(&bytes.unwrap())
        .unwrap()
}

/// Bytes that were asked of a file's columns, by row group and column; the footer's request, the first one, left out.
pub(crate) fn asked(
    table: &TestTable,
    store: &CountingStore,
    file: &DataFileMeta,
) -> BTreeMap<(usize, String), u64> {
    let footer = footer(table, file);
    let requests = store.requests();
    let of_file = requests
        .iter()
        .filter(|request| request.path.ends_with(&file.file_name));
    let mut asked = BTreeMap::new();
    for request in of_file.skip(1) {
        assert_eq!(request.kind, RequestKind::Get);
        for (group, row_group) in footer.row_groups().iter().enumerate() {
            for column in row_group.columns() {
                let (start, length) = column.byte_range();
                let bytes: u64 = request
                    .ranges
                    .iter()
                    .map(|range| {
                        let end = range.end.min(start + length);
                        end.saturating_sub(range.start.max(start))
                    })
                    .sum();
                if bytes > 0 {
                    let name = column.column_path().string();
                    *asked.entry((group, name)).or_default() += bytes;
                }
            }
        }
    }
    asked
}

/// Bytes of a column of a row group.
pub(crate) fn chunk_bytes(
    table: &TestTable,
    file: &DataFileMeta,
    group: usize,
    column: &str,
) -> u64 {
    let footer = footer(table, file);
    let columns = footer.row_group(group).columns();
    let chunk = columns
        .iter()
        .find(|chunk| chunk.column_path().string() == column);
    chunk.unwrap().byte_range().1
}
