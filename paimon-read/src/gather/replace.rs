//! Columns in which some rows get other values.

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, downcast_primitive};
use arrow_buffer::NullBuffer;

/// `rows` with the first of `values` in the first of `places`, and so on; `None` for columns that are not numbers of one
/// type, or places outside of them.
pub(crate) fn replaced(rows: ArrayRef, values: &ArrayRef, places: &[usize]) -> Option<ArrayRef> {
    macro_rules! primitive {
        ($type:ty) => {
            numbers::<$type>(rows, values, places)
        };
    }
    downcast_primitive! {
        rows.data_type() => (primitive),
        _ => None,
    }
}

fn numbers<T: ArrowPrimitiveType>(
    rows: ArrayRef,
    values: &ArrayRef,
    places: &[usize],
) -> Option<ArrayRef> {
    let array = rows.as_primitive_opt::<T>()?.clone();
    // What is held by nobody else is changed in place.
    drop(rows);
    let values = values.as_primitive_opt::<T>()?;
    let (data_type, numbers, nulls) = array.into_parts();
    let mut numbers: Vec<T::Native> = numbers.into();
    for (place, value) in places.iter().zip(values.values()) {
        *numbers.get_mut(*place)? = *value;
    }
    let nulls = match (nulls, values.nulls()) {
        (None, None) => None,
        (nulls, others) => {
            let mut valid = BooleanBufferBuilder::new(numbers.len());
            match &nulls {
                Some(nulls) => valid.append_buffer(nulls.inner()),
                None => valid.append_n(numbers.len(), true),
            }
            for (at, place) in places.iter().take(values.len()).enumerate() {
                valid.set_bit(*place, others.is_none_or(|nulls| nulls.is_valid(at)));
            }
            Some(NullBuffer::new(valid.finish())).filter(|nulls| nulls.null_count() > 0)
        }
    };
    let array = PrimitiveArray::<T>::try_new(numbers.into(), nulls).ok()?;
    Some(Arc::new(array.with_data_type(data_type)))
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, StringArray, TimestampMillisecondArray};

    use super::*;

    #[test]
    fn values_and_nulls_take_their_places() {
        let rows: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3), None]));
        let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(10), None]));
        let expected: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(10), None, None]));
        let found = replaced(Arc::clone(&rows), &values, &[1, 2]);
        assert_eq!(found.as_ref(), Some(&expected));
        assert_eq!(
            rows.null_count(),
            2,
            "a column that is held elsewhere stays"
        );
    }

    #[test]
    fn nulls_appear_and_vanish() {
        let rows: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let null: ArrayRef = Arc::new(Int64Array::from(vec![None]));
        let found = replaced(Arc::clone(&rows), &null, &[1]).unwrap();
        assert!(found.is_valid(0) && found.is_null(1));
        let one: ArrayRef = Arc::new(Int64Array::from(vec![5]));
        let found = replaced(found, &one, &[1]).unwrap();
        assert!(found.nulls().is_none());
    }

    #[test]
    fn the_type_stays_and_others_are_none() {
        let zoned = TimestampMillisecondArray::from(vec![1, 2]).with_timezone("UTC");
        let rows: ArrayRef = Arc::new(zoned);
        let found = replaced(Arc::clone(&rows), &rows.slice(0, 1), &[1]).unwrap();
        assert_eq!(found.data_type(), rows.data_type());
        assert!(replaced(Arc::clone(&rows), &rows, &[1, 2]).is_none());
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        assert!(replaced(rows, &text, &[0]).is_none());
        assert!(replaced(Arc::clone(&text), &text, &[0]).is_none());
    }
}
