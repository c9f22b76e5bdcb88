use std::io::{BufRead, BufReader};
use std::process::Stdio;

use arrow_array::RecordBatchReader;
use arrow_ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use crate::command::{command, golden, run};

#[test]
fn rows_are_json_where_nobody_looks() {
    let table = golden("lab_r_overlap");
    let rows = run(&["scan", &table]).ok();
    assert_eq!(rows.lines().count(), 150);
    assert!(rows.starts_with("{\"k\":1,\"v\":\"a\"}\n"));
    let one = run(&[
        "scan",
        &table,
        "--columns",
        "v,k",
        "--where",
        "k BETWEEN 50 AND 51",
        "--format",
        "json",
    ]);
    assert_eq!(one.ok(), "{\"v\":\"a\",\"k\":50}\n{\"v\":\"b\",\"k\":51}\n");
}

#[test]
fn no_column_is_an_empty_object_per_row() {
    let rows = run(&["scan", &golden("lab_r_overlap"), "--columns", ""]).ok();
    assert_eq!(rows, "{}\n".repeat(150));
}

#[test]
fn a_limit_cuts_every_format() {
    let table = golden("lab_r_overlap");
    let rows = |format| run(&["scan", &table, "--limit", "3", "--format", format]).ok();
    assert_eq!(rows("csv"), "k,v\n1,a\n2,a\n3,a\n");
    assert_eq!(rows("json").lines().count(), 3);
    assert_eq!(rows("table"), "k  v\n─  ─\n1  a\n2  a\n3  a\n3 rows\n");
    assert_eq!(run(&["scan", &table, "--limit", "0"]).ok(), "");
}

#[test]
fn a_table_shows_forty_rows_and_tells_of_the_others() {
    let table = golden("lab_r_overlap");
    let text = run(&["scan", &table, "--format", "table"]).ok();
    assert_eq!(text.lines().count(), 43);
    assert!(
        text.ends_with("40  a\n… and 110 more rows of 150\n"),
        "{text}"
    );
    let limited = run(&["scan", &table, "--format", "table", "--limit", "100"]).ok();
    assert!(
        limited.ends_with("\n… and 60 more rows of 100\n"),
        "{limited}"
    );
    let filtered = run(&[
        "scan",
        &table,
        "--format",
        "table",
        "--where",
        "v = 'b'",
        "--columns",
        "k",
    ]);
    assert!(filtered.ok().ends_with("\n… and 60 more rows of 100\n"));
}

#[test]
fn row_kinds_come_first() {
    let table = golden("lab_r_delete");
    let rows = run(&["scan", &table, "--keep-deletes", "--format", "csv"]).ok();
    let deletes = rows.lines().filter(|line| line.starts_with("-D,")).count();
    assert!(rows.starts_with("rowkind,k,v\n"), "{rows}");
    assert!(deletes > 0);
    let without = run(&["scan", &table, "--format", "csv"]).ok();
    assert_eq!(without.lines().count() + deletes, rows.lines().count());
    let kinds = run(&["scan", &table, "--rowkind", "--format", "csv"]).ok();
    assert!(kinds.starts_with("rowkind,k,v\n+I,"), "{kinds}");
    assert_eq!(kinds.lines().count(), without.lines().count());
}

#[test]
fn arrow_and_parquet_hold_the_same_rows() {
    let table = golden("lab_r_overlap");
    let arrow = run(&["scan", &table, "--format", "arrow"]);
    let stream = StreamReader::try_new(arrow.stdout.as_slice(), None).unwrap();
    let schema = stream.schema();
    let expected: Vec<_> = stream.map(Result::unwrap).collect();
    assert_eq!(
        expected.iter().map(|batch| batch.num_rows()).sum::<usize>(),
        150
    );

    let parquet = run(&["scan", &table, "--format", "parquet"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), parquet.stdout).unwrap();
    let batches = ParquetRecordBatchReader::try_new(file.reopen().unwrap(), 8192).unwrap();
    assert_eq!(batches.schema().fields(), schema.fields());
    let found: Vec<_> = batches.map(Result::unwrap).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.columns(), expected.columns());
    }
}

#[test]
fn rows_keep_their_order_whatever_the_number_of_tasks() {
    let table = golden("merge_dedup_partition_in_key");
    let one = run(&["scan", &table, "-j", "1"]).ok();
    assert!(one.lines().count() > 3);
    for jobs in ["2", "7"] {
        assert_eq!(run(&["scan", &table, "-j", jobs]).ok(), one);
    }
}

#[test]
fn a_reader_that_goes_is_no_error() {
    let table = golden("lab_r_overlap");
    for format in ["json", "csv", "table", "arrow", "parquet"] {
        let mut child = command(&["scan", &table, "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format}");
    }
}

#[test]
fn a_reader_that_goes_half_way_is_no_error() {
    let table = golden("lab_r_overlap");
    let mut child = command(&["scan", &table])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "{\"k\":1,\"v\":\"a\"}\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn paths_may_be_relative_and_urls() {
    let table = golden("lab_r_one");
    let (parent, name) = table.rsplit_once('/').unwrap();
    let relative = command(&["count", name])
        .current_dir(parent)
        .output()
        .unwrap();
    assert_eq!(relative.status.code(), Some(0));
    assert!(
        run(&["count", &format!("file://{table}")])
            .ok()
            .starts_with("100\n")
    );
}

#[test]
fn time_travel_has_flags() {
    let table = golden("lab_r_overlap");
    let rows = |arguments: &[&str]| {
        let all = [&["count", &table], arguments].concat();
        run(&all).ok().lines().next().unwrap().to_owned()
    };
    assert_eq!(rows(&["--snapshot", "1"]), "100");
    assert_eq!(rows(&["--option", "scan.snapshot-id=1"]), "100");
    assert_eq!(rows(&["--timestamp", "99999999999999"]), "150");
    assert_eq!(rows(&["--timestamp", "9999-01-01 00:00:00"]), "150");
    let tagged = golden("plan_tt_choices");
    assert!(run(&["scan", &tagged, "--tag", "7"]).code == 0);
}

#[test]
fn flags_that_contradict_each_other_are_wrong_usage() {
    let partitioned = golden("merge_dedup_partition_in_key");
    let cases: [&[&str]; 3] = [
        &[
            "scan",
            &partitioned,
            "--partition",
            "region=eu",
            "--partition",
            "region=us",
        ],
        &["scan", &partitioned, "--store-consumer"],
        &["count", &partitioned, "--by", ""],
    ];
    for arguments in cases {
        let (code, text) = run(arguments).failed();
        assert_eq!(code, 2, "{arguments:?}: {text}");
    }
}

#[test]
fn deletion_vectors_may_be_asked_of_any_table() {
    // ME 5: the reference refuses the option where the table has it not.
    let table = golden("plan_stream_first_row_lookup");
    let plain = run(&["scan", &table]).ok();
    let option = "deletion-vectors.enabled=true";
    assert_eq!(run(&["scan", &table, "--option", option]).ok(), plain);
}
