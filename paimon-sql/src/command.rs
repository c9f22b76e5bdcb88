//! Arguments and statements.

#[cfg(feature = "ballista")]
mod cluster;
mod failure;
mod output;
mod progress;
mod read_only;
mod stores;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arrow_array::timezone::Tz;
use clap::Parser;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::DFParser;
use futures_util::StreamExt;
use paimon_sql::{SessionRequest, Source};
use tokio::runtime::Runtime;

use failure::Failure;
use output::{Format, Output};
use progress::Progress;
use stores::{StoreOption, resources};

/// SQL over Apache Paimon tables.
///
/// Tables are named database.table in the warehouse, "table$files" and the like are its system tables, and
/// `paimon_table('path', 'option=value', …)` is any table by its path, with options such as scan.snapshot-id.
#[derive(Debug, Parser)]
#[command(name = "paimon-sql", version)]
#[cfg_attr(
    feature = "ballista",
    command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)
)]
struct Arguments {
    #[cfg(feature = "ballista")]
    #[command(subcommand)]
    role: Option<cluster::Role>,
    /// Run queries on the executors of this scheduler.
    #[cfg(feature = "ballista")]
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: Option<cluster::HostPort>,
    /// Statements, separated by semicolons.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    sql: Option<String>,
    /// A file of statements.
    #[arg(short, long)]
    file: Option<PathBuf>,
    /// Directory of databases: folders name.db, whose tables are called name.table.
    #[arg(long)]
    warehouse: Option<String>,
    /// How rows are written.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Zone of scan.timestamp, of other times in options, and of the times that system tables show. Times in SQL are UTC
    /// unless they have an offset.
    #[arg(long, default_value = "UTC")]
    time_zone: String,
    /// An option of an object store, such as s3.region=eu-west-1; may be given several times.
    #[arg(long = "store", value_name = "SCHEME.KEY=VALUE")]
    stores: Vec<StoreOption>,
}

pub(crate) fn main() -> ExitCode {
    let role = std::env::args_os().nth(1);
    if !cfg!(feature = "ballista")
        && let Some(role @ ("scheduler" | "executor")) = role.as_deref().and_then(OsStr::to_str)
    {
        return Failure::usage(&format!("{role}: built without the feature ballista")).tell();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _gone = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(),
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    #[cfg(feature = "ballista")]
    if let Some(role) = arguments.role {
        return cluster::run(role);
    }
    let sql = match (arguments.sql, &arguments.file) {
        (Some(sql), _) => sql,
        (None, Some(file)) => {
            let unread = |error| Failure::input(&file.display().to_string(), error);
            fs::read_to_string(file).map_err(unread)?
        }
        (None, None) => String::new(),
    };
    let statements = DFParser::parse_sql(&sql)?;
    if arguments.format == Format::Parquet && statements.len() > 1 {
        return Err(Failure::usage(
            "a Parquet file holds the rows of one statement",
        ));
    }
    let resources = resources(&arguments.stores)?;
    let time_zone = known_zone(arguments.time_zone)?;
    let warehouse = arguments.warehouse.as_deref().map(location);
    let request = SessionRequest {
        source: Source {
            resources: resources.clone(),
            time_zone,
        },
        warehouse: warehouse.transpose()?,
        directory: Some(location(".")?),
        ..SessionRequest::new(resources.clone())
    };
    let runtime = Runtime::new().map_err(DataFusionError::IoError)?;
    runtime.block_on(async {
        #[cfg(feature = "ballista")]
        let context = match &arguments.scheduler {
            Some(scheduler) => cluster::session(&request, scheduler).await?,
            None => paimon_sql::session(&request).await?,
        };
        #[cfg(not(feature = "ballista"))]
        let context = paimon_sql::session(&request).await?;
        for statement in statements {
            let has_warehouse = request.warehouse.is_some();
            if has_warehouse {
                read_only::verify_statement(&statement)?;
            }
            let plan = context.state().statement_to_plan(statement).await?;
            if has_warehouse {
                read_only::verify(&context, &plan)?;
            }
            // Nothing is written, wherever it would go.
            SQLOptions::new().with_allow_dml(false).verify_plan(&plan)?;
            let progress = Progress::new(&resources);
            execute(&context, plan, arguments.format, progress).await?;
        }
        Ok(())
    })
}

async fn execute(
    context: &SessionContext,
    plan: LogicalPlan,
    format: Format,
    mut progress: Progress,
) -> Result<(), Failure> {
    let frame = context.execute_logical_plan(plan).await?;
    let mut batches = frame.execute_stream().await?;
    let mut output = Output::new(format, &batches.schema())?;
    while let Some(batch) = progress.during(batches.next()).await {
        output.write(&batch?)?;
        if output.is_gone() {
            return Ok(());
        }
    }
    drop(progress);
    output.finish()
}

/// A zone that there is.
///
/// # Errors
/// Usage for any other.
fn known_zone(text: String) -> Result<String, Failure> {
    if text == "Z" || text.parse::<Tz>().is_ok() {
        return Ok(text);
    }
    Err(Failure::usage(&format!(
        "--time-zone {text}: expected an IANA name such as Europe/Berlin, or an offset such as +08:00"
    )))
}

/// The location of a directory: a URL as it is, a path made absolute.
///
/// # Errors
/// Usage for a path that cannot be made absolute.
fn location(text: &str) -> Result<String, Failure> {
    if text.contains(":/") {
        return Ok(text.to_owned());
    }
    let absolute = std::path::absolute(Path::new(text));
    let absolute = absolute
        .ok()
        .and_then(|path| path.into_os_string().into_string().ok());
    absolute.ok_or_else(|| Failure::usage(&format!("{text:?} is no path of a directory")))
}
