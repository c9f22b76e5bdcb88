//! A scheduler and executors as processes of this machine.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use paimon_testkit::{History, Layout, write_table};
use tempfile::TempDir;

const PAUSE: Duration = Duration::from_millis(20);
/// Nothing here takes so many pauses, unless it hangs.
const PATIENCE: usize = 6_000;

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let waited = (0..PATIENCE).any(|_| {
        let done = done();
        if !done {
            std::thread::sleep(PAUSE);
        }
        done
    });
    assert!(waited, "waited too long: {what}");
}

/// An address that is free now. No other test is given it, and none of the ports that systems give to clients, so that it
/// stays free until a process listens there.
fn free_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = std::process::id().wrapping_mul(101);
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        assert!(next < 10_000, "no port is free");
        let port = u16::try_from(20_000 + first.wrapping_add(next) % 10_000).unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paimon-sql"));
    command.current_dir(directory).stdin(Stdio::null());
    command.env("RUST_LOG", "info");
    command
}

/// A process that ends with its test.
struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts it, and waits until it listens.
    fn start(command: &mut Command, log: PathBuf, address: SocketAddr) -> Self {
        let errors = fs::File::create(&log).unwrap();
        let child = command.stdout(Stdio::null()).stderr(errors).spawn();
        let mut process = Self {
            child: child.unwrap(),
            log,
        };
        wait_until("a process that listens", || {
            let ended = process.child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}: {}", process.log());
            TcpStream::connect(address).is_ok()
        });
        process
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Tasks that an executor began.
    fn tasks(&self) -> usize {
        self.log().matches("Execute task").count()
    }

    /// Ends it at once, as a machine that fails.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

struct Cluster {
    executors: [Process; 2],
    _scheduler: Process,
    address: SocketAddr,
    /// The warehouse, whose database `db` has the table `t`.
    directory: TempDir,
}

impl Cluster {
    /// Two executors, whose current directory may not be that of the others, and which count as dead after some time of
    /// silence.
    fn start(elsewhere: Option<&Path>, timeout_seconds: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path();
        write_rows(&home.join("warehouse/db.db/t"));
        let address = free_address();
        let mut scheduler = command(home);
        let patience = timeout_seconds.to_string();
        scheduler.args(["scheduler", "--executor-timeout", &patience, "--bind"]);
        scheduler.arg(address.to_string());
        let scheduler = Process::start(&mut scheduler, home.join("scheduler.log"), address);
        let executors = ["a", "b"].map(|name| {
            let (rows, control) = (free_address(), free_address());
            let mut executor = command(elsewhere.unwrap_or(home));
            executor.args(["executor", "--cores", "2", "--scheduler"]);
            executor.arg(address.to_string());
            executor.args(["--bind", &rows.to_string()]);
            executor.args(["--control-port", &control.port().to_string()]);
            executor.arg("--work-dir").arg(home.join(name));
            let log = home.join(format!("{name}.log"));
            // It listens for rows when the scheduler knows it.
            Process::start(&mut executor, log, rows)
        });
        Self {
            executors,
            _scheduler: scheduler,
            address,
            directory,
        }
    }

    fn home(&self) -> &Path {
        self.directory.path()
    }

    fn client(&self, warehouse: &str, sql: &str) -> Command {
        let mut client = command(self.home());
        client.args(["--format", "json", "--warehouse", warehouse, sql]);
        client
    }

    fn remote(&self, sql: &str) -> Command {
        let mut client = self.client("warehouse", sql);
        client.args(["--scheduler", &self.address.to_string()]);
        client
    }

    /// The answer of one process.
    fn alone(&self, sql: &str) -> String {
        answer(self.client("warehouse", sql).output().unwrap())
    }

    fn logs(&self) -> String {
        let logs = self.executors.iter().map(Process::log);
        logs.collect::<Vec<_>>().join("\n")
    }
}

/// The rows of a client that must succeed.
fn answer(output: Output) -> String {
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a client says that must fail, and print nothing else.
fn failure(output: Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
    String::from_utf8(output.stderr).unwrap()
}

/// A table of five buckets, each with two runs that overlap: half of the first 400 keys have a newer version, each
/// tenth is deleted.
fn write_rows(directory: &Path) {
    let old = (0..400).map(|key| format!(r#"["+I", {key}, "old"]"#));
    let new = (200..500).map(|key| match key % 10 {
        0 => format!(r#"["-D", {key}, "gone"]"#),
        _ => format!(r#"["+I", {key}, "new"]"#),
    });
    let [old, new] = [old.collect::<Vec<_>>(), new.collect()].map(|rows| rows.join(", "));
    let history = format!(
        r#"{{"columns": [["k", "INT NOT NULL"], ["v", "STRING"]], "primary_key": ["k"],
        "options": {{"bucket": "5"}}, "steps": [{{"write": [{old}]}}, {{"write": [{new}]}}]}}"#
    );
    let history = History::from_json(history.as_bytes()).unwrap();
    let written = write_table(&history, &Layout::default()).unwrap();
    written.save(directory).unwrap();
}

const GROUPS: &str = "SELECT v, count(*) AS n, sum(k) AS s FROM db.t GROUP BY v ORDER BY v";

#[test]
fn a_merge_is_spread_over_two_executors_and_answers_as_one_process() {
    let cluster = Cluster::start(None, 60);
    assert_eq!(
        cluster.alone(GROUPS),
        "{\"v\":\"new\",\"n\":270,\"s\":94500}\n{\"v\":\"old\",\"n\":200,\"s\":19900}\n"
    );
    let found = answer(cluster.remote(GROUPS).output().unwrap());
    assert_eq!(found, cluster.alone(GROUPS));
    for executor in &cluster.executors {
        assert!(executor.tasks() > 0, "{}", executor.log());
    }
    for sql in [
        "SELECT k, v FROM db.t WHERE k % 7 < 3 AND v <> 'x' ORDER BY k",
        "SELECT a.k, b.v FROM db.t a JOIN db.t b ON a.k = b.k + 1 WHERE a.v = 'new' ORDER BY a.k",
        "SELECT v, count(*) FROM (SELECT * FROM db.t UNION ALL SELECT * FROM db.t WHERE k < 9) GROUP BY v ORDER BY v",
        "SELECT count(*) FROM (SELECT * FROM db.t LIMIT 123)",
        "SELECT count(*) AS n FROM paimon_table('warehouse/db.db/t', 'scan.snapshot-id=1') WHERE v = 'old'",
        "SELECT rowkind, count(*) AS n FROM db.\"t$audit_log\" GROUP BY rowkind ORDER BY rowkind",
        "SELECT bucket, count(*) AS n, sum(record_count) FROM db.\"t$files\" GROUP BY bucket ORDER BY bucket",
        // Ballista 55.0 repeats rows here when it changes plans while they run.
        "SELECT snapshot_id FROM db.\"t$snapshots\" UNION ALL SELECT schema_id FROM db.\"t$schemas\" ORDER BY 1",
        "CREATE VIEW few AS SELECT k FROM db.t WHERE k < 20; SELECT max(k) FROM few",
        // The scheduler leaves limits where they are.
        "SELECT k, count(*) OVER () AS n FROM db.t ORDER BY k LIMIT 3",
        "SELECT k FROM (SELECT * FROM db.t WHERE random() >= 0 ORDER BY k LIMIT 250) WHERE k % 7 < 2 ORDER BY v, k DESC LIMIT 5",
        "SHOW TABLES",
    ] {
        let found = answer(cluster.remote(sql).output().unwrap());
        assert_eq!(found, cluster.alone(sql), "{sql}\n{}", cluster.logs());
    }
}

#[test]
fn tasks_of_an_executor_that_dies_run_again_elsewhere() {
    let mut cluster = Cluster::start(None, 5);
    // Long enough to be killed in.
    let sql = "SELECT a.v, count(*) AS n FROM db.t a, db.t b, (SELECT k FROM db.t WHERE k < 10) c WHERE (a.k + b.k * c.k) % 17 = 3 GROUP BY a.v ORDER BY a.v";
    let wanted = cluster.alone(sql);
    let client = cluster
        .remote(sql)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let client = client.unwrap();
    let victim = &mut cluster.executors[0];
    wait_until("a task", || victim.tasks() > 0);
    victim.kill();
    let found = client.wait_with_output().unwrap();
    assert_eq!(answer(found), wanted, "{}", cluster.logs());
    // Dead already when the next one comes.
    assert_eq!(
        answer(cluster.remote(GROUPS).output().unwrap()),
        cluster.alone(GROUPS)
    );
}

#[test]
fn an_executor_without_the_store_fails_the_query_and_names_the_file() {
    let elsewhere = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(Some(elsewhere.path()), 60);
    // A path that means something else in each process: client and scheduler have the table, executors do not.
    let mut client = cluster.client("/proc/self/cwd/warehouse", GROUPS);
    client.args(["--scheduler", &cluster.address.to_string()]);
    let said = failure(client.output().unwrap());
    assert!(said.contains("not found"), "{said}");
    assert!(
        said.contains("/proc/self/cwd/warehouse/db.db/t/bucket-"),
        "{said}"
    );
}

#[test]
fn a_file_that_expired_and_a_scheduler_that_is_not_there_are_named() {
    let cluster = Cluster::start(None, 60);
    let bucket = cluster.home().join("warehouse/db.db/t/bucket-0");
    let file = fs::read_dir(&bucket).unwrap().next().unwrap().unwrap();
    fs::remove_file(file.path()).unwrap();
    let said = failure(cluster.remote(GROUPS).output().unwrap());
    assert!(said.contains(file.file_name().to_str().unwrap()), "{said}");

    let nobody = free_address();
    let mut client = cluster.client("warehouse", GROUPS);
    client.args(["--scheduler", &nobody.to_string()]);
    let said = failure(client.output().unwrap());
    assert!(said.contains(&nobody.to_string()), "{said}");
}
