//! What there is, in words.

/// Ids as ranges: `1 to 3, 5`.
pub(crate) fn ranges(ids: &[i64]) -> String {
    let runs = ids.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let text = runs.filter_map(|run| match run {
        [] => None,
        [one] => Some(one.to_string()),
        [first, .., last] => Some(format!("{first} to {last}")),
    });
    text.collect::<Vec<_>>().join(", ")
}

/// `the table has no snapshots`, `the table has snapshots 1 to 3`.
pub(crate) fn there_are(what: &str, which: &str) -> String {
    if which.is_empty() {
        format!("the table has no {what}")
    } else {
        format!("the table has {what} {which}")
    }
}
