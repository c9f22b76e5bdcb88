//! `sum` and `product` (ME 4.3).

use paimon_meta::{Datum, Error, Result, TypeKind};

use super::{Column, of_another_type};
use crate::cell::Cell;

/// The type of the numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    /// Within these limits.
    Integer(i64, i64),
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
}

impl Number {
    pub(super) fn of(name: &str, column: Column<'_>) -> Result<Self> {
        Ok(match column.field.data_type.kind {
            TypeKind::TinyInt => Self::Integer(i8::MIN.into(), i8::MAX.into()),
            TypeKind::SmallInt => Self::Integer(i16::MIN.into(), i16::MAX.into()),
            TypeKind::Int => Self::Integer(i32::MIN.into(), i32::MAX.into()),
            TypeKind::BigInt => Self::Integer(i64::MIN, i64::MAX),
            TypeKind::Float => Self::Float,
            TypeKind::Double => Self::Double,
            TypeKind::Decimal { precision, scale } => Self::Decimal { precision, scale },
            _ => {
                column.takes(name, false)?;
                Self::Double
            }
        })
    }

    pub(super) fn sum(self, a: &Cell, b: &Cell) -> Result<Cell> {
        self.compute(a, b, &SUM)
    }

    pub(super) fn product(self, a: &Cell, b: &Cell) -> Result<Cell> {
        self.compute(a, b, &PRODUCT)
    }

    /// Takes a summand back; from nothing it leaves its negative (ME-098).
    pub(super) fn subtract(self, a: Cell, b: Cell) -> Result<Cell> {
        match (&a, &b) {
            (_, Cell::Null) => Ok(a),
            (Cell::Null, _) => match &b {
                // Of floats this is another number than zero less it: -0.0.
                Cell::Scalar(Datum::Float(value)) => Ok(Cell::Scalar(Datum::Float(-value))),
                Cell::Scalar(Datum::Double(value)) => Ok(Cell::Scalar(Datum::Double(-value))),
                Cell::Scalar(Datum::Decimal(unscaled, scale)) => {
                    Ok(Cell::Scalar(Datum::Decimal(-unscaled, *scale)))
                }
                _ => self.compute(&like(&b, 0)?, &b, &DIFFERENCE),
            },
            _ => self.compute(&a, &b, &DIFFERENCE),
        }
    }

    /// Takes a factor back; nothing stays nothing (ME-102).
    pub(super) fn divide(self, a: Cell, b: Cell) -> Result<Cell> {
        if a == Cell::Null || b == Cell::Null {
            return Ok(a);
        }
        self.compute(&a, &b, &QUOTIENT)
    }

    fn compute(self, a: &Cell, b: &Cell, operation: &Operation) -> Result<Cell> {
        let (Cell::Scalar(x), Cell::Scalar(y)) = (a, b) else {
            return Err(of_another_type(b));
        };
        Ok(match (self, x, y) {
            (Self::Float, Datum::Float(x), Datum::Float(y)) => {
                Cell::Scalar(Datum::Float((operation.float)(*x, *y)))
            }
            (Self::Double, Datum::Double(x), Datum::Double(y)) => {
                Cell::Scalar(Datum::Double((operation.double)(*x, *y)))
            }
            (Self::Decimal { precision, scale }, Datum::Decimal(x, _), Datum::Decimal(y, _)) => {
                match (operation.decimal)(*x, *y, precision, scale)? {
                    Some(unscaled) => Cell::Scalar(Datum::Decimal(unscaled, scale)),
                    None => Cell::Null,
                }
            }
            (Self::Integer(least, most), x, y) => {
                let (Some(x), Some(y)) = (integer(x), integer(y)) else {
                    return Err(of_another_type(b));
                };
                // ME-099, ME-103
                let result = (operation.integer)(x, y);
                let fits = result.filter(|result| (least..=most).contains(result));
                let fits = fits.ok_or_else(|| Error::corrupt("result is no number of the type"))?;
                like(a, fits)?
            }
            _ => return Err(of_another_type(b)),
        })
    }
}

/// An operation on each type of numbers; the last one takes unscaled values, precision and scale.
struct Operation {
    integer: fn(i64, i64) -> Option<i64>,
    float: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
    decimal: fn(i128, i128, u8, u8) -> Result<Option<i128>>,
}

const SUM: Operation = Operation {
    integer: i64::checked_add,
    float: |x, y| x + y,
    double: |x, y| x + y,
    decimal: |x, y, precision, _| Ok(decimal_sum(x, y, precision)),
};

const DIFFERENCE: Operation = Operation {
    integer: i64::checked_sub,
    float: |x, y| x - y,
    double: |x, y| x - y,
    decimal: |x, y, precision, _| Ok(decimal_sum(x, -y, precision)),
};

const PRODUCT: Operation = Operation {
    integer: i64::checked_mul,
    float: |x, y| x * y,
    double: |x, y| x * y,
    decimal: |x, y, precision, scale| Ok(decimal_product(x, y, precision, scale)),
};

const QUOTIENT: Operation = Operation {
    integer: i64::checked_div,
    float: |x, y| x / y,
    double: |x, y| x / y,
    decimal: decimal_quotient,
};

fn integer(datum: &Datum) -> Option<i64> {
    Some(match datum {
        Datum::TinyInt(value) => (*value).into(),
        Datum::SmallInt(value) => (*value).into(),
        Datum::Int(value) => (*value).into(),
        Datum::BigInt(value) => *value,
        _ => return None,
    })
}

/// A number as a value of the type of another.
fn like(cell: &Cell, number: i64) -> Result<Cell> {
    let datum = match cell {
        Cell::Scalar(Datum::TinyInt(_)) => i8::try_from(number).ok().map(Datum::TinyInt),
        Cell::Scalar(Datum::SmallInt(_)) => i16::try_from(number).ok().map(Datum::SmallInt),
        Cell::Scalar(Datum::Int(_)) => i32::try_from(number).ok().map(Datum::Int),
        Cell::Scalar(Datum::BigInt(_)) => Some(Datum::BigInt(number)),
        _ => None,
    };
    datum.map(Cell::Scalar).ok_or_else(|| of_another_type(cell))
}

/// Up to 18 digits Java adds 64-bit numbers and looks at the precision only if they overflow (ME-101).
fn decimal_sum(x: i128, y: i128, precision: u8) -> Option<i128> {
    let sum = x.checked_add(y)?;
    let short = precision <= 18 && i64::try_from(sum).is_ok();
    (short || fits(sum, precision)).then_some(sum)
}

fn fits(unscaled: i128, precision: u8) -> bool {
    let end = 10_u128.checked_pow(precision.into());
    end.is_none_or(|end| unscaled.unsigned_abs() < end)
}

/// The exact product, rounded half up to the scale (ME-104): by hand, digit by digit, for it has up to 76 of them.
fn decimal_product(x: i128, y: i128, precision: u8, scale: u8) -> Option<i128> {
    let digits = |value: i128| -> Vec<u32> {
        let text = value.unsigned_abs().to_string();
        text.chars().rev().filter_map(|c| c.to_digit(10)).collect()
    };
    let (a, b) = (digits(x), digits(y));
    let mut product = vec![0_u32; a.len() + b.len()];
    for (i, m) in a.iter().enumerate() {
        for (j, n) in b.iter().enumerate() {
            if let Some(digit) = product.get_mut(i + j) {
                *digit += m * n;
            }
        }
    }
    let mut carry = 0;
    for digit in &mut product {
        let sum = *digit + carry;
        (*digit, carry) = (sum % 10, sum / 10);
    }
    let (dropped, kept) = product
        .split_at_checked(scale.into())
        .unwrap_or((&product, &[]));
    let up = dropped.last().is_some_and(|digit| *digit >= 5);
    let mut rounded = 0_u128;
    for digit in kept.iter().rev() {
        rounded = rounded.checked_mul(10)?.checked_add((*digit).into())?;
    }
    signed(
        rounded.checked_add(up.into())?,
        (x < 0) != (y < 0),
        precision,
    )
}

/// The exact quotient, rounded half up to the scale; one without an end is an error (ME-105).
fn decimal_quotient(x: i128, y: i128, precision: u8, scale: u8) -> Result<Option<i128>> {
    let (dividend, divisor) = (x.unsigned_abs(), y.unsigned_abs());
    if divisor == 0 {
        return Err(Error::corrupt("division by zero"));
    }
    let mut odd = divisor / common(dividend, divisor);
    for prime in [2, 5] {
        while odd.is_multiple_of(prime) {
            odd /= prime;
        }
    }
    if odd > 1 {
        return Err(Error::corrupt("decimal quotient has no end"));
    }
    let mut quotient = Some(dividend / divisor);
    let mut rest = dividend % divisor;
    for _ in 0..scale {
        // Ten times the rest may be too large; so it is added up.
        let (mut digit, mut sum) = (0, 0);
        for _ in 0..10 {
            sum += rest;
            if sum >= divisor {
                (digit, sum) = (digit + 1, sum - divisor);
            }
        }
        quotient = quotient.and_then(|so_far| so_far.checked_mul(10)?.checked_add(digit));
        rest = sum;
    }
    let up = rest >= divisor - rest;
    let rounded = quotient.and_then(|quotient| quotient.checked_add(up.into()));
    Ok(rounded.and_then(|rounded| signed(rounded, (x < 0) != (y < 0), precision)))
}

/// The number with its sign, if it has no more digits than it may.
fn signed(unscaled: u128, negative: bool, precision: u8) -> Option<i128> {
    let unscaled = i128::try_from(unscaled).ok()?;
    fits(unscaled, precision).then_some(if negative { -unscaled } else { unscaled })
}

/// The greatest common divisor.
fn common(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
