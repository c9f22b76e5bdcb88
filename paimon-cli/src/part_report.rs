//! The parts of a split, and what reading them took.

use std::num::NonZeroUsize;
use std::ops::Range;

use paimon_meta::{BinaryRow, DataType, Datum, Result, Split, TableSchema};
use paimon_read::{KeySpan, Part, ReadTask, RowRanges, TableReader, block_on};
use serde::Serialize;

use crate::human::{count, duration, number, size};
use crate::keys::key_text;

/// One part.
#[derive(Debug, Serialize)]
pub(crate) struct PartReport {
    /// Names of the files that it reads.
    files: Vec<String>,
    /// The range of keys, the upper end left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<KeysReport>,
    /// Ranges of rows of each file, each from its first row up to the one after its last.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<Vec<[u64; 2]>>>,
    /// Bytes of files that it is estimated to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_bytes: Option<u64>,
    /// What reading it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) measured: Option<PartMeasured>,
    /// What reads it.
    #[serde(skip)]
    pub(crate) task: ReadTask,
}

/// What reading a part took. Footers, vectors and indexes count where they were read first.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct PartMeasured {
    /// Rows that came out.
    pub(crate) rows: u64,
    pub(crate) rows_decoded: u64,
    pub(crate) requests: u64,
    pub(crate) requested_bytes: u64,
    /// From its first row to its last, in nanoseconds.
    pub(crate) nanos: u64,
}

impl PartMeasured {
    /// The line below a part.
    pub(crate) fn text(&self) -> String {
        format!(
            "{} in {}, {} decoded; {}, {}",
            count(self.rows, "row"),
            duration(self.nanos),
            number(self.rows_decoded),
            count(self.requests, "request"),
            size(self.requested_bytes),
        )
    }
}

#[derive(Debug, Serialize)]
struct KeysReport {
    from: Option<String>,
    to: Option<String>,
}

impl PartReport {
    /// The parts of a task.
    ///
    /// # Errors
    /// Those of subdividing.
    pub(crate) fn all(
        reader: &TableReader,
        task: ReadTask,
        parts: NonZeroUsize,
        schema: &TableSchema,
    ) -> Result<Vec<Self>> {
        let parts = block_on(reader.subdivide(task, parts))?;
        parts.iter().map(|part| Self::of(part, schema)).collect()
    }

    fn of(task: &ReadTask, schema: &TableSchema) -> Result<Self> {
        let files = match &task.split {
            Split::Data(split) | Split::Fallback(split) => split.files.as_slice(),
            Split::Incremental(split) => &[split.before.as_slice(), &split.after].concat(),
            _ => &[],
        };
        let (mut keys, mut rows) = (None, None);
        match &task.part {
            Some(Part::Keys(span)) => keys = Some(KeysReport::of(span, schema)?),
            Some(Part::Rows(ranges)) => {
                let ends = |rows: &Range<u64>| [rows.start, rows.end];
                let of_file = |rows: &RowRanges| rows.ranges().iter().map(ends).collect();
                rows = Some(ranges.iter().map(of_file).collect());
            }
            _ => {}
        }
        Ok(Self {
            files: files.iter().map(|file| file.file_name.clone()).collect(),
            keys,
            rows,
            estimated_bytes: task.estimated_bytes,
            measured: None,
            task: task.clone(),
        })
    }

    /// One line for people.
    pub(crate) fn text(&self) -> String {
        let files = count(self.files.len() as u64, "file");
        let what = match (&self.keys, &self.rows) {
            (Some(keys), _) => keys.text(),
            (None, Some(files)) => {
                let rows = files.iter().flatten().map(|[start, end]| end - start);
                let rows = rows.fold(0, u64::saturating_add);
                match files.as_slice() {
                    [one] => match one.as_slice() {
                        [[start, end]] => format!("rows {}..{}", number(*start), number(*end)),
                        _ => count(rows, "row"),
                    },
                    _ => count(rows, "row"),
                }
            }
            (None, None) => "all".to_owned(),
        };
        let about = self
            .estimated_bytes
            .map(|bytes| format!(", about {}", size(bytes)));
        format!("{what} in {files}{}", about.unwrap_or_default())
    }
}

impl KeysReport {
    fn of(span: &KeySpan, schema: &TableSchema) -> Result<Self> {
        let fields = schema.key_fields()?;
        let types: Vec<&DataType> = fields.into_iter().map(|field| &field.data_type).collect();
        let text = |key: &Option<BinaryRow>| {
            let values = key.as_ref().map(|key| key.as_ref().datums(&types));
            let text =
                values.map(|values| values.map(|values: Vec<Option<Datum>>| key_text(&values)));
            text.transpose()
        };
        Ok(Self {
            from: text(&span.from)?,
            to: text(&span.to)?,
        })
    }

    fn text(&self) -> String {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => format!("keys from {from} to below {to}"),
            (Some(from), None) => format!("keys from {from}"),
            (None, Some(to)) => format!("keys below {to}"),
            (None, None) => "all keys".to_owned(),
        }
    }
}
