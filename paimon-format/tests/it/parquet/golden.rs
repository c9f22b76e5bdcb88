//! Every Parquet file of the golden tables.

use std::path::PathBuf;

use paimon_format::ParquetReader;
use paimon_meta::ErrorKind;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::memory::open;

pub(crate) fn golden_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../paimon-testkit/golden"
    ))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "parquet" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

#[test]
fn golden_files_open_and_have_all_their_rows() {
    let files = golden_files();
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
