//! Reading without async.

use arrow_array::RecordBatchReader;
use arrow_schema::ArrowError;
use paimon_meta::{DataSplit, Error, ErrorKind, Split};
use paimon_read::{BlockingReader, ReadRequest, ReadTask, TableReader, read_blocking};

use super::table::{TestTable, batches};

fn table() -> (TestTable, DataSplit) {
    let columns = [
        ("k", "INT NOT NULL"),
        ("v", "STRING"),
        ("d", "DECIMAL(10, 2)"),
    ];
    let table = TestTable::new(&columns, &["k"]);
    let split = table.split(vec![
        table.write(
            "a",
            &[
                "+I 0 1 x 1.50",
                "+I 1 2 a-text-longer-than-a-view -",
                "+I 2 5 z 0.01",
            ],
        ),
        table.write("b", &["+I 3 2 - -7.25", "-D 4 5 z -", "+I 5 6 w -"]),
    ]);
    (table, split)
}

fn reader(table: &TestTable) -> TableReader {
    table.reader(ReadRequest {
        batch_size: 2,
        ..ReadRequest::default()
    })
}

fn blocking(reader: &TableReader, split: DataSplit) -> BlockingReader {
    read_blocking(reader.read(ReadTask::new(Split::Data(split))).unwrap())
}

#[test]
fn iterator_gives_the_batches_of_the_stream() {
    let (table, split) = table();
    let reader = reader(&table);
    let blocking = blocking(&reader, split.clone());
    assert_eq!(RecordBatchReader::schema(&blocking), reader.schema());
    let found: Vec<_> = blocking.map(Result::unwrap).collect();
    assert_eq!(found, batches(&reader, split).unwrap());
    assert!(found.len() >= 2);
}

#[test]
fn error_comes_with_its_own_type_or_inside_one_of_arrow() {
    let (table, mut split) = table();
    split.files[0].row_count = 7;
    let reader = reader(&table);
    let error = blocking(&reader, split.clone()).next_batch().unwrap();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt);
    let mut iterator = blocking(&reader, split);
    let Some(Err(ArrowError::ExternalError(error))) = iterator.next() else {
        panic!("no error")
    };
    let error = error.downcast_ref::<Error>().unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(iterator.next().is_none());
}

#[cfg(feature = "ffi")]
mod ffi {
    use arrow_array::ffi_stream::ArrowArrayStreamReader;

    use super::*;

    #[test]
    fn c_stream_brings_schema_and_batches() {
        let (table, split) = table();
        let reader = reader(&table);
        let stream = blocking(&reader, split.clone()).into_c_stream();
        let imported = ArrowArrayStreamReader::try_new(stream).unwrap();
        assert_eq!(imported.schema(), reader.schema());
        let found: Vec<_> = imported.map(Result::unwrap).collect();
        assert_eq!(found, batches(&reader, split).unwrap());
    }

    #[test]
    fn c_stream_brings_errors_and_ends() {
        let (table, mut split) = table();
        split.files[0].row_count = 7;
        let stream = blocking(&reader(&table), split).into_c_stream();
        let mut imported = ArrowArrayStreamReader::try_new(stream).unwrap();
        let error = imported.next().unwrap().unwrap_err().to_string();
        assert!(error.contains("its meta says 7"), "{error}");
        assert!(error.contains("a.parquet"), "{error}");
        assert!(imported.next().is_none());
    }

    #[test]
    fn c_stream_that_is_dropped_early_is_released() {
        let (table, split) = table();
        let stream = blocking(&reader(&table), split).into_c_stream();
        let mut imported = ArrowArrayStreamReader::try_new(stream).unwrap();
        let first = imported.next().unwrap().unwrap();
        drop(imported);
        assert_ne!(first.num_rows(), 0);
    }
}
