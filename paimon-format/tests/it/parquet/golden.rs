//! Every Parquet file of the golden tables.

use paimon_format::{DataFile, ParquetReader};
use paimon_meta::{DataType, Datum, ErrorKind, TableSchema, TypeKind, datum_at};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::conformance::{column, scan};
use crate::damage::golden_files;
use crate::memory::{now, open, read_all};

#[test]
fn golden_files_open_and_have_all_their_rows() {
    let files = golden_files("parquet");
    assert!(files.len() > 500, "{}", files.len());
    for path in files {
        let bytes = bytes::Bytes::from(std::fs::read(&path).unwrap());
        let opened = open(&ParquetReader, bytes.clone());
        // Some tables hold files that are broken on purpose.
        match SerializedFileReader::new(bytes) {
            Ok(reader) => {
                let expected = reader.metadata().file_metadata().num_rows().cast_unsigned();
                assert_eq!(
                    opened.unwrap().layout().row_count,
                    expected,
                    "{}",
                    path.display()
                );
            }
            Err(_) => assert_eq!(
                opened.unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{}",
                path.display()
            ),
        }
    }
}

/// A value beside one of the golden table's, which are ten apart.
fn beside(value: &Datum) -> Datum {
    match value {
        Datum::Int(value) => Datum::Int(value + 3),
        Datum::BigInt(value) => Datum::BigInt(value + 3),
        Datum::Date(value) => Datum::Date(value + 3),
        Datum::Double(value) => Datum::Double(value + 0.25),
        Datum::Decimal(value, scale) => Datum::Decimal(value + 3, *scale),
        Datum::String(text) => Datum::String(format!("{text}x")),
        Datum::Binary(bytes) => Datum::Binary([bytes, &[7][..]].concat()),
        Datum::Timestamp { millis, nanos } => Datum::Timestamp {
            millis: millis + 3,
            nanos: *nanos,
        },
        other => panic!("{other:?}"),
    }
}

fn held(file: &dyn DataFile, name: &str, data_type: &DataType, values: &[Datum]) -> usize {
    let column = column(name, data_type.clone());
    let held = now(file.may_hold(0, &column, values)).unwrap();
    assert_eq!(held.len(), values.len());
    held.into_iter().filter(|held| *held).count()
}

/// Whether the first row group of a file has a Bloom filter of a column.
fn has_filter(path: &std::path::Path, name: &str) -> bool {
    let bytes = bytes::Bytes::from(std::fs::read(path).unwrap());
    let reader = SerializedFileReader::new(bytes).unwrap();
    let columns = reader.metadata().row_group(0).columns();
    let column = columns
        .iter()
        .find(|column| column.column_path().string() == name);
    column.unwrap().bloom_filter_offset().is_some()
}

#[test]
fn bloom_filters_of_the_reference_hold_what_is_there_and_little_else() {
    // RP-258: hashes of values as they are stored, decimals as integers and as bytes of a length, timestamps as integers.
    let mut files = golden_files("parquet").into_iter();
    let path = files.find(|path| path.to_str().unwrap().contains("fmt_parquet_bloom_filters"));
    let path = path.unwrap();
    let schema = path.parent().unwrap().join("../schema/schema-0");
    let schema = TableSchema::from_json(&std::fs::read(schema).unwrap()).unwrap();
    let file = open(&ParquetReader, std::fs::read(&path).unwrap().into()).unwrap();
    for field in &schema.fields {
        let asked = scan(vec![column(&field.name, field.data_type.clone())], 100);
        let batches = read_all(file.as_ref(), &asked).unwrap();
        let (_, batch) = &batches[0];
        let values = (0..batch.num_rows()).map(|row| {
            datum_at(batch.column(0), row, &field.data_type)
                .unwrap()
                .unwrap()
        });
        let values: Vec<Datum> = values.collect();
        assert_eq!(values.len(), 40);
        assert_eq!(
            held(file.as_ref(), &field.name, &field.data_type, &values),
            40,
            "{field:?}"
        );
        let beside: Vec<Datum> = values.iter().map(beside).collect();
        let found = held(file.as_ref(), &field.name, &field.data_type, &beside);
        // The reference writes no filter of INT96, though it is asked to.
        let most = if field.name == "t9" { 40 } else { 10 };
        assert_eq!(has_filter(&path, &field.name), field.name != "t9");
        assert!(
            found <= most,
            "{found} values that are not there may be in {}",
            field.name
        );
    }
    assert!(matches!(
        schema.fields[6].data_type.kind,
        TypeKind::Decimal { precision: 30, .. }
    ));
}
