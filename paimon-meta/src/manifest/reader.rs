//! Reading a manifest in batches. Facts: table-format section 4.3.

use crate::error::Result;
use crate::manifest_format::ManifestFormat;

use super::batch::ManifestBatch;
use super::columns::STATS;
use super::entries::{EntryReader, Field, Want};

pub(super) const VERSION: i32 = 2;

const FIELDS: &[Field] = &[
    ("_VERSION", Want::Int),
    ("_KIND", Want::Int),
    ("_PARTITION", Want::Bytes),
    ("_BUCKET", Want::Int),
    ("_TOTAL_BUCKETS", Want::Int),
    ("_FILE", Want::Record(FILE_FIELDS)),
];

const FILE_FIELDS: &[Field] = &[
    ("_FILE_NAME", Want::Text),
    ("_FILE_SIZE", Want::Long),
    ("_ROW_COUNT", Want::Long),
    ("_MIN_KEY", Want::Bytes),
    ("_MAX_KEY", Want::Bytes),
    (KEY_STATS, Want::Record(STATS)),
    (VALUE_STATS, Want::Record(STATS)),
    ("_MIN_SEQUENCE_NUMBER", Want::Long),
    ("_MAX_SEQUENCE_NUMBER", Want::Long),
    ("_SCHEMA_ID", Want::Long),
    ("_LEVEL", Want::Int),
    ("_EXTRA_FILES", Want::List(&Want::Text)),
    ("_CREATION_TIME", Want::Millis),
    ("_DELETE_ROW_COUNT", Want::Long),
    ("_EMBEDDED_FILE_INDEX", Want::Bytes),
    ("_FILE_SOURCE", Want::Int),
    (VALUE_STATS_COLS, Want::List(&Want::Text)),
    ("_EXTERNAL_PATH", Want::Text),
    ("_FIRST_ROW_ID", Want::Long),
    ("_WRITE_COLS", Want::List(&Want::Text)),
    ("_WRITE_COLS_SEQUENCES", Want::List(&Want::Long)),
];

pub(super) const KEY_STATS: &str = "_KEY_STATS";
pub(super) const VALUE_STATS: &str = "_VALUE_STATS";
pub(super) const VALUE_STATS_COLS: &str = "_VALUE_STATS_COLS";

/// Which columns to decode; all others always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManifestColumns {
    /// Statistics of the key columns.
    pub key_stats: bool,
    /// Statistics of the value columns, and which columns they are of.
    pub value_stats: bool,
}

impl ManifestColumns {
    /// Every column.
    pub const ALL: Self = Self {
        key_stats: true,
        value_stats: true,
    };

    fn unwanted(self) -> Vec<&'static str> {
        let mut unwanted = Vec::new();
        if !self.key_stats {
            unwanted.push(KEY_STATS);
        }
        if !self.value_stats {
            unwanted.extend([VALUE_STATS, VALUE_STATS_COLS]);
        }
        unwanted
    }
}

/// Reads a manifest in batches of columns, in the order of the file.
///
/// Yields errors `Unsupported` for another version than 2 and `Corrupt` if a required field is missing or a value is out
/// of its range, with the entry and the field. After an error there is nothing more. A file that ends between two
/// blocks is a valid one: compare the entries found with [`ManifestFileMeta::entry_count`](super::ManifestFileMeta).
pub struct ManifestReader<'a> {
    entries: EntryReader<'a>,
    failed: bool,
}

impl<'a> ManifestReader<'a> {
    /// Opens the content of a manifest in Avro.
    ///
    /// # Errors
    /// `Unsupported` for another file format than Avro, `Corrupt` if header or schema are broken.
    pub fn new(file: &'a [u8], columns: ManifestColumns) -> Result<Self> {
        Self::new_with(file, columns, None)
    }

    /// Opens the content of a manifest in Avro, or of what `format` knows.
    ///
    /// # Errors
    /// As [`Self::new`], and those of `format`.
    pub fn new_with(
        file: &'a [u8],
        columns: ManifestColumns,
        format: Option<&dyn ManifestFormat>,
    ) -> Result<Self> {
        let entries = EntryReader::open(file, FIELDS, &columns.unwanted(), format)?;
        Ok(Self {
            entries,
            failed: false,
        })
    }
}

impl Iterator for ManifestReader<'_> {
    type Item = Result<ManifestBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self
            .entries
            .next()?
            .and_then(|batch| ManifestBatch::new(&batch));
        self.failed = batch.is_err();
        Some(batch)
    }
}
