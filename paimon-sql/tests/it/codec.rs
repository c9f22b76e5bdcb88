//! Scans and tables as bytes: the same rows from another process, and errors for what is damaged.

use std::sync::Arc;

use datafusion::arrow::util::display::array_value_to_string;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{
    ExecutionPlan, collect, displayable, replace_children_if_necessary,
};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::bytes::{
    logical_plan_from_bytes_with_extension_codec, logical_plan_to_bytes_with_extension_codec,
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};
use paimon_sql::{PaimonLogicalCodec, PaimonPhysicalCodec};

use crate::warehouse::{config, golden_session, resources};

fn codec() -> PaimonPhysicalCodec {
    PaimonPhysicalCodec::new(resources())
}

async fn rows(plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Vec<String> {
    let batches = collect(plan, context).await.unwrap();
    let mut rows: Vec<String> = Vec::new();
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let values = batch.columns().iter();
            let values = values.map(|column| array_value_to_string(column, row).unwrap());
            rows.push(values.collect::<Vec<_>>().join(","));
        }
    }
    rows.sort_unstable();
    rows
}

/// The lines of a plan that are of scans.
fn scans(plan: &dyn ExecutionPlan) -> Vec<String> {
    let shown = displayable(plan).indent(false).to_string();
    let lines = shown.lines().map(str::trim);
    let lines = lines.filter(|line| line.starts_with("PaimonScan"));
    lines.map(str::to_owned).collect()
}

/// Settings without what changes while a query runs.
fn settings(partitions: usize) -> SessionConfig {
    config(partitions, 7).set_bool("datafusion.optimizer.enable_dynamic_filter_pushdown", false)
}

#[tokio::test]
async fn a_decoded_scan_has_the_same_rows_and_the_same_explanation() {
    for partitions in [1, 3] {
        let (context, _kept) = golden_session(settings(partitions)).await;
        let mut seen = 0;
        for sql in [
            "SELECT * FROM lab.r_one",
            "SELECT * FROM lab.r_overlap",
            "SELECT v FROM lab.r_overlap WHERE k BETWEEN 10 AND 90 AND v = 'a'",
            "SELECT k FROM lab.r_overlap WHERE length(v) = 1 AND k % 3 = 1",
            "SELECT v, c FROM (SELECT v, count(*) AS c FROM lab.r_overlap GROUP BY v) WHERE c > 60 AND v < 'c'",
            "SELECT k FROM lab.r_overlap ORDER BY k LIMIT 13",
            "SELECT * FROM lab.r_disjoint",
            "SELECT * FROM lab.r_delete WHERE k > 3",
            "SELECT * FROM lab.dv_on",
            "SELECT * FROM lab.\"dv_on$ro\"",
            "SELECT * FROM lab.\"r_delete$audit_log\" WHERE k < 50",
            "SELECT * FROM lab.\"r_delete$binlog\"",
            "SELECT * FROM golden.plan_fallback_branch",
            "SELECT * FROM golden.fmt_types_scalar_orc",
            "SELECT * FROM golden.fmt_types_nested_parquet",
            "SELECT * FROM golden.merge_pu_groups",
            "SELECT * FROM golden.merge_agg_sum_types",
            "SELECT * FROM golden.fmt_rescale_partitions",
            "SELECT * FROM paimon_table('lab_r_overlap/table', 'scan.snapshot-id=1')",
            "SELECT * FROM paimon_table('lab_r_overlap/table', 'incremental-between=1,2')",
            "SELECT * FROM paimon_table('lab_r_delete/table', 'incremental-between=1,2', 'incremental-between-scan-mode=diff')",
        ] {
            let plan = context.sql(sql).await.unwrap();
            let plan = plan.create_physical_plan().await.unwrap();
            let bytes = physical_plan_to_bytes_with_extension_codec(Arc::clone(&plan), &codec());
            let decode = |bytes: &[u8]| {
                let context = context.task_ctx();
                physical_plan_from_bytes_with_extension_codec(bytes, &context, &codec()).unwrap()
            };
            let once = decode(&bytes.unwrap());
            // As a scheduler sends to executors what a client sent to it.
            let bytes = physical_plan_to_bytes_with_extension_codec(Arc::clone(&once), &codec());
            let twice = decode(&bytes.unwrap());
            let wanted = rows(Arc::clone(&plan), context.task_ctx()).await;
            for decoded in [once, twice] {
                assert_eq!(scans(decoded.as_ref()), scans(plan.as_ref()), "{sql}");
                assert_eq!(
                    decoded.properties().output_ordering(),
                    plan.properties().output_ordering(),
                    "{sql}"
                );
                assert_eq!(rows(decoded, context.task_ctx()).await, wanted, "{sql}");
            }
            seen += scans(plan.as_ref()).len();
        }
        assert!(seen > 20, "{seen}");
    }
}

/// The node of a scan, and the bytes of it.
async fn scan(context: &SessionContext) -> (Arc<dyn ExecutionPlan>, Vec<u8>) {
    let sql = "SELECT k FROM lab.r_overlap WHERE length(v) = 1 AND k > 7";
    let plan = context.sql(sql).await.unwrap();
    let mut plan = plan.create_physical_plan().await.unwrap();
    while plan.name() != "PaimonScan" {
        plan = Arc::clone(plan.children().first().unwrap());
    }
    let mut bytes = Vec::new();
    let converter = DefaultPhysicalProtoConverter {};
    let written = codec().try_encode(Arc::clone(&plan), &mut bytes, &converter);
    written.unwrap();
    (plan, bytes)
}

fn decode(
    context: &SessionContext,
    bytes: &[u8],
) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
    let converter = DefaultPhysicalProtoConverter {};
    codec().try_decode(bytes, &[], &context.task_ctx(), &converter)
}

#[tokio::test]
async fn damaged_bytes_are_errors() {
    let (context, _kept) = golden_session(settings(2)).await;
    let (plan, bytes) = scan(&context).await;
    let whole = decode(&context, &bytes).unwrap();
    assert_eq!(scans(whole.as_ref()), scans(plan.as_ref()));
    for at in 0..bytes.len() {
        assert!(decode(&context, &bytes[..at]).is_err(), "cut at {at}");
        for flip in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            // A few bits of the compression's header say nothing: then nothing is lost.
            if let Ok(decoded) = decode(&context, &damaged) {
                assert_eq!(
                    scans(decoded.as_ref()),
                    scans(plan.as_ref()),
                    "{flip} at {at}"
                );
            }
        }
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(decode(&context, &longer).is_err());
}

#[tokio::test]
async fn another_version_is_refused_by_name() {
    let (context, _kept) = golden_session(settings(2)).await;
    let (_, mut bytes) = scan(&context).await;
    let version = b"PAIMON".len();
    bytes[version] += 1;
    let error = decode(&context, &bytes).unwrap_err().to_string();
    assert!(
        error.contains("version 2 of sent plans, expected 1"),
        "{error}"
    );
}

#[tokio::test]
async fn a_scan_that_was_sent_is_read_by_all_partitions_once() {
    let (context, _kept) = golden_session(settings(3)).await;
    let (_, bytes) = scan(&context).await;
    let decoded = decode(&context, &bytes).unwrap();
    // Only some of its tasks, as a scheduler deals them out: the others are elsewhere.
    let tasks = Arc::clone(decoded.children().first().unwrap());
    let all = rows(Arc::clone(&decoded), context.task_ctx()).await;
    let partitions = decoded.properties().partitioning.partition_count();
    assert!(partitions > 1);
    let mut dealt = Vec::new();
    for partition in 0..partitions {
        let batches = datafusion::physical_plan::common::collect(
            tasks.execute(partition, context.task_ctx()).unwrap(),
        );
        let batches = batches.await.unwrap();
        let schema = tasks.schema();
        let some = datafusion::datasource::memory::MemorySourceConfig::try_new_exec(
            &[batches],
            schema,
            None,
        );
        let part = replace_children_if_necessary(Arc::clone(&decoded), vec![some.unwrap()]);
        dealt.extend(rows(part.unwrap(), context.task_ctx()).await);
    }
    dealt.sort_unstable();
    assert_eq!(dealt, all);
}

#[tokio::test]
async fn a_decoded_table_has_the_same_rows() {
    let (context, _kept) = golden_session(settings(2)).await;
    for sql in [
        "SELECT * FROM lab.r_overlap WHERE k > 10 AND length(v) = 1",
        "SELECT a.k FROM lab.r_overlap a JOIN lab.\"dv_on$ro\" b ON a.k = b.k",
        "SELECT * FROM lab.\"r_delete$audit_log\"",
        "SELECT * FROM lab.\"r_overlap$files\" WHERE level = 0",
        "SELECT * FROM paimon_table('lab_r_overlap/table', 'scan.snapshot-id=1') LIMIT 5",
    ] {
        let plan = context.sql(sql).await.unwrap();
        let wanted = plan.clone().create_physical_plan().await.unwrap();
        let plan = plan.into_optimized_plan().unwrap();
        let codec = PaimonLogicalCodec::new(resources());
        let bytes = logical_plan_to_bytes_with_extension_codec(&plan, &codec).unwrap();
        let decoded =
            logical_plan_from_bytes_with_extension_codec(&bytes, &context.task_ctx(), &codec);
        let decoded = context
            .execute_logical_plan(decoded.unwrap())
            .await
            .unwrap();
        let decoded = decoded.create_physical_plan().await.unwrap();
        assert_eq!(
            rows(decoded, context.task_ctx()).await.len(),
            rows(wanted, context.task_ctx()).await.len(),
            "{sql}"
        );
    }
}
