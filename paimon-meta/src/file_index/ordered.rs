//! Indexes that know the order of values: which rows pass a test.

use roaring::RoaringBitmap;

use super::rows::{Rows, check_count};
use super::slices::Compared;
use crate::error::Result;
use crate::predicate::{CompareOp, Test};
use crate::value::Datum;

/// An index that knows how the values of rows stand to any value.
pub(super) trait Ordered {
    /// Rows of the file.
    fn row_count(&self) -> u32;

    /// Rows that are not null.
    ///
    /// # Errors
    /// `Corrupt` for a broken bitmap.
    fn present(&self) -> Result<RoaringBitmap>;

    /// How the rows stand to a value; `None` if that is not known.
    ///
    /// # Errors
    /// `Corrupt` for a broken index.
    fn compare(&self, value: &Datum) -> Result<Option<Compared>>;

    /// Whether rows that are equal by the index are equal. If not, those are rows that may be smaller or larger too.
    fn is_exact(&self, value: &Datum) -> bool;
}

/// The rows that may pass a test.
///
/// # Errors
/// Those of the index; `Corrupt` if it is of another number of rows.
pub(super) fn ordered_rows(index: &impl Ordered, test: &Test, row_count: u64) -> Result<Rows> {
    check_count(index.row_count(), row_count)?;
    let rows = match test {
        Test::IsNull => {
            let mut rows = RoaringBitmap::new();
            rows.insert_range(0..index.row_count());
            Some(rows - index.present()?)
        }
        Test::IsNotNull => Some(index.present()?),
        Test::Compare(op, value) => compared(index, *op, value)?,
        Test::In {
            values,
            negated: false,
            ..
        } => equal(index, values)?,
        Test::In {
            values,
            negated: true,
            ..
        } => without(index, values)?,
        Test::Like { .. } => None,
    };
    Ok(rows.map_or(Rows::Any, Rows::of))
}

fn compared(index: &impl Ordered, op: CompareOp, value: &Datum) -> Result<Option<RoaringBitmap>> {
    if op == CompareOp::NotEq {
        return without(index, std::slice::from_ref(value));
    }
    let Some(Compared { less, equal }) = index.compare(value)? else {
        return Ok(None);
    };
    let exact = index.is_exact(value);
    Ok(Some(match op {
        CompareOp::Eq | CompareOp::NotEq => equal,
        CompareOp::Lt if exact => less,
        CompareOp::Lt | CompareOp::LtEq => less | equal,
        CompareOp::Gt if exact => index.present()? - less - equal,
        CompareOp::Gt | CompareOp::GtEq => index.present()? - less,
    }))
}

fn equal(index: &impl Ordered, values: &[Datum]) -> Result<Option<RoaringBitmap>> {
    let mut rows = RoaringBitmap::new();
    for value in values {
        match index.compare(value)? {
            Some(compared) => rows |= compared.equal,
            None => return Ok(None),
        }
    }
    Ok(Some(rows))
}

/// Rows that are not null and have none of the values.
fn without(index: &impl Ordered, values: &[Datum]) -> Result<Option<RoaringBitmap>> {
    if !values.iter().all(|value| index.is_exact(value)) {
        return Ok(None);
    }
    let Some(equal) = equal(index, values)? else {
        return Ok(None);
    };
    Ok(Some(index.present()? - equal))
}
