//! Planning: manifests in memory to splits, on one core, and how many bytes of heap a file takes after.
//!
//! `PLAN_ENTRIES=1000000 cargo bench -p benches --bench plan`.

#![expect(
    clippy::expect_used,
    reason = "a bench that fails has nothing to report"
)]

use std::sync::Arc;

use benches::once;
use benches::table::{Files, table};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures::executor::block_on;
use paimon_io::{Caches, ResourceParts, Resources, StoreRegistry};
use paimon_meta::{Datum, Predicate, ResolvedTable};
use paimon_plan::{Plan, ResolveRequest, ScanRequest, Table, plan};

fn entries() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "size of the bench, by the caller of cargo"
    )]
    let entries = std::env::var("PLAN_ENTRIES");
    let default = if once() { 2_000 } else { 100_000 };
    entries.map_or(default, |entries| {
        entries.parse().expect("a number of entries")
    })
}

/// A table whose metadata is in memory, and nothing cached.
struct Prepared {
    resources: Resources,
    table: ResolvedTable,
}

#[expect(clippy::disallowed_methods, reason = "a bench has no runtime")]
fn run<F: Future>(future: F) -> F::Output {
    block_on(future)
}

impl Prepared {
    fn new(files: Files) -> Self {
        let registry = StoreRegistry::new();
        let store = run(table(files)).expect("a table");
        registry.register("memory://bench", store).expect("a store");
        let resources = Resources::new(ResourceParts {
            stores: Arc::new(registry),
            caches: Caches::disabled(),
            ..ResourceParts::default()
        });
        let request = ResolveRequest::default();
        let table = run(Table::resolve(&resources, "memory://bench/table", &request));
        let table = table.expect("a table");
        Self { resources, table }
    }

    fn plan(&self, request: &ScanRequest) -> Plan {
        run(plan(&self.resources, &self.table, request)).expect("a plan")
    }

    fn equals(&self, column: &str, value: Datum) -> ScanRequest {
        let field = self.table.schema.field(column).expect("a column");
        let predicate = Predicate::eq(field.id, field.data_type.clone(), value);
        ScanRequest {
            predicate: Some(predicate),
            ..ScanRequest::default()
        }
    }
}

fn planning(criterion: &mut Criterion) {
    let entries = entries();
    let files = Files {
        added: entries,
        deleted: 0,
        level_zero_each: 0,
    };
    let raw = Prepared::new(files);
    let merged = Prepared::new(Files {
        level_zero_each: 10,
        ..files
    });
    let deleted = Prepared::new(Files {
        deleted: entries / 10,
        ..files
    });
    let everything = ScanRequest::default();
    let statistics = ScanRequest {
        keep_statistics: true,
        ..ScanRequest::default()
    };
    let no_value = raw.equals("c1", Datum::BigInt(-1));
    let one_day = raw.equals("dt", Datum::String("20240512".to_owned()));
    let cases = [
        ("raw buckets", &raw, &everything),
        ("a tenth on level 0", &merged, &everything),
        ("a tenth deleted", &deleted, &everything),
        ("value filter that nothing matches", &raw, &no_value),
        ("one of twenty partitions", &raw, &one_day),
        ("statistics kept", &raw, &statistics),
    ];
    let mut group = criterion.benchmark_group("plan");
    group
        .throughput(Throughput::Elements(entries))
        .sample_size(10);
    for (name, prepared, request) in cases {
        report(name, &prepared.plan(request));
        group.bench_function(name, |bench| bench.iter(|| prepared.plan(request)));
    }
    group.finish();
}

#[expect(
    clippy::print_stdout,
    reason = "a bench reports on the standard output"
)]
fn report(name: &str, plan: &Plan) {
    let files = plan.files().len();
    let bytes = plan.heap_bytes() / files.max(1);
    println!(
        "{name}: {files} files in {} splits, {bytes} bytes of heap a file",
        plan.len()
    );
}

criterion_group!(benches, planning);
criterion_main!(benches);
