//! Values that are sketches or bitmaps as bytes. Bytes that meet no others stay as they are.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BinaryArray, BinaryArrayType, BinaryViewArray, LargeBinaryArray};
use arrow_schema::DataType;
use paimon_meta::{Result, TypeKind};

use super::column::AggregateColumn;
use super::fold::{Fold, fold};
use super::versions::{Versions, retraction_refused, type_not_declared};
use super::{MergeFault, Merged};

/// A sketch or a bitmap of one kind.
pub(super) trait Sketch: Sized {
    /// Name of the function.
    const NAME: &'static str;

    /// Reads bytes as the reference writes them.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are no such sketch.
    fn decode(bytes: &[u8]) -> Result<Self>;

    /// What is in either of two.
    fn union(self, input: Self) -> Result<Self>;

    /// Bytes that the reference reads.
    fn encode(self) -> Result<Vec<u8>>;
}

/// That the column is of the type that holds sketches (ME-134).
pub(super) fn require_bytes(function: &str, column: &AggregateColumn<'_>) -> Result<()> {
    let fits = matches!(column.data_type().kind, TypeKind::VarBinary(_));
    column.require(function, fits, "VARBINARY")
}

/// Merges the sketches of each group.
pub(super) fn merge_sketches<S: Sketch>(
    values: &ArrayRef,
    versions: &Versions<'_>,
) -> Result<Merged, MergeFault> {
    let merged: ArrayRef = match values.data_type() {
        DataType::Binary => {
            let results = merge_bytes::<S, _>(values.as_binary::<i32>(), values, versions)?;
            Arc::new(BinaryArray::from_iter(results))
        }
        DataType::LargeBinary => {
            let results = merge_bytes::<S, _>(values.as_binary::<i64>(), values, versions)?;
            Arc::new(LargeBinaryArray::from_iter(results))
        }
        DataType::BinaryView => {
            let results = merge_bytes::<S, _>(values.as_binary_view(), values, versions)?;
            Arc::new(BinaryViewArray::from_iter(results))
        }
        _ => return Err(type_not_declared(S::NAME, values)),
    };
    Ok(Merged::Computed(merged))
}

fn merge_bytes<'a, S, A>(
    sketches: A,
    values: &ArrayRef,
    versions: &Versions<'_>,
) -> Result<Vec<Option<Cow<'a, [u8]>>>, MergeFault>
where
    S: Sketch,
    A: BinaryArrayType<'a>,
{
    let mut results = Vec::with_capacity(versions.group_count());
    let kind = PhantomData::<(&[u8], S)>;
    fold(
        &mut Sketches { sketches, kind },
        values,
        versions,
        |sketch| {
            results.push(sketch.map(Accumulated::encode).transpose());
        },
    )?;
    let results: Result<_> = results.into_iter().collect();
    results.map_err(|error| MergeFault::new(0, error))
}

struct Sketches<'a, A, S> {
    sketches: A,
    kind: PhantomData<(&'a [u8], S)>,
}

/// What is accumulated.
enum Accumulated<'a, S> {
    /// As it came.
    Untouched(&'a [u8]),
    /// Merged with others.
    Merged(S),
}

impl<'a, S: Sketch> Accumulated<'a, S> {
    fn decode(self) -> Result<S> {
        match self {
            Self::Untouched(bytes) => S::decode(bytes),
            Self::Merged(sketch) => Ok(sketch),
        }
    }

    fn encode(self) -> Result<Cow<'a, [u8]>> {
        match self {
            Self::Untouched(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Merged(sketch) => sketch.encode().map(Cow::Owned),
        }
    }
}

impl<'a, A: BinaryArrayType<'a>, S: Sketch> Fold for Sketches<'a, A, S> {
    type Value = Accumulated<'a, S>;

    fn value(&self, row: u32) -> Result<Option<Self::Value>> {
        let row = row as usize;
        let is_valid = self.sketches.is_valid(row);
        Ok(is_valid.then(|| Accumulated::Untouched(self.sketches.value(row))))
    }

    fn add(
        &mut self,
        accumulated: Option<Self::Value>,
        input: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        match (accumulated, input) {
            (Some(accumulated), Some(input)) => {
                let union = accumulated.decode()?.union(input.decode()?)?;
                Ok(Some(Accumulated::Merged(union)))
            }
            (one, other) => Ok(one.or(other)),
        }
    }

    fn retract(
        &mut self,
        _: Option<Self::Value>,
        _: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        Err(retraction_refused(S::NAME))
    }
}
