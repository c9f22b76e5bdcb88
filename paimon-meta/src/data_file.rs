//! What a manifest says of one data file. Facts: table-format sections 4.3 to 4.5.

use serde::{Deserialize, Serialize};

use crate::binary_row::BinaryRow;
use crate::stats::SimpleStats;

/// Where a file came from (`_FILE_SOURCE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FileSource {
    /// Written by a write.
    Append,
    /// Written by a compaction.
    Compact,
}

/// Meta of one data file: where it is, what it holds, and its bounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataFileMeta {
    /// Bare name; the format is in its ending.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: u64,
    /// Physical rows, retract rows included.
    pub row_count: u64,
    /// First key in the file, inclusive; arity 0 for append tables.
    pub min_key: BinaryRow,
    /// Last key in the file, inclusive; arity 0 for append tables.
    pub max_key: BinaryRow,
    /// Statistics of the trimmed key columns; may be truncated, unlike the keys.
    pub key_stats: SimpleStats,
    /// Statistics of the columns in [`Self::value_stats_cols`].
    pub value_stats: SimpleStats,
    /// Smallest sequence number.
    pub min_sequence_number: i64,
    /// Largest sequence number.
    pub max_sequence_number: i64,
    /// Schema the file was written with.
    pub schema_id: i64,
    /// Level in the LSM tree; 0 is freshly written.
    pub level: i32,
    /// Side files by bare name, same directory.
    pub extra_files: Vec<String>,
    /// Wall clock of the writer as milliseconds, as if it were UTC (TF-051).
    pub creation_time_millis: Option<i64>,
    /// Retract rows in the file; `None` is unknown (RP-211).
    pub delete_row_count: Option<u64>,
    /// A whole file-index container.
    pub embedded_index: Option<Vec<u8>>,
    /// Where the file came from, if known.
    pub file_source: Option<FileSource>,
    /// Columns of [`Self::value_stats`], by file-schema name; `None` means all columns of the file schema (RP-089).
    pub value_stats_cols: Option<Vec<String>>,
    /// Full path of the file when it is not in its bucket directory.
    pub external_path: Option<String>,
    /// Row id of the first row, for row-tracking tables.
    pub first_row_id: Option<i64>,
    /// Columns that are physically there; `None` means all of the file schema.
    pub write_cols: Option<Vec<String>>,
    /// Largest sequence number of each column in [`Self::write_cols`].
    pub write_cols_sequences: Option<Vec<i64>>,
}

impl DataFileMeta {
    /// No known retract rows: a missing count counts as none *while planning* (RP-004).
    pub fn has_no_deletes_when_planning(&self) -> bool {
        self.delete_row_count.is_none_or(|count| count == 0)
    }

    /// Retract rows are known to be absent: a missing count is unknown *while reading* (RP-211).
    pub fn is_known_without_deletes(&self) -> bool {
        self.delete_row_count == Some(0)
    }

    /// The format's name from the file name: the text after the last dot, or before it if that is a compression
    /// ending (RP-252, TF-019).
    pub fn format(&self) -> Option<&str> {
        let (stem, last) = self.file_name.rsplit_once('.')?;
        if matches!(last, "gz" | "bz2" | "deflate" | "snappy" | "lz4" | "zst") {
            stem.rsplit_once('.').map(|(_, format)| format)
        } else {
            Some(last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_the_ending_but_a_compression() {
        // TF-018, TF-019
        let cases = [
            ("data-1.orc", Some("orc")),
            ("data-1.zst.parquet", Some("parquet")),
            ("data-1.csv.gz", Some("csv")),
            ("data-1.json.zst", Some("json")),
            ("data-1.vector.lance", Some("lance")),
            ("data-1", None),
            ("gz", None),
            ("data.gz", None),
        ];
        for (name, format) in cases {
            let file = DataFileMeta {
                file_name: name.to_owned(),
                ..DataFileMeta::default()
            };
            assert_eq!(file.format(), format, "{name}");
        }
    }

    #[test]
    fn unknown_delete_count_differs_between_planning_and_reading() {
        // RP-004, RP-211
        let file = |count| DataFileMeta {
            delete_row_count: count,
            ..DataFileMeta::default()
        };
        let answers = |file: DataFileMeta| {
            (
                file.has_no_deletes_when_planning(),
                file.is_known_without_deletes(),
            )
        };
        assert_eq!(answers(file(None)), (true, false));
        assert_eq!(answers(file(Some(0))), (true, true));
        assert_eq!(answers(file(Some(1))), (false, false));
    }
}
