//! What plans use of what the reader knows: exact counts, order, pushed conditions, limits, memory.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures_util::{StreamExt, TryStreamExt};
use paimon_io::Counter;
use paimon_plan::ResolveRequest;
use paimon_sql::open_table;

use crate::warehouse::{config, failure, golden_session, plan, resources, rows, table, text};

#[tokio::test]
async fn counts_and_bounds_that_metadata_is_sure_of_read_nothing() {
    let (context, _kept) = golden_session(config(2, 8192)).await;
    for sql in [
        "SELECT count(*) FROM lab.r_one",
        "SELECT count(*), min(k), max(k), count(v) FROM lab.r_one",
        "SELECT count(*) FROM lab.dv_on",
        "SELECT count(*) FROM golden.plan_many_partitions_buckets WHERE p = 'a'",
    ] {
        let plan = plan(&context, sql).await;
        assert!(!plan.contains("PaimonScan"), "{sql}\n{plan}");
    }
    // A merge decides, a condition is left, texts may be cut in statistics: no guess.
    for sql in [
        "SELECT count(*) FROM lab.r_overlap",
        "SELECT count(*) FROM lab.r_one WHERE v = 'a'",
        "SELECT count(*) FROM lab.r_one WHERE k % 2 = 0",
        "SELECT min(v) FROM lab.r_one",
        "SELECT max(k) FROM lab.dv_on",
        "SELECT count(*) FROM (SELECT * FROM lab.r_one LIMIT 7)",
    ] {
        let plan = plan(&context, sql).await;
        assert!(plan.contains("PaimonScan"), "{sql}\n{plan}");
    }
}

#[tokio::test]
async fn rows_in_the_order_of_the_key_are_not_sorted_again() {
    for partitions in [1, 3] {
        let (context, _kept) = golden_session(config(partitions, 16)).await;
        let sql = "SELECT k, v FROM lab.r_overlap ORDER BY k";
        let shown = plan(&context, sql).await;
        assert!(!shown.contains("SortExec"), "{shown}");
        let (found, wanted) = (
            text(&context, "SELECT k FROM lab.r_overlap ORDER BY k").await,
            text(&context, "SELECT k FROM lab.r_overlap ORDER BY k + 0").await,
        );
        assert_eq!(found, wanted);
        // Two files one after the other are in no order; nor is another column.
        for sql in [
            "SELECT k FROM golden.plan_many_partitions_buckets ORDER BY k",
            "SELECT k, v FROM lab.r_overlap ORDER BY v, k",
        ] {
            let shown = plan(&context, sql).await;
            assert!(shown.contains("SortExec"), "{shown}");
        }
    }
}

#[tokio::test]
async fn first_rows_by_the_key_are_not_sorted() {
    for partitions in [1, 3] {
        let (context, _kept) = golden_session(config(partitions, 16)).await;
        for sql in [
            "SELECT k, v FROM lab.r_overlap ORDER BY k LIMIT 4",
            "SELECT k, length(v) FROM lab.r_overlap ORDER BY k LIMIT 4 OFFSET 20",
            "SELECT k FROM lab.r_overlap WHERE random() >= 0 ORDER BY k LIMIT 4",
            "SELECT v FROM (SELECT * FROM lab.r_overlap ORDER BY k LIMIT 9) WHERE v = 'a' ORDER BY k",
        ] {
            let shown = plan(&context, sql).await;
            assert!(!shown.contains("SortExec"), "{sql}\n{shown}");
        }
        // Nothing is left of what kept limits where they are.
        let sql = "SELECT k FROM (SELECT * FROM lab.r_overlap ORDER BY k LIMIT 9) ORDER BY v DESC LIMIT 2";
        let shown = plan(&context, sql).await;
        assert!(!shown.contains("Fence"), "{shown}");
        assert_eq!(shown.matches("SortExec").count(), 1, "{shown}");
    }
}

#[tokio::test]
async fn sessions_without_our_rules_are_told_of_no_order_and_hand_down_no_filter() {
    let context = SessionContext::new_with_config(config(3, 16));
    let (resources, location) = (resources(), table("plan_limit_pk"));
    let request = ResolveRequest::default();
    let opened = open_table(&resources, &location, &request);
    context.register_table("t", opened.await.unwrap()).unwrap();
    let sql = "SELECT k, count(*) OVER () AS n FROM t ORDER BY k LIMIT 1";
    let shown = plan(&context, sql).await;
    assert!(shown.contains("SortExec"), "{shown}");
    let found = text(&context, sql).await;
    assert!(found.contains("| 1 | 40 |"), "{found}");
    let shown = plan(&context, "SELECT k FROM t ORDER BY v LIMIT 1").await;
    assert!(!shown.contains("DynamicFilter"), "{shown}");
}

#[tokio::test]
async fn merge_joins_on_the_key_need_no_sort() {
    // Whole tasks, and so one stream in order on each side, which DataFusion divides by hash.
    let mut settings = SessionConfig::new().with_target_partitions(2);
    settings.options_mut().optimizer.prefer_hash_join = false;
    let (context, _kept) = golden_session(settings).await;
    let sql = "SELECT a.k, b.v FROM lab.r_overlap a JOIN lab.dv_off b ON a.k = b.k";
    let shown = plan(&context, sql).await;
    assert!(
        shown.contains("SortMergeJoin") && !shown.contains("SortExec"),
        "{shown}"
    );
    let counted = text(&context, &format!("SELECT count(*) FROM ({sql})")).await;
    assert!(counted.contains("| 99 "), "{counted}");
}

#[tokio::test]
async fn a_large_task_is_read_in_parts() {
    let (context, _kept) = golden_session(config(2, 16)).await;
    let shown = plan(&context, "SELECT k, v FROM lab.r_overlap").await;
    assert!(
        shown.contains("splits=0 raw 1 merged, partitions=2"),
        "{shown}"
    );
    // Not worth it by default.
    let (context, _kept) = golden_session(SessionConfig::new().with_target_partitions(2)).await;
    let shown = plan(&context, "SELECT k, v FROM lab.r_overlap").await;
    assert!(
        shown.contains("splits=0 raw 1 merged, partitions=1"),
        "{shown}"
    );
}

#[tokio::test]
async fn explain_says_where_each_condition_acts() {
    let (context, _kept) = golden_session(config(1, 16)).await;
    let sql = "SELECT v FROM lab.r_overlap WHERE k > 20 AND v = 'a' AND length(v) = 1";
    let shown = plan(&context, sql).await;
    for part in [
        "snapshot=2",
        "splits=0 raw 1 merged",
        "columns=[v]",
        "k > 20: buckets, files by key, files by value, keys before they are merged",
        "v = 'a': files by value, rows that win",
        "filters=[character_length(v@1) = 1: rows that win]",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    assert!(!shown.contains("FilterExec"), "{shown}");
    let sql =
        "SELECT k FROM golden.plan_many_partitions_buckets WHERE p = 'a' AND v <> 'a1' LIMIT 2";
    let shown = plan(&context, sql).await;
    assert!(shown.contains("p = 'a': partitions;"), "{shown}");
    assert!(
        shown.contains("v <> 'a1': files by value, rows]"),
        "{shown}"
    );
    assert!(shown.contains("limit=2"), "{shown}");
}

#[tokio::test]
async fn explain_analyze_counts_what_was_done() {
    let (context, _kept) = golden_session(config(1, 16)).await;
    let shown = text(&context, "EXPLAIN ANALYZE SELECT k, v FROM lab.r_overlap").await;
    for part in [
        "output_rows=150",
        "files_opened=2",
        "row_groups_fetched=",
        "rows_decoded=",
        "rows_superseded=50",
        "requests=",
        "requested_bytes=",
        "pick_time=",
        "value_time=",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[tokio::test]
async fn top_k_and_joins_narrow_the_scan_while_they_run() {
    let (context, _kept) = golden_session(config(1, 16)).await;
    let top = "SELECT k, v FROM lab.r_overlap ORDER BY v DESC, k DESC LIMIT 2";
    let shown = plan(&context, top).await;
    assert!(shown.contains("filters=[DynamicFilter"), "{shown}");
    let found = text(&context, top).await;
    assert!(
        found.contains("| 150 | b |") && found.contains("| 149 | b |"),
        "{found}"
    );

    let join = "SELECT count(*) FROM lab.r_overlap big JOIN (SELECT k FROM lab.dv_off WHERE k < 4) few ON big.k = few.k";
    let shown = text(&context, &format!("EXPLAIN ANALYZE {join}")).await;
    let big = shown
        .lines()
        .find(|line| line.contains("r_overlap") && line.contains("PaimonScan"));
    let big = big.unwrap_or_else(|| panic!("{shown}"));
    assert!(
        big.contains("filters=[DynamicFilter") && big.contains("output_rows=3,"),
        "{big}"
    );
    let found = text(&context, join).await;
    assert!(found.contains("| 3 "), "{found}");
}

#[tokio::test]
async fn a_limit_holds_over_all_partitions_and_conditions() {
    for partitions in [1, 3] {
        let (context, _kept) = golden_session(config(partitions, 2)).await;
        for (sql, wanted) in [
            ("SELECT * FROM lab.r_overlap LIMIT 7", 7),
            ("SELECT * FROM lab.r_overlap WHERE v = 'a' LIMIT 60", 50),
            ("SELECT * FROM lab.r_overlap WHERE k % 2 = 0 LIMIT 5", 5),
            ("SELECT * FROM lab.r_overlap LIMIT 10 OFFSET 145", 5),
            ("SELECT * FROM lab.r_overlap WHERE random() < 2 LIMIT 3", 3),
            ("SELECT * FROM lab.\"r_overlap$audit_log\" LIMIT 3", 3),
            ("SELECT * FROM lab.\"r_overlap$files\" LIMIT 1", 1),
            ("SELECT k FROM lab.r_overlap ORDER BY k LIMIT 4", 4),
        ] {
            let batches = rows(&context, sql).await.unwrap();
            let found: usize = batches.iter().map(|batch| batch.num_rows()).sum();
            assert_eq!(found, wanted, "{sql}");
        }
    }
}

#[tokio::test]
async fn a_limit_leaves_out_splits_where_every_planned_row_counts() {
    let (context, _kept) = golden_session(config(1, 16)).await;
    let table = "golden.plan_many_partitions_buckets";
    for (query, splits) in [
        ("", 6),
        ("LIMIT 1", 1),
        ("WHERE p = 'a' LIMIT 1", 1),
        // Rows may fail these: any split may have the one that does not.
        ("WHERE v <> 'a' LIMIT 1", 6),
        ("WHERE length(v) = 2 LIMIT 1", 6),
        ("ORDER BY k LIMIT 1", 6),
    ] {
        let shown = plan(&context, &format!("SELECT * FROM {table} {query}")).await;
        let wanted = format!("splits={splits} raw 0 merged");
        assert!(shown.contains(&wanted), "{query}\n{shown}");
    }
}

/// Adds up a count that scans show in a plan with metrics.
fn counted(shown: &str, name: &str) -> u64 {
    let mark = format!("{name}=");
    let counts = shown.split(&mark).skip(1);
    let counts = counts.map(|rest| rest.split(|sign: char| !sign.is_ascii_digit()).next());
    counts
        .flatten()
        .map(|count| count.parse::<u64>().unwrap())
        .sum()
}

#[tokio::test]
async fn conditions_skip_files_and_rows_before_they_come_out() {
    let (context, _kept) = golden_session(config(1, 16)).await;
    let table = "lab.r_disjoint";
    let all = text(&context, &format!("EXPLAIN ANALYZE SELECT * FROM {table}")).await;
    assert_eq!(counted(&all, "output_rows"), 200, "{all}");
    assert_eq!(counted(&all, "row_groups"), 2, "{all}");
    let sql = format!("EXPLAIN ANALYZE SELECT * FROM {table} WHERE k > 150 AND k % 10 = 0");
    let few = text(&context, &sql).await;
    assert_eq!(counted(&few, "output_rows"), 5, "{few}");
    assert_eq!(counted(&few, "row_groups"), 1, "{few}");
    assert_eq!(counted(&few, "rows_filtered"), 95, "{few}");
}

#[tokio::test]
async fn a_query_that_is_dropped_asks_the_store_for_nothing_more() {
    let resources = resources();
    let location = table("plan_many_partitions_buckets");
    let opened = open_table(&resources, &location, &ResolveRequest::default()).await;
    let mut settings = config(1, 1);
    settings.options_mut().execution.coalesce_batches = false;
    let context = SessionContext::new_with_config(settings);
    context.register_table("t", opened.unwrap()).unwrap();
    let requests = || resources.metrics().get(Counter::Requests);
    let frame = context.sql("SELECT * FROM t").await.unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    let planned = requests();
    let run = || execute_stream(Arc::clone(&plan), context.task_ctx()).unwrap();
    let whole: Vec<_> = run().try_collect::<Vec<_>>().await.unwrap();
    let (all, first) = (requests() - planned, requests());
    assert!(whole.len() > 1);
    let mut batches = run();
    assert_eq!(batches.next().await.unwrap().unwrap().num_rows(), 1);
    drop(batches);
    let dropped = requests() - first;
    assert!(dropped < all, "{dropped} of {all}");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(requests() - first, dropped);
}

/// A session whose queries have so much memory, and its pool.
async fn limited(bytes: usize) -> (SessionContext, Arc<dyn MemoryPool>) {
    let pool = GreedyMemoryPool::new(bytes);
    let pool: Arc<dyn MemoryPool> = Arc::new(TrackConsumersPool::new(pool, NonZeroUsize::MIN));
    let builder = RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&pool));
    let runtime = builder.build_arc().unwrap();
    let context = SessionContext::new_with_config_rt(config(1, 4), runtime);
    let (resources, location) = (resources(), table("lab_r_overlap"));
    let request = ResolveRequest::default();
    let opened = open_table(&resources, &location, &request);
    context.register_table("t", opened.await.unwrap()).unwrap();
    (context, pool)
}

#[tokio::test]
async fn memory_comes_from_the_pool_of_the_query_and_goes_back_to_it() {
    let (context, pool) = limited(1 << 30).await;
    let frame = context.sql("SELECT * FROM t").await.unwrap();
    let mut batches = frame.execute_stream().await.unwrap();
    assert_eq!(batches.next().await.unwrap().unwrap().num_rows(), 4);
    assert!(pool.reserved() > 0);
    drop(batches);
    assert_eq!(pool.reserved(), 0);
}

#[tokio::test]
async fn a_pool_without_memory_refuses_and_names_the_scan() {
    let (context, _) = limited(1).await;
    let error = failure(&context, "SELECT * FROM t").await;
    assert!(
        matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)),
        "{error}"
    );
    assert!(error.to_string().contains("PaimonScan[0]"), "{error}");
}

#[tokio::test]
async fn each_query_sees_the_latest_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let history = |steps: &str| {
        let text = format!(
            r#"{{"columns": [["k", "INT NOT NULL"]], "primary_key": ["k"], "options": {{"bucket": "1"}}, "steps": [{steps}]}}"#
        );
        paimon_testkit::History::from_json(text.as_bytes()).unwrap()
    };
    let write = |steps: &str| {
        let layout = paimon_testkit::Layout::default();
        let written = paimon_testkit::write_table(&history(steps), &layout).unwrap();
        written.save(&directory.path().join("d.db/t")).unwrap();
    };
    write(r#"{"write": [["+I", 1]]}"#);
    let request = paimon_sql::SessionRequest {
        warehouse: Some(directory.path().to_str().unwrap().to_owned()),
        ..paimon_sql::SessionRequest::new(resources())
    };
    let context = paimon_sql::session(&request).await.unwrap();
    let counted = text(&context, "SELECT count(*) FROM d.t").await;
    assert!(counted.contains("| 1 "), "{counted}");
    write(r#"{"write": [["+I", 1]]}, {"write": [["+I", 2]]}"#);
    let counted = text(&context, "SELECT count(*) FROM d.t").await;
    assert!(counted.contains("| 2 "), "{counted}");
}
