//! SQL conditions as predicates of the reader.

use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Like, Operator};
use paimon_meta::{
    CompareOp, DataField, Datum, FieldId, LikePattern, Predicate, StringLayout, TablePredicate,
    TableSchema, TypeKind, datum_at,
};

/// The predicate with exactly the meaning of the expression; `None` if a predicate cannot say it.
pub(crate) fn to_predicate(expression: &Expr, schema: &TableSchema) -> Option<TablePredicate> {
    let inner = |expression: &Expr| to_predicate(expression, schema);
    match expression {
        Expr::Alias(alias) => inner(&alias.expr),
        Expr::Not(negated) => inner(negated).map(Predicate::negate),
        Expr::IsNull(column) => {
            field(column, schema).map(|field| Predicate::is_null(field.id, field.data_type.clone()))
        }
        Expr::IsNotNull(column) => field(column, schema)
            .map(|field| Predicate::is_not_null(field.id, field.data_type.clone())),
        Expr::BinaryExpr(binary) => compared(binary, schema),
        Expr::Between(between) => ranged(between, schema),
        Expr::InList(list) => listed(list, schema),
        Expr::Like(like) => alike(like, schema),
        Expr::Literal(ScalarValue::Boolean(value), _) => Some(Predicate::Constant(*value)),
        // A condition that is a column.
        Expr::Column(_) => compare(
            field(expression, schema)?,
            CompareOp::Eq,
            &ScalarValue::Boolean(Some(true)),
        ),
        _ => None,
    }
}

fn compared(binary: &BinaryExpr, schema: &TableSchema) -> Option<TablePredicate> {
    let both = || {
        let left = to_predicate(&binary.left, schema)?;
        Some([left, to_predicate(&binary.right, schema)?])
    };
    let op = match binary.op {
        Operator::And => return both().map(Predicate::and),
        Operator::Or => return both().map(Predicate::or),
        Operator::Eq => CompareOp::Eq,
        Operator::NotEq => CompareOp::NotEq,
        Operator::Lt => CompareOp::Lt,
        Operator::LtEq => CompareOp::LtEq,
        Operator::Gt => CompareOp::Gt,
        Operator::GtEq => CompareOp::GtEq,
        _ => return None,
    };
    match (binary.left.as_ref(), binary.right.as_ref()) {
        (column, Expr::Literal(literal, _)) => compare(field(column, schema)?, op, literal),
        (Expr::Literal(literal, _), column) => compare(field(column, schema)?, op.swap(), literal),
        _ => None,
    }
}

fn compare(field: &DataField, op: CompareOp, literal: &ScalarValue) -> Option<TablePredicate> {
    let Some(value) = datum(literal, field)? else {
        return Some(Predicate::Constant(None));
    };
    let (id, data_type) = (field.id, field.data_type.clone());
    let Some([negative, positive]) = zeros(&value) else {
        return Some(Predicate::compare(id, data_type, op, value));
    };
    let zeros = [Some(negative.clone()), Some(positive.clone())];
    Some(match op {
        CompareOp::Eq => Predicate::is_in(id, data_type, zeros),
        CompareOp::NotEq => Predicate::is_in(id, data_type, zeros).negate(),
        CompareOp::Lt | CompareOp::GtEq => Predicate::compare(id, data_type, op, negative),
        CompareOp::Gt | CompareOp::LtEq => Predicate::compare(id, data_type, op, positive),
    })
}

/// Both zeros, if a value is one of them: SQL takes them for equal, the reader -0.0 for less than 0.0.
fn zeros(value: &Datum) -> Option<[Datum; 2]> {
    match value {
        Datum::Float(number) if *number == 0.0 => Some([-0.0, 0.0].map(Datum::Float)),
        Datum::Double(number) if *number == 0.0 => Some([-0.0, 0.0].map(Datum::Double)),
        _ => None,
    }
}

fn ranged(between: &Between, schema: &TableSchema) -> Option<TablePredicate> {
    let field = field(&between.expr, schema)?;
    let (Expr::Literal(low, _), Expr::Literal(high, _)) =
        (between.low.as_ref(), between.high.as_ref())
    else {
        return None;
    };
    let range = Predicate::and([
        compare(field, CompareOp::GtEq, low)?,
        compare(field, CompareOp::LtEq, high)?,
    ]);
    Some(negated_if(between.negated, range))
}

fn listed(list: &InList, schema: &TableSchema) -> Option<TablePredicate> {
    let field = field(&list.expr, schema)?;
    let mut values = Vec::with_capacity(list.list.len());
    for item in &list.list {
        let Expr::Literal(literal, _) = item else {
            return None;
        };
        match datum(literal, field) {
            Some(value) => values.push(value),
            None if is_between_floats(literal, field) => {}
            None => return None,
        }
    }
    if values.is_empty() {
        return None;
    }
    let with_zeros = |value: Option<Datum>| match value.as_ref().and_then(zeros) {
        Some(zeros) => zeros.map(Some).to_vec(),
        None => vec![value],
    };
    let values = values.into_iter().flat_map(with_zeros);
    let members = Predicate::is_in(field.id, field.data_type.clone(), values);
    Some(negated_if(list.negated, members))
}

/// The escape character of a pattern is told by nobody here, so a pattern with one stays an expression.
fn alike(like: &Like, schema: &TableSchema) -> Option<TablePredicate> {
    let field = field(&like.expr, schema)?;
    let Expr::Literal(pattern, _) = like.pattern.as_ref() else {
        return None;
    };
    let text = pattern.try_as_str()??;
    if like.case_insensitive || like.escape_char.is_some() || text.contains('\\') {
        return None;
    }
    let pattern = LikePattern::parse(text, None).ok()?;
    let matches = Predicate::like(field.id, field.data_type.clone(), pattern);
    Some(negated_if(like.negated, matches))
}

fn negated_if(negated: bool, predicate: Predicate<FieldId>) -> TablePredicate {
    if negated {
        predicate.negate()
    } else {
        predicate
    }
}

/// A column, also a FLOAT one that the analyser made a DOUBLE for a literal.
fn field<'a>(expression: &Expr, schema: &'a TableSchema) -> Option<&'a DataField> {
    match expression {
        Expr::Column(column) => schema.field(&column.name).ok(),
        Expr::Cast(cast) if cast.field.data_type() == &DataType::Float64 => {
            let field = field(&cast.expr, schema)?;
            (field.data_type.kind == TypeKind::Float).then_some(field)
        }
        _ => None,
    }
}

/// A number of type FLOAT that is equal to one of type DOUBLE. Which NaNs are equal is left to DataFusion.
fn narrowed(literal: &ScalarValue) -> Option<ScalarValue> {
    let is_nan = matches!(literal, ScalarValue::Float64(Some(number)) if number.is_nan());
    let narrow = literal.cast_to(&DataType::Float32).ok()?;
    let same = narrow.cast_to(&DataType::Float64).ok()? == *literal;
    (same && !is_nan).then_some(narrow)
}

/// Whether a literal is a number that no FLOAT is equal to.
fn is_between_floats(literal: &ScalarValue, field: &DataField) -> bool {
    let is_number = matches!(literal, ScalarValue::Float64(Some(number)) if number.is_finite());
    is_number && field.data_type.kind == TypeKind::Float && narrowed(literal).is_none()
}

/// A literal as a value of the column, null being `Some(None)`. The analyser has given it the column's type; one of
/// another type would have to be converted, which may change the meaning.
fn datum(literal: &ScalarValue, field: &DataField) -> Option<Option<Datum>> {
    if literal.is_null() {
        return Some(None);
    }
    let arrow_type = field.data_type.to_arrow(StringLayout::View).ok()?;
    let literal = if literal.data_type() == arrow_type {
        literal.clone()
    } else if matches!(literal, ScalarValue::Float64(_)) && arrow_type == DataType::Float32 {
        narrowed(literal)?
    } else if literal.try_as_str().is_some() && arrow_type == StringLayout::View.text() {
        literal.cast_to(&arrow_type).ok()?
    } else {
        return None;
    };
    let array = literal.to_array().ok()?;
    datum_at(&array, 0, &field.data_type)
        .ok()
        .filter(Option::is_some)
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{cast, col, lit};

    use super::*;

    fn schema() -> TableSchema {
        let text = r#"{"version":3,"id":0,"highestFieldId":3,"partitionKeys":[],"primaryKeys":["k"],"options":{},
            "fields":[{"id":0,"name":"k","type":"INT NOT NULL"},{"id":1,"name":"v","type":"STRING"},
            {"id":2,"name":"d","type":"DOUBLE"},{"id":3,"name":"f","type":"FLOAT"}]}"#;
        TableSchema::from_json(text.as_bytes()).unwrap()
    }

    fn said(expression: &Expr) -> Option<String> {
        let schema = schema();
        let predicate = to_predicate(expression, &schema)?;
        let named = predicate.try_map(&mut |leaf| {
            let name = schema.field_by_id(leaf.column)?.name.clone();
            Some(Predicate::leaf(
                name,
                leaf.data_type.clone(),
                leaf.test.clone(),
            ))
        });
        named.map(|named| named.to_string())
    }

    fn text(value: &str) -> Expr {
        lit(ScalarValue::Utf8View(Some(value.to_owned())))
    }

    #[test]
    fn what_a_predicate_says_becomes_one() {
        for (expression, wanted) in [
            (col("k").gt(lit(3)), "k > 3"),
            (lit(3).gt_eq(col("k")), "k <= 3"),
            (col("v").eq(lit("x")), "v = 'x'"),
            (
                col("v").is_null().or(col("k").between(lit(1), lit(2))),
                "v IS NULL OR (k >= 1 AND k <= 2)",
            ),
            (
                col("k").in_list(vec![lit(1), lit(2)], true),
                "k NOT IN (1, 2)",
            ),
            (col("v").like(text("a_%")), "v LIKE 'a_%'"),
            (!col("v").like(text("a%")), "v NOT LIKE 'a%'"),
            (col("k").eq(lit(ScalarValue::Int32(None))), "NULL"),
        ] {
            assert_eq!(said(&expression).as_deref(), Some(wanted), "{expression}");
        }
    }

    #[test]
    fn zeros_of_both_signs_are_equal() {
        for (expression, wanted) in [
            (col("d").eq(lit(0.0)), "d IN (-0.0, 0.0)"),
            (col("d").not_eq(lit(-0.0)), "d NOT IN (-0.0, 0.0)"),
            (col("d").lt(lit(0.0)), "d < -0.0"),
            (col("d").lt_eq(lit(-0.0)), "d <= 0.0"),
            (lit(0.0).lt(col("d")), "d > 0.0"),
            (col("d").gt_eq(lit(0.0)), "d >= -0.0"),
            (
                col("d").between(lit(-0.0), lit(0.0)),
                "d >= -0.0 AND d <= 0.0",
            ),
            (
                col("d").in_list(vec![lit(0.0), lit(1.0)], false),
                "d IN (-0.0, 0.0, 1.0)",
            ),
        ] {
            assert_eq!(said(&expression).as_deref(), Some(wanted), "{expression}");
        }
    }

    #[test]
    fn doubles_are_asked_of_floats_where_a_float_is_equal_to_them() {
        let f = || cast(col("f"), DataType::Float64);
        for (expression, wanted) in [
            (f().lt(lit(0.5)), Some("f < 0.5")),
            (f().eq(lit(-0.0)), Some("f IN (-0.0, 0.0)")),
            (
                f().in_list(vec![lit(0.0), lit(1.5), lit(0.1)], true),
                Some("f NOT IN (-0.0, 0.0, 1.5)"),
            ),
            (f().is_null(), Some("f IS NULL")),
            // No FLOAT is these, but some are on both sides of them.
            (f().lt(lit(0.1)), None),
            (f().eq(lit(1e300)), None),
            (f().in_list(vec![lit(0.1)], false), None),
            (f().in_list(vec![lit(f64::NAN), lit(1.5)], false), None),
        ] {
            assert_eq!(said(&expression).as_deref(), wanted, "{expression}");
        }
    }

    #[test]
    fn what_might_mean_something_else_stays_an_expression() {
        for expression in [
            col("k").eq(lit(3_i64)),
            cast(col("k"), DataType::Int64).eq(lit(3_i64)),
            (col("k") + lit(1)).eq(lit(3)),
            col("k").eq(col("k")),
            col("v").like(text("a\\_")),
            col("v").ilike(text("a%")),
            col("k").in_list(vec![lit(1), col("k")], false),
            col("k").gt(lit(3)).and(col("v").eq(col("v"))),
        ] {
            assert_eq!(said(&expression), None, "{expression}");
        }
    }
}
