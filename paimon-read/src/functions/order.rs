//! The larger or the smaller of two values, by the order of merge-engines section 1.2.

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayAccessor, ArrayRef, ArrowNativeTypeOp};
use arrow_schema::{DataType, TimeUnit};
use paimon_meta::{Result, TypeKind};

use super::column::AggregateColumn;
use super::select::{Selector, select};
use super::versions::{retraction_refused, type_not_declared};
use super::{MergeFault, Merged, Versions};

/// Which of two values is chosen. Of equal ones, which differ in their bits at most, the reference keeps the older one
/// for `max` and takes the newer one for `min`.
pub(super) trait Extreme {
    /// Name of the function.
    const NAME: &'static str;

    /// Whether a new value that compares so with what is accumulated is chosen.
    fn takes(order: Ordering) -> bool;
}

/// That values of the column have an order (ME-107).
pub(super) fn require_order(function: &str, column: &AggregateColumn<'_>) -> Result<()> {
    let kind = &column.data_type().kind;
    let nested = matches!(
        kind,
        TypeKind::Map(..)
            | TypeKind::Multiset(_)
            | TypeKind::Row(_)
            | TypeKind::Array(_)
            | TypeKind::Vector { .. }
    );
    let opaque = matches!(
        kind,
        TypeKind::Variant | TypeKind::Blob | TypeKind::Geometry(_) | TypeKind::Geography { .. }
    );
    column.require(function, !nested && !opaque, "a type that has an order")
}

/// Chooses of the values of each group.
pub(super) fn extreme<E: Extreme>(
    values: &ArrayRef,
    versions: &Versions<'_>,
) -> Result<Merged, MergeFault> {
    match values.data_type() {
        DataType::Boolean => by_value::<E, _>(values.as_boolean(), values, versions),
        DataType::Int8 => by_number::<E, Int8Type>(values, versions),
        DataType::Int16 => by_number::<E, Int16Type>(values, versions),
        DataType::Int32 => by_number::<E, Int32Type>(values, versions),
        DataType::Int64 => by_number::<E, Int64Type>(values, versions),
        DataType::Float32 => by_float::<E, Float32Type>(values, versions),
        DataType::Float64 => by_float::<E, Float64Type>(values, versions),
        DataType::Decimal128(..) => by_number::<E, Decimal128Type>(values, versions),
        DataType::Date32 => by_number::<E, Date32Type>(values, versions),
        DataType::Time32(TimeUnit::Millisecond) => {
            by_number::<E, Time32MillisecondType>(values, versions)
        }
        DataType::Timestamp(unit, _) => by_timestamp::<E>(*unit, values, versions),
        _ => by_bytes::<E>(values, versions),
    }
}

fn by_timestamp<E: Extreme>(
    unit: TimeUnit,
    values: &ArrayRef,
    versions: &Versions<'_>,
) -> Result<Merged, MergeFault> {
    match unit {
        TimeUnit::Second => by_number::<E, TimestampSecondType>(values, versions),
        TimeUnit::Millisecond => by_number::<E, TimestampMillisecondType>(values, versions),
        TimeUnit::Microsecond => by_number::<E, TimestampMicrosecondType>(values, versions),
        TimeUnit::Nanosecond => by_number::<E, TimestampNanosecondType>(values, versions),
    }
}

/// Text orders as its bytes do.
fn by_bytes<E: Extreme>(values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
    match values.data_type() {
        DataType::Utf8 => by_value::<E, _>(values.as_string::<i32>(), values, versions),
        DataType::LargeUtf8 => by_value::<E, _>(values.as_string::<i64>(), values, versions),
        DataType::Utf8View => by_value::<E, _>(values.as_string_view(), values, versions),
        DataType::Binary => by_value::<E, _>(values.as_binary::<i32>(), values, versions),
        DataType::LargeBinary => by_value::<E, _>(values.as_binary::<i64>(), values, versions),
        DataType::BinaryView => by_value::<E, _>(values.as_binary_view(), values, versions),
        DataType::FixedSizeBinary(_) => {
            by_value::<E, _>(values.as_fixed_size_binary(), values, versions)
        }
        _ => Err(type_not_declared(E::NAME, values)),
    }
}

fn by_number<E, T>(values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault>
where
    E: Extreme,
    T: ArrowPrimitiveType<Native: Ord>,
{
    by_native::<E, T>(values, versions, |a, b| a.cmp(&b))
}

fn by_float<E, T>(values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault>
where
    E: Extreme,
    T: ArrowPrimitiveType,
{
    by_native::<E, T>(values, versions, java_order)
}

fn by_native<E, T>(
    values: &ArrayRef,
    versions: &Versions<'_>,
    order: impl Fn(T::Native, T::Native) -> Ordering,
) -> Result<Merged, MergeFault>
where
    E: Extreme,
    T: ArrowPrimitiveType,
{
    let array = values.as_primitive::<T>();
    let numbers: &[T::Native] = array.values();
    if array.null_count() > 0 || !versions.are_adds() {
        let compare = |a: usize, b: usize| match (numbers.get(a), numbers.get(b)) {
            (Some(a), Some(b)) => order(*a, *b),
            _ => Ordering::Equal,
        };
        return choose::<E>(values, versions, compare);
    }
    versions.check_length(array.len())?;
    // Nothing is asked of each version, and the number itself is kept.
    let taken = |old, new| {
        if E::takes(order(new, old)) { new } else { old }
    };
    let mut results = PrimitiveBuilder::<T>::with_capacity(versions.group_count())
        .with_data_type(array.data_type().clone());
    for rows in versions.ranges() {
        let group = numbers.get(rows).unwrap_or_default();
        results.append_option(group.iter().copied().reduce(taken));
    }
    Ok(Merged::Computed(Arc::new(results.finish())))
}

/// -0.0 below 0.0, NaN largest and equal to itself, whatever its bits (ME-008).
#[inline]
fn java_order<N: ArrowNativeTypeOp>(a: N, b: N) -> Ordering {
    let is_nan = |number: N| number.partial_cmp(&number).is_none();
    match a.partial_cmp(&b) {
        Some(Ordering::Equal) => a.compare(b),
        Some(order) => order,
        None => is_nan(a).cmp(&is_nan(b)),
    }
}

fn by_value<E, A>(
    accessor: A,
    values: &ArrayRef,
    versions: &Versions<'_>,
) -> Result<Merged, MergeFault>
where
    E: Extreme,
    A: ArrayAccessor<Item: Ord>,
{
    let compare = |a, b| accessor.value(a).cmp(&accessor.value(b));
    choose::<E>(values, versions, compare)
}

fn choose<E: Extreme>(
    values: &ArrayRef,
    versions: &Versions<'_>,
    compare: impl Fn(usize, usize) -> Ordering,
) -> Result<Merged, MergeFault> {
    let chooser = Chooser {
        compare,
        extreme: PhantomData::<E>,
    };
    select(values, versions, chooser)
}

struct Chooser<E, C> {
    compare: C,
    extreme: PhantomData<E>,
}

impl<E: Extreme, C: Fn(usize, usize) -> Ordering> Selector for Chooser<E, C> {
    fn add(&mut self, accumulated: Option<u32>, input: Option<u32>) -> Option<u32> {
        let (Some(old), Some(new)) = (accumulated, input) else {
            return accumulated.or(input);
        };
        let order = (self.compare)(new as usize, old as usize);
        Some(if E::takes(order) { new } else { old })
    }

    fn retract(&mut self, _: Option<u32>, _: Option<u32>) -> Result<Option<u32>> {
        Err(retraction_refused(E::NAME))
    }
}
