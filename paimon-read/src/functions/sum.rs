//! `sum`: the sum of all values.
//!
//! Rule: checked addition of integers (ME-099), IEEE addition of floats in merge order, addition of decimals with null
//! for what does not fit (ME-100, ME-101). Nulls: passed over (ME-097). Retraction: subtraction, from nothing negation
//! (ME-098). Numbers.
//! Source: ME sections 4.2 and 4.3, `FieldSumAgg.java`.

use arrow_array::{ArrayRef, ArrowNativeTypeOp};
use paimon_meta::Result;

use super::arithmetic::{Arithmetic, Operation, compute, overflow, require_number};
use super::column::AggregateColumn;
use super::decimal::Range;
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct Sum;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    require_number(Sum::NAME, column)?;
    Ok(Box::new(Sum))
}

impl AggregateFunction for Sum {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        compute::<Self>(values, versions)
    }
}

impl Arithmetic for Sum {
    const NAME: &'static str = "sum";

    fn integer<N: ArrowNativeTypeOp>() -> impl Operation<N> {
        Integers
    }

    fn float<N: ArrowNativeTypeOp>() -> impl Operation<N> {
        Floats
    }

    fn decimal(precision: u8, _: u8) -> impl Operation<i128> {
        Decimals {
            sums: Range::of_sums(precision),
            digits: Range::of_digits(precision),
        }
    }
}

struct Integers;

impl<N: ArrowNativeTypeOp> Operation<N> for Integers {
    fn add(&self, accumulated: N, input: N) -> Result<Option<N>> {
        checked(accumulated.add_checked(input).ok())
    }

    fn retract(&self, accumulated: N, input: N) -> Result<Option<N>> {
        checked(accumulated.sub_checked(input).ok())
    }

    fn retract_from_nothing(&self, input: N) -> Result<Option<N>> {
        checked(input.neg_checked().ok())
    }
}

#[inline]
fn checked<N>(sum: Option<N>) -> Result<Option<N>> {
    match sum {
        None => Err(overflow(Sum::NAME)),
        some => Ok(some),
    }
}

struct Floats;

impl<N: ArrowNativeTypeOp> Operation<N> for Floats {
    fn add(&self, accumulated: N, input: N) -> Result<Option<N>> {
        Ok(Some(accumulated.add_wrapping(input)))
    }

    fn retract(&self, accumulated: N, input: N) -> Result<Option<N>> {
        Ok(Some(accumulated.sub_wrapping(input)))
    }

    fn retract_from_nothing(&self, input: N) -> Result<Option<N>> {
        Ok(Some(input.neg_wrapping()))
    }
}

struct Decimals {
    sums: Range,
    digits: Range,
}

impl Operation<i128> for Decimals {
    fn add(&self, accumulated: i128, input: i128) -> Result<Option<i128>> {
        let sum = accumulated.checked_add(input);
        Ok(sum.and_then(|sum| self.sums.fit(sum)))
    }

    fn retract(&self, accumulated: i128, input: i128) -> Result<Option<i128>> {
        let difference = accumulated.checked_sub(input);
        Ok(difference.and_then(|difference| self.sums.fit(difference)))
    }

    /// Negation counts digits, other than addition.
    fn retract_from_nothing(&self, input: i128) -> Result<Option<i128>> {
        let negated = input.checked_neg();
        Ok(negated.and_then(|negated| self.digits.fit(negated)))
    }
}
