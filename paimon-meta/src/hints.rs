//! Which snapshot is the latest or earliest: the rules of the hint files, without I/O. They serve `snapshot/` and
//! `changelog/` alike. Facts: table-format section 1.2, RP-022.
//!
//! ```text
//! LATEST ─ parse_hint ─▶ n ─ does n + 1 exist? does n? ─ latest_from_hint ─▶ n, or list the directory
//!                                                 names ─ numbered_name ─▶ ids ─ latest_from_listing ─▶ the largest
//! ```

use crate::error::{Error, Result};

/// The id in a hint file; `None` if it holds none (TF-001). Line ends do not count, a space does (TF-006).
pub fn parse_hint(content: &[u8]) -> Option<i64> {
    let text: String = std::str::from_utf8(content).ok()?.lines().collect();
    text.parse().ok()
}

/// The number behind `prefix` in a file name, such as `snapshot-7`; `None` for all other files (TF-007).
pub fn numbered_name(name: &str, prefix: &str) -> Option<i64> {
    let digits = name.strip_prefix(prefix)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())?
}

/// The latest id if the hint can be believed: it is above 0 (TF-004), the file of the next id does not exist (TF-002)
/// and, stricter than the reference, its own does (TF-003). `None` means that the directory must be listed.
pub fn latest_from_hint(hint: Option<i64>, next_exists: bool, exists: bool) -> Option<i64> {
    hint.filter(|id| *id > 0 && !next_exists && exists)
}

/// The latest id among those listed after [`latest_from_hint`] gave none; `None` if there is none and none was hinted.
///
/// # Errors
/// `Corrupt` if all are below a hint above 0: snapshots were lost, or not copied (TF-003).
pub fn latest_from_listing(
    hint: Option<i64>,
    listed: impl IntoIterator<Item = i64>,
) -> Result<Option<i64>> {
    let largest = listed.into_iter().max();
    match hint.filter(|id| *id > 0 && largest.is_none_or(|largest| largest < *id)) {
        None => Ok(largest),
        Some(hint) => {
            let found = largest.map_or("there is none".to_owned(), |id| {
                format!("the latest there is {id}")
            });
            Err(
                Error::corrupt(format!("file LATEST names snapshot-{hint}, {found}"))
                    .with_hint("if the newer ones are gone for good, remove the file LATEST"),
            )
        }
    }
}

/// The earliest id if the hint can be believed: its file exists, whatever ids are below it (TF-005). `None` means that
/// the directory must be listed, the answer is then the smallest id.
pub fn earliest_from_hint(hint: Option<i64>, exists: bool) -> Option<i64> {
    hint.filter(|_| exists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn hints_are_numbers_with_line_ends_at_most() {
        // TF-001, TF-006
        let cases: [(&[u8], _); 9] = [
            (b"7", Some(7)),
            (b"7\n", Some(7)),
            (b"\r\n7\r\n", Some(7)),
            (b"-3", Some(-3)),
            (b"7 ", None),
            (b" 7", None),
            (b"", None),
            (b"x", None),
            (b"\xff", None),
        ];
        for (content, id) in cases {
            assert_eq!(parse_hint(content), id, "{content:?}");
        }
    }

    #[test]
    fn only_numbered_names_count() {
        // TF-007
        let cases = [
            ("snapshot-12", Some(12)),
            ("snapshot-1e5c0f3a.tmp", None),
            ("snapshot-", None),
            ("snapshot--1", None),
            ("snapshot-99999999999999999999", None),
            ("LATEST", None),
            (".snapshot-3.uuid.tmp", None),
        ];
        for (name, id) in cases {
            assert_eq!(numbered_name(name, "snapshot-"), id, "{name}");
        }
    }

    #[test]
    fn latest_hint_is_believed_only_where_it_is_the_end() {
        assert_eq!(latest_from_hint(Some(7), false, true), Some(7));
        assert_eq!(latest_from_hint(Some(7), true, true), None); // TF-002
        assert_eq!(latest_from_hint(Some(7), false, false), None); // TF-003
        assert_eq!(latest_from_hint(Some(0), false, true), None); // TF-004
        assert_eq!(latest_from_hint(None, false, false), None); // TF-001
    }

    #[test]
    fn listing_decides_but_not_against_a_hint_above_it() {
        // TF-003
        assert_eq!(latest_from_listing(Some(3), [2, 9, 8]).unwrap(), Some(9));
        assert_eq!(latest_from_listing(Some(-5), [2, 1]).unwrap(), Some(2));
        assert_eq!(latest_from_listing(None, []).unwrap(), None);
        assert_eq!(latest_from_listing(Some(0), []).unwrap(), None);
        let error = latest_from_listing(Some(7), [4, 5]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(
            error.message(),
            "file LATEST names snapshot-7, the latest there is 5"
        );
        assert_eq!(
            latest_from_listing(Some(7), []).unwrap_err().message(),
            "file LATEST names snapshot-7, there is none"
        );
    }

    #[test]
    fn earliest_hint_is_believed_if_it_exists() {
        // TF-005
        assert_eq!(earliest_from_hint(Some(3), true), Some(3));
        assert_eq!(earliest_from_hint(Some(3), false), None);
    }
}
