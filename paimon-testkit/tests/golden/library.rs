//! The library as a reader of golden tables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use futures_util::StreamExt;
use paimon_io::{ResourceParts, Resources};
use paimon_meta::{DataField, ResolvedTable, Result, Split};
use paimon_plan::{
    PartitionValue, Plan, ResolveRequest, ScanRequest, StreamScan, StreamStep, SystemTable, Table,
    plan,
};
use paimon_read::{
    BatchStream, ChangelogView, ManifestFormats, ReadRequest, ReadTask, TableReader, block_on,
};
use paimon_testkit::{
    GoldenCase, GoldenRequest, GoldenRows, GoldenSplit, JsonRow, JsonRows, NotYet, Reader, Verdict,
    check_read,
};

use crate::system::{changelog_view, metadata, row_kinds, system_table};

/// One way to read a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    batch_size: usize,
    /// Tasks read at once; 0 reads one task after the other as one stream.
    at_once: usize,
}

pub(crate) const ROUTES: [Route; 4] = [
    Route {
        batch_size: 8192,
        at_once: 0,
    },
    Route {
        batch_size: 1,
        at_once: 1,
    },
    Route {
        batch_size: 7,
        at_once: 3,
    },
    Route {
        batch_size: 8192,
        at_once: 8,
    },
];

/// Every read of a case by each of these routes.
pub(crate) fn check_case(
    case: &GoldenCase,
    not_yet: &NotYet,
    routes: &[Route],
) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (index, read) in case.reads.iter().enumerate() {
        for route in routes.iter().copied() {
            let verdict = check_read(case, read, &Library { route });
            if let Err(reason) = not_yet.judge(&case.case, index, &verdict) {
                wrong.push(format!("{route:?}: {reason}"));
                break;
            }
            if !matches!(verdict, Verdict::Same) {
                break;
            }
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

struct Library {
    route: Route,
}

fn resources() -> Resources {
    Resources::new(ResourceParts {
        manifest_format: Some(Arc::new(ManifestFormats)),
        ..ResourceParts::default()
    })
}

/// A request that was resolved and planned.
struct Planned {
    resources: Resources,
    /// The table to read each plan with.
    plans: Vec<(Arc<ResolvedTable>, Plan)>,
    /// The table as it was resolved.
    table: Arc<ResolvedTable>,
}

impl Library {
    fn plan(&self, location: &Path, request: &GoldenRequest) -> Result<Planned> {
        let resources = resources();
        let table = resolve(&resources, location, request)?;
        let partition = request
            .partition
            .iter()
            .map(|(key, value)| (key.clone(), PartitionValue::Text(value.clone())));
        let partition: BTreeMap<_, _> = partition.collect();
        let scan = ScanRequest {
            predicate: request.predicate(&table.schema.fields)?,
            limit: request.limit,
            partitions: if partition.is_empty() {
                Vec::new()
            } else {
                vec![partition]
            },
            bucket: request.bucket,
            read_optimized: system_table(request)? == Some(SystemTable::ReadOptimized),
            ..ScanRequest::default()
        };
        let table = Arc::new(table);
        let plans = match request.stream {
            None => {
                let plan = block_on(plan(&resources, &table, &scan))?;
                vec![(Arc::clone(&table), plan)]
            }
            Some(most) => streamed(&resources, &table, scan, most)?,
        };
        Ok(Planned {
            resources,
            plans,
            table,
        })
    }
}

/// All plans of a stream that are not empty, up to so many. Its position goes over a wire after each.
fn streamed(
    resources: &Resources,
    table: &ResolvedTable,
    request: ScanRequest,
    most: usize,
) -> Result<Vec<(Arc<ResolvedTable>, Plan)>> {
    let stream = || StreamScan::new(resources.clone(), table.clone(), request.clone());
    let mut scan = stream()?;
    let mut plans = Vec::new();
    while plans.len() < most {
        let StreamStep::Plan(plan) = block_on(scan.next_step())? else {
            break;
        };
        if !plan.is_empty() {
            plans.push((Arc::clone(scan.table()), *plan));
        }
        let position = serde_json::to_string(scan.position()).unwrap();
        scan = stream()?.restored(serde_json::from_str(&position).unwrap());
    }
    Ok(plans)
}

/// The table as the request wants it.
fn resolve(
    resources: &Resources,
    location: &Path,
    request: &GoldenRequest,
) -> Result<ResolvedTable> {
    let mut options: BTreeMap<String, Option<String>> = request.raw_options.clone();
    options.extend(
        request
            .options
            .iter()
            .map(|(key, value)| (key.clone(), Some(value.clone()))),
    );
    let resolve = ResolveRequest {
        options,
        branch: request.branch.clone(),
        time_zone: request.zone.clone().unwrap_or_else(|| "UTC".to_owned()),
        stream: request.stream.is_some(),
    };
    let location = location.display().to_string();
    block_on(Table::resolve(resources, &location, &resolve))
}

impl Reader for Library {
    fn plan(
        &self,
        location: &Path,
        request: &GoldenRequest,
    ) -> Result<Option<Vec<Vec<GoldenSplit>>>> {
        if let Some(SystemTable::Metadata(_)) = system_table(request)? {
            return Ok(None);
        }
        let planned = Self::plan(self, location, request)?;
        let partition = planned.table.schema.partition_fields()?;
        let plans = planned.plans.iter().map(|(_, plan)| {
            let splits =
                (0..plan.len()).map(|index| GoldenSplit::of(&plan.split(index)?, &partition));
            splits.collect::<Result<_>>()
        });
        plans.collect::<Result<_>>().map(Some)
    }

    fn decode(&self, kind: &str, sketch: &[u8]) -> Result<Option<serde_json::Value>> {
        crate::sketches::content(kind, sketch).map(Some)
    }

    fn rows(&self, location: &Path, request: &GoldenRequest) -> Result<GoldenRows> {
        if let Some(SystemTable::Metadata(which)) = system_table(request)? {
            let resources = resources();
            let table = resolve(&resources, location, request)?;
            let batch_size = self.route.batch_size;
            return metadata(&resources, &table, which, request, batch_size);
        }
        let Planned {
            resources,
            plans,
            table,
        } = Self::plan(self, location, request)?;
        let mut read = ReadRequest {
            limit: request.limit,
            batch_size: self.route.batch_size,
            row_kinds: row_kinds(request),
            ..ReadRequest::default()
        };
        let view = changelog_view(&table.schema, request, self.route.batch_size)?;
        if let (None, Some(columns)) = (&view, &request.columns) {
            read = read.with_columns(&table.schema, columns)?;
        }
        let fields: Vec<DataField> = match (&view, &read.projection) {
            (Some(view), _) => view.fields().to_vec(),
            (None, None) => table.schema.fields.clone(),
            (None, Some(ids)) => ids
                .iter()
                .filter_map(|id| table.schema.field_by_id(*id).cloned())
                .collect(),
        };
        let mut rows = Vec::new();
        for (table, plan) in plans {
            let read = match &view {
                Some(view) => view.request(plan.residual()),
                None => ReadRequest {
                    predicate: plan.residual(),
                    ..read.clone()
                },
            };
            let reader = TableReader::new(table, read, resources.clone())?;
            let splits = (0..plan.len())
                .map(|index| plan.split(index))
                .collect::<Result<Vec<_>>>()?;
            let tasks = reader.tasks(splits);
            for task in &tasks {
                reader.provider(task)?;
            }
            let streams = self.streams(&reader, tasks, view.as_ref())?;
            rows.extend(self.read(streams, &fields, request.has_kinds())?);
        }
        if let Some(limit) = request.limit {
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        Ok(GoldenRows {
            columns: fields.into_iter().map(|field| field.name).collect(),
            rows,
        })
    }
}

impl Library {
    fn streams(
        &self,
        reader: &TableReader,
        tasks: Vec<ReadTask>,
        view: Option<&Arc<ChangelogView>>,
    ) -> Result<Vec<BatchStream>> {
        if let Some(view) = view {
            let through = |task: ReadTask| {
                let streaming = match &task.split {
                    Split::Data(split) => split.streaming,
                    Split::Incremental(split) => split.streaming,
                    _ => false,
                };
                Ok(view.read(reader.read(task)?, streaming))
            };
            return tasks.into_iter().map(through).collect();
        }
        if self.route.at_once == 0 {
            return Ok(vec![reader.read_all(tasks)?]);
        }
        tasks
            .into_iter()
            .map(|task| reader.read(over_the_wire(task)))
            .collect()
    }

    fn read(
        &self,
        streams: Vec<BatchStream>,
        fields: &[DataField],
        kinds: bool,
    ) -> Result<Vec<JsonRow>> {
        let schemas: Vec<_> = streams.iter().map(BatchStream::schema).collect();
        let at_once = self.route.at_once.max(1);
        block_on(async {
            let batches = futures_util::stream::iter(streams).flatten_unordered(at_once);
            let mut batches = std::pin::pin!(batches);
            let mut rows = Vec::new();
            while let Some(batch) = batches.next().await {
                let batch = batch?;
                assert!(batch.num_rows() > 0 && batch.num_rows() <= self.route.batch_size);
                assert!(schemas.contains(&batch.schema()));
                rows.extend(json_rows(&batch, fields, kinds)?);
            }
            Ok(rows)
        })
    }
}

/// Tasks are data: reading one that was sent somewhere gives the same rows.
fn over_the_wire(task: ReadTask) -> ReadTask {
    serde_json::from_str(&serde_json::to_string(&task).unwrap()).unwrap()
}

fn json_rows(
    batch: &arrow_array::RecordBatch,
    fields: &[DataField],
    kinds: bool,
) -> Result<Vec<JsonRow>> {
    let types: Vec<_> = fields.iter().map(|field| field.data_type.clone()).collect();
    if !kinds {
        return JsonRows::new(batch, &types)?.rows();
    }
    let columns: Vec<usize> = (1..batch.num_columns()).collect();
    let values = batch.project(&columns).unwrap();
    let kinds = batch
        .column(0)
        .as_primitive::<arrow_array::types::Int8Type>();
    let rows = JsonRows::new(&values, &types)?.with_row_kinds("rowkind", kinds)?;
    rows.rows()
}
