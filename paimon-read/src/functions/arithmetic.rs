//! Functions that compute a number: one accumulator a group over native values.

use std::sync::Arc;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type,
};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp, PrimitiveArray};
use arrow_schema::DataType;
use paimon_meta::{Error, Result, TypeKind};

use super::column::AggregateColumn;
use super::fold::{Fold, fold};
use super::versions::{Versions, type_not_declared};
use super::{MergeFault, Merged};

/// What a function does to numbers of type `N`. Two operands are at hand: where one is null, the other one counts.
pub(super) trait Operation<N> {
    /// The accumulated number with one more; `None` where the result is null.
    fn add(&self, accumulated: N, input: N) -> Result<Option<N>>;

    /// The accumulated number without one.
    fn retract(&self, accumulated: N, input: N) -> Result<Option<N>>;

    /// What is left when a number is taken from nothing.
    fn retract_from_nothing(&self, input: N) -> Result<Option<N>>;
}

/// A function with an operation for each type of number.
pub(super) trait Arithmetic {
    /// Name of the function.
    const NAME: &'static str;

    /// The operation on integers.
    fn integer<N: ArrowNativeTypeOp>() -> impl Operation<N>;

    /// The operation on floats.
    fn float<N: ArrowNativeTypeOp>() -> impl Operation<N>;

    /// The operation on the unscaled values of decimals.
    fn decimal(precision: u8, scale: u8) -> impl Operation<i128>;
}

/// That the column is of a numeric type.
pub(super) fn require_number(function: &str, column: &AggregateColumn<'_>) -> Result<()> {
    let kind = &column.data_type().kind;
    let float = matches!(kind, TypeKind::Float | TypeKind::Double);
    let decimal = matches!(kind, TypeKind::Decimal { .. });
    let fits = kind.integer_bits().is_some() || float || decimal;
    column.require(function, fits, "a number")
}

/// The results of all groups.
pub(super) fn compute<A: Arithmetic>(
    values: &ArrayRef,
    versions: &Versions<'_>,
) -> Result<Merged, MergeFault> {
    match values.data_type() {
        DataType::Int8 => compute_numbers::<Int8Type, _>(values, versions, A::integer()),
        DataType::Int16 => compute_numbers::<Int16Type, _>(values, versions, A::integer()),
        DataType::Int32 => compute_numbers::<Int32Type, _>(values, versions, A::integer()),
        DataType::Int64 => compute_numbers::<Int64Type, _>(values, versions, A::integer()),
        DataType::Float32 => compute_numbers::<Float32Type, _>(values, versions, A::float()),
        DataType::Float64 => compute_numbers::<Float64Type, _>(values, versions, A::float()),
        DataType::Decimal128(precision, scale) => {
            let scale = u8::try_from(*scale).map_err(|_| type_not_declared(A::NAME, values))?;
            compute_numbers::<Decimal128Type, _>(values, versions, A::decimal(*precision, scale))
        }
        _ => Err(type_not_declared(A::NAME, values)),
    }
}

fn compute_numbers<T, O>(
    values: &ArrayRef,
    versions: &Versions<'_>,
    operation: O,
) -> Result<Merged, MergeFault>
where
    T: ArrowPrimitiveType,
    O: Operation<T::Native>,
{
    let array = values.as_primitive::<T>();
    let mut results = PrimitiveBuilder::<T>::with_capacity(versions.group_count())
        .with_data_type(array.data_type().clone());
    if array.null_count() == 0 && versions.are_adds() {
        versions.check_length(array.len())?;
        add_all(array.values(), versions, &operation, |number| {
            results.append_option(number);
        })?;
    } else {
        let mut numbers = Numbers { array, operation };
        fold(&mut numbers, values, versions, |number| {
            results.append_option(number);
        })?;
    }
    Ok(Merged::Computed(Arc::new(results.finish())))
}

/// The fold where all versions are adds of numbers: nothing is asked of each of them.
fn add_all<N: Copy>(
    numbers: &[N],
    versions: &Versions<'_>,
    operation: &impl Operation<N>,
    mut result: impl FnMut(Option<N>),
) -> Result<(), MergeFault> {
    for rows in versions.ranges() {
        let mut accumulated = None;
        let group = numbers.get(rows.clone()).unwrap_or_default();
        for (input, row) in group.iter().zip(rows) {
            accumulated = match accumulated {
                None => Some(*input),
                Some(sum) => operation
                    .add(sum, *input)
                    .map_err(|error| MergeFault::new(row, error))?,
            };
        }
        result(accumulated);
    }
    Ok(())
}

struct Numbers<'a, T: ArrowPrimitiveType, O> {
    array: &'a PrimitiveArray<T>,
    operation: O,
}

impl<T: ArrowPrimitiveType, O: Operation<T::Native>> Fold for Numbers<'_, T, O> {
    type Value = T::Native;

    #[inline]
    fn value(&self, row: u32) -> Result<Option<T::Native>> {
        let row = row as usize;
        let number = self.array.values().get(row).copied();
        Ok(number.filter(|_| self.array.is_valid(row)))
    }

    #[inline]
    fn add(
        &mut self,
        accumulated: Option<T::Native>,
        input: Option<T::Native>,
    ) -> Result<Option<T::Native>> {
        match (accumulated, input) {
            (Some(accumulated), Some(input)) => self.operation.add(accumulated, input),
            (one, other) => Ok(one.or(other)),
        }
    }

    #[inline]
    fn retract(
        &mut self,
        accumulated: Option<T::Native>,
        input: Option<T::Native>,
    ) -> Result<Option<T::Native>> {
        match (accumulated, input) {
            (Some(accumulated), Some(input)) => self.operation.retract(accumulated, input),
            (None, Some(input)) => self.operation.retract_from_nothing(input),
            (accumulated, None) => Ok(accumulated),
        }
    }
}

/// The error of a number that does not fit (ME-099).
#[cold]
pub(super) fn overflow(function: &str) -> Error {
    Error::corrupt(format!("aggregate function {function} overflows"))
}
