//! The library as a reader of golden tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use futures_util::StreamExt;
use paimon_io::Resources;
use paimon_meta::{DataField, Error, ResolvedTable, Result, Split};
use paimon_plan::{PartitionValue, Plan, ResolveRequest, ScanRequest, SystemTable, Table, plan};
use paimon_read::{BatchStream, ReadRequest, ReadTask, TableReader, block_on};
use paimon_testkit::{
    GoldenCase, GoldenDataSplit, GoldenReader, GoldenRequest, GoldenRows, JsonRow, JsonRows,
    NotYet, Verdict, check_read,
};

use crate::system::{changelog_view, metadata, row_kinds, system_table};

/// One way to read a plan.
#[derive(Clone, Copy, Debug)]
struct Route {
    batch_size: usize,
    /// Tasks read at once; 0 reads one task after the other as one stream.
    at_once: usize,
}

const ROUTES: [Route; 4] = [
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

/// Every read of a case by every route.
pub(crate) fn check_case(case: &GoldenCase, not_yet: &NotYet) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (index, read) in case.reads.iter().enumerate() {
        for route in ROUTES {
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

/// A request that was resolved and planned.
struct Planned {
    resources: Resources,
    table: Arc<ResolvedTable>,
    plan: Plan,
}

impl Library {
    fn plan(&self, case: &GoldenCase, request: &GoldenRequest) -> Result<Planned> {
        refuse(request)?;
        let resources = Resources::local();
        let table = resolve(&resources, case, request)?;
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
        let plan = block_on(plan(&resources, &table, &scan))?;
        Ok(Planned {
            resources,
            table: Arc::new(table),
            plan,
        })
    }
}

/// The table as the request wants it.
fn resolve(
    resources: &Resources,
    case: &GoldenCase,
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
    };
    let location = case.table().display().to_string();
    block_on(Table::resolve(resources, &location, &resolve))
}

/// What neither planner nor reader are asked for yet.
fn refuse(request: &GoldenRequest) -> Result<()> {
    if request.stream.is_some() {
        return Err(Error::unsupported("streaming read"));
    }
    Ok(())
}

impl GoldenReader for Library {
    fn plan(
        &self,
        case: &GoldenCase,
        request: &GoldenRequest,
    ) -> Result<Option<Vec<Vec<GoldenDataSplit>>>> {
        if let Some(SystemTable::Metadata(_)) = system_table(request)? {
            return Ok(None);
        }
        let planned = Self::plan(self, case, request)?;
        let partition = planned.table.schema.partition_fields()?;
        let splits = (0..planned.plan.len()).map(|index| match planned.plan.split(index)? {
            Split::Data(split) => GoldenDataSplit::of(&split, &partition),
            _ => Err(Error::internal("a plan of other splits")),
        });
        Ok(Some(vec![splits.collect::<Result<_>>()?]))
    }

    fn decode(&self, kind: &str, sketch: &[u8]) -> Result<Option<serde_json::Value>> {
        crate::sketches::content(kind, sketch).map(Some)
    }

    fn rows(&self, case: &GoldenCase, request: &GoldenRequest) -> Result<GoldenRows> {
        if let Some(SystemTable::Metadata(which)) = system_table(request)? {
            let resources = Resources::local();
            let table = resolve(&resources, case, request)?;
            let batch_size = self.route.batch_size;
            return metadata(&resources, &table, which, request, batch_size);
        }
        let Planned {
            resources,
            table,
            plan,
        } = Self::plan(self, case, request)?;
        let mut read = ReadRequest {
            predicate: plan.residual(),
            limit: request.limit,
            batch_size: self.route.batch_size,
            row_kinds: row_kinds(request),
            ..ReadRequest::default()
        };
        let view = changelog_view(&table.schema, request, self.route.batch_size)?;
        if let Some(view) = &view {
            read = view.request(plan.residual());
        } else if let Some(columns) = &request.columns {
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
        let reader = TableReader::new(table, read, resources)?;
        let splits = (0..plan.len())
            .map(|index| plan.split(index))
            .collect::<Result<Vec<_>>>()?;
        let tasks = reader.tasks(splits);
        for task in &tasks {
            reader.provider(task)?;
        }
        let streams = match view {
            None => self.streams(&reader, tasks)?,
            Some(view) => tasks
                .into_iter()
                .map(|task| {
                    let streaming = matches!(&task.split, Split::Data(split) if split.streaming);
                    Ok(view.read(reader.read(task)?, streaming))
                })
                .collect::<Result<_>>()?,
        };
        let mut rows = self.read(streams, &fields, request.has_kinds())?;
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
    fn streams(&self, reader: &TableReader, tasks: Vec<ReadTask>) -> Result<Vec<BatchStream>> {
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
