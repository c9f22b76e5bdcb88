//! Large row groups come in windows, whatever is read of them.

use std::num::NonZeroUsize;

use paimon_meta::{Datum, Predicate, Split};
use paimon_read::{ReadRequest, ReadTask};

use super::big::{big_table, records};
use super::table::{Layout, TestTable, collect, text};

const KEYS: i32 = 6000;

/// One row group a file, of about 2 MB.
fn table() -> TestTable {
    big_table().laid_out(Layout {
        group_rows: usize::try_from(KEYS).unwrap(),
        page_rows: 100,
        ..Layout::default()
    })
}

#[test]
fn windows_of_row_groups_give_the_same_rows() {
    let table = table();
    let newer = records(1000..1000 + KEYS, 1_000_000, "new");
    let newer = newer.into_iter().step_by(3).collect::<Vec<_>>();
    let files = vec![
        table.write_records("old", &records(0..KEYS, 0, "old")),
        table.write_records("new", &newer),
    ];
    let field = table.field("n");
    let bound = Datum::BigInt(7 * 3000);
    let condition = Predicate::lt(field.id, field.data_type, bound);
    for predicate in [None, Some(condition)] {
        let rows = |window_bytes: usize, parts: usize| {
            let reader = table.reader(ReadRequest {
                predicate: predicate.clone(),
                batch_size: 500,
                window_bytes,
                ..ReadRequest::default()
            });
            let task = ReadTask::new(Split::Data(table.split(files.clone())));
            let parts = NonZeroUsize::new(parts).unwrap();
            let tasks = paimon_read::block_on(reader.subdivide(task, parts)).unwrap();
            let mut rows = Vec::new();
            for task in tasks {
                let batches = collect(reader.read(task).unwrap()).unwrap();
                rows.extend(batches.iter().flat_map(|batch| text(&reader, batch)));
            }
            rows
        };
        let whole = rows(1 << 30, 1);
        assert!(whole.len() > 2000);
        for (window_bytes, parts) in [(0, 1), (0, 3), (1 << 20, 1), (1 << 20, 2)] {
            assert_eq!(rows(window_bytes, parts), whole, "{window_bytes} {parts}");
        }
    }
}
