//! What there is, in words.

use paimon_meta::Datum;

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

/// A time as text and as options take it: `1970-01-01 00:00:01Z (1000)`.
pub(crate) fn at_time(millis: i64) -> String {
    let time = Datum::Timestamp { millis, nanos: 0 }.to_string();
    format!("{}Z ({millis})", time.replacen('T', " ", 1))
}
