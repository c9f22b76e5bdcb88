//! The crate's example, run.

#[path = "../../../examples/read_table.rs"]
#[expect(
    dead_code,
    reason = "the example's main is its own; it calls what is called here"
)]
mod read_table;

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
