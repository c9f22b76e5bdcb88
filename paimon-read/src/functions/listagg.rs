//! `listagg`: all texts, one after the other.
//!
//! Rule: the older text, the delimiter (`list-agg-delimiter`, a comma by default), the newer text. Blank texts are passed
//! over (ME-113, ME-116). With `distinct` only those parts of the newer text are put behind that are not blank and that
//! no part equals yet (ME-114). Nulls: passed over. Retraction: refused. STRING; no VARCHAR of a length (ME-115).
//! Source: ME section 4.4, `FieldListaggAgg.java`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, StringBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, StringArrayType};
use arrow_schema::DataType;
use paimon_meta::{MAX_LENGTH, Result, TypeKind};

use super::column::AggregateColumn;
use super::fold::{Fold, fold};
use super::versions::{retraction_refused, type_not_declared};
use super::{AggregateFunction, MergeFault, Merged, Versions};

const NAME: &str = "listagg";

#[derive(Debug)]
struct ListAgg {
    delimiter: String,
    distinct: bool,
}

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    let fits = column.data_type().kind == TypeKind::VarChar(MAX_LENGTH);
    column.require(NAME, fits, "STRING")?;
    Ok(Box::new(ListAgg {
        delimiter: column.text("list-agg-delimiter").unwrap_or(",").to_owned(),
        distinct: column.flag("distinct")?,
    }))
}

impl AggregateFunction for ListAgg {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        let groups = versions.group_count();
        let results: ArrayRef = match values.data_type() {
            DataType::Utf8 => {
                let mut results = StringBuilder::with_capacity(groups, 0);
                let push = |text: Option<&str>| results.append_option(text);
                self.merge_texts(values.as_string::<i32>(), values, versions, push)?;
                Arc::new(results.finish())
            }
            DataType::LargeUtf8 => {
                let mut results = LargeStringBuilder::with_capacity(groups, 0);
                let push = |text: Option<&str>| results.append_option(text);
                self.merge_texts(values.as_string::<i64>(), values, versions, push)?;
                Arc::new(results.finish())
            }
            DataType::Utf8View => {
                let mut results = StringViewBuilder::with_capacity(groups);
                let push = |text: Option<&str>| results.append_option(text);
                self.merge_texts(values.as_string_view(), values, versions, push)?;
                Arc::new(results.finish())
            }
            _ => return Err(type_not_declared(NAME, values)),
        };
        Ok(Merged::Computed(results))
    }
}

impl ListAgg {
    fn merge_texts<'a>(
        &'a self,
        texts: impl StringArrayType<'a>,
        values: &ArrayRef,
        versions: &Versions<'_>,
        mut push: impl FnMut(Option<&str>),
    ) -> Result<(), MergeFault> {
        let mut joined = Texts { rules: self, texts };
        fold(&mut joined, values, versions, |text| push(text.as_deref()))
    }

    /// Puts what is new in `input` behind `joined`.
    fn join_distinct(&self, joined: &mut String, input: &str) {
        let separator = if self.delimiter.is_empty() {
            " "
        } else {
            &self.delimiter
        };
        let mut seen: HashSet<&str> = joined.split(separator).collect();
        let tokens = input.split(separator);
        let added: Vec<_> = tokens
            .filter(|token| !is_blank(token) && seen.insert(token))
            .collect();
        for token in added {
            joined.push_str(&self.delimiter);
            joined.push_str(token);
        }
    }
}

struct Texts<'a, A> {
    rules: &'a ListAgg,
    texts: A,
}

impl<'a, A: StringArrayType<'a>> Fold for Texts<'a, A> {
    type Value = Cow<'a, str>;

    fn value(&self, row: u32) -> Result<Option<Self::Value>> {
        let row = row as usize;
        Ok(self
            .texts
            .is_valid(row)
            .then(|| Cow::Borrowed(self.texts.value(row))))
    }

    fn add(
        &mut self,
        accumulated: Option<Self::Value>,
        input: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        let Some(input) = input.filter(|text| !is_blank(text)) else {
            return Ok(accumulated);
        };
        let Some(accumulated) = accumulated.filter(|text| !is_blank(text)) else {
            return Ok(Some(input));
        };
        let mut joined = accumulated.into_owned();
        if self.rules.distinct {
            self.rules.join_distinct(&mut joined, &input);
        } else {
            joined.push_str(&self.rules.delimiter);
            joined.push_str(&input);
        }
        Ok(Some(Cow::Owned(joined)))
    }

    fn retract(
        &mut self,
        _: Option<Self::Value>,
        _: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        Err(retraction_refused(NAME))
    }
}

/// Whether a text is empty or white space as Java has it, which is less than Unicode has.
fn is_blank(text: &str) -> bool {
    text.chars().all(|character| {
        matches!(
            character,
            '\u{9}'..='\u{d}'
                | '\u{1c}'..='\u{20}'
                | '\u{1680}'
                | '\u{2000}'..='\u{2006}'
                | '\u{2008}'..='\u{200a}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{205f}'
                | '\u{3000}'
        )
    })
}
