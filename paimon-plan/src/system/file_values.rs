//! Texts of partitions, keys and statistics of data files, also of files of another schema.

use std::cmp::Ordering;

use paimon_meta::{
    BinaryRowRef, DataField, DataType, Datum, Error, Frame, Result, ResultExt, StatsRef,
    TableSchema, TextList, java_text, sql_text,
};

use super::stats_cast::cast;

/// A row cast to text: `{a, 2024-01-02, null}`.
///
/// # Errors
/// `Corrupt` if the row does not hold values of the types; as [`sql_text`].
pub(super) fn row_text(
    row: BinaryRowRef<'_>,
    types: &[&DataType],
    time_zone: &str,
) -> Result<String> {
    let values = row.datums(types)?;
    let texts = values.iter().zip(types).map(|(value, data_type)| {
        let text = |value| sql_text(value, &data_type.kind, time_zone);
        value.as_ref().map_or_else(|| Ok("null".to_owned()), text)
    });
    let texts: Vec<String> = texts.collect::<Result<_>>()?;
    Ok(format!("{{{}}}", texts.join(", ")))
}

/// A key as Java prints a list of its values: `[7, a]`.
///
/// # Errors
/// `Corrupt` if the row does not hold values of the types.
pub(super) fn key_text(row: BinaryRowRef<'_>, types: &[DataType]) -> Result<String> {
    let types: Vec<&DataType> = types.iter().collect();
    let values = row.datums(&types)?;
    let texts: Vec<String> = values
        .iter()
        .map(|value| value.as_ref().map_or_else(|| "null".to_owned(), value_text))
        .collect();
    Ok(format!("[{}]", texts.join(", ")))
}

/// A value as Java prints it; bytes, whose address Java prints, as hexadecimal digits.
fn value_text(value: &Datum) -> String {
    java_text(value).unwrap_or_else(|| value.to_string())
}

/// How the files of one schema are shown.
#[derive(Debug)]
pub(super) struct FileValues {
    key_types: Vec<DataType>,
    /// The columns of the table by name, in the order of Java's strings.
    columns: Vec<Column>,
    /// Whether the files have the table's schema.
    same_schema: bool,
    time_zone: String,
}

/// A column of the table.
#[derive(Debug)]
struct Column {
    name: String,
    /// Its place among the table's columns.
    index: usize,
    data_type: DataType,
    /// The column of the files; `None` if they do not have it.
    source: Option<SourceColumn>,
}

#[derive(Debug)]
struct SourceColumn {
    position: usize,
    name: String,
    data_type: DataType,
}

/// A column of one file.
pub(super) struct Shown<'a> {
    values: &'a FileValues,
    column: &'a Column,
    place: Place,
}

/// Where the statistics of a column are in those of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The file does not have the column.
    Missing,
    /// Nothing is known of it.
    Unknown,
    At(usize),
}

impl FileValues {
    pub(super) fn new(table: &TableSchema, file: &TableSchema, time_zone: &str) -> Result<Self> {
        let column = |(index, field): (usize, &DataField)| {
            let source = file.fields.iter().enumerate();
            let mut source = source.filter(|(_, source)| source.id == field.id);
            Column {
                name: field.name.clone(),
                index,
                data_type: field.data_type.clone(),
                source: source.next().map(|(position, source)| SourceColumn {
                    position,
                    name: source.name.clone(),
                    data_type: source.data_type.clone(),
                }),
            }
        };
        let mut columns: Vec<Column> = table.fields.iter().enumerate().map(column).collect();
        columns.sort_by(|a, b| java_order(&a.name, &b.name));
        let keys = match file.key_fields()? {
            keys if keys.is_empty() => file.fields.iter().collect(),
            keys => keys,
        };
        Ok(Self {
            key_types: keys.iter().map(|field| field.data_type.clone()).collect(),
            columns,
            same_schema: table.id == file.id,
            time_zone: time_zone.to_owned(),
        })
    }

    /// Types of the trimmed key columns, or of all columns in append tables.
    pub(super) fn key_types(&self) -> &[DataType] {
        &self.key_types
    }

    /// The columns to show of a file, by name. `listed` names the columns that the statistics are of, `written` those that
    /// the file has; `None` means all of its schema.
    pub(super) fn columns(
        &self,
        stats: StatsRef<'_>,
        listed: Option<TextList<'_>>,
        written: Option<TextList<'_>>,
    ) -> Result<Vec<Shown<'_>>> {
        let row = BinaryRowRef::from_serialized(stats.min)
            .at(|| Frame::Field("_MIN_VALUES".to_owned()))?;
        // As in the reference: statistics that are taken as they are show no more columns than they have.
        let as_they_are = self.same_schema && listed.is_none() && written.is_none();
        let shown = |column: &&Column| !as_they_are || column.index < row.arity();
        let columns = self.columns.iter().filter(shown);
        Ok(columns
            .map(|column| Shown {
                values: self,
                column,
                place: column.place(row.arity(), listed, written),
            })
            .collect())
    }
}

impl Column {
    fn place(
        &self,
        arity: usize,
        listed: Option<TextList<'_>>,
        written: Option<TextList<'_>>,
    ) -> Place {
        let Some(source) = &self.source else {
            return Place::Missing;
        };
        let among = |names: TextList<'_>| names.iter().position(|name| name == source.name);
        let position = match written.map(among) {
            None => source.position,
            Some(Some(position)) => position,
            Some(None) => return Place::Missing,
        };
        let position = listed.map_or(Some(position), among);
        position
            .filter(|position| *position < arity)
            .map_or(Place::Unknown, Place::At)
    }
}

impl Shown<'_> {
    pub(super) fn name(&self) -> &str {
        &self.column.name
    }

    /// The null count; all rows where the file does not have the column.
    pub(super) fn null_count(&self, stats: StatsRef<'_>, rows: u64) -> Option<String> {
        let count = match self.place {
            Place::Missing => Some(rows),
            Place::Unknown => None,
            Place::At(position) => stats.null_count(position),
        };
        count.map(|count| count.to_string())
    }

    /// A bound out of a serialized row of them, as a value of the table's column; `None` for null.
    ///
    /// # Errors
    /// `Corrupt` if the row does not hold the value, `Unsupported` for a type that it is not cast to.
    pub(super) fn bound(&self, row: &[u8], field: &str) -> Result<Option<String>> {
        let (Place::At(position), Some(source)) = (self.place, &self.column.source) else {
            return Ok(None);
        };
        let bound = || {
            let row = BinaryRowRef::from_serialized(row)?;
            if position >= row.arity() || row.is_null(position)? {
                return Ok(None);
            }
            if !source.data_type.kind.is_scalar() {
                return Ok(None);
            }
            let Some(value) = row.datum(position, &source.data_type)? else {
                return Ok(None);
            };
            let (from, to) = (&source.data_type.kind, &self.column.data_type.kind);
            let value = cast(value, from, to, &self.values.time_zone)?;
            Ok::<_, Error>(value.as_ref().map(value_text))
        };
        bound()
            .at(|| Frame::Column(self.column.name.clone()))
            .at(|| Frame::Field(field.to_owned()))
    }
}

/// The order of Java's strings: by UTF-16 code units.
fn java_order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

#[cfg(test)]
mod tests {
    use paimon_meta::{
        BinaryRow, DataFileMeta, FileTableBuilder, KeepStats, SimpleStats, TypeKind, encode_row,
    };

    use super::*;
    use crate::testing::{ints, schema};

    #[test]
    fn names_are_in_the_order_of_javas_strings() {
        let mut names = ["é", "a", "\u{ffff}", "Z", "\u{10000}"];
        names.sort_by(|a, b| java_order(a, b));
        assert_eq!(names, ["Z", "a", "é", "\u{10000}", "\u{ffff}"]);
    }

    #[test]
    fn rows_are_cast_and_keys_are_javas_text() {
        // RP-660; bytes are not the address of an object.
        let (date, bytes) = (TypeKind::Date.nullable(), TypeKind::VarBinary(9).nullable());
        let values = [
            Some(Datum::Date(19_724)),
            Some(Datum::Binary(vec![0, 255])),
            None,
        ];
        let row = encode_row(&[&date, &bytes, &date], &values).unwrap();
        let key = [date.clone(), bytes, date];
        assert_eq!(key_text(row.as_ref(), &key).unwrap(), "[19724, 00ff, null]");
        let dates = [Some(Datum::Date(19_724)), None];
        let row = encode_row(&[&key[0], &key[0]], &dates).unwrap();
        let text = row_text(row.as_ref(), &[&key[0], &key[0]], "UTC").unwrap();
        assert_eq!(text, "{2024-01-02, null}");
    }

    #[test]
    fn statistics_are_found_by_id_by_place_and_by_name() {
        let file = schema(
            0,
            &[(0, "k", "INT"), (1, "v", "INT"), (2, "w", "INT")],
            &[],
            &[],
        );
        let table = schema(
            1,
            &[(3, "n", "INT"), (2, "x", "BIGINT"), (0, "k", "INT")],
            &[],
            &[],
        );
        let values = FileValues::new(&table, &file, "UTC").unwrap();
        let bounds = ints(&[Some(5), None]);
        let show = |listed: Option<[&str; 2]>, written: Option<[&str; 2]>| -> Vec<String> {
            let own = |names: [&str; 2]| names.map(str::to_owned).to_vec();
            let file = DataFileMeta {
                row_count: 7,
                value_stats: SimpleStats {
                    min_values: bounds.clone(),
                    max_values: bounds.clone(),
                    null_counts: None,
                },
                value_stats_cols: listed.map(own),
                write_cols: written.map(own),
                ..DataFileMeta::default()
            };
            let mut builder = FileTableBuilder::new();
            let pushed = builder.push_file(&BinaryRow::default(), 0, 1, &file, KeepStats::ALL);
            pushed.unwrap();
            let files = builder.finish();
            let stats = files.value_stats(0).unwrap();
            let columns = values.columns(stats, files.value_stats_cols(0), files.write_cols(0));
            let text = |shown: &Shown<'_>| {
                let bound = shown.bound(stats.min, "_MIN_VALUES").unwrap();
                let count = shown.null_count(stats, 7);
                let [bound, count] = [bound, count].map(Option::unwrap_or_default);
                format!("{} {bound} {count}", shown.name())
            };
            columns.unwrap().iter().map(text).collect()
        };
        assert_eq!(show(None, None), ["k 5 ", "n  7", "x  "]);
        assert_eq!(show(Some(["w", "k"]), None), ["k  ", "n  7", "x 5 "]);
        assert_eq!(show(None, Some(["w", "v"])), ["k  7", "n  7", "x 5 "]);
    }
}
