//! The processes of a cluster: a scheduler and executors, which are Ballista's, with the codecs of this crate.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::start_server;
use clap::{Args, Subcommand};
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use env_logger::Env;
use paimon_io::Resources;
use paimon_sql::{
    PaimonLogicalCodec, PaimonPhysicalCodec, SessionRequest, remote_session,
    scheduler_session_state,
};
use tokio::runtime::Runtime;

use super::failure::Failure;
use super::stores::{StoreOption, resources};

/// Seconds between signs of life of an executor.
const HEARTBEAT: u64 = 1;
/// Most bytes of a message between processes: a plan names the files that it reads.
const MESSAGE_BYTES: u32 = 256 << 20;

/// What a process is in a cluster.
#[derive(Debug, Subcommand)]
pub(crate) enum Role {
    /// Plan queries, and deal them out to executors.
    Scheduler(SchedulerArguments),
    /// Run tasks of a scheduler.
    Executor(ExecutorArguments),
}

/// The scheduler.
#[derive(Debug, Args)]
pub(crate) struct SchedulerArguments {
    /// Where clients and executors reach it.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    bind: SocketAddr,
    /// Name of this machine for executors; needed if the address is that of all interfaces.
    #[arg(long)]
    host: Option<String>,
    /// Tasks of an executor that was silent for so many seconds run elsewhere.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    executor_timeout: u64,
    /// An option of an object store, such as s3.region=eu-west-1; may be given several times.
    #[arg(long = "store", value_name = "SCHEME.KEY=VALUE")]
    stores: Vec<StoreOption>,
}

/// An executor.
#[derive(Debug, Args)]
pub(crate) struct ExecutorArguments {
    /// The scheduler.
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: HostPort,
    /// Where clients and other executors fetch rows.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50051")]
    bind: SocketAddr,
    /// Where the scheduler reaches it, at the same address.
    #[arg(long, value_name = "PORT", default_value_t = 50052)]
    control_port: u16,
    /// Name of this machine for the others; that which the scheduler sees by default.
    #[arg(long)]
    host: Option<String>,
    /// Directory for rows that are exchanged between tasks.
    #[arg(long)]
    work_dir: String,
    /// Tasks at once; as many as there are processors by default.
    #[arg(long)]
    cores: Option<usize>,
    /// An option of an object store, such as s3.region=eu-west-1; may be given several times.
    #[arg(long = "store", value_name = "SCHEME.KEY=VALUE")]
    stores: Vec<StoreOption>,
}

/// Host and port of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostPort {
    host: String,
    port: u16,
}

impl FromStr for HostPort {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.rsplit_once(':');
        let parts = parts.and_then(|(host, port)| Some((host, port.parse().ok()?)));
        match parts {
            Some((host, port)) if !host.is_empty() => Ok(Self {
                host: host.to_owned(),
                port,
            }),
            _ => Err("expected HOST:PORT"),
        }
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A session of a client, with settings that suit a cluster.
///
/// # Errors
/// As [`remote_session`].
pub(crate) async fn session(
    request: &SessionRequest,
    scheduler: &HostPort,
) -> datafusion::error::Result<SessionContext> {
    let request = SessionRequest {
        config: SessionConfig::new_with_ballista(),
        ..request.clone()
    };
    remote_session(&request, &scheduler.to_string()).await
}

/// Runs until the process is told to end. What happens is logged to the standard error, as `RUST_LOG` says.
///
/// # Errors
/// Those of starting: an address that is taken, a scheduler that is not there.
pub(crate) fn run(role: Role) -> Result<(), Failure> {
    env_logger::init_from_env(Env::default().default_filter_or("info"));
    let runtime = Runtime::new().map_err(DataFusionError::IoError)?;
    let ended = match role {
        Role::Scheduler(arguments) => {
            let resources = resources(&arguments.stores)?;
            runtime.block_on(schedule(arguments, resources))
        }
        Role::Executor(arguments) => {
            let resources = resources(&arguments.stores)?;
            runtime.block_on(execute(arguments, resources))
        }
    };
    Ok(ended.map_err(BallistaError::into_datafusion)?)
}

async fn schedule(
    arguments: SchedulerArguments,
    resources: Resources,
) -> ballista_core::error::Result<()> {
    let timeout = arguments.executor_timeout;
    let address = arguments.bind.ip();
    if address.is_unspecified() && arguments.host.is_none() {
        let missing =
            "a scheduler at all interfaces needs --host, the name of its machine for executors";
        return Err(BallistaError::Configuration(missing.to_owned()));
    }
    let config = SchedulerConfig {
        external_host: arguments.host.unwrap_or(address.to_string()),
        bind_host: address.to_string(),
        bind_port: arguments.bind.port(),
        scheduling_policy: TaskSchedulingPolicy::PushStaged,
        task_distribution: TaskDistributionPolicy::RoundRobin,
        grpc_server_max_decoding_message_size: MESSAGE_BYTES,
        grpc_server_max_encoding_message_size: MESSAGE_BYTES,
        grpc_client_max_message_size: MESSAGE_BYTES,
        executor_timeout_seconds: timeout,
        expire_dead_executor_interval_seconds: HEARTBEAT,
        no_executors_grace_period_seconds: timeout,
        override_session_builder: Some(Arc::new(scheduler_session_state)),
        override_logical_codec: Some(Arc::new(PaimonLogicalCodec::new(resources.clone()))),
        override_physical_codec: Some(Arc::new(PaimonPhysicalCodec::new(resources))),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, arguments.bind, Arc::new(config)).await
}

async fn execute(
    arguments: ExecutorArguments,
    resources: Resources,
) -> ballista_core::error::Result<()> {
    std::fs::create_dir_all(&arguments.work_dir)?;
    let defaults = ExecutorProcessConfig::default();
    let config = ExecutorProcessConfig {
        bind_host: arguments.bind.ip().to_string(),
        external_host: arguments.host,
        port: arguments.bind.port(),
        grpc_port: arguments.control_port,
        scheduler_host: arguments.scheduler.host,
        scheduler_port: arguments.scheduler.port,
        vcores: arguments.cores.unwrap_or(defaults.vcores),
        task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
        work_dir: Some(arguments.work_dir),
        grpc_max_decoding_message_size: MESSAGE_BYTES,
        grpc_max_encoding_message_size: MESSAGE_BYTES,
        executor_heartbeat_interval_seconds: HEARTBEAT,
        override_logical_codec: Some(Arc::new(PaimonLogicalCodec::new(resources.clone()))),
        override_physical_codec: Some(Arc::new(PaimonPhysicalCodec::new(resources))),
        ..defaults
    };
    start_executor_process(Arc::new(config)).await
}
