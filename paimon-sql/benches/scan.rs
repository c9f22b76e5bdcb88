//! Queries through DataFusion beside own reads of the same columns, both in one thread.
//!
//! `cargo bench -p paimon-sql` runs each pair in turn over `two_runs` and `five_runs`, and prints seconds and their ratio
//! (minimum and median): a busy machine slows both sides alike. `PAIMON_BENCH_KEYS` sets the size of the tables.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench that cannot go on stops, and prints its results"
)]

use std::sync::Arc;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use benches::once;
use benches::setup::{keys, tables};
use datafusion::prelude::SessionConfig;
use futures_util::StreamExt;
use paimon_io::{Caches, ResourceParts, Resources};
use paimon_meta::{Datum, Predicate, StringLayout};
use paimon_plan::{ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, TableReader, block_on, read_blocking};
use paimon_sql::{SessionRequest, open_table, session};
use tokio::runtime::{Builder, Runtime};

/// Rounds of the interleaved measurement.
const ROUNDS: usize = 9;

/// A query, and the columns that it reads.
struct Case {
    name: &'static str,
    sql: &'static str,
    columns: Option<&'static [&'static str]>,
    /// `i1 < 10`, which holds for 1 % of the rows.
    filtered: bool,
}

const CASES: [Case; 3] = [
    Case {
        name: "count(*)",
        sql: "SELECT count(*) FROM t",
        columns: Some(&[]),
        filtered: false,
    },
    Case {
        name: "filtered aggregate",
        sql: "SELECT count(l1), min(l1), max(l1) FROM t WHERE i1 < 10",
        columns: Some(&["l1"]),
        filtered: true,
    },
    Case {
        name: "full scan",
        sql: "SELECT * FROM t",
        columns: None,
        filtered: false,
    },
];

/// Nothing is cached, so that each round does all of the work.
fn resources() -> Resources {
    Resources::new(ResourceParts {
        caches: Caches::disabled(),
        ..ResourceParts::default()
    })
}

/// Rows that the reader gives.
fn own(location: &str, case: &Case, resources: &Resources) -> usize {
    let table = block_on(Table::resolve(
        resources,
        location,
        &ResolveRequest::default(),
    ));
    let table = table.expect("a table");
    let schema = &table.schema;
    let field = schema.field("i1").expect("a column");
    let below = Predicate::lt(field.id, field.data_type.clone(), Datum::Int(10));
    let scan = ScanRequest {
        predicate: case.filtered.then_some(below),
        ..ScanRequest::default()
    };
    let plan = block_on(plan(resources, &table, &scan)).expect("a plan");
    let request = ReadRequest {
        predicate: plan.residual(),
        strings: StringLayout::View,
        ..ReadRequest::default()
    };
    let request = match case.columns {
        Some(columns) => request.with_columns(schema, columns).expect("columns"),
        None => request,
    };
    let reader = TableReader::new(Arc::new(table), request, resources.clone());
    let reader = reader.expect("a reader");
    let splits = (0..plan.len()).map(|split| plan.split(split).expect("a split"));
    let tasks = reader.tasks(splits);
    let mut batches = read_blocking(reader.read_all(tasks).expect("it is supported"));
    let mut rows = 0;
    while let Some(batch) = batches.next_batch() {
        rows += batch.expect("it reads").num_rows();
    }
    rows
}

/// Rows that the query gives, or counts.
async fn query(location: &str, case: &Case, resources: &Resources) -> usize {
    let request = SessionRequest {
        config: SessionConfig::new().with_target_partitions(1),
        ..SessionRequest::new(resources.clone())
    };
    let context = session(&request).await.expect("a session");
    let table = open_table(resources, location, &ResolveRequest::default()).await;
    context
        .register_table("t", table.expect("a table"))
        .expect("a name");
    let frame = context.sql(case.sql).await.expect("SQL");
    let mut batches = frame.execute_stream().await.expect("a plan");
    let mut rows = 0;
    while let Some(batch) = batches.next().await {
        let batch = batch.expect("it reads");
        rows += match case.columns {
            None => batch.num_rows(),
            Some(_) => {
                let count = batch.column(0).as_primitive::<Int64Type>();
                assert_eq!(count.len(), 1);
                usize::try_from(count.value(0)).expect("a count")
            }
        };
    }
    rows
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn seconds(work: impl FnOnce() -> usize) -> (usize, f64) {
    let begin = Instant::now();
    let rows = work();
    (rows, begin.elapsed().as_secs_f64())
}

/// Minimum and median.
fn low(times: &mut [f64]) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

fn measure(title: &str, location: &str, case: &Case, runtime: &Runtime) {
    let resources = resources();
    let (mut reads, mut queries) = (Vec::new(), Vec::new());
    for _ in 0..if once() { 1 } else { ROUNDS } {
        let (read, time) = seconds(|| own(location, case, &resources));
        reads.push(time);
        let (found, time) = seconds(|| runtime.block_on(query(location, case, &resources)));
        queries.push(time);
        assert_eq!(read, found, "{title}: {}", case.name);
    }
    let (read, query) = (low(&mut reads), low(&mut queries));
    println!(
        "{title:32} {:20} read {:.3} ({:.3}) s  SQL {:.3} ({:.3}) s  {:.2}x ({:.2}x)",
        case.name,
        read.0,
        read.1,
        query.0,
        query.1,
        query.0 / read.0,
        query.1 / read.1
    );
}

fn main() {
    let keys = if once() { 20_000 } else { keys() };
    let tables = tables(keys, |title| {
        !title.starts_with("nulls") && title.ends_with("128 MB")
    });
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    for (title, table) in tables.expect("tables can be written") {
        let location = table.path.display().to_string();
        for case in &CASES {
            measure(&title, &location, case, &runtime);
        }
    }
}
