//! Partition values as directory names, and where data files are. Facts: table-format section 1.3.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::binary_row::BinaryRowRef;
use crate::error::{Error, Frame, Result, ResultExt};
use crate::options::Options;
use crate::paths::{bucket_directory, is_segment};
use crate::resolved::ResolvedTable;
use crate::schema::DataField;
use crate::types::{DataType, TypeKind};
use crate::value::{Datum, java_text, sql_text};

/// Where the data files of a table are: `[<directory>/][<key>=<value>/…]bucket-<n>`, relative to the root.
#[derive(Clone, Debug)]
pub struct DataPaths {
    /// Option `data-file.path-directory` with a `/` at its end, or empty (TF-022).
    directory: String,
    /// Partition columns, in partition order.
    fields: Vec<DataField>,
    spelling: Spelling,
    index_in_bucket: bool,
}

/// How partition values become text.
#[derive(Clone, Debug)]
struct Spelling {
    /// Option `partition.default-name`.
    default_name: String,
    /// Option `partition.legacy-name`.
    legacy: bool,
    /// Time zone of the table's writers, which only spelled timestamps with local time zone need.
    time_zone: String,
}

impl DataPaths {
    /// Paths after the options, partition columns and time zone of a table.
    ///
    /// # Errors
    /// `InvalidInput` for an option that does not parse or a directory that is not inside the table, `Corrupt` for a
    /// partition column that does not exist.
    pub fn new(table: &ResolvedTable) -> Result<Self> {
        let options = &table.options;
        Ok(Self {
            directory: directory(options)?,
            fields: table
                .schema
                .partition_fields()?
                .into_iter()
                .cloned()
                .collect(),
            spelling: Spelling {
                default_name: options.value(&Options::PARTITION_DEFAULT_NAME)?,
                legacy: options.value(&Options::PARTITION_LEGACY_NAME)?,
                time_zone: table.time_zone.clone(),
            },
            index_in_bucket: options.value(&Options::INDEX_FILE_IN_DATA_FILE_DIR)?,
        })
    }

    /// Whether index files are in the directories of their buckets, rather than in `index/` (TF-021).
    pub fn index_in_bucket(&self) -> bool {
        self.index_in_bucket
    }

    /// Text of each partition value, in partition order, as the reference puts it in directory names before escaping;
    /// null, empty and blank values all have the default name (TF-013).
    ///
    /// # Errors
    /// `Corrupt` if the row is none of the table's partitions, `Unsupported` for values whose directory cannot be
    /// known (bytes under `partition.legacy-name`), `InvalidInput` for a time zone that is unknown.
    pub fn partition_texts(&self, partition: BinaryRowRef<'_>) -> Result<Vec<String>> {
        self.spelled(&self.spelling, partition)
    }

    fn spelled(&self, spelling: &Spelling, partition: BinaryRowRef<'_>) -> Result<Vec<String>> {
        let types: Vec<&DataType> = self.fields.iter().map(|field| &field.data_type).collect();
        let values = partition.datums(&types)?;
        let texts = self.fields.iter().zip(&values).map(|(field, value)| {
            spelling
                .text(value.as_ref(), &field.data_type.kind)
                .at(|| Frame::Column(field.name.clone()))
        });
        texts.collect()
    }

    /// A partition for people, `dt=2024-01-02/h=3`: values as [`sql_text`] whatever the directories spell, nothing escaped;
    /// null, empty and blank values have the default name. Empty for a table without partitions.
    ///
    /// # Errors
    /// As [`Self::partition_texts`].
    pub fn partition_name(&self, partition: BinaryRowRef<'_>) -> Result<String> {
        let spelling = Spelling {
            legacy: false,
            ..self.spelling.clone()
        };
        let texts = self.spelled(&spelling, partition)?;
        let names = self.fields.iter().zip(&texts);
        let names = names.map(|(field, text)| format!("{}={text}", field.name));
        Ok(names.collect::<Vec<_>>().join("/"))
    }

    /// Directory of a partition, `dt=19724/h=3`; empty for a table without partitions.
    ///
    /// # Errors
    /// As [`Self::partition_texts`].
    pub fn partition_path(&self, partition: BinaryRowRef<'_>) -> Result<String> {
        let texts = self.partition_texts(partition)?;
        let names = self.fields.iter().zip(&texts);
        let names = names.map(|(field, text)| {
            format!(
                "{}={}",
                escape_path_name(&field.name),
                escape_path_name(text)
            )
        });
        Ok(names.collect::<Vec<_>>().join("/"))
    }

    /// Directory of a bucket of a partition.
    ///
    /// # Errors
    /// As [`Self::partition_texts`].
    pub fn bucket_path(&self, partition: BinaryRowRef<'_>, bucket: i32) -> Result<String> {
        let partition = self.partition_path(partition)?;
        let separator = if partition.is_empty() { "" } else { "/" };
        Ok(format!(
            "{}{partition}{separator}{}",
            self.directory,
            bucket_directory(bucket)
        ))
    }
}

fn directory(options: &Options) -> Result<String> {
    let directory = options
        .value(&Options::DATA_FILE_PATH_DIRECTORY)?
        .unwrap_or_default();
    let directory = directory.trim_end_matches('/');
    if directory.is_empty() {
        return Ok(String::new());
    }
    if directory.split('/').all(is_segment) {
        Ok(format!("{directory}/"))
    } else {
        Err(Options::invalid(
            Options::DATA_FILE_PATH_DIRECTORY.key,
            directory,
            "a directory inside the table",
        ))
    }
}

/// The value that a text given by a user means for a partition column; `None` is null, which the default name
/// (option `partition.default-name`) means.
/// Beside what [`Datum::parse`] takes, the numbers that stand in directory names: days for `DATE`, milliseconds for
/// `TIME` (TF-014).
///
/// # Errors
/// `InvalidInput` that names the column.
pub fn parse_partition_value(
    text: &str,
    field: &DataField,
    default_name: &str,
) -> Result<Option<Datum>> {
    if text == default_name {
        return Ok(None);
    }
    let number = || text.parse().ok();
    let numbered = match field.data_type.kind {
        TypeKind::Date => number().map(Datum::Date),
        TypeKind::Time(_) => number().map(Datum::Time),
        _ => None,
    };
    match numbered {
        Some(value) => Ok(Some(value)),
        None => Datum::parse(text, &field.data_type)
            .map(Some)
            .at(|| Frame::Column(field.name.clone())),
    }
}

impl Spelling {
    fn text(&self, value: Option<&Datum>, kind: &TypeKind) -> Result<String> {
        let text = match value {
            None => String::new(),
            Some(value) if self.legacy => java_text(value).ok_or_else(|| {
                Error::unsupported(
                    "partition directories of binary values with partition.legacy-name",
                )
            })?,
            Some(value) => sql_text(value, kind, &self.time_zone)?,
        };
        let blank = text.chars().all(is_java_whitespace);
        Ok(if blank {
            self.default_name.clone()
        } else {
            text
        })
    }
}

/// Java's white space: without no-break spaces, but with the separators of ASCII.
fn is_java_whitespace(symbol: char) -> bool {
    match symbol {
        '\u{1c}'..='\u{1f}' => true,
        '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}' => false,
        symbol => symbol.is_whitespace(),
    }
}

/// A partition key or value as the reference escapes it in paths: control characters and `" # % ' * / : = ? \ { } [ ] ^`
/// as `%` and two upper-case hex digits, all else as it is (TF-016).
pub fn escape_path_name(name: &str) -> Cow<'_, str> {
    if !name.contains(needs_escape) {
        return Cow::Borrowed(name);
    }
    let mut escaped = String::with_capacity(name.len() + 8);
    for symbol in name.chars() {
        if needs_escape(symbol) {
            let _ = write!(escaped, "%{:02X}", u32::from(symbol)); // writing to a string cannot fail
        } else {
            escaped.push(symbol);
        }
    }
    Cow::Owned(escaped)
}

fn needs_escape(symbol: char) -> bool {
    matches!(
        symbol,
        '\0'..='\x1f' | '\x7f' | '"' | '#' | '%' | '\'' | '*' | '/' | ':' | '=' | '?' | '\\'
    ) || matches!(symbol, '{' | '}' | '[' | ']' | '^')
}

/// The text of an escaped name: `%` and two hex digits of either case become the character of that number, all else
/// stays.
pub fn unescape_path_name(name: &str) -> Cow<'_, str> {
    let Some((start, rest)) = name.split_once('%') else {
        return Cow::Borrowed(name);
    };
    let mut text = start.to_owned();
    for piece in rest.split('%') {
        let code = piece
            .get(..2)
            .filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                text.push(char::from(code));
                text.push_str(piece.get(2..).unwrap_or_default());
            }
            None => {
                text.push('%');
                text.push_str(piece);
            }
        }
    }
    Cow::Owned(text)
}
