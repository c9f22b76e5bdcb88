//! Which bucket keys a predicate leaves possible. Facts: RP-060, RP-554 to RP-556.

use std::cmp::Ordering;
use std::mem::discriminant;

use crate::predicate::{CompareOp, Predicate, TablePredicate, Test};
use crate::schema::FieldId;
use crate::value::Datum;

/// More key tuples than this prune nothing (`BucketSelector.MAX_VALUES`).
const MAX_TUPLES: usize = 1000;

impl TablePredicate {
    /// The bucket keys that rows of one partition may have, each a value for every column of `keys`, in that order;
    /// `None` if the predicate does not prune by bucket. No tuple at all means that no row can match.
    ///
    /// `self` is the whole predicate of the read. `partition` gives the value of a partition column, `None` for any
    /// other column.
    ///
    /// As the reference does: every key column must be named and have a usable conjunct, which is an `OR` of `=` and
    /// `IN` on that column alone after projection to the keys; conjuncts on one column intersect, and an empty
    /// intersection prunes nothing (RP-555), nor do more than 1000 tuples (RP-554, equal literals counted apart).
    pub fn bucket_keys(
        &self,
        keys: &[FieldId],
        partition: &mut dyn FnMut(FieldId) -> Option<Option<Datum>>,
    ) -> Option<Vec<Vec<Datum>>> {
        let columns = self.columns();
        if keys.is_empty() || !keys.iter().all(|key| columns.contains(&key)) {
            return None;
        }
        let in_partition = self.try_map(&mut |leaf| {
            Some(match partition(leaf.column) {
                Some(value) => {
                    Predicate::Constant(Some(leaf.test.evaluate(value.as_ref()) == Some(true)))
                }
                None => Predicate::Leaf(leaf.clone()),
            })
        })?;

        let mut values: Vec<Option<Vec<Datum>>> = vec![None; keys.len()];
        for conjunct in in_partition.conjuncts() {
            let Some(projected) = conjunct.project(&mut |column| keys.contains(column)) else {
                continue;
            };
            let Some((column, found)) = listed_values(&projected) else {
                continue;
            };
            let Some(slot) = slot(&mut values, keys, column) else {
                continue;
            };
            *slot = match slot.take() {
                None => Some(found),
                Some(before) => Some(intersect(before, found)?),
            };
        }
        tuples(&values.into_iter().collect::<Option<Vec<_>>>()?)
    }
}

fn slot<'a>(
    values: &'a mut [Option<Vec<Datum>>],
    keys: &[FieldId],
    column: FieldId,
) -> Option<&'a mut Option<Vec<Datum>>> {
    let index = keys.iter().position(|key| *key == column)?;
    values.get_mut(index)
}

/// The column and the literals of an `OR` of `=` and `IN` on one column; null literals are dropped.
fn listed_values(predicate: &TablePredicate) -> Option<(FieldId, Vec<Datum>)> {
    match predicate {
        Predicate::Leaf(leaf) => match &leaf.test {
            Test::Compare(CompareOp::Eq, value) => Some((leaf.column, vec![value.clone()])),
            Test::In {
                values,
                negated: false,
                ..
            } => Some((leaf.column, values.clone())),
            _ => None,
        },
        Predicate::Or(parts) => {
            let mut listed: Option<(FieldId, Vec<Datum>)> = None;
            for part in parts {
                let (column, mut values) = listed_values(part)?;
                match &mut listed {
                    None => listed = Some((column, values)),
                    Some((first, all)) if *first == column => all.append(&mut values),
                    Some(_) => return None,
                }
            }
            listed
        }
        Predicate::Constant(_) | Predicate::And(_) => None,
    }
}

/// Values of `left` that `right` has too; `None` if there is none, or they do not compare.
fn intersect(mut left: Vec<Datum>, mut right: Vec<Datum>) -> Option<Vec<Datum>> {
    let sort = discriminant(left.first()?);
    if left
        .iter()
        .chain(&right)
        .any(|value| discriminant(value) != sort)
    {
        return None;
    }
    let order = |a: &Datum, b: &Datum| a.compare(b).unwrap_or(Ordering::Equal);
    right.sort_by(order);
    left.retain(|value| right.binary_search_by(|other| order(other, value)).is_ok());
    (!left.is_empty()).then_some(left)
}

/// Every combination of one value of each column; `None` for too many.
fn tuples(values: &[Vec<Datum>]) -> Option<Vec<Vec<Datum>>> {
    values.iter().try_fold(1_usize, |count, values| {
        let count = count.saturating_mul(values.len());
        (count <= MAX_TUPLES).then_some(count)
    })?;
    let mut tuples: Vec<Vec<Datum>> = vec![Vec::with_capacity(values.len())];
    for values in values {
        tuples = tuples
            .iter()
            .flat_map(|tuple| {
                values.iter().map(move |value| {
                    let mut longer = tuple.clone();
                    longer.push(value.clone());
                    longer
                })
            })
            .collect();
    }
    Some(tuples)
}

#[cfg(test)]
mod tests;
