//! A written table in memory, and one read of it by one route.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::Int8Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use paimon_io::{Metrics, ResourceParts, Resources, StoreRegistry};
use paimon_meta::{
    DataField, DataType, Error, ErrorKind, Options, ResolvedTable, Result, Split, StringLayout,
};
use paimon_plan::{Plan, ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, ReadTask, RowKinds, TableReader, block_on, read_blocking};
use paimon_testkit::{
    History, HistoryShape, JsonRow, JsonRows, Layout, Query, QuerySeed, WrittenTable, diff_rows,
    histories, layouts, query_seeds, write_table,
};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

/// What reading refuses by name is no failure of a law; it is counted.
pub(crate) type Refusable<T> = Result<T, Refused>;

/// Why a case proves nothing.
#[derive(Debug)]
pub(crate) struct Refused(
    #[expect(dead_code, reason = "shown when a case fails")] pub(crate) Error,
);

/// A history, written.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) history: History,
    pub(crate) written: WrittenTable,
    pub(crate) store: Arc<InMemory>,
    pub(crate) resources: Resources,
}

/// How a plan is read.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) batch_size: usize,
    pub(crate) window_bytes: usize,
    pub(crate) strings: StringLayout,
    pub(crate) row_kinds: RowKinds,
    /// Tasks are read one by one, the last first.
    pub(crate) backwards: bool,
    /// Plan and tasks go through text.
    pub(crate) serialised: bool,
    /// The planner does not learn of the condition.
    pub(crate) unplanned: bool,
    /// The reader does not learn of the condition.
    pub(crate) unasked: bool,
    /// Splits that are raw are merged nevertheless.
    pub(crate) never_raw: bool,
    /// Tasks are cut into at most so many parts, and these read in their order.
    pub(crate) parts: usize,
    /// Options of the read.
    pub(crate) options: Vec<(&'static str, String)>,
}

impl Default for Route {
    /// Batches of 3 rows, windows of a few.
    fn default() -> Self {
        Self {
            batch_size: 3,
            window_bytes: 7,
            strings: StringLayout::View,
            row_kinds: RowKinds::Drop,
            backwards: false,
            serialised: false,
            unplanned: false,
            unasked: false,
            never_raw: false,
            parts: 1,
            options: Vec::new(),
        }
    }
}

impl Route {
    /// Parts 1, 2 and 8 by the case alone, so that they stay the same while it is made smaller for showing.
    pub(crate) fn in_parts_by(case: &Case) -> Self {
        Self {
            parts: [1, 2, 8][case.history.to_string().len() % 3],
            ..Self::default()
        }
    }
}

impl Case {
    pub(crate) fn new(history: History, layout: &Layout) -> Self {
        let written = write_table(&history, layout).unwrap();
        let store = Arc::new(InMemory::new());
        block_on(written.put(store.as_ref(), "t")).unwrap();
        let registry = StoreRegistry::new();
        let registered = Arc::<InMemory>::clone(&store);
        registry.register("memory://", registered).unwrap();
        Self {
            history,
            written,
            store,
            resources: Resources::new(ResourceParts {
                stores: Arc::new(registry),
                ..ResourceParts::default()
            }),
        }
    }

    /// What was counted over all reads.
    pub(crate) fn metrics(&self) -> &Metrics {
        self.resources.metrics()
    }

    /// Puts a file in the table's directory.
    pub(crate) fn put(&self, path: &str, content: &str) {
        let path = Path::from(format!("t/{path}"));
        block_on(self.store.put(&path, content.to_owned().into())).unwrap();
    }

    /// The columns of the last schema.
    pub(crate) fn fields(&self) -> &[DataField] {
        &self.written.main().unwrap().schema().unwrap().fields
    }

    pub(crate) fn query(&self, seed: &QuerySeed) -> Query {
        seed.of(self.fields())
    }

    /// The rows that a query without limit must give.
    pub(crate) fn answer(&self, query: &Query) -> Vec<JsonRow> {
        let rows = self.written.rows().unwrap();
        query.answer(self.fields(), &rows).unwrap()
    }

    pub(crate) fn resolve(&self, route: &Route) -> Result<ResolvedTable> {
        let options = route.options.iter();
        let options = options.map(|(key, value)| ((*key).to_owned(), Some(value.clone())));
        let request = ResolveRequest {
            options: options.collect(),
            branch: None,
            time_zone: "UTC".to_owned(),
            ..ResolveRequest::default()
        };
        block_on(Table::resolve(&self.resources, "memory:///t", &request))
    }

    pub(crate) fn plan(&self, table: &ResolvedTable, query: &Query, route: &Route) -> Result<Plan> {
        let scan = ScanRequest {
            predicate: if route.unplanned {
                None
            } else {
                query.predicate(&table.schema.fields)?
            },
            limit: query.limit.filter(|_| !route.unplanned),
            ..ScanRequest::default()
        };
        block_on(plan(&self.resources, table, &scan))
    }

    /// The rows of a query.
    pub(crate) fn read(&self, query: &Query, route: &Route) -> Refusable<Vec<JsonRow>> {
        self.try_read(query, route).or_else(refused)
    }

    fn try_read(&self, query: &Query, route: &Route) -> Result<Vec<JsonRow>> {
        let (reader, tasks, types) = self.tasks(query, route)?;
        let mut rows = Vec::new();
        if route.backwards {
            for task in tasks.into_iter().rev() {
                rows.extend(drain(&reader, vec![task], &types)?);
            }
        } else {
            rows = drain(&reader, tasks, &types)?;
        }
        Ok(rows)
    }

    /// The reader of a query, its tasks, and the types of its columns.
    pub(crate) fn tasks(
        &self,
        query: &Query,
        route: &Route,
    ) -> Result<(TableReader, Vec<ReadTask>, Vec<DataType>)> {
        let table = self.resolve(route)?;
        let mut plan = self.plan(&table, query, route)?;
        if route.serialised {
            plan = through_text(&plan);
        }
        let predicate = if route.unplanned {
            query.predicate(&table.schema.fields)?
        } else {
            plan.residual().filter(|_| !route.unasked)
        };
        let mut request = ReadRequest {
            predicate,
            limit: query.limit,
            batch_size: route.batch_size,
            window_bytes: route.window_bytes,
            strings: route.strings,
            row_kinds: route.row_kinds,
            ..ReadRequest::default()
        };
        if let Some(columns) = &query.columns {
            request = request.with_columns(&table.schema, columns)?;
        }
        let types = types_of(&table, &request)?;
        let reader = TableReader::new(Arc::new(table), request, self.resources.clone())?;
        let splits = (0..plan.len()).map(|index| plan.split(index));
        let mut tasks = reader.tasks(splits.collect::<Result<Vec<_>>>()?);
        if route.serialised {
            tasks = through_text(&tasks);
        }
        if route.never_raw {
            tasks.iter_mut().for_each(merge_it);
        }
        if let Some(parts) = NonZeroUsize::new(route.parts).filter(|parts| parts.get() > 1) {
            let whole = tasks.into_iter();
            let parts = whole.map(|task| block_on(reader.subdivide(task, parts)));
            tasks = parts.collect::<Result<Vec<_>>>()?.concat();
        }
        Ok((reader, tasks, types))
    }
}

pub(crate) fn refused<T>(error: Error) -> Refusable<T> {
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error:?}");
    Err(Refused(error))
}

/// What another process would get.
pub(crate) fn through_text<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

fn merge_it(task: &mut ReadTask) {
    if let Split::Data(split) = &mut task.split {
        split.raw_convertible = false;
    }
}

fn types_of(table: &ResolvedTable, request: &ReadRequest) -> Result<Vec<DataType>> {
    let fields = &table.schema.fields;
    Ok(match &request.projection {
        None => fields.iter().map(|field| field.data_type.clone()).collect(),
        Some(ids) => {
            let fields = ids.iter().map(|id| table.schema.field_by_id(*id));
            fields
                .map(|field| field.unwrap().data_type.clone())
                .collect()
        }
    })
}

/// All rows of tasks. Kinds, where they are kept, come first as text.
pub(crate) fn drain(
    reader: &TableReader,
    tasks: Vec<ReadTask>,
    types: &[DataType],
) -> Result<Vec<JsonRow>> {
    let request = &reader.context().request;
    let mut batches = read_blocking(reader.read_all(tasks)?);
    let mut rows = Vec::new();
    while let Some(batch) = batches.next_batch() {
        let batch = batch?;
        assert!((1..=request.batch_size).contains(&batch.num_rows()));
        if request.row_kinds == RowKinds::Keep {
            let kinds: Int8Array = batch.column(0).as_primitive::<Int8Type>().clone();
            let values = batch
                .project(&(1..batch.num_columns()).collect::<Vec<_>>())
                .unwrap();
            let json = JsonRows::new(&values, types)?.with_row_kinds("kind", &kinds)?;
            rows.extend(json.rows()?);
        } else {
            rows.extend(JsonRows::new(&batch, types)?.rows()?);
        }
    }
    Ok(rows)
}

/// Types of the columns of a query's rows.
pub(crate) fn query_types(case: &Case, query: &Query) -> Vec<DataType> {
    let fields = case.fields();
    let all = || {
        fields
            .iter()
            .map(|field| field.name.clone())
            .collect::<Vec<_>>()
    };
    let names = query.columns.clone().unwrap_or_else(all);
    let field = |name: &String| fields.iter().find(|field| field.name == *name).unwrap();
    names
        .iter()
        .map(|name| field(name).data_type.clone())
        .collect()
}

/// Fails with the difference and the history if rows differ.
pub(crate) fn same(
    case: &Case,
    query: &Query,
    expected: &[JsonRow],
    found: &[JsonRow],
) -> Result<(), TestCaseError> {
    let types = query_types(case, query);
    match diff_rows(&types.iter().collect::<Vec<_>>(), expected, found) {
        None => Ok(()),
        Some(diff) => Err(TestCaseError::fail(format!(
            "{diff}\nquery {query:?}\n{}",
            case.history
        ))),
    }
}

/// Number of cases of a law.
#[expect(
    clippy::disallowed_methods,
    reason = "tests are told how much to do by their environment"
)]
pub(crate) fn cases() -> u32 {
    let cases = std::env::var("PAIMON_LAW_CASES").ok();
    cases.map_or(256, |cases| cases.parse().unwrap())
}

/// The same numbers in every run, so that a run says the same twice; others with another `PAIMON_LAW_SEED`.
#[expect(
    clippy::disallowed_methods,
    reason = "a test is told its seed by its environment"
)]
pub(crate) fn numbers() -> TestRng {
    let seed = std::env::var("PAIMON_LAW_SEED").ok();
    let seed: u64 = seed.map_or(0, |seed| seed.parse().unwrap());
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// Runs a law over random histories, layouts and queries.
pub(crate) fn law(
    source: &'static str,
    shape: HistoryShape,
    law: impl Fn(&Case, &Query) -> Result<Refusable<()>, TestCaseError>,
) {
    let config = ProptestConfig {
        cases: cases(),
        source_file: Some(source),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, numbers());
    let input = (histories(shape), layouts(), query_seeds());
    let counts = std::cell::RefCell::new(BTreeMap::<&str, u32>::new());
    let outcome = runner.run(&input, |(history, layout, seed)| {
        let case = Case::new(history, &layout);
        let query = case.query(&seed);
        let proved = law(&case, &query)?;
        let what = if proved.is_ok() { "proved" } else { "refused" };
        *counts.borrow_mut().entry(what).or_default() += 1;
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let counts = counts.into_inner();
    let (proved, refused) = (counts.get("proved"), counts.get("refused"));
    let (proved, refused) = (*proved.unwrap_or(&0), *refused.unwrap_or(&0));
    assert!(
        f64::from(proved) >= 0.7 * f64::from(proved + refused),
        "{proved} proved, {refused} refused"
    );
}

/// Options of the last schema.
pub(crate) fn options(case: &Case) -> Options {
    Options(
        case.written
            .main()
            .unwrap()
            .schema()
            .unwrap()
            .options
            .clone(),
    )
}

/// The history with something else in its JSON form.
pub(crate) fn rewritten(history: &History, rewrite: impl FnOnce(&mut Value)) -> History {
    let mut text = serde_json::to_value(history).unwrap();
    rewrite(&mut text);
    History::from_json(text.to_string().as_bytes()).unwrap()
}
