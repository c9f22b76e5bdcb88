//! Golden reads as SQL: the same rows as the reference.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use paimon_io::Resources;
use paimon_meta::{DataField, DataType, Error, ErrorKind, Result, TableSchema};
use paimon_plan::{MetadataTable, ResolveRequest, SystemTable, Table};
use paimon_read::{ChangelogTable, block_on};
use paimon_sql::{SessionRequest, Source, session};
use paimon_testkit::{
    GOLDEN_FOUND, GoldenCase, GoldenRead, GoldenRequest, GoldenRows, JsonRow, JsonRows, NotYet,
    Reader, Verdict, check_read,
};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::sql_text::{condition, name, quoted};
use crate::warehouse::{config, resources};

/// Reads by SQL.
struct Sql {
    runtime: Runtime,
    resources: Resources,
    config: SessionConfig,
    /// One session a zone: making them takes longer than most reads.
    sessions: RefCell<BTreeMap<String, SessionContext>>,
}

/// Whether a request can be said in SQL: streams, chosen buckets and partitions, and options that are taken away cannot.
/// Comparisons with a zero mean something else there: `queries.slt` has them.
fn is_sql(request: &GoldenRequest) -> bool {
    request.stream.is_none()
        && !request.kinds
        && request.bucket.is_none()
        && request.partition.is_empty()
        && request.raw_options.values().all(Option::is_some)
        && !request.filter.as_ref().is_some_and(has_zero)
}

/// Whether a condition has a zero among its floating-point numbers.
fn has_zero(condition: &Value) -> bool {
    match condition {
        Value::Array(parts) => parts.iter().any(has_zero),
        Value::Number(number) => number.is_f64() && number.as_f64() == Some(0.0),
        _ => false,
    }
}

/// The read of changes that SQL does: rows that take others back are left out. `None` where the kinds are not known.
fn as_adds(read: &GoldenRead) -> Option<GoldenRead> {
    let mut read = read.clone();
    let request = &mut read.request;
    let mut options = request.options.keys();
    let is_changes = options.any(|key| key.starts_with("incremental-between"));
    if !is_changes || request.system_table.is_some() || request.stream.is_some() {
        return Some(read);
    }
    if let Ok(rows) = &mut read.rows {
        if !request.kinds && !rows.is_empty() {
            return None;
        }
        rows.retain(|row| row.first().is_none_or(|kind| kind == "+I" || kind == "+U"));
        for row in rows.iter_mut().filter(|row| !row.is_empty()) {
            row.remove(0);
        }
    }
    request.kinds = false;
    Some(read)
}

fn of_sql(error: DataFusionError) -> Error {
    let root = error.find_root();
    let own = match root {
        DataFusionError::External(cause) => cause.downcast_ref::<Error>(),
        _ => None,
    };
    own.cloned()
        .unwrap_or_else(|| Error::invalid_input(error.strip_backtrace()))
}

impl Sql {
    fn new(config: SessionConfig) -> Self {
        Self {
            runtime: Runtime::new().unwrap(),
            resources: resources(),
            config,
            sessions: RefCell::default(),
        }
    }

    fn session(&self, request: &GoldenRequest) -> Result<SessionContext> {
        let zone = request.zone.clone().unwrap_or_else(|| "UTC".to_owned());
        if let Some(context) = self.sessions.borrow().get(&zone) {
            return Ok(context.clone());
        }
        let wanted = SessionRequest {
            source: Source {
                resources: self.resources.clone(),
                time_zone: zone.clone(),
            },
            config: self.config.clone(),
            ..SessionRequest::new(self.resources.clone())
        };
        let context = self.runtime.block_on(session(&wanted)).map_err(of_sql)?;
        self.sessions.borrow_mut().insert(zone, context.clone());
        Ok(context)
    }

    /// The columns of what a request reads.
    fn schema(&self, table: &Path, request: &GoldenRequest) -> Result<TableSchema> {
        let which = request.system_table.as_deref().map(SystemTable::parse);
        if let Some(SystemTable::Metadata(which)) = which.clone().transpose()? {
            return Ok(MetadataTable::schema(which));
        }
        let resolve = ResolveRequest {
            options: options(request).collect(),
            branch: request.branch.clone(),
            ..ResolveRequest::default()
        };
        let location = table.display().to_string();
        let table = block_on(Table::resolve(&self.resources, &location, &resolve))?;
        Ok(match which.transpose()? {
            Some(SystemTable::AuditLog) => ChangelogTable::AuditLog.schema(&table.schema),
            Some(SystemTable::Binlog) => ChangelogTable::Binlog.schema(&table.schema),
            _ => table.schema,
        })
    }

    async fn query(
        context: &SessionContext,
        sql: &str,
        fields: &[DataField],
    ) -> Result<Vec<JsonRow>> {
        let frame = context.sql(sql).await.map_err(of_sql)?;
        let batches = frame.collect().await.map_err(of_sql)?;
        let types: Vec<DataType> = fields.iter().map(|field| field.data_type.clone()).collect();
        let mut rows = Vec::new();
        for batch in batches {
            if types.is_empty() {
                rows.extend(vec![JsonRow::new(); batch.num_rows()]);
            } else {
                rows.extend(JsonRows::new(&batch, &types)?.rows()?);
            }
        }
        Ok(rows)
    }
}

fn options(request: &GoldenRequest) -> impl Iterator<Item = (String, Option<String>)> {
    let given = request
        .options
        .iter()
        .map(|(key, value)| (key.clone(), Some(value.clone())));
    let raw = request
        .raw_options
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()));
    raw.chain(given)
}

/// The query of a request.
fn statement(table: &Path, request: &GoldenRequest, schema: &TableSchema) -> String {
    let mut location = table.display().to_string();
    if let Some(branch) = &request.branch {
        location.push_str(&format!("$branch_{branch}"));
    }
    if let Some(system) = &request.system_table {
        location.push_str(&format!("${system}"));
    }
    let options = options(request).filter_map(|(key, value)| Some(format!("{key}={}", value?)));
    let arguments = std::iter::once(location).chain(options);
    let arguments: Vec<String> = arguments.map(|argument| quoted(&argument)).collect();
    let columns = match &request.columns {
        None => "*".to_owned(),
        Some(columns) if columns.is_empty() => "1".to_owned(),
        Some(columns) => columns
            .iter()
            .map(|column| name(column))
            .collect::<Vec<_>>()
            .join(", "),
    };
    let mut sql = format!(
        "SELECT {columns} FROM paimon_table({})",
        arguments.join(", ")
    );
    if let Some(filter) = &request.filter {
        sql.push_str(&format!(" WHERE {}", condition(filter, &schema.fields)));
    }
    if let Some(limit) = request.limit {
        sql.push_str(&format!(" LIMIT {limit}"));
    }
    sql
}

impl Reader for Sql {
    fn rows(&self, table: &Path, request: &GoldenRequest) -> Result<GoldenRows> {
        let schema = self.schema(table, request)?;
        let fields: Vec<DataField> = match &request.columns {
            None => schema.fields.clone(),
            Some(names) => {
                let fields = names.iter().map(|name| schema.field(name).cloned());
                fields.collect::<Result<_>>()?
            }
        };
        let sql = statement(table, request, &schema);
        let context = self.session(request)?;
        let rows = self.runtime.block_on(Self::query(&context, &sql, &fields));
        let rows = rows.map_err(|error| error.with_detail(&sql))?;
        Ok(GoldenRows {
            columns: fields.into_iter().map(|field| field.name).collect(),
            rows,
        })
    }
}

/// All reads that SQL can say, through a session of these settings; which rows a limit leaves is only known where one
/// partition is read after the other.
fn check(config: SessionConfig) {
    let in_order = config.target_partitions() == 1;
    let sql = Sql::new(config);
    let mut cases = GoldenCase::load_all().unwrap();
    cases.extend(GoldenCase::load_from(GOLDEN_FOUND.as_ref()).unwrap());
    let not_yet = NotYet::load().unwrap();
    let (mut same, mut wrong) = (0, Vec::new());
    for case in &cases {
        for (index, read) in case.reads.iter().enumerate() {
            let Some(read) = as_adds(read) else { continue };
            if !is_sql(&read.request) || (read.request.limit.is_some() && !in_order) {
                continue;
            }
            let verdict = check_read(case, &read, &sql);
            match not_yet.judge(&case.case, index, &verdict) {
                Ok(()) => same += usize::from(verdict == Verdict::Same),
                Err(reason) => wrong.push(reason),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} reads:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    // Reads that are not compared at all prove nothing.
    assert!(same > 1500, "{same} reads");
}

#[test]
fn golden_reads_have_the_rows_of_the_reference() {
    check(config(1, 8192));
}

#[test]
fn golden_reads_have_the_same_rows_in_parts_and_small_batches() {
    check(config(3, 2));
}

#[test]
fn an_error_of_the_reader_is_found_below_those_of_datafusion() {
    let error = Error::unsupported("file format csv");
    let error = DataFusionError::External(Box::new(error)).context("while planning");
    assert_eq!(of_sql(error).kind(), ErrorKind::Unsupported);
}
