//! `rbm32`: the union of bitmaps in the portable form (ME-131).

use paimon_meta::{Datum, Error, Result};
use roaring::RoaringBitmap;

use super::of_another_type;
use crate::cell::Cell;

pub(super) fn union(old: &Cell, input: &Cell) -> Result<Cell> {
    let mut union = bitmap(old)? | bitmap(input)?;
    union.optimize();
    let mut bytes = Vec::new();
    union
        .serialize_into(&mut bytes)
        .map_err(|error| Error::internal("cannot write a bitmap").with_source(error))?;
    Ok(Cell::Scalar(Datum::Binary(bytes)))
}

fn bitmap(cell: &Cell) -> Result<RoaringBitmap> {
    let Cell::Scalar(Datum::Binary(bytes)) = cell else {
        return Err(of_another_type(cell));
    };
    RoaringBitmap::deserialize_from(bytes.as_slice())
        .map_err(|error| Error::corrupt("bytes are no bitmap").with_source(error))
}
