//! Keys as text.

use paimon_meta::{
    BinaryRowRef, DataType, Datum, FileTable, Frame, ResolvedTable, Result, ResultExt,
};

/// The trimmed key of a table, to read the keys of its files.
#[derive(Debug)]
pub(crate) struct KeyTypes<'a>(Vec<&'a DataType>);

impl<'a> KeyTypes<'a> {
    /// `None` for append tables.
    ///
    /// # Errors
    /// `Corrupt` if the schema has no such columns.
    pub(crate) fn of(table: &'a ResolvedTable) -> Result<Option<Self>> {
        if !table.schema.has_primary_key() {
            return Ok(None);
        }
        let fields = table.schema.key_fields()?;
        Ok(Some(Self(
            fields.into_iter().map(|field| &field.data_type).collect(),
        )))
    }

    /// The types, in key order.
    pub(crate) fn types(&self) -> &[&'a DataType] {
        &self.0
    }

    /// A key as text.
    ///
    /// # Errors
    /// `Corrupt` if it does not hold the key columns.
    pub(crate) fn text(&self, key: BinaryRowRef<'_>) -> Result<String> {
        key.datums(&self.0).map(|values| key_text(&values))
    }

    /// First and last key of files as `first..last`; nothing for no file.
    ///
    /// # Errors
    /// `Corrupt`, with the file at fault.
    pub(crate) fn range(
        &self,
        files: &FileTable,
        among: impl IntoIterator<Item = usize>,
    ) -> Result<String> {
        let mut ends: Option<(BinaryRowRef<'_>, BinaryRowRef<'_>)> = None;
        for file in among {
            let (min, max) = self.ends(files, file)?;
            ends = Some(match ends {
                None => (min, max),
                Some((low, high)) => (
                    if min.compare(low, &self.0)?.is_lt() {
                        min
                    } else {
                        low
                    },
                    if max.compare(high, &self.0)?.is_gt() {
                        max
                    } else {
                        high
                    },
                ),
            });
        }
        ends.map_or(Ok(String::new()), |(low, high)| {
            Ok(range_text(&self.text(low)?, &self.text(high)?))
        })
    }

    /// First and last key of a file.
    ///
    /// # Errors
    /// `Corrupt`, with the file at fault.
    pub(crate) fn ends<'f>(
        &self,
        files: &'f FileTable,
        file: usize,
    ) -> Result<(BinaryRowRef<'f>, BinaryRowRef<'f>)> {
        let row = |serialized| {
            let row = BinaryRowRef::from_serialized(serialized)?;
            row.datums(&self.0).map(|_| row)
        };
        row(files.min_key(file))
            .and_then(|min| Ok((min, row(files.max_key(file))?)))
            .at(|| Frame::File(files.file_name(file).to_owned()))
    }
}

/// A value alone, several in parentheses.
pub(crate) fn key_text(values: &[Option<Datum>]) -> String {
    let texts: Vec<String> = values
        .iter()
        .map(|value| value.as_ref().map_or("NULL".to_owned(), Datum::to_string))
        .collect();
    match texts.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

/// `first..last`, or the key alone where both are one.
pub(crate) fn range_text(first: &str, last: &str) -> String {
    if first == last {
        first.to_owned()
    } else {
        format!("{first}..{last}")
    }
}

/// The part of a name that people tell files apart by: `data-7a80…-0` of `data-7a80f3d1-…-0.parquet`.
pub(crate) fn short_name(name: &str) -> String {
    const KEPT: usize = "data-7a80".len();
    let stem = name.split('.').next().unwrap_or(name);
    let suffix = stem.rfind('-').filter(|at| *at > KEPT);
    let both = suffix.and_then(|at| Some((stem.get(..KEPT)?, stem.get(at..)?)));
    match both {
        Some((start, end)) if end.len() <= 8 => format!("{start}…{end}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_stands_alone_and_several_in_parentheses() {
        let one = Some(Datum::Int(5));
        assert_eq!(key_text(std::slice::from_ref(&one)), "5");
        assert_eq!(
            key_text(&[one, None, Some(Datum::String("a".into()))]),
            "(5, NULL, 'a')"
        );
    }

    #[test]
    fn ranges_of_one_key_are_that_key() {
        assert_eq!(range_text("1", "9"), "1..9");
        assert_eq!(range_text("5", "5"), "5");
    }

    #[test]
    fn names_keep_what_tells_them_apart() {
        assert_eq!(
            short_name("data-5dd822bd-fb27-4964-b470-8aa027addd54-0.parquet"),
            "data-5dd8…-0"
        );
        assert_eq!(
            short_name("changelog-5dd822bd-fb27-4964-b470-8aa027addd54-12.zst.orc"),
            "changelog…-12"
        );
        for name in ["data.parquet", "", "data-1-0.orc", "größe-ß-0123456789"] {
            assert_eq!(short_name(name), name);
        }
    }
}
