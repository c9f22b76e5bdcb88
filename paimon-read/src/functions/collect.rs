//! `collect`: all elements of the lists.
//!
//! Rule: the older elements, then the newer ones; with `distinct` each element once. Nulls: passed over; null elements
//! are kept (ME-118). Retraction: each element takes one equal one out (ME-120). An older list that comes late is put
//! behind, unless retractions are ignored. ARRAY.
//!
//! `distinct` compares by content (ME-121). It drops duplicates inside what was accumulated too (ME-119), but not those
//! of binary and nested elements, where the reference takes them to be distinct already. The order of the elements is
//! open; here it is that of their first appearance.
//! Source: ME section 4.5, `FieldCollectAgg.java`.

use std::collections::{HashMap, HashSet};

use arrow_array::ArrayRef;
use arrow_row::{Row, Rows};
use paimon_meta::{Error, Result, TypeKind};

use super::column::AggregateColumn;
use super::elements::{Lists, comparable, merge_lists, row_of};
use super::fold::Fold;
use super::{AggregateFunction, MergeFault, Merged, Versions};

const NAME: &str = "collect";

#[derive(Clone, Copy, Debug)]
struct Collect {
    distinct: bool,
    /// Whether duplicates inside what is accumulated are dropped when more comes.
    cleans: bool,
    /// Whether older lists that come late are put in front.
    reverses: bool,
}

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    let element = match &column.data_type().kind {
        TypeKind::Array(element) => Some(&element.kind),
        _ => None,
    };
    column.require(NAME, element.is_some(), "ARRAY")?;
    let by_content = element.is_some_and(|kind| {
        let nested = !kind.is_scalar() && !matches!(kind, TypeKind::Variant);
        nested || kind.is_bytes()
    });
    Ok(Box::new(Collect {
        distinct: column.flag("distinct")?,
        cleans: !by_content,
        // ME section 4.1: the wrapper that ignores retractions has the default reversal.
        reverses: column.flag("ignore-retract")?,
    }))
}

impl AggregateFunction for Collect {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        let (lists, list) = Lists::of_lists(NAME, values)?;
        let compares = self.distinct || versions.steps().iter().any(|step| step.retracts());
        let elements = compares.then(|| comparable(std::slice::from_ref(list.values())));
        let elements = elements.transpose()?;
        let mut collected = Collected {
            rules: *self,
            lists,
            elements: elements.as_ref(),
        };
        merge_lists(&mut collected, list, values, versions)
    }
}

struct Collected<'a> {
    rules: Collect,
    lists: Lists<'a>,
    /// Elements by content, where they are compared.
    elements: Option<&'a Rows>,
}

/// Elements, and which of them there are once somebody asked.
#[derive(Default)]
struct Elements<'a> {
    positions: Vec<u32>,
    seen: Option<HashSet<Row<'a>>>,
}

impl IntoIterator for Elements<'_> {
    type Item = u32;
    type IntoIter = std::vec::IntoIter<u32>;

    fn into_iter(self) -> Self::IntoIter {
        self.positions.into_iter()
    }
}

impl<'a> Collected<'a> {
    fn row(&self, element: u32) -> Result<Row<'a>> {
        let elements = self
            .elements
            .ok_or_else(|| Error::internal("elements are not compared"))?;
        row_of(elements, element)
    }

    /// What was seen in `elements`, which lose their duplicates where the rules say so.
    fn seen(&self, elements: &mut Vec<u32>) -> Result<HashSet<Row<'a>>> {
        let mut seen = HashSet::with_capacity(elements.len());
        let mut kept = Vec::with_capacity(elements.len());
        for element in elements.iter() {
            if seen.insert(self.row(*element)?) || !self.rules.cleans {
                kept.push(*element);
            }
        }
        *elements = kept;
        Ok(seen)
    }

    fn add_distinct(&self, accumulated: &mut Elements<'a>, input: Elements<'a>) -> Result<()> {
        let mut seen = match accumulated.seen.take() {
            Some(seen) => seen,
            None => self.seen(&mut accumulated.positions)?,
        };
        for element in input {
            if seen.insert(self.row(element)?) {
                accumulated.positions.push(element);
            }
        }
        accumulated.seen = Some(seen);
        Ok(())
    }
}

impl<'a> Fold for Collected<'a> {
    type Value = Elements<'a>;

    fn value(&self, row: u32) -> Result<Option<Elements<'a>>> {
        Ok(self.lists.elements(row).map(|elements| Elements {
            positions: elements.collect(),
            seen: None,
        }))
    }

    fn add(
        &mut self,
        accumulated: Option<Elements<'a>>,
        input: Option<Elements<'a>>,
    ) -> Result<Option<Elements<'a>>> {
        if accumulated.is_none() && input.is_none() {
            return Ok(None);
        }
        if self.rules.distinct {
            let mut accumulated = accumulated.unwrap_or_default();
            self.add_distinct(&mut accumulated, input.unwrap_or_default())?;
            return Ok(Some(accumulated));
        }
        Ok(match (accumulated, input) {
            (Some(mut accumulated), Some(input)) => {
                accumulated.positions.extend(input);
                Some(accumulated)
            }
            (one, other) => one.or(other),
        })
    }

    fn add_reversed(
        &mut self,
        accumulated: Option<Elements<'a>>,
        input: Option<Elements<'a>>,
    ) -> Result<Option<Elements<'a>>> {
        if self.rules.reverses {
            self.add(input, accumulated)
        } else {
            self.add(accumulated, input)
        }
    }

    fn retract(
        &mut self,
        accumulated: Option<Elements<'a>>,
        input: Option<Elements<'a>>,
    ) -> Result<Option<Elements<'a>>> {
        let (accumulated, input) = match (accumulated, input) {
            (Some(accumulated), Some(input)) if !input.positions.is_empty() => (accumulated, input),
            (accumulated, _) => return Ok(accumulated),
        };
        let mut taken: HashMap<Row<'a>, usize> = HashMap::new();
        for element in input {
            *taken.entry(self.row(element)?).or_default() += 1;
        }
        let mut kept = Vec::with_capacity(accumulated.positions.len());
        for element in accumulated.positions {
            match taken.get_mut(&self.row(element)?) {
                Some(count) if *count > 0 => *count -= 1,
                _ => kept.push(element),
            }
        }
        Ok(Some(Elements {
            positions: kept,
            seen: None,
        }))
    }
}
