//! Dividing a predicate by the columns it uses. Facts: RP-052, RP-053.
//!
//! A predicate is its conjuncts, the parts of its top-level `AND`. What prunes by some columns only (partitions, keys)
//! works on the [projection](Predicate::project) to them, which is true wherever the predicate is.

use crate::predicate::{Leaf, Predicate};

impl<C> Predicate<C> {
    /// The parts of the top-level `AND`, itself if it is none; no part for the constant true.
    pub fn conjuncts(&self) -> Vec<&Self> {
        fn collect<'a, C>(predicate: &'a Predicate<C>, into: &mut Vec<&'a Predicate<C>>) {
            match predicate {
                Predicate::And(parts) => parts.iter().for_each(|part| collect(part, into)),
                Predicate::Constant(Some(true)) => {}
                other => into.push(other),
            }
        }
        let mut conjuncts = Vec::new();
        collect(self, &mut conjuncts);
        conjuncts
    }

    /// The columns it names, each once, in the order of their first use.
    pub fn columns(&self) -> Vec<&C>
    where
        C: PartialEq,
    {
        let mut columns = Vec::new();
        self.visit_leaves(&mut |leaf| {
            if !columns.contains(&&leaf.column) {
                columns.push(&leaf.column);
            }
        });
        columns
    }

    /// Whether it names at least one column and `keep` holds for all it names. The rule for what may be pushed below a
    /// merge, with the trimmed key columns as `keep` (RP-323).
    pub fn uses_only(&self, keep: &mut dyn FnMut(&C) -> bool) -> bool {
        let (mut any, mut all) = (false, true);
        self.visit_leaves(&mut |leaf| {
            any = true;
            all = all && keep(&leaf.column);
        });
        any && all
    }

    /// What it says of the columns that `keep` holds for; `None` if nothing. True wherever the predicate is true. A
    /// test is kept if its column is, an `AND` with the parts that remain, an `OR` only if every part remains
    /// (RP-052). Constants remain.
    pub fn project(&self, keep: &mut dyn FnMut(&C) -> bool) -> Option<Self>
    where
        C: Clone,
    {
        match self {
            Self::Constant(value) => Some(Self::Constant(*value)),
            Self::Leaf(leaf) => keep(&leaf.column).then(|| Self::Leaf(leaf.clone())),
            Self::And(parts) => {
                let kept: Vec<Self> = parts.iter().filter_map(|part| part.project(keep)).collect();
                (!kept.is_empty()).then(|| Self::and(kept))
            }
            Self::Or(parts) => {
                let kept: Option<Vec<Self>> = parts.iter().map(|part| part.project(keep)).collect();
                kept.map(Self::or)
            }
        }
    }

    /// Divides a table's predicate for its scan: the projection to the partition columns, and the conjuncts that use
    /// any other column (RP-052). Without partition columns everything is of the second sort.
    pub fn split_partition(&self, partition: &[C]) -> (Option<Self>, Vec<Self>)
    where
        C: Clone + PartialEq,
    {
        let conjuncts = self.conjuncts();
        if partition.is_empty() {
            return (None, conjuncts.into_iter().cloned().collect());
        }
        let mut is_partition = |column: &C| partition.contains(column);
        let projected: Vec<Self> = conjuncts
            .iter()
            .filter_map(|conjunct| conjunct.project(&mut is_partition))
            .collect();
        let data = conjuncts
            .into_iter()
            .filter(|conjunct| {
                conjunct
                    .columns()
                    .into_iter()
                    .any(|column| !partition.contains(column))
            })
            .cloned()
            .collect();
        ((!projected.is_empty()).then(|| Self::and(projected)), data)
    }

    /// Rewrites every test and keeps the shape; `None` as soon as `rewrite` gives `None`.
    pub fn try_map<D>(
        &self,
        rewrite: &mut dyn FnMut(&Leaf<C>) -> Option<Predicate<D>>,
    ) -> Option<Predicate<D>> {
        match self {
            Self::Constant(value) => Some(Predicate::Constant(*value)),
            Self::Leaf(leaf) => rewrite(leaf),
            Self::And(parts) => try_map_all(parts, rewrite).map(Predicate::and),
            Self::Or(parts) => try_map_all(parts, rewrite).map(Predicate::or),
        }
    }

    /// Calls `visit` for every test, in order.
    pub fn visit_leaves<'a>(&'a self, visit: &mut dyn FnMut(&'a Leaf<C>)) {
        match self {
            Self::Constant(_) => {}
            Self::Leaf(leaf) => visit(leaf),
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.visit_leaves(visit));
            }
        }
    }
}

fn try_map_all<C, D>(
    parts: &[Predicate<C>],
    rewrite: &mut dyn FnMut(&Leaf<C>) -> Option<Predicate<D>>,
) -> Option<Vec<Predicate<D>>> {
    parts.iter().map(|part| part.try_map(rewrite)).collect()
}

#[cfg(test)]
mod tests;
