//! What the random cases came across: laws that never meet an overlap prove little.

use std::cell::RefCell;
use std::collections::BTreeMap;

use paimon_meta::DataType;
use paimon_testkit::{JsonRow, Query, diff_rows};

use super::table::{Case, Route};

/// Counts over the cases of a law.
#[derive(Debug, Default)]
pub(crate) struct Coverage(RefCell<Counts>);

#[derive(Debug, Default)]
struct Counts {
    cases: u32,
    sections: u32,
    sections_of_runs: u32,
    met: BTreeMap<&'static str, u32>,
}

const MET: [&str; 5] = [
    "a deleted winner",
    "a losing row that matches the filter",
    "a section of one run inside a merge split",
    "a raw split of several files",
    "more than eight runs",
];

impl Coverage {
    /// Counts a case that was read.
    pub(crate) fn add(&self, case: &Case, query: &Query) {
        let route = Route::default();
        let table = case.resolve(&route).unwrap();
        let plan = case.plan(&table, &Query::default(), &route).unwrap();
        let mut counts = self.0.borrow_mut();
        counts.cases += 1;
        let mut met = [false; 5];
        for split in plan.iter() {
            let runs: Vec<usize> = split.sections().iter().map(Vec::len).collect();
            counts.sections += u32::try_from(runs.len()).unwrap();
            let several = runs.iter().filter(|runs| **runs > 1).count();
            counts.sections_of_runs += u32::try_from(several).unwrap();
            met[2] |= !split.raw_convertible() && runs.contains(&1);
            met[3] |= split.raw_convertible() && split.files().len() > 1;
            met[4] |= runs.iter().any(|runs| *runs > 8);
        }
        let stored = case.written.main().unwrap().stored_rows().unwrap();
        met[0] = stored.iter().any(|(kind, _)| !kind.is_add());
        met[1] = loses_a_match(
            case,
            query,
            stored.into_iter().map(|(_, row)| row).collect(),
        );
        for (name, met) in MET.into_iter().zip(met) {
            *counts.met.entry(name).or_default() += u32::from(met);
        }
    }

    /// Whether enough was met: a fifth of the sections has two or more runs, a twentieth of the cases each of the others.
    pub(crate) fn check(&self) {
        let counts = self.0.borrow();
        assert!(counts.sections_of_runs * 5 >= counts.sections, "{counts:?}");
        for name in MET {
            let met = counts.met.get(name).copied().unwrap_or_default();
            assert!(met * 20 >= counts.cases, "{name}: {counts:?}");
        }
    }
}

/// Whether a stored row matches the condition and is not in the result.
fn loses_a_match(case: &Case, query: &Query, stored: Vec<JsonRow>) -> bool {
    if query.filter.is_none() {
        return false;
    }
    let query = Query {
        columns: None,
        ..query.clone()
    };
    let matching = query.matching(case.fields(), &stored).unwrap();
    let types: Vec<&DataType> = case.fields().iter().map(|field| &field.data_type).collect();
    let diff = diff_rows(&types, &case.answer(&query), &matching);
    diff.is_some_and(|diff| !diff.extra.is_empty())
}
