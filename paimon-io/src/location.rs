//! Location text: what names a table, a directory or a file.
//!
//! Text is taken literally, in no direction percent-encoded or decoded: a partition directory `dt=a%2Fb` is called just
//! that. As in the reference, empty segments and `.` are left out and `..` goes up one segment by the text alone.

use paimon_meta::{Error, Result};

/// Scheme of local files, also where the text has none.
pub(crate) const FILE: &str = "file";

/// A location cut into its parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Location<'a> {
    /// Lower case; [`FILE`] if the text is an absolute path.
    pub(crate) scheme: String,
    /// Bucket, host or name of the store; empty if there is none.
    pub(crate) authority: &'a str,
    /// Segments joined by `/`, without one at either end.
    pub(crate) path: String,
}

impl<'a> Location<'a> {
    /// Cuts the text.
    ///
    /// # Errors
    /// `InvalidInput` if the text is a relative path or names a host of a local file.
    pub(crate) fn parse(text: &'a str) -> Result<Self> {
        let Some((scheme, rest)) = split_scheme(text) else {
            return Err(Error::invalid_input(format!(
                "location {text:?} is relative, expected an absolute path or a URL"
            ))
            .with_hint("make it absolute first, for instance with std::path::absolute"));
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) if !text.starts_with('/') => {
                rest.split_at(rest.find('/').unwrap_or(rest.len()))
            }
            _ => ("", rest),
        };
        let authority = if scheme == FILE && authority == "localhost" {
            ""
        } else {
            authority
        };
        if scheme == FILE && !authority.is_empty() {
            return Err(Error::invalid_input(format!(
                "location {text:?} names the host {authority}, expected a local file"
            )));
        }
        Ok(Self {
            scheme,
            authority,
            path: normalize(path),
        })
    }

    /// Whether this is a local file or directory.
    pub(crate) fn is_local(text: &str) -> bool {
        split_scheme(text).is_some_and(|(scheme, _)| scheme == FILE)
    }
}

/// Scheme in lower case and what follows its colon; an absolute path is a local file. `None` for a relative path.
fn split_scheme(text: &str) -> Option<(String, &str)> {
    if text.starts_with('/') {
        return Some((FILE.to_owned(), text));
    }
    let (scheme, rest) = text.split_once(':')?;
    let mut letters = scheme.bytes();
    let is_scheme = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && letters
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'-' | b'.'));
    (is_scheme && rest.starts_with('/')).then(|| (scheme.to_ascii_lowercase(), rest))
}

fn normalize(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    segments.join("/")
}

/// The location of a child: `parent`, one `/`, `name`. Both are taken literally; `name` may hold several segments.
///
/// ```
/// assert_eq!(paimon_io::join("s3://bucket/db/", "dt=a%2Fb/bucket-0"), "s3://bucket/db/dt=a%2Fb/bucket-0");
/// ```
#[must_use]
pub fn join(parent: &str, name: &str) -> String {
    format!("{}/{name}", parent.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use paimon_meta::ErrorKind;
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str) -> (String, String, String) {
        let location = Location::parse(text).unwrap();
        (
            location.scheme,
            location.authority.to_owned(),
            location.path,
        )
    }

    #[test]
    fn locations_are_cut_into_scheme_authority_and_path() {
        let cases = [
            ("/a/b", "file", "", "a/b"),
            ("//a//b/", "file", "", "a/b"),
            ("file:/a/b", "file", "", "a/b"),
            ("file:///a/b", "file", "", "a/b"),
            ("file://localhost/a", "file", "", "a"),
            ("FILE:/a", "file", "", "a"),
            ("memory:///a", "memory", "", "a"),
            ("memory:/a", "memory", "", "a"),
            ("memory://m/a", "memory", "m", "a"),
            ("s3://bucket", "s3", "bucket", ""),
            ("s3a://bucket/k/x y", "s3a", "bucket", "k/x y"),
            (
                "abfss://c@a.dfs.core.windows.net/p",
                "abfss",
                "c@a.dfs.core.windows.net",
                "p",
            ),
            ("/a/./b/../c", "file", "", "a/c"),
            ("/../a", "file", "", "a"),
            ("/", "file", "", ""),
        ];
        for (text, scheme, authority, path) in cases {
            assert_eq!(
                parts(text),
                (scheme.to_owned(), authority.to_owned(), path.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn relative_paths_and_hosts_of_files_are_refused() {
        for text in [
            "",
            "a/b",
            "./a",
            "file:a",
            "dt=1:2/x",
            "C:\\a",
            "file://host/a",
        ] {
            assert_eq!(
                Location::parse(text).unwrap_err().kind(),
                ErrorKind::InvalidInput,
                "{text:?}"
            );
        }
    }

    #[test]
    fn join_puts_one_slash_between() {
        for (parent, joined) in [
            ("/t", "/t/x"),
            ("/t/", "/t/x"),
            ("/", "/x"),
            ("s3://b", "s3://b/x"),
        ] {
            assert_eq!(join(parent, "x"), joined);
        }
        assert_eq!(parts(&join("memory:///", "x")).2, "x");
    }

    proptest! {
        // Section 5, "paths": metadata holds escaped text, which is never decoded or encoded again.
        #[test]
        fn segments_are_literal(segments in prop::collection::vec("[^/\\x00-\\x1f\\x7f]{1,12}", 1..5)) {
            prop_assume!(segments.iter().all(|segment| segment != "." && segment != ".."));
            let path = segments.join("/");
            prop_assert_eq!(parts(&format!("/{path}")).2, path.clone());
            prop_assert_eq!(parts(&format!("s3://bucket/{path}")).2, path);
        }
    }
}
