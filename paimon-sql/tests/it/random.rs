//! Random queries over tables of random histories: the answer is that of the same query over the oracle's rows in memory.

use std::cell::Cell;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::datasource::MemTable;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use object_store::memory::InMemory;
use paimon_io::{ResourceParts, Resources, StoreRegistry};
use paimon_meta::{DataField, Datum, Error, StringLayout, TypeKind, array_of};
use paimon_plan::ResolveRequest;
use paimon_sql::{open_table, physical_optimizer_rules};
use paimon_testkit::{
    History, HistoryShape, JsonRow, Layout, Query, QuerySeed, histories, layouts, query_seeds,
    write_table,
};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::sql_text::{condition, is_float, name};
use crate::warehouse::{config, plan, rows};

/// What is asked of a table, beside columns, condition and limit.
#[derive(Clone, Debug)]
struct Shape {
    /// Which sort of query.
    sort: u8,
    /// Columns to group, order, join and compute by.
    columns: [u8; 3],
    offset: u8,
    descending: bool,
    partitions: usize,
    batch_size: usize,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let sizes = (1..=4_usize, prop_oneof![Just(1_usize), Just(3), Just(8192)]);
    let choice = (0..13_u8, any::<[u8; 3]>(), 0..5_u8, any::<bool>());
    (choice, sizes).prop_map(
        |((sort, columns, offset, descending), (partitions, batch_size))| Shape {
            sort,
            columns,
            offset,
            descending,
            partitions,
            batch_size,
        },
    )
}

/// A query and how its answer is compared.
struct Asked {
    sql: String,
    /// Rows come in an order that the query fixes.
    ordered: bool,
    /// So many of the rows of this query are an answer.
    some_of: Option<(String, usize)>,
}

impl Asked {
    fn all(sql: String) -> Self {
        Self {
            sql,
            ordered: false,
            some_of: None,
        }
    }

    fn ordered(sql: String) -> Self {
        Self {
            sql,
            ordered: true,
            some_of: None,
        }
    }
}

/// What queries are made of.
struct Words<'a> {
    /// Columns with commas between.
    columns: String,
    /// ` WHERE …`, or empty.
    filter: String,
    /// Columns to group and compute by.
    by: [(String, &'a DataField); 3],
    /// An order of rows.
    order: &'a str,
    limit: u64,
}

impl<'a> Words<'a> {
    fn new(query: &Query, shape: &Shape, tables: &'a Tables) -> Self {
        let fields = &tables.fields;
        let filter = query.filter.as_ref();
        let filter = filter.map(|filter| format!(" WHERE {}", condition(filter, fields)));
        let columns: Vec<String> = match query.columns.as_deref() {
            None | Some([]) => fields.iter().map(|field| name(&field.name)).collect(),
            Some(names) => names.iter().map(|column| name(column)).collect(),
        };
        Self {
            columns: columns.join(", "),
            filter: filter.unwrap_or_default(),
            by: shape.columns.map(|seed| {
                let field = &fields[usize::from(seed) % fields.len()];
                (name(&field.name), field)
            }),
            order: &tables.order,
            limit: query.limit.unwrap_or(3),
        }
    }

    fn grouped(&self, least: u8) -> String {
        let ([(a, _), (b, field), _], filter) = (&self.by, &self.filter);
        let sum = match field.data_type.kind.integer_bits() {
            Some(bits) if bits < 64 => format!(", sum({b})"),
            _ => String::new(),
        };
        let (min, max) = (self.extreme("min", 1), self.extreme("max", 2));
        format!(
            "SELECT {a}, count(*), count({b}), {min}, {max}{sum} FROM t{filter} GROUP BY {a} HAVING count(*) > {least}"
        )
    }

    /// The least or greatest value of a column. Of floating-point numbers it depends on the order of rows where NaN or a
    /// negative zero are among them, so these are counted.
    fn extreme(&self, function: &str, at: usize) -> String {
        let (column, field) = &self.by[at];
        let function_of = if is_float(&field.data_type) {
            "count"
        } else {
            function
        };
        format!("{function_of}({column}) AS {function}")
    }

    fn ordered(&self, shape: &Shape) -> String {
        let (columns, filter) = (&self.columns, &self.filter);
        let first = self.first(shape);
        format!("SELECT {columns} FROM t{filter} {first}")
    }

    /// ` ORDER BY … LIMIT … OFFSET …`, by all columns that are selected.
    fn first(&self, shape: &Shape) -> String {
        let direction = if shape.descending { "DESC" } else { "ASC" };
        let order = self.columns.replace(", ", &format!(" {direction}, "));
        let (limit, offset) = (self.limit, shape.offset);
        format!("ORDER BY {order} {direction} LIMIT {limit} OFFSET {offset}")
    }

    /// Limits below limits, each with one answer: it takes all rows, or those that an order fixes.
    fn nested(&self, shape: &Shape) -> String {
        let (columns, filter, limit) = (&self.columns, &self.filter, self.limit);
        let [(a, field), ..] = &self.by;
        let by_key = format!("ORDER BY {}", self.order);
        let some = format!("{by_key} LIMIT {} OFFSET {}", 2 * limit, shape.offset);
        let first = match shape.descending {
            true => self.first(shape),
            false => format!("{by_key} LIMIT {limit} OFFSET {}", shape.offset),
        };
        let rows = format!("(SELECT * FROM t{filter})");
        // No filter goes below this one.
        let volatile = format!("{rows} WHERE random() >= 0");
        match shape.sort {
            8 => {
                let computed = computed(a, field);
                let all = format!("SELECT * FROM {volatile} LIMIT 100000");
                format!("SELECT {columns} FROM ({all}) WHERE {computed} {first}")
            }
            9 => format!("SELECT {columns}, count(*) OVER () AS n FROM {rows} {first}"),
            10 => format!("SELECT {columns} FROM (SELECT * FROM {volatile} {some}) {first}"),
            11 => format!(
                "SELECT {columns} FROM (SELECT * FROM t {some}) UNION ALL (SELECT {columns} FROM {volatile} {first})"
            ),
            // Every NaN joins with itself alone where its bits are others.
            12 if !is_float(&field.data_type) => format!(
                "SELECT {columns} FROM (SELECT * FROM {volatile} {by_key} LIMIT {limit}) WHERE {a} IN (SELECT {a} FROM {rows} {by_key} DESC LIMIT 5)"
            ),
            _ => format!(
                "SELECT {columns} FROM (SELECT * FROM {volatile} {by_key} OFFSET 3) {first}"
            ),
        }
    }
}

/// The query of seeds over these columns.
fn asked(query: &Query, shape: &Shape, tables: &Tables) -> Asked {
    let words = Words::new(query, shape, tables);
    let (columns, filter, limit) = (&words.columns, &words.filter, words.limit);
    let [(a, field), (b, _), _] = &words.by;
    let (min, max) = (words.extreme("min", 0), words.extreme("max", 0));
    match shape.sort {
        0 => Asked::all(format!("SELECT {columns} FROM t{filter}")),
        1 => Asked::ordered(words.ordered(shape)),
        2 => Asked::all(words.grouped(shape.offset % 2)),
        3 => Asked::all(format!(
            "SELECT count(*), count({a}), {min}, {max}, count(DISTINCT {b}) FROM t{filter}"
        )),
        4 => Asked::all(format!(
            "SELECT count(*), {min}, {} FROM t",
            words.extreme("max", 1)
        )),
        // Every NaN joins with itself alone where its bits are others, as in sums.
        5 if !is_float(&field.data_type) => Asked::all(format!(
            "SELECT x.{a}, count(*) FROM t x JOIN (SELECT DISTINCT {a} FROM t{filter}) y ON x.{a} = y.{a} GROUP BY x.{a}"
        )),
        6 => {
            let computed = computed(a, field);
            let filter = match filter.as_str() {
                "" => format!(" WHERE {computed}"),
                filter => format!("{filter} AND {computed}"),
            };
            let columns = if a == b {
                a.clone()
            } else {
                format!("{a}, {b}")
            };
            Asked::all(format!("SELECT DISTINCT {columns} FROM t{filter}"))
        }
        8..=10 => Asked::ordered(words.nested(shape)),
        11..=12 => Asked::all(words.nested(shape)),
        _ => {
            let all = format!("SELECT {columns} FROM t{filter}");
            Asked {
                sql: format!("{all} LIMIT {limit}"),
                ordered: false,
                some_of: Some((all, usize::try_from(limit).unwrap())),
            }
        }
    }
}

/// A condition that no predicate of the reader can say.
fn computed(column: &str, field: &DataField) -> String {
    match &field.data_type.kind {
        kind if kind.integer_bits().is_some() => format!("{column} % 3 <> 1"),
        TypeKind::Char(_) | TypeKind::VarChar(_) => format!("length({column}) % 2 = 0"),
        _ => format!("({column} is null) <> (1 > 2)"),
    }
}

/// The rows of the oracle as a table in memory.
fn memory_table(rows: &[JsonRow], all: &[DataField], fields: &[DataField]) -> Arc<MemTable> {
    let place = |field: &DataField| all.iter().position(|one| one.id == field.id).unwrap();
    let arrays = fields.iter().map(|field| {
        let arrow = field.data_type.to_arrow(StringLayout::View).unwrap();
        let values = rows.iter().map(|row| datum(&row[place(field)], field));
        let values: Vec<Option<Datum>> = values.collect();
        array_of(values.iter().map(Option::as_ref), &arrow).unwrap()
    });
    let arrays: Vec<ArrayRef> = arrays.collect();
    let columns = fields.iter().zip(&arrays);
    let columns =
        columns.map(|(field, array)| Field::new(&field.name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(columns.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options).unwrap();
    Arc::new(MemTable::try_new(schema, vec![vec![batch]]).unwrap())
}

fn datum(value: &Value, field: &DataField) -> Option<Datum> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    Some(Datum::parse(&text, &field.data_type).unwrap())
}

/// Each row as texts, in an order of their own unless the query has one.
fn shown(batches: &[RecordBatch], ordered: bool) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter().map(|column| cell(column, row));
            rows.push(cells.collect());
        }
    }
    if !ordered {
        rows.sort_unstable();
    }
    rows
}

fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "null".to_owned();
    }
    let text = array_value_to_string(column, row).unwrap();
    match column.data_type() {
        // Counts of other widths are the same.
        ArrowType::Utf8 | ArrowType::Utf8View => format!("'{text}'"),
        _ => text,
    }
}

/// A session with the rules of this crate, so that tables declare the order of their keys.
fn with_rules(config: SessionConfig) -> SessionContext {
    let builder = SessionStateBuilder::new_with_default_features().with_config(config);
    let rules = physical_optimizer_rules();
    SessionContext::new_with_state(builder.with_physical_optimizer_rules(rules).build())
}

/// A table of a history and the same rows in memory.
struct Tables {
    paimon: SessionContext,
    memory: SessionContext,
    fields: Vec<DataField>,
    /// An order of rows: by the key, as scans keep it, or by all columns.
    order: String,
}

impl Tables {
    /// `None` for tables without a column of single values.
    async fn new(
        history: &History,
        layout: &Layout,
        config: &SessionConfig,
    ) -> Result<Option<Self>, Error> {
        let written = write_table(history, layout)?;
        let store = Arc::new(InMemory::new());
        written.put(store.as_ref(), "t").await?;
        let registry = StoreRegistry::new();
        registry.register("memory://", store)?;
        let resources = Resources::new(ResourceParts {
            stores: Arc::new(registry),
            ..ResourceParts::default()
        });
        let schema = written.main()?.schema()?;
        let all = &schema.fields;
        let fields = all.iter().filter(|field| field.data_type.kind.is_scalar());
        let fields: Vec<DataField> = fields.cloned().collect();
        if fields.is_empty() {
            return Ok(None);
        }
        let keys = schema.primary_keys.iter();
        let (partition, key): (Vec<_>, Vec<_>) =
            keys.partition(|key| schema.partition_keys.contains(key));
        let names: Vec<String> = match schema.primary_keys.is_empty() {
            true => fields.iter().map(|field| name(&field.name)).collect(),
            false => key
                .into_iter()
                .chain(partition)
                .map(|key| name(key))
                .collect(),
        };
        let paimon = with_rules(config.clone());
        let request = ResolveRequest::default();
        let table = open_table(&resources, "memory:///t", &request);
        paimon.register_table("t", table.await.unwrap()).unwrap();
        let memory = with_rules(config.clone().with_target_partitions(1));
        let rows = memory_table(&written.rows()?, all, &fields);
        memory.register_table("t", rows).unwrap();
        Ok(Some(Self {
            paimon,
            memory,
            fields,
            order: names.join(", "),
        }))
    }

    /// Fails where the answers differ; `false` where the reader does not read the table.
    async fn compare(&self, asked: &Asked) -> Result<bool, TestCaseError> {
        let found = match rows(&self.paimon, &asked.sql).await {
            Ok(found) => found,
            Err(error) if error.to_string().contains("not supported") => return Ok(false),
            Err(error) => return Err(TestCaseError::fail(format!("{}: {error}", asked.sql))),
        };
        let expected = match &asked.some_of {
            None => rows(&self.memory, &asked.sql).await,
            Some((all, _)) => rows(&self.memory, all).await,
        };
        let expected = shown(&expected.unwrap(), asked.ordered);
        let found = shown(&found, asked.ordered);
        let differ = match &asked.some_of {
            None => found != expected,
            Some((_, limit)) => {
                found.len() != expected.len().min(*limit) || !is_part(&found, &expected)
            }
        };
        if differ {
            let (sql, plan) = (&asked.sql, plan(&self.paimon, &asked.sql).await);
            let message = format!("{sql}\n{plan}found {found:?}\nexpected {expected:?}");
            return Err(TestCaseError::fail(message));
        }
        Ok(true)
    }
}

/// Whether all rows of a sorted list are in another one, as often.
fn is_part(some: &[Vec<String>], all: &[Vec<String>]) -> bool {
    let mut all = all.iter();
    some.iter().all(|row| all.any(|other| other == row))
}

/// Number of cases.
#[expect(
    clippy::disallowed_methods,
    reason = "tests are told how much to do by their environment"
)]
fn cases() -> u32 {
    let cases = std::env::var("PAIMON_LAW_CASES").ok();
    cases.map_or(256, |cases| cases.parse().unwrap())
}

#[test]
fn random_queries_answer_as_over_the_rows_of_the_oracle() {
    let runtime = Runtime::new().unwrap();
    let settings = ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let numbers = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(settings, numbers);
    let queries = prop::collection::vec((query_seeds(), shapes()), 6);
    let input = (histories(HistoryShape::ALL), layouts(), queries);
    let (proved, refused) = (Cell::new(0), Cell::new(0));
    let outcome = runner.run(&input, |(history, layout, queries)| {
        let settings = config(queries[0].1.partitions, queries[0].1.batch_size);
        let tables = runtime
            .block_on(Tables::new(&history, &layout, &settings))
            .unwrap();
        let Some(tables) = tables else {
            return Ok(());
        };
        for (seed, shape) in &queries {
            let query = QuerySeed::of(seed, &tables.fields);
            let asked = asked(&query, shape, &tables);
            let same = runtime.block_on(tables.compare(&asked));
            let same = same.map_err(|error| TestCaseError::fail(format!("{error}\n{history}")))?;
            let count = if same { &proved } else { &refused };
            count.set(count.get() + 1);
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let (proved, refused) = (proved.get(), refused.get());
    assert!(proved >= 4 * refused, "{proved} proved, {refused} refused");
}
