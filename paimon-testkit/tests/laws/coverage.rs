//! What the random cases came across: laws that never meet an overlap prove little.

use std::cell::RefCell;
use std::collections::BTreeMap;

use paimon_meta::{DataType, MergeEngine};
use paimon_testkit::{JsonRow, Query, StoredRow, diff_rows};
use serde_json::Value;

use super::table::{Case, Route, options};

/// Counts over the cases of a law about one merge engine.
#[derive(Debug)]
pub(crate) struct Coverage {
    engine: MergeEngine,
    counts: RefCell<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    cases: u32,
    sections: u32,
    sections_of_runs: u32,
    met: BTreeMap<&'static str, u32>,
}

impl Counts {
    fn meet(&mut self, what: &'static str, met: bool) {
        *self.met.entry(what).or_default() += u32::from(met);
    }
}

impl Coverage {
    pub(crate) fn of(engine: MergeEngine) -> Self {
        Self {
            engine,
            counts: RefCell::default(),
        }
    }

    /// Counts a case that was read.
    pub(crate) fn add(&self, case: &Case, query: &Query) {
        let mut counts = self.counts.borrow_mut();
        counts.cases += 1;
        add_splits(&mut counts, case, self.engine);
        let stored = case.written.main().unwrap().stored_rows().unwrap();
        let keys = Keys::of(case, &stored);
        let counts = &mut *counts;
        match self.engine {
            MergeEngine::FirstRow => {
                counts.meet("a row of level 0 that is hidden", keys.any(Key::is_hidden));
                counts.meet("a later row that lost", keys.any(Key::lost_late));
            }
            MergeEngine::PartialUpdate => {
                counts.meet("a row that no file has", keys.any(Key::is_new));
                counts.meet(
                    "a null filled from an older version",
                    keys.any(Key::is_filled),
                );
                counts.meet("a retract before a row", keys.any(Key::retracted));
                let group = group_column(case);
                let kept = |key: &Key<'_>| group.is_some_and(|at| key.kept_older(at));
                counts.meet("a group that kept an older version", keys.any(kept));
            }
            MergeEngine::Aggregation => {
                counts.meet("a row that no file has", keys.any(Key::is_new));
                counts.meet("a retract before a row", keys.any(Key::retracted));
            }
            _ => {
                let deleted = stored.iter().any(|row| !row.kind.is_add());
                counts.meet("a deleted winner", deleted);
                let rows = stored.into_iter().map(|row| row.values).collect();
                let loses = loses_a_match(case, query, rows);
                counts.meet("a losing row that matches the filter", loses);
            }
        }
    }

    /// Whether enough was met: a fifth of the sections has two or more runs, where they are merged at all, and a twentieth
    /// of the cases meets each of the others.
    pub(crate) fn check(&self) {
        let counts = self.counts.borrow();
        let merges = self.engine != MergeEngine::FirstRow;
        assert!(
            !merges || counts.sections_of_runs * 5 >= counts.sections,
            "{counts:?}"
        );
        for (name, met) in &counts.met {
            assert!(met * 20 >= counts.cases, "{name}: {counts:?}");
        }
    }
}

fn add_splits(counts: &mut Counts, case: &Case, engine: MergeEngine) {
    let route = Route::default();
    let table = case.resolve(&route).unwrap();
    let plan = case.plan(&table, &Query::default(), &route).unwrap();
    let mut met = [false; 3];
    for split in plan.iter() {
        let runs: Vec<usize> = split.sections().iter().map(Vec::len).collect();
        counts.sections += u32::try_from(runs.len()).unwrap();
        let several = runs.iter().filter(|runs| **runs > 1).count();
        counts.sections_of_runs += u32::try_from(several).unwrap();
        met[0] |= split.raw_convertible() && split.files().len() > 1;
        met[1] |= !split.raw_convertible() && runs.contains(&1);
        met[2] |= runs.iter().any(|runs| *runs > 8);
    }
    counts.meet("a raw split of several files", met[0]);
    if engine != MergeEngine::FirstRow {
        counts.meet("a section of one run inside a merge split", met[1]);
        counts.meet("more than eight runs", met[2]);
    }
}

/// The stored versions of each key, oldest first, and what is read of it.
struct Keys<'a>(BTreeMap<String, Key<'a>>);

#[derive(Debug, Default)]
struct Key<'a> {
    versions: Vec<&'a StoredRow>,
    row: Option<JsonRow>,
}

impl<'a> Keys<'a> {
    fn of(case: &Case, stored: &'a [StoredRow]) -> Self {
        let schema = case.written.main().unwrap().schema().unwrap();
        let fields = schema.fields.iter();
        let places: Vec<bool> = fields
            .map(|field| schema.primary_keys.contains(&field.name))
            .collect();
        let name = |row: &JsonRow| {
            let values = row.iter().zip(&places);
            let key: Vec<&Value> = values
                .filter(|(_, key)| **key)
                .map(|(value, _)| value)
                .collect();
            serde_json::to_string(&key).unwrap()
        };
        let mut keys: BTreeMap<String, Key<'a>> = BTreeMap::new();
        for row in stored {
            keys.entry(name(&row.values))
                .or_default()
                .versions
                .push(row);
        }
        for row in case.answer(&Query::default()) {
            let name = name(&row);
            keys.entry(name).or_default().row = Some(row);
        }
        for key in keys.values_mut() {
            key.versions.sort_by_key(|row| row.sequence_number);
        }
        Self(keys)
    }

    fn any(&self, what: impl Fn(&Key<'a>) -> bool) -> bool {
        self.0.values().any(what)
    }
}

impl Key<'_> {
    /// The row, and the newest of several versions.
    fn merged(&self) -> Option<(&JsonRow, &StoredRow)> {
        let newest = self.versions.last().filter(|_| self.versions.len() > 1)?;
        Some((self.row.as_ref()?, newest))
    }

    fn is_new(&self) -> bool {
        let merged = self.merged();
        merged.is_some_and(|(row, _)| self.versions.iter().all(|version| version.values != *row))
    }

    fn is_filled(&self) -> bool {
        self.merged().is_some_and(|(row, newest)| {
            let mut pairs = row.iter().zip(&newest.values);
            pairs.any(|(value, new)| !value.is_null() && new.is_null())
        })
    }

    fn retracted(&self) -> bool {
        self.merged().is_some() && self.versions.iter().any(|version| !version.kind.is_add())
    }

    fn kept_older(&self, at: usize) -> bool {
        self.merged().is_some_and(|(row, newest)| {
            let new = newest.values.get(at);
            newest.kind.is_add() && !new.unwrap().is_null() && row.get(at) != new
        })
    }

    fn is_hidden(&self) -> bool {
        self.row.is_none() && self.versions.iter().all(|version| version.level == 0)
    }

    fn lost_late(&self) -> bool {
        let Some((row, newest)) = self.merged() else {
            return false;
        };
        newest.level == 0 && newest.values != *row
    }
}

/// Where the first sequence column of a group is.
fn group_column(case: &Case) -> Option<usize> {
    let options = options(case);
    let mut keys = options
        .0
        .keys()
        .filter(|key| key.ends_with(".sequence-group"));
    let name = keys.next()?.split(['.', ',']).nth(1)?.to_owned();
    case.fields().iter().position(|field| field.name == name)
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
