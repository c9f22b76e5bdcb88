//! `nested_update`: a table inside a row.
//!
//! Rule without `nested-key`: the rows of all lists, up to `count-limit` (ME-125). Rule with it: of rows of one key the
//! newer one (ME-127), or the one with the larger `nested-sequence-field`, the newer one of equal ones; `count-limit`
//! keeps new keys out, not updates (ME-128). Nulls: passed over; null rows are dropped; keys with nulls as
//! `nested-key-null-strategy` says (ME-129). Retraction: without key each row takes out all equal ones (ME-126), with
//! key the row of that key, whatever else it holds, and also of a key with nulls. ARRAY of ROW.
//!
//! The order of rows with keys is open; here it is that of their keys' first appearance.
//! Source: ME section 4.7, `FieldNestedUpdateAgg.java`.

use std::collections::HashSet;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use arrow_row::{Row, Rows};
use paimon_meta::Result;

use super::column::AggregateColumn;
use super::elements::{Accumulated, Keyed, Lists, comparable, merge_lists, row_of};
use super::fold::Fold;
use super::nested::{KeyedRows, NestedKey, columns, nested_fields, positions};
use super::{AggregateFunction, MergeFault, Merged, Versions};

const NAME: &str = "nested_update";

#[derive(Debug)]
struct NestedUpdate {
    key: Option<NestedKey>,
    /// Positions of the fields that say which row of a key is newer.
    sequence: Vec<usize>,
    count_limit: usize,
}

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    let fields = nested_fields(NAME, column)?;
    let key = NestedKey::new(column, fields)?;
    for option in ["nested-key-null-strategy", "nested-sequence-field"] {
        if key.is_none() && column.text(option).is_some() {
            let (option, needed) = (column.key(option), column.key("nested-key"));
            return Err(column.refuse(format!("{option} needs {needed}")));
        }
    }
    let count_limit = column.options.integer(&column.key("count-limit"))?;
    let count_limit = count_limit.unwrap_or(i64::from(i32::MAX)).max(0);
    Ok(Box::new(NestedUpdate {
        key,
        sequence: positions(column, fields, "nested-sequence-field")?,
        count_limit: usize::try_from(count_limit).unwrap_or(usize::MAX),
    }))
}

impl AggregateFunction for NestedUpdate {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        let (lists, list) = Lists::of_lists(NAME, values)?;
        let count_limit = self.count_limit;
        let Some(key) = &self.key else {
            let retracts = versions.steps().iter().any(|step| step.retracts());
            let contents = retracts.then(|| comparable(std::slice::from_ref(list.values())));
            let mut appended = AppendedTables {
                lists,
                rows: list.values(),
                contents: contents.transpose()?,
                count_limit,
            };
            return merge_lists(&mut appended, list, values, versions);
        };
        let keyed = key.of(list)?;
        let sequences = match self.sequence.is_empty() {
            true => None,
            false => Some(comparable(&columns(list, &self.sequence)?)?),
        };
        let mut updated = UpdatedTables {
            lists,
            rows: &keyed,
            sequences: sequences.as_ref(),
            count_limit,
        };
        merge_lists(&mut updated, list, values, versions)
    }
}

/// Tables without keys.
struct AppendedTables<'a> {
    lists: Lists<'a>,
    rows: &'a ArrayRef,
    /// Rows by content, where some are taken back.
    contents: Option<Rows>,
    count_limit: usize,
}

impl AppendedTables<'_> {
    fn is_row(&self, element: u32) -> bool {
        self.rows.is_valid(element as usize)
    }
}

impl Fold for AppendedTables<'_> {
    type Value = Vec<u32>;

    fn value(&self, row: u32) -> Result<Option<Vec<u32>>> {
        Ok(self.lists.elements(row).map(Range::collect))
    }

    fn add(
        &mut self,
        accumulated: Option<Vec<u32>>,
        input: Option<Vec<u32>>,
    ) -> Result<Option<Vec<u32>>> {
        let Some(input) = input else {
            return Ok(accumulated);
        };
        let mut table = accumulated.unwrap_or_default();
        let Some(room) = self.count_limit.checked_sub(table.len()) else {
            return Ok(Some(table));
        };
        if room > 0 {
            table.retain(|row| self.is_row(*row));
        }
        table.extend(input.into_iter().filter(|row| self.is_row(*row)).take(room));
        Ok(Some(table))
    }

    fn retract(
        &mut self,
        accumulated: Option<Vec<u32>>,
        input: Option<Vec<u32>>,
    ) -> Result<Option<Vec<u32>>> {
        let (mut table, input) = match (accumulated, input) {
            (Some(table), Some(input)) => (table, input),
            (accumulated, _) => return Ok(accumulated),
        };
        let Some(contents) = &self.contents else {
            return Ok(Some(table));
        };
        let content = |row: u32| row_of(contents, row);
        let gone: HashSet<Row<'_>> = input
            .into_iter()
            .filter(|row| self.is_row(*row))
            .map(content)
            .collect::<Result<_>>()?;
        table
            .retain(|row| self.is_row(*row) && content(*row).is_ok_and(|row| !gone.contains(&row)));
        Ok(Some(table))
    }
}

/// Tables with keys.
struct UpdatedTables<'a> {
    lists: Lists<'a>,
    rows: &'a KeyedRows<'a>,
    /// What says which row of a key is newer.
    sequences: Option<&'a Rows>,
    count_limit: usize,
}

impl<'a> UpdatedTables<'a> {
    /// Puts a row in; a new key only where the table has fewer of them than the limit.
    fn put(&self, table: &mut Keyed<'a>, row: u32, limit: usize) -> Result<()> {
        let Some(key) = self.rows.key(row)? else {
            return Ok(());
        };
        let takes = match (table.get_mut(key), self.sequences) {
            (None, _) => table.len() < limit,
            (Some(_), None) => true,
            (Some(old), Some(sequences)) => row_of(sequences, row)? >= row_of(sequences, *old)?,
        };
        if takes {
            table.put(key, row);
        }
        Ok(())
    }
}

impl<'a> Fold for UpdatedTables<'a> {
    type Value = Accumulated<'a>;

    fn value(&self, row: u32) -> Result<Option<Self::Value>> {
        Ok(self.lists.elements(row).map(Accumulated::Untouched))
    }

    fn add(
        &mut self,
        accumulated: Option<Self::Value>,
        input: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        let Some(input) = input else {
            return Ok(accumulated);
        };
        let mut table = match accumulated {
            None => Keyed::default(),
            Some(Accumulated::Merged(table)) => table,
            Some(untouched) => {
                let mut table = Keyed::default();
                for row in untouched {
                    self.put(&mut table, row, usize::MAX)?;
                }
                table
            }
        };
        for row in input {
            self.put(&mut table, row, self.count_limit)?;
        }
        Ok(Some(Accumulated::Merged(table)))
    }

    fn retract(
        &mut self,
        accumulated: Option<Self::Value>,
        input: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        let (accumulated, input) = match (accumulated, input) {
            (Some(accumulated), Some(input)) => (accumulated, input),
            (accumulated, _) => return Ok(accumulated),
        };
        let mut table = match accumulated {
            Accumulated::Merged(table) => table,
            untouched => {
                let mut table = Keyed::default();
                for row in untouched {
                    if let Some(key) = self.rows.plain_key(row)? {
                        table.put(key, row);
                    }
                }
                table
            }
        };
        for row in input {
            if let Some(key) = self.rows.plain_key(row)? {
                table.remove(key);
            }
        }
        Ok(Some(Accumulated::Merged(table)))
    }
}
