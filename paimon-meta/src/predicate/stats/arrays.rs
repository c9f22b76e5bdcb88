//! Bounds of many row groups or pages at once, as Arrow arrays.

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_buffer::BooleanBuffer;

use crate::predicate::stats::{ColumnBounds, leaf_may_match, prefix_may_match};
use crate::predicate::{Leaf, Predicate, Test};
use crate::value::Datum;
use crate::value_arrow::datum_at;

/// What statistics say of one column over many row groups or pages: an element of each array for each of them, null
/// where unknown. The rule for NaN is that of [`ColumnBounds`].
#[derive(Clone, Debug)]
pub struct ArrayBounds {
    /// No value is smaller.
    pub min: ArrayRef,
    /// No value is larger.
    pub max: ArrayRef,
    /// Nulls among the rows.
    pub null_counts: UInt64Array,
    /// Rows.
    pub row_counts: UInt64Array,
}

/// [`may_match`](crate::may_match) for `count` row groups or pages; `None` from `bounds` is a column without
/// statistics, and what cannot be read as a value of the column's type is unknown. Sharper than the reference, whose
/// plans have no part here: null counts count without bounds, and any pattern prunes by what it begins with.
pub fn may_match_many<C>(
    predicate: &Predicate<C>,
    count: usize,
    bounds: &mut dyn FnMut(&C) -> Option<ArrayBounds>,
) -> BooleanBuffer {
    match predicate {
        Predicate::Constant(Some(true)) => BooleanBuffer::new_set(count),
        Predicate::Constant(_) => BooleanBuffer::new_unset(count),
        Predicate::Leaf(leaf) => match bounds(&leaf.column) {
            Some(bounds) => {
                BooleanBuffer::collect_bool(count, |index| element_may_match(leaf, &bounds, index))
            }
            None => BooleanBuffer::new_set(count),
        },
        Predicate::And(parts) => {
            let mut result = BooleanBuffer::new_set(count);
            for part in parts {
                if !result.has_true() {
                    break;
                }
                result = &result & &may_match_many(part, count, bounds);
            }
            result
        }
        Predicate::Or(parts) => {
            let mut result = BooleanBuffer::new_unset(count);
            for part in parts {
                if !result.has_false() {
                    break;
                }
                result = &result | &may_match_many(part, count, bounds);
            }
            result
        }
    }
}

fn element_may_match<C>(leaf: &Leaf<C>, arrays: &ArrayBounds, index: usize) -> bool {
    let bounds = arrays.element(leaf, index);
    match (&leaf.test, bounds.null_count) {
        (Test::IsNull, Some(nulls)) => nulls > 0,
        (Test::IsNotNull, Some(nulls)) => nulls < bounds.row_count,
        (Test::Like { pattern, negated }, _) if !negated => {
            leaf_may_match(&leaf.test, &bounds)
                && match (&bounds.min, &bounds.max) {
                    (Some(Datum::String(min)), Some(Datum::String(max))) => {
                        prefix_may_match(pattern.leading_literal(), min, max)
                    }
                    _ => true,
                }
        }
        _ => leaf_may_match(&leaf.test, &bounds),
    }
}

impl ArrayBounds {
    fn element<C>(&self, leaf: &Leaf<C>, index: usize) -> ColumnBounds {
        let count = |counts: &UInt64Array| {
            (index < counts.len() && counts.is_valid(index)).then(|| counts.value(index))
        };
        let row_count = count(&self.row_counts);
        ColumnBounds {
            min: datum_at(&self.min, index, &leaf.data_type).ok().flatten(),
            max: datum_at(&self.max, index, &leaf.data_type).ok().flatten(),
            null_count: row_count.and_then(|_| count(&self.null_counts)),
            row_count: row_count.unwrap_or(u64::MAX),
        }
    }
}
