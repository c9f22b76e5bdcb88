//! Every Parquet file of the golden tables.

use paimon_format::ParquetReader;
use paimon_meta::ErrorKind;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::damage::golden_files;
use crate::memory::open;

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
