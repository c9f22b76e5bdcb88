//! `nested_partial_update`: a table inside a row, whose rows are completed field by field.
//!
//! Rule: of rows of one key (`nested-key`, which must be set) each field has its newest value that is not null (ME-130).
//! Nulls: passed over; null rows are dropped; keys with nulls as `nested-key-null-strategy` says (ME-129). Retraction:
//! refused. ARRAY of ROW.
//!
//! The order of rows is open; here it is that of their keys' first appearance.
//! Source: ME section 4.7, `FieldNestedPartialUpdateAgg.java`.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StructArray, UInt32Array};
use arrow_buffer::NullBufferBuilder;
use arrow_row::Row;
use arrow_select::take::take;
use paimon_meta::Result;

use super::column::AggregateColumn;
use super::elements::{Keyed, Lists, build_lists, cannot_build};
use super::fold::{Fold, fold};
use super::nested::{KeyedRows, NestedKey, nested_fields};
use super::versions::{retraction_refused, type_not_declared};
use super::{AggregateFunction, MergeFault, Merged, Versions};

const NAME: &str = "nested_partial_update";

#[derive(Debug)]
struct NestedPartialUpdate {
    key: NestedKey,
}

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    let fields = nested_fields(NAME, column)?;
    let key = NestedKey::new(column, fields)?.ok_or_else(|| {
        let needed = column.key("nested-key");
        column.refuse(format!("aggregate function {NAME} needs {needed}"))
    })?;
    Ok(Box::new(NestedPartialUpdate { key }))
}

impl AggregateFunction for NestedPartialUpdate {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        let (lists, list) = Lists::of_lists(NAME, values)?;
        let keyed = self.key.of(list)?;
        let rows = list.values().as_struct_opt();
        let rows = rows.ok_or_else(|| type_not_declared(NAME, values))?;
        let mut tables = CompletedTables {
            lists,
            keyed: &keyed,
            fields: rows.columns(),
        };
        let mut results = Results::new(rows, versions.group_count());
        fold(&mut tables, values, versions, |table| results.push(table))?;
        results.finish(list)
    }
}

/// Where the fields of a row come from: rows of the child array, `None` for null.
type Sources = Vec<Option<u32>>;

/// What is accumulated.
enum Table<'a> {
    /// As it came.
    Untouched(Range<u32>),
    /// Completed by others.
    Completed(Keyed<'a, Sources>),
}

/// Overwrites what is known of a key, but for nulls.
fn overwrite<'a>(table: &mut Keyed<'a, Sources>, key: Row<'a>, sources: Sources) {
    let Some(known) = table.get_mut(key) else {
        table.put(key, sources);
        return;
    };
    for (known, source) in known.iter_mut().zip(sources) {
        *known = source.or(*known);
    }
}

struct CompletedTables<'a> {
    lists: Lists<'a>,
    keyed: &'a KeyedRows<'a>,
    fields: &'a [ArrayRef],
}

impl<'a> CompletedTables<'a> {
    /// Overwrites what is known of each row's key with the values of the row.
    fn complete(&self, table: &mut Keyed<'a, Sources>, rows: Range<u32>) -> Result<()> {
        for row in rows {
            if let Some(key) = self.keyed.key(row)? {
                let is_valid = |field: &ArrayRef| field.is_valid(row as usize).then_some(row);
                overwrite(table, key, self.fields.iter().map(is_valid).collect());
            }
        }
        Ok(())
    }

    fn completed(&self, table: Option<Table<'a>>) -> Result<Keyed<'a, Sources>> {
        let mut completed = Keyed::default();
        match table {
            Some(Table::Completed(table)) => return Ok(table),
            Some(Table::Untouched(rows)) => self.complete(&mut completed, rows)?,
            None => {}
        }
        Ok(completed)
    }
}

impl<'a> Fold for CompletedTables<'a> {
    type Value = Table<'a>;

    fn value(&self, row: u32) -> Result<Option<Table<'a>>> {
        Ok(self.lists.elements(row).map(Table::Untouched))
    }

    fn add(
        &mut self,
        accumulated: Option<Table<'a>>,
        input: Option<Table<'a>>,
    ) -> Result<Option<Table<'a>>> {
        let Some(input) = input else {
            return Ok(accumulated);
        };
        let mut table = self.completed(accumulated)?;
        match input {
            Table::Untouched(rows) => self.complete(&mut table, rows)?,
            // What was accumulated comes after an older value.
            Table::Completed(newer) => {
                for (key, sources) in newer.into_entries() {
                    overwrite(&mut table, key, sources);
                }
            }
        }
        Ok(Some(Table::Completed(table)))
    }

    fn retract(&mut self, _: Option<Table<'a>>, _: Option<Table<'a>>) -> Result<Option<Table<'a>>> {
        Err(retraction_refused(NAME))
    }
}

/// The rows of all results, field by field.
struct Results<'a> {
    rows: &'a StructArray,
    sources: Vec<Vec<Option<u32>>>,
    row_nulls: NullBufferBuilder,
    lengths: Vec<usize>,
    nulls: NullBufferBuilder,
}

impl<'a> Results<'a> {
    fn new(rows: &'a StructArray, groups: usize) -> Self {
        Self {
            rows,
            sources: vec![Vec::new(); rows.num_columns()],
            row_nulls: NullBufferBuilder::new(groups),
            lengths: Vec::with_capacity(groups),
            nulls: NullBufferBuilder::new(groups),
        }
    }

    fn push(&mut self, table: Option<Table<'_>>) {
        self.nulls.append(table.is_some());
        let before = self.row_nulls.len();
        match table {
            None => {}
            Some(Table::Untouched(rows)) => {
                for row in rows {
                    self.row_nulls.append(self.rows.is_valid(row as usize));
                    self.sources
                        .iter_mut()
                        .for_each(|source| source.push(Some(row)));
                }
            }
            Some(Table::Completed(table)) => {
                for (_, sources) in table.into_entries() {
                    self.row_nulls.append_non_null();
                    let fields = self.sources.iter_mut().zip(sources);
                    fields.for_each(|(field, source)| field.push(source));
                }
            }
        }
        self.lengths.push(self.row_nulls.len() - before);
    }

    fn finish(mut self, list: &ListArray) -> Result<Merged, MergeFault> {
        let length = self.row_nulls.len();
        let sources = self.sources.into_iter().map(UInt32Array::from);
        let columns = self.rows.columns().iter().zip(sources);
        let columns = columns.map(|(column, sources)| take(column, &sources, None));
        let columns = columns
            .collect::<Result<Vec<_>, _>>()
            .map_err(cannot_build)?;
        let fields = self.rows.fields().clone();
        let row_nulls = self.row_nulls.finish();
        let elements = StructArray::try_new_with_length(fields, columns, row_nulls, length);
        let elements = Arc::new(elements.map_err(cannot_build)?);
        build_lists(list, &self.lengths, elements, self.nulls.finish())
    }
}
