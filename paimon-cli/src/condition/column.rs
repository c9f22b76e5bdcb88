//! Tests of one column.

use paimon_meta::{
    CompareOp, DataField, Datum, Error, Frame, LikePattern, Predicate, Result, TablePredicate,
    TableSchema, TypeKind,
};
use sqlparser::ast::{Expr, Value, ValueWithSpan};

use super::literal::Literal;
use super::place::{Place, place};

/// The column a test is of.
pub(super) struct Column<'a>(&'a DataField);

impl<'a> Column<'a> {
    pub(super) fn of(expr: &Expr, schema: &'a TableSchema) -> Result<Self> {
        match expr {
            Expr::Nested(inner) => Self::of(inner, schema),
            Expr::Identifier(name) => schema.field(&name.value).map(Self),
            other => Err(super::unsupported(other)),
        }
    }

    pub(super) fn is_null(&self) -> TablePredicate {
        Predicate::is_null(self.0.id, self.0.data_type.clone())
    }

    /// False for every value, unknown for null.
    fn never(&self) -> TablePredicate {
        Predicate::is_in(self.0.id, self.0.data_type.clone(), [])
    }

    /// The column as a condition of its own.
    pub(super) fn holds(&self) -> Result<TablePredicate> {
        let (id, data_type) = (self.0.id, self.0.data_type.clone());
        match data_type.kind {
            TypeKind::Boolean => Ok(Predicate::eq(id, data_type, Datum::Boolean(true))),
            _ => Err(self.fault(format!("a column of type {data_type} is no condition"))),
        }
    }

    pub(super) fn compare(&self, op: CompareOp, literal: &Literal) -> Result<TablePredicate> {
        use CompareOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
        let against =
            |op, value| Predicate::compare(self.0.id, self.0.data_type.clone(), op, value);
        let Some(place) = self.place(literal)? else {
            return Ok(Predicate::Constant(None));
        };
        Ok(match (place, op) {
            (Place::At(value), op) => against(op, value),
            (Place::After(value), Lt | LtEq) => against(LtEq, value),
            (Place::After(value), Gt | GtEq) => against(Gt, value),
            (Place::BelowAll, Gt | GtEq) | (Place::AboveAll, Lt | LtEq) | (_, NotEq) => {
                self.never().negate()
            }
            (Place::BelowAll, Lt | LtEq) | (Place::AboveAll, Gt | GtEq) | (_, Eq) => self.never(),
        })
    }

    pub(super) fn between(&self, low: &Expr, high: &Expr) -> Result<TablePredicate> {
        let low = self.compare(CompareOp::GtEq, &Literal::of(low)?)?;
        let high = self.compare(CompareOp::LtEq, &Literal::of(high)?)?;
        Ok(Predicate::and([low, high]))
    }

    pub(super) fn is_in(&self, list: &[Expr]) -> Result<TablePredicate> {
        let mut values = Vec::with_capacity(list.len());
        for item in list {
            match self.place(&Literal::of(item)?)? {
                None => values.push(None),
                Some(Place::At(value)) => values.push(Some(value)),
                Some(Place::After(_) | Place::BelowAll | Place::AboveAll) => {}
            }
        }
        Ok(Predicate::is_in(
            self.0.id,
            self.0.data_type.clone(),
            values,
        ))
    }

    pub(super) fn like(
        &self,
        pattern: &Expr,
        escape: Option<&ValueWithSpan>,
    ) -> Result<TablePredicate> {
        if !self.0.data_type.kind.is_text() {
            let found = &self.0.data_type;
            return Err(self.fault(format!("LIKE needs text, the column is {found}")));
        }
        let escape = escape.map_or(Ok('\\'), escape_character)?;
        match Literal::of(pattern)?.into_text()? {
            None => Ok(Predicate::Constant(None)),
            Some(text) => {
                let pattern = LikePattern::parse(&text, Some(escape))
                    .map_err(|error| error.at(Frame::Column(self.0.name.clone())))?;
                Ok(Predicate::like(
                    self.0.id,
                    self.0.data_type.clone(),
                    pattern,
                ))
            }
        }
    }

    fn place(&self, literal: &Literal) -> Result<Option<Place<Datum>>> {
        place(literal, &self.0.data_type)
            .map_err(|error| error.at(Frame::Column(self.0.name.clone())))
    }

    fn fault(&self, message: String) -> Error {
        Error::invalid_input(message).at(Frame::Column(self.0.name.clone()))
    }
}

fn escape_character(escape: &ValueWithSpan) -> Result<char> {
    if let Value::SingleQuotedString(text) = &escape.value {
        let mut chars = text.chars();
        if let (Some(only), None) = (chars.next(), chars.next()) {
            return Ok(only);
        }
    }
    let found = &escape.value;
    Err(Error::invalid_input(format!(
        "ESCAPE takes one character, found {found}"
    )))
}
