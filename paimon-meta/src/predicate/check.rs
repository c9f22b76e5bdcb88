//! Holding a predicate against the columns it is written for.

use crate::error::{Error, Frame, Result};
use crate::predicate::{Leaf, TablePredicate, Test};
use crate::schema::{DataField, FieldId};
use crate::types::TypeKind;
use crate::value::Datum;

impl TablePredicate {
    /// Checks a predicate that came from outside: every column is one of `fields` and has the type the predicate says,
    /// nullability aside; every literal is of that type; only text is tested with `LIKE`.
    ///
    /// # Errors
    /// `InvalidInput` that names column, type and literal.
    pub fn check(&self, fields: &[DataField]) -> Result<()> {
        let mut result = Ok(());
        self.visit_leaves(&mut |leaf| {
            if result.is_ok() {
                result = check_leaf(leaf, fields);
            }
        });
        result
    }
}

fn check_leaf(leaf: &Leaf<FieldId>, fields: &[DataField]) -> Result<()> {
    let field = fields
        .iter()
        .find(|field| field.id == leaf.column)
        .ok_or_else(|| Error::invalid_input(format!("no column of id {}", leaf.column)))?;
    let fault =
        |message: String| Err(Error::invalid_input(message).at(Frame::Column(field.name.clone())));
    if !leaf.data_type.same_kind(&field.data_type) {
        return fault(format!(
            "the predicate takes the column for {}, it is {}",
            leaf.data_type, field.data_type
        ));
    }
    let literals = match &leaf.test {
        Test::IsNull | Test::IsNotNull => &[],
        Test::Like { .. } if !leaf.data_type.kind.is_text() => {
            return fault(format!("LIKE needs text, the column is {}", leaf.data_type));
        }
        Test::Like { .. } => &[],
        Test::Compare(_, value) => std::slice::from_ref(value),
        Test::In { values, .. } => values.as_slice(),
    };
    match literals
        .iter()
        .find(|literal| !is_of(literal, &leaf.data_type.kind))
    {
        Some(literal) => fault(format!(
            "literal {literal} is not of type {}",
            leaf.data_type
        )),
        None => Ok(()),
    }
}

/// Whether a value is one of the type: a decimal has the type's scale, lengths and digits do not matter.
fn is_of(value: &Datum, kind: &TypeKind) -> bool {
    match (value, kind) {
        (Datum::Decimal(_, scale), TypeKind::Decimal { scale: of, .. }) => scale == of,
        (Datum::Boolean(_), TypeKind::Boolean)
        | (Datum::TinyInt(_), TypeKind::TinyInt)
        | (Datum::SmallInt(_), TypeKind::SmallInt)
        | (Datum::Int(_), TypeKind::Int)
        | (Datum::BigInt(_), TypeKind::BigInt)
        | (Datum::Float(_), TypeKind::Float)
        | (Datum::Double(_), TypeKind::Double)
        | (Datum::String(_), TypeKind::Char(_) | TypeKind::VarChar(_))
        | (Datum::Binary(_), TypeKind::Binary(_) | TypeKind::VarBinary(_))
        | (Datum::Date(_), TypeKind::Date)
        | (Datum::Time(_), TypeKind::Time(_)) => true,
        (
            Datum::Timestamp { nanos, .. },
            TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_),
        ) => (0..1_000_000).contains(nanos),
        _ => false,
    }
}
