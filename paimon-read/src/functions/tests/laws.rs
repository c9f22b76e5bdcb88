//! Functions against a fold that is written as the reference writes it: row by row, one object at a time.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

type Value = Option<i32>;

/// A function of the reference; an error is `Err(())`.
trait Naive {
    fn agg(&mut self, accumulator: Value, input: Value) -> Result<Value, ()>;

    fn retract(&mut self, _: Value, _: Value) -> Result<Value, ()> {
        Err(())
    }
}

fn fold(function: &mut dyn Naive, versions: &[(Step, Value)]) -> Result<Value, ()> {
    let mut accumulator = None;
    for (step, input) in versions {
        accumulator = match step {
            Skip => accumulator,
            Add => function.agg(accumulator, *input)?,
            AddReversed => function.agg(*input, accumulator)?,
            Retract => function.retract(accumulator, *input)?,
            Replace => *input,
            ReplaceThenRetract => function.retract(*input, *input)?,
        };
    }
    Ok(accumulator)
}

/// Functions where one operand counts if the other one is null.
struct OfTwo(
    fn(i32, i32) -> Option<i32>,
    Option<fn(Value, i32) -> Option<Value>>,
);

impl Naive for OfTwo {
    fn agg(&mut self, accumulator: Value, input: Value) -> Result<Value, ()> {
        match (accumulator, input) {
            (Some(a), Some(b)) => (self.0)(a, b).map(Some).ok_or(()),
            (a, b) => Ok(a.or(b)),
        }
    }

    fn retract(&mut self, accumulator: Value, input: Value) -> Result<Value, ()> {
        let retract = self.1.ok_or(())?;
        input.map_or(Ok(accumulator), |input| {
            retract(accumulator, input).ok_or(())
        })
    }
}

#[derive(Default)]
struct First {
    initialized: bool,
    takes_null: bool,
}

impl Naive for First {
    fn agg(&mut self, accumulator: Value, input: Value) -> Result<Value, ()> {
        if !self.initialized && (self.takes_null || input.is_some()) {
            self.initialized = true;
            return Ok(input);
        }
        Ok(accumulator)
    }
}

struct Last {
    takes_null: bool,
}

impl Naive for Last {
    fn agg(&mut self, accumulator: Value, input: Value) -> Result<Value, ()> {
        Ok(if self.takes_null || input.is_some() {
            input
        } else {
            accumulator
        })
    }

    fn retract(&mut self, accumulator: Value, input: Value) -> Result<Value, ()> {
        Ok(if self.takes_null || input.is_some() {
            None
        } else {
            accumulator
        })
    }
}

fn naive(name: &str) -> Box<dyn Naive> {
    match name {
        "sum" => Box::new(OfTwo(
            i32::checked_add,
            Some(|a, b| match a {
                None => b.checked_neg().map(Some),
                Some(a) => a.checked_sub(b).map(Some),
            }),
        )),
        "product" => Box::new(OfTwo(
            i32::checked_mul,
            Some(|a, b| match a {
                None => Some(None),
                Some(a) => a.checked_div(b).map(Some),
            }),
        )),
        "max" => Box::new(OfTwo(|a, b| Some(a.max(b)), None)),
        "min" => Box::new(OfTwo(|a, b| Some(a.min(b)), None)),
        "first_value" => Box::new(First {
            takes_null: true,
            ..First::default()
        }),
        "first_non_null_value" => Box::new(First::default()),
        "last_value" => Box::new(Last { takes_null: true }),
        "last_non_null_value" => Box::new(Last { takes_null: false }),
        other => panic!("{other}"),
    }
}

const NAMES: [&str; 8] = [
    "sum",
    "product",
    "max",
    "min",
    "first_value",
    "first_non_null_value",
    "last_value",
    "last_non_null_value",
];

fn versions(with_retractions: bool) -> impl Strategy<Value = Vec<(Step, Value)>> {
    let steps = if with_retractions {
        vec![
            Skip,
            Add,
            Add,
            AddReversed,
            Retract,
            Replace,
            ReplaceThenRetract,
        ]
    } else {
        vec![Skip, Add, Add, Add, AddReversed, Replace]
    };
    let numbers = prop_oneof![
        6 => (-4..5_i32).prop_map(Some),
        2 => Just(None),
        1 => prop_oneof![Just(i32::MAX), Just(i32::MIN)].prop_map(Some),
    ];
    vec((prop::sample::select(steps), numbers), 0..6)
}

fn check(name: &str, groups: &[Vec<(Step, Value)>]) -> Result<(), TestCaseError> {
    let wanted: Result<Vec<_>, ()> = groups
        .iter()
        .map(|group| fold(&mut *naive(name), group))
        .collect();
    let values: Vec<_> = groups.iter().flatten().map(|version| version.1).collect();
    let steps: Vec<Vec<_>> = groups
        .iter()
        .map(|group| group.iter().map(|version| version.0).collect())
        .collect();
    let steps: Vec<&[Step]> = steps.iter().map(Vec::as_slice).collect();
    let found = merge(name, "INT", &[], &ints(&values), &steps);
    match wanted {
        Ok(wanted) => prop_assert_eq!(&found.unwrap(), &ints(&wanted), "{}", name),
        Err(()) => prop_assert!(found.is_err(), "{}", name),
    }
    Ok(())
}

proptest! {
    #[test]
    fn functions_agree_with_a_fold_over_rows(groups in vec(versions(false), 0..8)) {
        for name in NAMES {
            check(name, &groups)?;
        }
    }

    #[test]
    fn functions_agree_with_a_fold_over_rows_and_retractions(group in versions(true)) {
        for name in NAMES {
            check(name, std::slice::from_ref(&group))?;
        }
    }
}
