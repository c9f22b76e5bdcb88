use proptest::prelude::*;

use crate::predicate::testing::{evaluate, predicate, row, types};
use crate::predicate::{CompareOp, LikePattern, Predicate, Test};
use crate::types::{DataType, MAX_LENGTH, TypeKind};
use crate::value::Datum;

fn int() -> DataType {
    TypeKind::Int.nullable()
}

fn text() -> DataType {
    TypeKind::VarChar(MAX_LENGTH).nullable()
}

fn k_is(value: i32) -> Predicate<&'static str> {
    Predicate::eq("k", int(), Datum::Int(value))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn negation_is_the_complement_and_keeps_unknown(
        predicate in predicate(&types()), row in row(&types())
    ) {
        let value = evaluate(&predicate, &row);
        prop_assert_eq!(evaluate(&predicate.clone().negate(), &row), value.map(|value| !value));
    }

    #[test]
    fn building_keeps_the_meaning_of_raw_nodes(
        parts in prop::collection::vec(predicate(&types()), 0..4), row in row(&types())
    ) {
        let (all, any) = (Predicate::And(parts.clone()), Predicate::Or(parts.clone()));
        prop_assert_eq!(evaluate(&Predicate::and(parts.clone()), &row), evaluate(&all, &row));
        prop_assert_eq!(evaluate(&Predicate::or(parts), &row), evaluate(&any, &row));
    }

    #[test]
    fn serde_keeps_a_predicate(predicate in predicate(&[int(), text()])) {
        let json = serde_json::to_string(&predicate).unwrap();
        prop_assert_eq!(serde_json::from_str::<Predicate<usize>>(&json).unwrap(), predicate);
    }
}

#[test]
fn nested_conjunctions_become_one_and_constants_go() {
    let built = Predicate::and([
        k_is(1),
        Predicate::Constant(Some(true)),
        Predicate::And(vec![k_is(2), Predicate::And(vec![k_is(3)])]),
    ]);
    assert_eq!(built, Predicate::And(vec![k_is(1), k_is(2), k_is(3)]));
    let decided = Predicate::and([
        k_is(1),
        Predicate::And(vec![Predicate::Constant(Some(false))]),
    ]);
    assert_eq!(decided, Predicate::Constant(Some(false)));
    assert_eq!(Predicate::or([k_is(1), Predicate::Or(vec![])]), k_is(1));
    assert_eq!(Predicate::<u8>::and([]), Predicate::Constant(Some(true)));
}

#[test]
fn not_in_a_list_with_null_is_false_or_unknown() {
    let not_in = Predicate::is_in((), int(), [Some(Datum::Int(1)), None]).negate();
    let on = |value: Option<Datum>| not_in.evaluate_row(&mut |()| value.clone());
    assert_eq!(on(Some(Datum::Int(1))), Some(false));
    assert_eq!(on(Some(Datum::Int(2))), None);
    assert_eq!(on(None), None);
    assert_eq!(
        Predicate::is_in((), int(), [None]),
        Predicate::Constant(None)
    );
}

#[test]
fn lists_of_one_and_patterns_without_wildcards_are_comparisons() {
    assert_eq!(Predicate::is_in("k", int(), [Some(Datum::Int(1))]), k_is(1));
    let pattern = LikePattern::parse("abc", None).unwrap();
    assert_eq!(
        Predicate::like((), text(), pattern),
        Predicate::eq((), text(), Datum::String("abc".into()))
    );
}

#[test]
fn floats_compare_in_javas_total_order() {
    // ME 1.2: -0.0 and 0.0 differ, NaN is largest and equal to itself.
    let double = TypeKind::Double.nullable();
    let holds = |value: f64, op, literal: f64| {
        Predicate::compare((), double.clone(), op, Datum::Double(literal))
            .evaluate_row(&mut |()| Some(Datum::Double(value)))
            .unwrap()
    };
    assert!(holds(-0.0, CompareOp::Lt, 0.0));
    assert!(!holds(-0.0, CompareOp::Eq, 0.0));
    assert!(holds(f64::NAN, CompareOp::Eq, -f64::NAN));
    assert!(holds(f64::NAN, CompareOp::Gt, f64::INFINITY));
}

#[test]
fn text_shows_as_sql() {
    let like = LikePattern::parse(r"a\%%_'", Some('\\')).unwrap();
    let predicate = Predicate::and([
        Predicate::is_not_null("a", int()),
        Predicate::or([
            Predicate::like("b", text(), like).negate(),
            Predicate::leaf(
                "a",
                int(),
                Test::In {
                    values: vec![],
                    has_null: true,
                    negated: false,
                },
            ),
        ]),
    ]);
    assert_eq!(
        predicate.to_string(),
        r"a IS NOT NULL AND (b NOT LIKE 'a\%%_''' OR a IN (NULL))"
    );
}

mod check {
    use super::{int, text};
    use crate::error::ErrorKind;
    use crate::predicate::{LikePattern, Predicate};
    use crate::schema::{DataField, FieldId};
    use crate::types::TypeKind;
    use crate::value::Datum;

    fn fields() -> Vec<DataField> {
        vec![DataField {
            id: FieldId(3),
            name: "k".into(),
            data_type: TypeKind::Int.not_null(),
            description: None,
            default_value: None,
        }]
    }

    #[test]
    fn nullability_does_not_matter() {
        let predicate = Predicate::eq(FieldId(3), int(), Datum::Int(1));
        predicate.check(&fields()).unwrap();
    }

    #[test]
    fn literals_are_of_the_columns_type() {
        for literal in [Datum::BigInt(7), Datum::String("7".into()), Datum::Date(7)] {
            let predicate =
                Predicate::is_in(FieldId(3), int(), [Some(Datum::Int(1)), Some(literal)]);
            let error = predicate.check(&fields()).unwrap_err();
            assert!(error.message().ends_with("is not of type INT"), "{error}");
        }
    }

    #[test]
    fn faults_name_the_column() {
        let pattern = LikePattern::parse("a%", None).unwrap();
        for (predicate, message) in [
            (Predicate::is_null(FieldId(4), int()), "no column of id 4"),
            (
                Predicate::is_null(FieldId(3), text()),
                "the predicate takes the column for STRING, it is INT NOT NULL [column k]",
            ),
            (
                Predicate::like(FieldId(3), int(), pattern),
                "LIKE needs text, the column is INT [column k]",
            ),
        ] {
            let error = predicate.check(&fields()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!(error.to_string(), format!("invalid input: {message}"));
        }
    }
}
