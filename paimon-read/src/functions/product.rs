//! `product`: the product of all values.
//!
//! Rule: checked multiplication of integers, IEEE multiplication of floats in merge order, exact multiplication of
//! decimals, rounded half up to the scale, null for what does not fit (ME-104). Nulls: passed over. Retraction:
//! division, of integers towards zero (ME-103), of decimals exact, so that a quotient without end fails (ME-105);
//! nothing happens to null (ME-102). Numbers.
//! Source: ME sections 4.2 and 4.3, `FieldProductAgg.java`.

use arrow_array::{ArrayRef, ArrowNativeTypeOp};
use paimon_meta::{Error, Result};

use super::arithmetic::{Arithmetic, Operation, compute, overflow, require_number};
use super::column::AggregateColumn;
use super::decimal::Scaled;
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct Product;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    require_number(Product::NAME, column)?;
    Ok(Box::new(Product))
}

impl AggregateFunction for Product {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        compute::<Self>(values, versions)
    }
}

impl Arithmetic for Product {
    const NAME: &'static str = "product";

    fn integer<N: ArrowNativeTypeOp>() -> impl Operation<N> {
        Integers
    }

    fn float<N: ArrowNativeTypeOp>() -> impl Operation<N> {
        Floats
    }

    fn decimal(precision: u8, scale: u8) -> impl Operation<i128> {
        Decimals(Scaled::new(precision, scale))
    }
}

#[cold]
fn division_by_zero() -> Error {
    Error::corrupt("aggregate function product takes back zero")
}

struct Integers;

impl<N: ArrowNativeTypeOp> Operation<N> for Integers {
    fn add(&self, accumulated: N, input: N) -> Result<Option<N>> {
        let product = accumulated.mul_checked(input);
        product.map(Some).map_err(|_| overflow(Product::NAME))
    }

    fn retract(&self, accumulated: N, input: N) -> Result<Option<N>> {
        if input.is_zero() {
            return Err(division_by_zero());
        }
        let quotient = accumulated.div_checked(input);
        quotient.map(Some).map_err(|_| overflow(Product::NAME))
    }

    fn retract_from_nothing(&self, _: N) -> Result<Option<N>> {
        Ok(None)
    }
}

struct Floats;

impl<N: ArrowNativeTypeOp> Operation<N> for Floats {
    fn add(&self, accumulated: N, input: N) -> Result<Option<N>> {
        Ok(Some(accumulated.mul_wrapping(input)))
    }

    fn retract(&self, accumulated: N, input: N) -> Result<Option<N>> {
        Ok(Some(accumulated.div_wrapping(input)))
    }

    fn retract_from_nothing(&self, _: N) -> Result<Option<N>> {
        Ok(None)
    }
}

struct Decimals(Scaled);

impl Operation<i128> for Decimals {
    fn add(&self, accumulated: i128, input: i128) -> Result<Option<i128>> {
        Ok(self.0.product(accumulated, input))
    }

    fn retract(&self, accumulated: i128, input: i128) -> Result<Option<i128>> {
        if input == 0 {
            return Err(division_by_zero());
        }
        self.0.quotient(accumulated, input)
    }

    fn retract_from_nothing(&self, _: i128) -> Result<Option<i128>> {
        Ok(None)
    }
}
