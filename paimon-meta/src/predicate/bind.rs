//! From a table's predicate to one over the columns of a file written with another schema.
//!
//! ```text
//! table  n BIGINT, t INT, added STRING        n = 5 AND t < 7 AND added = 'x'
//! file   n INT,    t STRING                   n = 5            (t: type changed, added: not there)
//! ```
//!
//! Columns are matched by field id. A test is *safe* if the types are equal up to nullability, or both are integers,
//! the table's is wider and every literal fits the file's (RP-086); one unsafe test makes its whole conjunct unusable,
//! which loses pruning and never a row.

use crate::predicate::{CompareOp, FilePath, Leaf, Predicate, TablePredicate, Test};
use crate::schema::{DataField, FieldId};
use crate::types::{DataType, TypeKind};
use crate::value::Datum;

/// The reference holds lists of at most this many literals as single comparisons (`PredicateBuilder.in`).
const LIST_AS_COMPARISONS: usize = 20;

impl TablePredicate {
    /// The conjuncts that statistics of a file with these fields can answer, with literals of the file's types
    /// (RP-085 to RP-088). A column that the file does not have is left as it is: its statistics are
    /// [`ColumnBounds::all_null`](crate::ColumnBounds::all_null).
    ///
    /// Not called where the file has the table's own schema: there the predicate is used as it is.
    pub fn bind_to_statistics(&self, file: &[DataField]) -> Vec<Self> {
        let conjuncts = self.conjuncts();
        conjuncts
            .iter()
            .filter(|conjunct| !is_half_of_unsafe_range(conjunct, &conjuncts, file))
            .filter_map(|conjunct| {
                let conjunct = without_unsafe_exclusions(conjunct, file)?;
                conjunct.try_map(&mut |leaf| match field(file, leaf.column) {
                    Some(field) => convert(leaf, &field.data_type, leaf.column).map(Self::Leaf),
                    None => Some(Self::Leaf(leaf.clone())),
                })
            })
            .collect()
    }

    /// For each of [`Self::conjuncts`], the predicate to push into a file with these fields, or `None` if it cannot be
    /// exact there (RP-257): a column is missing in the file, a test is not safe, or `path` knows no place of a column
    /// (a partition column, whose values never come from the file). What is pushed only prunes.
    pub fn bind_to_file(
        &self,
        file: &[DataField],
        path: &mut dyn FnMut(&DataField) -> Option<FilePath>,
    ) -> Vec<Option<Predicate<FilePath>>> {
        self.conjuncts()
            .into_iter()
            .map(|conjunct| {
                conjunct.try_map(&mut |leaf| {
                    let field = field(file, leaf.column)?;
                    convert(leaf, &field.data_type, path(field)?).map(Predicate::Leaf)
                })
            })
            .collect()
    }
}

fn field(fields: &[DataField], id: FieldId) -> Option<&DataField> {
    fields.iter().find(|field| field.id == id)
}

/// The test against the file's type; `None` if that is not safe.
fn convert<C>(leaf: &Leaf<FieldId>, file_type: &DataType, column: C) -> Option<Leaf<C>> {
    let test = if leaf.data_type.same_kind(file_type) {
        leaf.test.clone()
    } else if leaf.data_type.kind.integer_bits()? > file_type.kind.integer_bits()? {
        narrow(&leaf.test, &file_type.kind)?
    } else {
        return None;
    };
    Some(Leaf {
        column,
        data_type: file_type.clone(),
        test,
    })
}

fn narrow(test: &Test, to: &TypeKind) -> Option<Test> {
    Some(match test {
        Test::IsNull => Test::IsNull,
        Test::IsNotNull => Test::IsNotNull,
        Test::Compare(op, value) => Test::Compare(*op, narrow_literal(value, to)?),
        Test::In {
            values,
            has_null,
            negated,
        } => Test::In {
            values: values
                .iter()
                .map(|value| narrow_literal(value, to))
                .collect::<Option<_>>()?,
            has_null: *has_null,
            negated: *negated,
        },
        Test::Like { .. } => return None,
    })
}

/// An integer as one of a narrower type, if it fits.
fn narrow_literal(value: &Datum, to: &TypeKind) -> Option<Datum> {
    let value = match value {
        Datum::TinyInt(value) => i64::from(*value),
        Datum::SmallInt(value) => i64::from(*value),
        Datum::Int(value) => i64::from(*value),
        Datum::BigInt(value) => *value,
        _ => return None,
    };
    match to {
        TypeKind::TinyInt => value.try_into().ok().map(Datum::TinyInt),
        TypeKind::SmallInt => value.try_into().ok().map(Datum::SmallInt),
        TypeKind::Int => value.try_into().ok().map(Datum::Int),
        TypeKind::BigInt => Some(Datum::BigInt(value)),
        _ => None,
    }
}

/// A short `NOT IN` is a conjunction of `<>` in the reference, so literals that do not fit the file's type are lost one
/// by one and the others still prune.
fn without_unsafe_exclusions(
    conjunct: &TablePredicate,
    file: &[DataField],
) -> Option<TablePredicate> {
    let Predicate::Leaf(leaf) = conjunct else {
        return Some(conjunct.clone());
    };
    let Test::In {
        values,
        has_null: false,
        negated: true,
    } = &leaf.test
    else {
        return Some(conjunct.clone());
    };
    let file_type = match field(file, leaf.column) {
        Some(field) if values.len() <= LIST_AS_COMPARISONS => &field.data_type,
        _ => return Some(conjunct.clone()),
    };
    let single = |value: &Datum| Leaf {
        column: leaf.column,
        data_type: leaf.data_type.clone(),
        test: Test::Compare(CompareOp::NotEq, value.clone()),
    };
    let kept: Vec<Datum> = values
        .iter()
        .filter(|value| convert(&single(value), file_type, leaf.column).is_some())
        .cloned()
        .collect();
    (!kept.is_empty()).then(|| {
        Predicate::Leaf(Leaf {
            test: Test::In {
                values: kept,
                has_null: false,
                negated: true,
            },
            ..leaf.clone()
        })
    })
}

/// A pair `c >= low AND c <= high` is one test in the reference (`Between`): if one literal does not fit, both halves
/// are unusable.
fn is_half_of_unsafe_range(
    conjunct: &TablePredicate,
    all: &[&TablePredicate],
    file: &[DataField],
) -> bool {
    let Predicate::Leaf(leaf) = conjunct else {
        return false;
    };
    let Test::Compare(op @ (CompareOp::GtEq | CompareOp::LtEq), _) = &leaf.test else {
        return false;
    };
    let Some(field) = field(file, leaf.column) else {
        return false;
    };
    all.iter().any(|other| match other {
        Predicate::Leaf(half) => {
            half.column == leaf.column
                && matches!(&half.test, Test::Compare(other_op, _) if *other_op == op.swap())
                && convert(half, &field.data_type, half.column).is_none()
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests;
