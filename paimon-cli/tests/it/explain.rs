use serde_json::Value;

use crate::command::{golden, run};
use crate::damage::{copy, last_file};

fn explain(case: &str, arguments: &[&str]) -> String {
    run(&[&["explain", &golden(case)], arguments].concat()).ok()
}

fn json(case: &str, arguments: &[&str]) -> Value {
    let text = explain(case, &[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// The explanation without its first line, which holds the path of the checkout.
fn body(case: &str, arguments: &[&str]) -> String {
    let text = explain(case, arguments);
    let (first, rest) = text.split_once('\n').unwrap();
    assert_eq!(first, format!("table       {}", shown_path(case)));
    rest.to_owned()
}

/// A line has 100 columns at most; a path wraps nowhere and is cut.
fn shown_path(case: &str) -> String {
    let path = golden(case);
    if path.chars().count() <= 88 {
        return path;
    }
    let cut: String = path.chars().take(87).collect();
    cut + "…"
}

#[test]
fn overlapping_files_are_merged_and_it_is_said_why() {
    // Sketch of docs: what is read first, what is not read at all, and where each filter acts.
    assert_eq!(
        body(
            "lab_r_overlap",
            &["--where", "v = 'a' AND k BETWEEN 58 AND 62"]
        ),
        "            primary key (k), deduplicate, 1 bucket
snapshot    2 of 2, schema 0, committed 2026-11-30 01:17:35.866Z
files       2 of 2 · 200 rows · 3.36 KiB · manifests 2 of 2
splits      0 raw, 1 to merge

bucket-0
  level 0   ▕▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓          ▏  data-99e0…-0  100 rows  k 1..100  seq 0..99
            ▕          ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▏  data-5dd8…-0  100 rows  k 51..150  seq 100..199
  k          1         51       100     150

split 0     MERGE  bucket-0, 2 files, 200 rows, 3.36 KiB
  why       a key can be in more than one file; in the way of a bucket that is raw as a whole: 2
            files on level 0
            data-99e0…-0 and data-5dd8…-0 can both hold k 51..100
  section 0 k 1..150, 2 runs, 200 rows
            run 0, k 1..100 in data-99e0…-0
            run 1, k 51..150 in data-5dd8…-0
    reads   k where k >= 58 AND k <= 62 to find the rows that win; not the sequence number (the
            files' ranges tell which is newer); not the row kind (no delete rows), then v of the
            rows that win to ask v = 'a'

filter      v = 'a'   after the merge only, where files overlap: an old version must not win
            k >= 58   prunes files, row groups, pages and rows of every run
            k <= 62   prunes files, row groups, pages and rows of every run
count(*)    reads v, k to ask the condition
faster      a full compaction would make the split raw: a merge looks at all of 200 rows
            deletion vectors would make the split raw after every compaction, not only a full one

estimated   from footers and indexes of 2 files; 2 requests, 3.36 KiB
  files     2 planned, 2 to open, 0 excluded by their indexes
  groups    2 row groups, keys read in 2, 1 kept for values; 3 of 3 pages kept
  rows      200 planned, keys of 200 read, 100 skipped, 0 deleted by vectors; at most 100 come out
"
    );
}

#[test]
fn sections_that_share_a_split_are_read_as_they_are() {
    assert_eq!(
        body("lab_r_disjoint", &[]),
        "            primary key (k), deduplicate, 1 bucket
snapshot    2 of 2, schema 0, committed 2026-11-30 01:17:30.53Z
files       2 of 2 · 200 rows · 3.37 KiB · manifests 2 of 2
splits      0 raw, 1 to merge

bucket-0
  level 0   ▕███████████                   ▏  data-cfbd…-0  100 rows  k 1..100  seq 0..99
            ▕                   ███████████▏  data-2f26…-0  100 rows  k 101..200  seq 100..199
  k          1         100      101     200

split 0     MERGE  bucket-0, 2 files, 200 rows, 3.37 KiB
  why       no key is in two files, but sections share the split: each weighs 4 MiB at least, the
            open-file cost, and the target is 128 MiB; in the way of a bucket that is raw as a
            whole: 2 files on level 0
  section 0 k 1..100, 1 run, 100 rows
    reads   k, v
  section 1 k 101..200, 1 run, 100 rows
    reads   k, v

count(*)    200, from metadata: no section has more than one run or deletes
faster      source.split.target-size = 4 mb would make 2 raw splits of the split; it helps only with
            more than one reader

estimated   from footers and indexes of 2 files; 2 requests, 3.37 KiB
  files     2 planned, 2 to open, 0 excluded by their indexes
  groups    2 row groups, 2 kept
  rows      200 planned, 0 skipped, 0 deleted by vectors; at most 200 come out
"
    );
    // The advice holds: it can be typed, and does what it says.
    let advised = ["--option", "source.split.target-size=4 mb"];
    let splits = json("lab_r_disjoint", &advised)["splits"].clone();
    assert_eq!(splits.as_array().unwrap().len(), 2);
    assert_eq!(splits[1]["why"], "LoneFile");
}

#[test]
fn a_compacted_table_needs_no_advice() {
    assert_eq!(
        body("lab_r_compact", &[]),
        "            primary key (k), deduplicate, 1 bucket
snapshot    3 of 3, schema 0, committed 2026-11-30 01:17:45.165Z
files       1 of 1 · 150 rows · 1.91 KiB · manifests 3 of 3
            - 2 files, 200 rows: deleted again by later commits
splits      1 raw, 0 to merge

bucket-0
  level 5   ▕██████████████████████████████▏  data-77cf…-0  150 rows  k 1..150  seq 0..199
  k          1                          150

split 0     RAW  bucket-0, 1 file, 150 rows, 1.91 KiB
  why       all files of the bucket are on one level above 0, and none has delete rows
    reads   k, v

count(*)    150, from metadata

estimated   from footers and indexes of 1 file; 1 request, 1.91 KiB
  files     1 planned, 1 to open, 0 excluded by their indexes
  groups    1 row group, 1 kept
  rows      150 planned, 0 skipped, 0 deleted by vectors; at most 150 come out
"
    );
}

#[test]
fn advice_names_what_would_help() {
    let advice = |case| {
        let advice = json(case, &[])["advice"].clone();
        let words = advice.as_array().unwrap().iter();
        words
            .map(|advice| advice["words"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let disjoint = advice("lab_r_disjoint");
    assert_eq!(disjoint.len(), 1);
    assert!(disjoint[0].contains("source.split.target-size"));
    let overlap = advice("lab_r_overlap");
    assert_eq!(overlap.len(), 2);
    assert!(overlap[0].contains("full compaction"));
    assert!(overlap[1].contains("deletion vectors"));
    assert!(advice("lab_r_compact").is_empty());
    assert!(advice("lab_r_one").is_empty());
}

#[test]
fn partitions_and_buckets_have_a_picture_each() {
    let text = explain(
        "merge_dedup_partition_in_key",
        &["--where", "region = 'us'"],
    );
    assert!(text.contains("\nregion=us/bucket-0\n"), "{text}");
    assert!(!text.contains("region=eu"), "{text}");
    assert!(
        text.contains("prunes partitions, and then holds for every row"),
        "{text}"
    );
    let dates = explain("fmt_part_date", &[]);
    assert!(
        dates.contains("\np=19724/bucket-0   p = \"2024-01-02\"\n"),
        "{dates}"
    );
}

#[test]
fn files_that_decide_by_rows_have_their_columns_read() {
    let delete = json("lab_r_delete", &[]);
    let section = &delete["splits"][0]["sections"][0];
    let key_pass = &section["key_pass"];
    assert_eq!(key_pass["keys"][0], "k");
    assert_eq!(key_pass["sequence_number_of"].as_array().unwrap().len(), 0);
    assert_eq!(key_pass["row_kind_of"].as_array().unwrap().len(), 1);
    assert_eq!(section["value_columns"][0], "v");
    let fields = json("merge_dedup_seq_two_desc", &[]);
    let key_pass = &fields["splits"][0]["sections"][0]["key_pass"];
    assert_eq!(key_pass["sequence_fields"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_read_is_explained_all_the_same() {
    let unknown = ["--option", "fields.a.aggregate-function=median"];
    let text = explain("merge_agg_sum_types", &unknown);
    assert!(
        text.contains("  reader    none, not supported: aggregate function median is not known"),
        "{text}"
    );
}

#[test]
fn a_read_of_nothing_says_so() {
    let text = explain("lab_r_overlap", &["--where", "k > 1000"]);
    assert!(
        text.contains("splits      none: this read returns no rows\n"),
        "{text}"
    );
    assert!(text.contains("key statistics"), "{text}");
    let empty = explain("plan_empty_tables", &[]);
    assert!(
        empty.contains("snapshot    none: nothing was committed yet\n"),
        "{empty}"
    );
}

#[test]
fn no_line_of_any_table_is_wider_than_100_columns() {
    let cases = std::fs::read_dir(paimon_testkit::GOLDEN).unwrap();
    let mut explained = 0;
    for case in cases {
        let path = case.unwrap().path();
        if !path.join("table").is_dir() {
            continue;
        }
        let table = path.join("table");
        let ran = run(&["explain", table.to_str().unwrap()]);
        assert!(
            matches!(ran.code, 0 | 1 | 3),
            "{}: {}",
            path.display(),
            ran.code
        );
        explained += usize::from(ran.code == 0);
        for line in String::from_utf8(ran.stdout).unwrap().lines() {
            assert!(line.chars().count() <= 100, "{}: {line}", path.display());
        }
    }
    assert!(explained > 100, "{explained}");
}

#[test]
fn the_picture_has_a_bar_for_each_file() {
    let picture = explain("merge_dedup_partition_in_key", &["--format", "svg"]);
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    let bars = |class: &str| picture.matches(&format!("<rect class=\"{class}\"")).count();
    // Two in the legend.
    assert_eq!((bars("merge"), bars("raw"), bars("box")), (5, 4, 5));
    let page = explain("lab_r_overlap", &["--format", "html"]);
    assert!(page.contains("<svg ") && page.contains("a key can be in more than one file"));
    assert!(page.ends_with("</html>\n"));
}

#[test]
fn vectors_are_told_file_by_file_and_hidden_rows_in_sum() {
    // RP-075, RP-113
    let text = body("plan_dv_level0_hidden", &[]);
    assert!(text.contains("30 rows  k 1..30  2 deleted  seq"), "{text}");
    assert!(
        text.contains("count(*)    30, from metadata less 2 rows that vectors delete"),
        "{text}"
    );
    let vector = &json("plan_dv_level0_hidden", &[])["buckets"][0]["files"][1]["deletion_vector"];
    assert_eq!(vector["cardinality"], 2);
    let text = body("merge_first_row_states", &[]);
    assert!(
        text.contains(
            "hidden      ░ 1 file, 2 rows, on level 0: with first-row it shows only after a compaction\n"
        ),
        "{text}"
    );
    assert!(text.contains("a compaction would show 2 rows that are hidden on level 0"));
}

/// What stands from `measured` on, word by word, for lines break where numbers let them; times and sizes as `…`.
fn measured(case: &str, arguments: &[&str]) -> String {
    let text = explain(case, &[&["--analyze", "--jobs", "1"], arguments].concat());
    let start = text.find("\nmeasured").unwrap() + 1;
    let words: Vec<&str> = text[start..].split_whitespace().collect();
    let is_unit = |word: &str| matches!(word, "ms" | "s" | "KiB" | "MiB" | "GiB");
    let mut masked = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let unit = words.get(index + 1).map(|word| word.trim_end_matches(','));
        if unit.is_some_and(is_unit) {
            masked.push("…");
        } else if !is_unit(word.trim_end_matches(',')) {
            masked.push(word);
        }
    }
    masked.join(" ")
}

#[test]
fn what_a_read_took_stands_below() {
    assert_eq!(
        measured("lab_r_overlap", &["--where", "v = 'b' AND k >= 149"]),
        "measured planned in … · read in … by 1 task · … of memory at most \
         files 2 of the snapshot, 1 planned, 1 opened, 0 excluded by their indexes \
         groups 1 row group, 1 kept; 1 of 1 page kept \
         rows at most 100 by the plan; 0 skipped, 100 decoded, 0 superseded by other versions, 98 filtered; \
         2 came out \
         requests 11, … those of planning among them \
         time … opening files and choosing rows, … waiting for columns, … asking the condition, … decoding values, \
         … filling batches, over all tasks"
    );
}

#[test]
fn what_a_read_took_is_data_too() {
    let all = json("lab_r_overlap", &["--analyze"]);
    let measured = &all["measured"];
    assert_eq!(measured["rows"], 150);
    assert_eq!(measured["planned_rows"], 200);
    assert_eq!(measured["planned_files"], 2);
    let counters = &measured["counters"];
    assert_eq!(counters["files_opened"], 2);
    assert_eq!(counters["rows_superseded"], 50);
    assert_eq!(counters["rows_filtered"], 0);
    assert_eq!(all["estimated"]["rows"], 200);
    assert!(counters["requests"].as_u64().unwrap() >= 7);
    let index = ["--where", "c = 'nope' OR n = 1000", "--analyze"];
    let indexed = json("fmt_file_index_parquet_bitmap_bsi_bloomfilter", &index);
    assert_eq!(indexed["measured"]["rows"], 0);
    assert!(json("lab_r_overlap", &[])["measured"].is_null());
}

#[test]
fn changes_are_neither_merged_nor_advised_about() {
    // RP-303, RP-306
    let between = ["--option", "incremental-between=1,2"];
    let written = body("plan_stream_producer_input", &between);
    assert!(written.contains("\nsplit 0     AS WRITTEN  "), "{written}");
    assert!(
        written.contains("\nsplits      1 of changes\n"),
        "{written}"
    );
    let mode = ["--option", "incremental-between-scan-mode=diff"];
    let diff = body(
        "plan_stream_producer_input",
        &[&between[..], &mode[..]].concat(),
    );
    assert!(diff.contains("\nsplit 0     DIFF  "), "{diff}");
    for text in [written, diff] {
        assert!(
            !text.contains("MERGE") && !text.contains("faster"),
            "{text}"
        );
    }
}

#[test]
fn parts_are_told_before_and_after_they_are_read() {
    let before = explain("lab_r_overlap", &["--parts", "2"]);
    assert!(
        before.contains(
            "\n  part 0    keys below 75 in 2 files, about 1.69 KiB\
             \n  part 1    keys from 75 in 2 files, about 1.66 KiB\n"
        ),
        "{before}"
    );
    let one = explain("lab_r_one", &["--parts", "2"]);
    let parts = "\n  part 0    rows 0..50 in 1 file, about 845 bytes\
                 \n  part 1    rows 50..100 in 1 file, about 845 bytes\n";
    assert!(one.contains(parts), "{one}");

    let after = json("lab_r_overlap", &["--parts", "2", "--analyze"]);
    let parts = after["splits"][0]["parts"].as_array().unwrap();
    let rows: Vec<_> = parts
        .iter()
        .map(|part| part["measured"]["rows"].as_u64().unwrap())
        .collect();
    assert_eq!(
        (rows, &after["measured"]["rows"]),
        (vec![74, 76], &150.into())
    );
    assert_eq!(parts[0]["estimated_bytes"], 1733);
    let below = explain("lab_r_overlap", &["--parts", "2", "--analyze", "-j", "1"]);
    assert!(below.contains("\n            74 rows in "), "{below}");
    // A split that is not cut has no part.
    let whole = json("lab_r_overlap", &["--analyze"]);
    assert_eq!(whole["splits"][0].get("parts"), None);
}

#[test]
fn what_a_read_comes_to_is_estimated_before() {
    let estimated = |case, arguments: &[&str]| json(case, arguments)["estimated"].clone();
    // RP-113: vectors take their rows away before anything is read.
    let vectors = estimated("plan_dv_level0_hidden", &[]);
    assert_eq!(
        (&vectors["rows"], &vectors["rows_deleted"]),
        (&32.into(), &2.into())
    );
    assert_eq!(
        (&vectors["rows_kept"], &vectors["at_most"]),
        (&30.into(), &true.into())
    );
    // Footers and the vectors, once each.
    assert_eq!(vectors["requests"], 3);

    // The same steps while reading, which leave out as much.
    let arguments = ["--where", "v = 'b' AND k >= 149", "--analyze"];
    let both = json("lab_r_overlap", &arguments);
    let (before, after) = (&both["estimated"], &both["measured"]);
    assert_eq!(before["row_groups"], after["counters"]["row_groups"]);
    assert_eq!(before["pages"], after["counters"]["pages"]);
    let rows = |name: &str| before[name].as_u64().unwrap();
    assert_eq!(
        rows("rows") - rows("rows_kept"),
        after["counters"]["rows_skipped"]
    );

    // Indexes exclude files before they are opened.
    let case = "fmt_file_index_parquet_bitmap_bsi_bloomfilter";
    let excluded = estimated(case, &["--where", "c = 'c05'"]);
    assert_eq!(excluded["rows_kept"], 0);
    assert!(
        excluded["files_kept"].as_u64() < excluded["files"].as_u64(),
        "{excluded}"
    );
}

#[test]
fn few_files_stand_for_many() {
    let some = json("lab_r_overlap", &["--footers", "1"])["estimated"].clone();
    assert_eq!(
        (&some["files"], &some["files_seen"]),
        (&2.into(), &1.into())
    );
    assert_eq!(
        (&some["rows"], &some["all"]["rows"]),
        (&100.into(), &200.into())
    );
    assert_eq!(some["at_most"], false);
    let text = explain("lab_r_overlap", &["--footers", "1"]);
    assert!(
        text.contains(
            "\nestimated   from 1 of 2 files, as if the others were like them; 1 request, "
        ),
        "{text}"
    );
    assert!(text.contains("; about 200 come out\n"), "{text}");
    let none = explain("lab_r_overlap", &["--footers", "0"]);
    assert!(
        none.ends_with("\nestimated   nothing: none of 2 files is looked into\n"),
        "{none}"
    );
}

#[test]
fn what_is_in_the_way_of_an_estimate_is_told() {
    let between = [
        "--option",
        "incremental-between=1,2",
        "--option",
        "incremental-between-scan-mode=diff",
    ];
    let diff = explain("plan_stream_producer_input", &between);
    assert!(
        diff.contains("\nestimated   nothing is told of 1 split\n"),
        "{diff}"
    );
    let copy = copy("lab_r_one");
    std::fs::write(
        last_file(&copy.path().join("bucket-0"), "data-"),
        "no parquet",
    )
    .unwrap();
    let ran = run(&["explain", copy.path().to_str().unwrap()]);
    let text = ran.ok();
    assert!(text.contains("\nestimated   nothing: corrupt:"), "{text}");
    assert!(text.ends_with(".parquet]\n"), "{text}");
}
