//! The command.

use std::io::Write;
use std::process::{Command, Stdio};

use bytes::Bytes;
use paimon_testkit::GOLDEN;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use crate::warehouse::golden_warehouse;

/// Exit code, output, errors.
struct Run {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Run {
    /// The output of a run that must succeed, and have nothing to say beside it.
    fn ok(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""));
        String::from_utf8(self.stdout).unwrap()
    }

    /// The exit code and errors of a run that must print nothing else.
    fn failed(self) -> (i32, String) {
        assert_eq!(String::from_utf8_lossy(&self.stdout), "");
        (self.code, self.stderr)
    }
}

fn run(arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_paimon-sql"))
        .args(arguments)
        .current_dir(GOLDEN)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

const COUNTS: &str = "SELECT v, count(*) AS n FROM lab.r_overlap GROUP BY v ORDER BY v";

fn of_lab(arguments: &[&str]) -> Run {
    let warehouse = golden_warehouse();
    let warehouse = ["--warehouse", warehouse.path().to_str().unwrap()];
    run(&[arguments, &warehouse].concat())
}

#[test]
fn rows_are_a_table_for_people() {
    let table = "+---+-----+\n| v | n   |\n+---+-----+\n| a | 50  |\n| b | 100 |\n+---+-----+\n";
    assert_eq!(of_lab(&[COUNTS]).ok(), table);
}

#[test]
fn rows_are_json_lines_with_nulls() {
    let sql = "SELECT v, NULL AS x, count(*) AS n FROM lab.r_overlap GROUP BY v ORDER BY v";
    let lines = "{\"v\":\"a\",\"x\":null,\"n\":50}\n{\"v\":\"b\",\"x\":null,\"n\":100}\n";
    assert_eq!(of_lab(&[sql, "--format", "json"]).ok(), lines);
}

#[test]
fn rows_are_csv_with_a_line_of_names_also_without_rows() {
    assert_eq!(
        of_lab(&[COUNTS, "--format", "csv"]).ok(),
        "v,n\na,50\nb,100\n"
    );
    let none = "SELECT k, v FROM lab.r_one WHERE k < 0";
    assert_eq!(of_lab(&[none, "--format", "csv"]).ok(), "k,v\n");
}

#[test]
fn rows_are_a_parquet_file() {
    let run = of_lab(&[COUNTS, "--format", "parquet"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let rows = ParquetRecordBatchReader::try_new(Bytes::from(run.stdout), 10).unwrap();
    let rows: Vec<_> = rows.map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(rows, [2]);
    let run = of_lab(&["SELECT 1; SELECT 2", "--format", "parquet"]).failed();
    assert_eq!(
        run,
        (
            2,
            "error: a Parquet file holds the rows of one statement\n".to_owned()
        )
    );
}

#[test]
fn columns_that_a_format_has_no_place_for_are_named_before_anything_is_written() {
    let twice = "SELECT a.k, b.k FROM lab.r_one a JOIN lab.r_one b ON a.k = b.k";
    for (sql, format, begin, end) in [
        (
            "SELECT k, m FROM golden.merge_agg_maps",
            "csv",
            "column m: this format has no nested columns",
            "use --format table or parquet",
        ),
        (
            "SELECT k, m, [u] AS us FROM golden.merge_agg_maps",
            "json",
            "column us: this format has no maps without text keys",
            "use --format table or parquet",
        ),
        (twice, "json", "two columns are called k: ", "with AS"),
        (twice, "parquet", "two columns are called k: ", "with AS"),
    ] {
        let (code, text) = of_lab(&[sql, "--format", format]).failed();
        assert_eq!(code, 2, "{text}");
        let begin = format!("error: {begin}");
        assert!(
            text.starts_with(&begin) && text.trim_end().ends_with(end),
            "{text}"
        );
    }
    let rows = of_lab(&[&format!("{twice} LIMIT 1"), "--format", "csv"]).ok();
    assert!(rows.starts_with("k,k\n"), "{rows}");
    let maps = "SELECT k, m FROM golden.merge_agg_maps WHERE k = 3";
    assert_eq!(
        of_lab(&[maps, "--format", "json"]).ok(),
        "{\"k\":3,\"m\":{\"x\":null,\"y\":1}}\n"
    );
}

#[test]
fn empty_text_and_null_are_the_same_in_csv() {
    let sql = "SELECT '' AS a, CAST(NULL AS VARCHAR) AS b, 1 AS c";
    assert_eq!(of_lab(&[sql, "--format", "csv"]).ok(), "a,b,c\n,,1\n");
}

#[test]
fn several_statements_come_from_the_command_line_or_a_file() {
    let sql = "CREATE VIEW few AS SELECT k FROM lab.r_one WHERE k < 3; SELECT * FROM few ORDER BY k; SELECT 'x' AS y";
    assert_eq!(of_lab(&[sql, "--format", "csv"]).ok(), "k\n1\n2\ny\nx\n");
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(sql.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    assert_eq!(
        of_lab(&["-f", path, "--format", "csv"]).ok(),
        "k\n1\n2\ny\nx\n"
    );
}

#[test]
fn tables_are_named_by_paths_relative_to_the_current_directory() {
    let sql = "SELECT count(*) AS n FROM paimon_table('lab_r_overlap/table', 'scan.snapshot-id=1')";
    assert_eq!(run(&[sql, "--format", "csv"]).ok(), "n\n100\n");
}

#[test]
fn what_is_wrong_is_said_and_told_by_the_exit_code() {
    let (code, text) = of_lab(&["SELECT * FROM lab.nothing"]).failed();
    assert_eq!(code, 1);
    assert!(
        text.starts_with("error: not found: no table nothing in lab, there are: "),
        "{text}"
    );
    let (code, text) = of_lab(&["SELECT * FROM lab.\"r_one$row_tracking\""]).failed();
    assert_eq!(
        (code, text.contains("system table $row_tracking")),
        (3, true),
        "{text}"
    );
    let (code, text) = of_lab(&["SELECT FROM WHERE"]).failed();
    assert_eq!((code, text.starts_with("error: ")), (1, true), "{text}");
    let (code, text) = run(&["-f", "no-such-file.sql"]).failed();
    assert_eq!(code, 2);
    assert!(
        text.starts_with("error: cannot read no-such-file.sql: "),
        "{text}"
    );
    assert_eq!(run(&[]).failed().0, 2);
    assert_eq!(run(&["SELECT 1", "--store", "region"]).failed().0, 2);
}

#[test]
fn an_unknown_zone_or_store_is_told_before_anything_is_read() {
    for (option, value, part) in [
        ("--time-zone", "Mars/Base", "expected an IANA name"),
        ("--store", "s9.region=x", "object store s9; "),
        ("--store", "file.region=x", "it takes no options; "),
    ] {
        let (code, text) = run(&["SELECT 1", option, value]).failed();
        let name = value.split('=').next().unwrap();
        let begin = format!("error: {option} {name}: ");
        assert_eq!(code, 2, "{text}");
        assert!(text.starts_with(&begin) && text.contains(part), "{text}");
    }
    for zone in ["Europe/Berlin", "+08:00", "Z"] {
        let run = run(&["SELECT 1 AS x", "--time-zone", zone, "--format", "csv"]);
        assert_eq!(run.ok(), "x\n1\n");
    }
}

#[test]
fn a_statement_that_would_write_names_its_table() {
    for (sql, what) in [
        ("DROP TABLE lab.r_one", "DROP TABLE lab.r_one"),
        ("DROP TABLE IF EXISTS lab.r_one", "DROP TABLE lab.r_one"),
        (
            "CREATE TABLE lab.copied AS SELECT 1",
            "CREATE TABLE lab.copied",
        ),
        (
            "INSERT INTO lab.r_one VALUES (1, 'x')",
            "Insert Into lab.r_one",
        ),
        ("CREATE SCHEMA more", "CREATE SCHEMA more"),
    ] {
        let (code, text) = of_lab(&[sql]).failed();
        assert_eq!(code, 1, "{text}");
        let said = format!("{what}: a warehouse is only read");
        assert!(text.contains(&said), "{text}");
    }
    assert_eq!(of_lab(&["DROP TABLE IF EXISTS lab.nothing"]).ok(), "");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_paimon-sql"))
        .args([
            "SELECT * FROM generate_series(1, 1000000)",
            "--format",
            "csv",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
}

#[test]
fn nothing_is_written() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("rows.csv");
    let sql = format!("COPY (SELECT 1) TO '{}'", file.display());
    let (code, errors) = run(&[&sql]).failed();
    assert_eq!(code, 1);
    assert!(errors.contains("COPY"), "{errors}");
    assert!(!file.exists());
}
