//! The crate's example, run.

#[path = "../../../examples/list_splits.rs"]
#[expect(
    dead_code,
    reason = "the example's main is its own; it calls what is called here"
)]
mod list_splits;

#[test]
fn list_splits_writes_the_split_of_a_golden_table() {
    let mut out = Vec::new();
    list_splits::write_splits(list_splits::GOLDEN, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0], "bucket-0: to merge, Overlap");
    assert!(lines[1].starts_with("  level 0  100 rows  data-"), "{text}");
    assert!(lines[4].contains("FullCompaction"), "{text}");
}
