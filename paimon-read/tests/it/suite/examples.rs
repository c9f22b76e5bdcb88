//! The crate's examples, run.

#[path = "../../../examples/read_table.rs"]
#[expect(
    dead_code,
    reason = "the example's main is its own; it calls what is called here"
)]
mod read_table;

#[path = "../../../examples/read_in_parts.rs"]
#[expect(
    dead_code,
    reason = "the example's main is its own; it calls what is called here"
)]
mod read_in_parts;

#[test]
fn read_table_writes_the_rows_of_a_golden_table() {
    let mut out = Vec::new();
    read_table::write_rows(read_table::GOLDEN, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(lines.len(), 1 + 150);
    assert_eq!(lines[0], "split 0, merge reader");
    assert_eq!(lines[150], "k = Some(BigInt(150))  v = Some(String(\"b\"))");
}

#[test]
fn read_in_parts_counts_the_rows_of_a_golden_table() {
    let mut out = Vec::new();
    let threads = std::num::NonZeroUsize::new(2).unwrap();
    read_in_parts::count_rows(read_in_parts::GOLDEN, threads, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    let rows = lines.iter().map(|line| {
        let line = line.strip_prefix("split 0, a range of keys: ").unwrap();
        line.strip_suffix(" rows").unwrap().parse::<u32>().unwrap()
    });
    let rows: Vec<u32> = rows.collect();
    assert_eq!(rows.iter().sum::<u32>(), 150);
    assert!(rows.iter().all(|rows| *rows >= 50), "{rows:?}");
}
