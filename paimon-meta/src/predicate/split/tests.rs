use proptest::prelude::*;

use super::*;
use crate::predicate::testing::{evaluate, predicate, row, types};
use crate::types::TypeKind;
use crate::value::Datum;

fn eq(column: &'static str, value: i32) -> Predicate<&'static str> {
    Predicate::eq(column, TypeKind::Int.nullable(), Datum::Int(value))
}

#[test]
fn an_or_projects_only_if_every_part_does() {
    // RP-544
    let mut is_key = |column: &&str| *column == "k";
    assert_eq!(
        Predicate::or([eq("k", 7), eq("v", 1)]).project(&mut is_key),
        None
    );
    let nested = Predicate::or([Predicate::and([eq("k", 7), eq("v", 1)]), eq("k", 9)]);
    assert_eq!(
        nested.project(&mut is_key),
        Some(Predicate::or([eq("k", 7), eq("k", 9)]))
    );
    // RP-545: a merge takes only conjuncts that name nothing but keys.
    assert!(!nested.uses_only(&mut is_key));
    assert!(Predicate::or([eq("k", 7), eq("k", 9)]).uses_only(&mut is_key));
    assert!(!Predicate::<&str>::Constant(None).uses_only(&mut is_key));
}

#[test]
fn a_conjunct_over_partition_and_data_serves_both() {
    // RP-052
    let mixed = Predicate::or([
        Predicate::and([eq("p", 1), eq("v", 1)]),
        Predicate::and([eq("p", 2), eq("v", 2)]),
    ]);
    let predicate = Predicate::and([eq("p", 3), mixed.clone(), eq("k", 4)]);
    let (partition, data) = predicate.split_partition(&["p"]);
    let projected = Predicate::and([eq("p", 3), Predicate::or([eq("p", 1), eq("p", 2)])]);
    assert_eq!(partition, Some(projected));
    assert_eq!(data, [mixed, eq("k", 4)]);
    assert_eq!(eq("k", 4).split_partition(&[]), (None, vec![eq("k", 4)]));
    assert_eq!(eq("k", 4).split_partition(&["p"]), (None, vec![eq("k", 4)]));
}

#[test]
fn conjuncts_and_columns_are_flat_and_in_order() {
    let raw = Predicate::And(vec![
        eq("b", 1),
        Predicate::And(vec![
            Predicate::Constant(Some(true)),
            Predicate::or([eq("a", 1), eq("b", 2)]),
        ]),
    ]);
    assert_eq!(raw.conjuncts().len(), 2);
    assert_eq!(raw.columns(), [&"b", &"a"]);
    assert!(Predicate::<u8>::Constant(Some(true)).conjuncts().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_projection_is_true_where_the_predicate_is(
        predicate in predicate(&types()), row in row(&types()), kept in any::<u16>()
    ) {
        let projected = predicate.project(&mut |column| kept & (1 << *column) != 0);
        if let (Some(projected), Some(true)) = (projected, evaluate(&predicate, &row)) {
            prop_assert_eq!(evaluate(&projected, &row), Some(true));
        }
    }

    #[test]
    fn partition_and_data_parts_together_are_the_predicate(
        predicate in predicate(&types()), row in row(&types())
    ) {
        let (partition, data) = predicate.split_partition(&[0, 1, 2]);
        let both = Predicate::and(partition.into_iter().chain(data));
        let passes = |predicate| evaluate(predicate, &row) == Some(true);
        prop_assert_eq!(passes(&both), passes(&predicate));
    }
}
