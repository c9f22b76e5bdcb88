//! Ranges of keys.

use std::cmp::Ordering;

use paimon_meta::{
    BinaryRow, DataField, DataFileMeta, DataType, Datum, Error, Frame, Predicate, Result,
    ResultExt, TablePredicate, TypeKind,
};

use crate::task::KeySpan;

/// A range of keys with what orders them, of all keys where a task is no part.
#[derive(Clone, Debug)]
pub(crate) struct SpanOf {
    span: KeySpan,
    fields: Vec<DataField>,
}

impl SpanOf {
    /// The range of a part; `fields` are the key columns in key order.
    ///
    /// # Errors
    /// `Corrupt` for bounds that are no such keys, `InvalidInput` for bounds in the wrong order.
    pub(crate) fn new(span: Option<&KeySpan>, fields: Vec<DataField>) -> Result<Self> {
        let span = Self {
            span: span.cloned().unwrap_or_default(),
            fields,
        };
        span.bounds().at(|| Frame::Field("part".to_owned()))?;
        match (&span.span.from, &span.span.to) {
            (Some(from), Some(to)) if span.compare(from, to)?.is_ge() => Err(Error::invalid_input(
                "the part starts at or above the key where it ends",
            )),
            _ => Ok(span),
        }
    }

    /// The range itself.
    pub(crate) fn span(&self) -> &KeySpan {
        &self.span
    }

    pub(crate) fn types(&self) -> Vec<&DataType> {
        self.fields.iter().map(|field| &field.data_type).collect()
    }

    /// The key columns.
    pub(crate) fn fields(&self) -> &[DataField] {
        &self.fields
    }

    /// Values of both bounds.
    pub(crate) fn bounds(&self) -> Result<[Option<Vec<Option<Datum>>>; 2]> {
        let types = self.types();
        let values = |bound: &Option<BinaryRow>| {
            let bound = bound.as_ref();
            bound.map(|key| key.as_ref().datums(&types)).transpose()
        };
        Ok([values(&self.span.from)?, values(&self.span.to)?])
    }

    /// The order of two keys.
    ///
    /// # Errors
    /// `Corrupt` for keys that do not decode.
    pub(crate) fn compare(&self, a: &BinaryRow, b: &BinaryRow) -> Result<Ordering> {
        a.as_ref().compare(b.as_ref(), &self.types())
    }

    /// Whether a key is strictly inside: a place to cut at.
    pub(crate) fn divides(&self, key: &BinaryRow) -> Result<bool> {
        let above = match &self.span.from {
            None => true,
            Some(from) => self.compare(key, from)?.is_gt(),
        };
        Ok(above && self.is_below_end(key)?)
    }

    fn is_below_end(&self, key: &BinaryRow) -> Result<bool> {
        match &self.span.to {
            None => Ok(true),
            Some(to) => Ok(self.compare(key, to)?.is_lt()),
        }
    }

    fn is_at_or_above_start(&self, key: &BinaryRow) -> Result<bool> {
        match &self.span.from {
            None => Ok(true),
            Some(from) => Ok(self.compare(key, from)?.is_ge()),
        }
    }

    /// Whether a file may hold keys of the range, by its bounds.
    pub(crate) fn meets(&self, file: &DataFileMeta) -> Result<bool> {
        self.meets_range(&file.min_key, &file.max_key)
    }

    /// Whether keys from `low` to `high`, both included, may be in the range.
    pub(crate) fn meets_range(&self, low: &BinaryRow, high: &BinaryRow) -> Result<bool> {
        Ok(self.is_below_end(low)? && self.is_at_or_above_start(high)?)
    }

    /// Whether all keys of a file are in the range, by its bounds.
    pub(crate) fn holds(&self, file: &DataFileMeta) -> Result<bool> {
        Ok(self.is_at_or_above_start(&file.min_key)? && self.is_below_end(&file.max_key)?)
    }

    /// What must hold for the keys of the range, as far as conditions can say it: prunes row groups and no single row.
    pub(crate) fn condition(&self) -> Result<Option<TablePredicate>> {
        let Some(first) = self.fields.first() else {
            return Ok(None);
        };
        // Conditions order floats in another way than keys are ordered.
        if matches!(first.data_type.kind, TypeKind::Float | TypeKind::Double) {
            return Ok(None);
        }
        let value = |bound: Option<Vec<Option<Datum>>>| bound?.into_iter().next()?;
        let [from, to] = self.bounds()?;
        let data_type = || first.data_type.clone();
        // Nulls are the least keys.
        let from = value(from).map(|from| Predicate::gt_eq(first.id, data_type(), from));
        let to = value(to).map(|to| {
            let below = Predicate::lt_eq(first.id, data_type(), to);
            if first.data_type.nullable {
                Predicate::or([below, Predicate::is_null(first.id, data_type())])
            } else {
                below
            }
        });
        let both: Vec<_> = from.into_iter().chain(to).collect();
        Ok((!both.is_empty()).then(|| Predicate::and(both)))
    }
}
