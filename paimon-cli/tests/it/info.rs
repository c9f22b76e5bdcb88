use crate::command::{golden, run};
use crate::damage::copy;

fn tree(case: &str, arguments: &[&str]) -> String {
    run(&[&["info", &golden(case)], arguments].concat()).ok()
}

#[test]
fn a_snapshot_is_shown_down_to_its_entries() {
    let text = tree("lab_r_delete", &[]);
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(
        first.ends_with(", schema 0, 1 in all, 2 columns, primary key (k)"),
        "{first}"
    );
    assert_eq!(
        rest,
        "└─ snapshot 3, append, schema 0, committed 2026-11-30 01:17:55.033Z by 9603d07a-7a9b-4b09-9215-e20cbeeecda9, 101 rows in its files
   ├─ base manifest list manifest-list-84958812-c72a-4793-b126-1438b8fe42df-0, 1,020 bytes, 2 manifests
   │  ├─ manifest manifest-2efbef02-1db6-4e06-97db-0b134e419ca4-0, 2.05 KiB, 1 added, 0 deleted, buckets 0, levels 0
   │  │  └─ + bucket-0, level 0, data-0d301fe2-be81-42e7-a780-340beb62a5df-0.parquet, 100 rows, 1.65 KiB, 0 deletes, keys 1..100, sequence 0..99, schema 0
   │  └─ manifest manifest-da5bf8c6-5e4f-4c06-9ede-b757b7097442-0, 2.06 KiB, 1 added, 1 deleted, buckets 0, levels 0..5
   │     ├─ - bucket-0, level 0, data-0d301fe2-be81-42e7-a780-340beb62a5df-0.parquet, 100 rows, 1.65 KiB, 0 deletes, keys 1..100, sequence 0..99, schema 0
   │     └─ + bucket-0, level 5, data-0d301fe2-be81-42e7-a780-340beb62a5df-0.parquet, 100 rows, 1.65 KiB, 0 deletes, keys 1..100, sequence 0..99, schema 0
   └─ delta manifest list manifest-list-84958812-c72a-4793-b126-1438b8fe42df-1, 989 bytes, 1 manifest
      └─ manifest manifest-a00e24af-6f64-4314-85b2-216c9bbd0ab2-0, 2.04 KiB, 1 added, 0 deleted, buckets 0, levels 0
         └─ + bucket-0, level 0, data-6948b2f1-c283-49a1-b971-9a64851191b1-0.parquet, 1 row, 1.13 KiB, 1 delete, keys 5, sequence 100, schema 0
"
    );
}

#[test]
fn deletion_vectors_and_partitions_are_shown() {
    let vectors = tree("lab_dv_on", &[]);
    assert!(
        vectors.contains("   └─ index manifest ")
            && vectors.contains("11 rows deleted, bytes 1..24"),
        "{vectors}"
    );
    let partitions = tree("fmt_part_date", &[]);
    assert!(
        partitions.contains(", partitions 1969-12-31..9999-12-31, "),
        "{partitions}"
    );
    assert!(partitions.contains("+ p=NULL/bucket-0, "), "{partitions}");
}

#[test]
fn hash_indexes_are_decoded() {
    // table-format 6.3
    let text = tree("plan_dynamic_bucket", &[]);
    assert!(text.contains("hashes of primary keys, "), "{text}");
    assert!(!text.contains('✗'), "{text}");
}

#[test]
fn entries_can_be_chosen() {
    let entries = |arguments: &[&str]| {
        let text = tree("merge_dedup_partition_in_key", arguments);
        let entry = |line: &&str| line.contains("─ + ") || line.contains("─ - ");
        text.lines().filter(entry).count()
    };
    let all = entries(&[]);
    let chosen = entries(&["--partition", "region=eu"]);
    let bucket = entries(&["--partition", "region=eu", "--bucket", "0"]);
    assert!(
        all > chosen && chosen > bucket && bucket > 0,
        "{all} {chosen} {bucket}"
    );
    let text = tree("merge_dedup_partition_in_key", &["--limit", "1"]);
    assert!(
        text.contains("… and ") && text.contains(" more entr"),
        "{text}"
    );
    let (code, _) = run(&["info", &golden("lab_r_one"), "--where", "k = 1"]).failed();
    assert_eq!(code, 2);
    let (code, text) = run(&["info", &golden("lab_r_one"), "--partition", "x=1"]).failed();
    assert_eq!(
        (code, text.lines().next()),
        (1, Some("error: no partition column \"x\""))
    );
}

#[test]
fn what_cannot_be_read_is_marked_and_the_walk_goes_on() {
    let table = copy("lab_r_delete");
    let manifest = "manifest-2efbef02-1db6-4e06-97db-0b134e419ca4-0";
    let path = table.path().join("manifest").join(manifest);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..100]).unwrap();
    let ran = run(&["info", table.path().to_str().unwrap()]);
    assert_eq!(ran.code, 1);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.contains("entries: ✗ "), "{text}");
    assert!(text.contains("keys 5, sequence 100"), "{text}");
    assert!(ran.stderr.contains(manifest), "{}", ran.stderr);
}
