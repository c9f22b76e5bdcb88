//! What the command takes from the process it runs in. Libraries read none of this: it is handed down.

use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::Path;

use paimon_meta::{Error, Result};

/// Where a zone's file is, in the path of the system's own.
const ZONE_DIRECTORY: &str = "zoneinfo/";

/// Time zone of the process, for times that are written without one: `TZ`, else the system's, else UTC.
pub(crate) fn time_zone() -> String {
    let system = std::fs::read_link("/etc/localtime").ok();
    zone_of(variable("TZ").as_deref(), system.as_deref())
}

fn zone_of(variable: Option<&str>, system: Option<&Path>) -> String {
    let from_path = |path: &str| {
        path.split_once(ZONE_DIRECTORY)
            .map(|(_, zone)| zone.to_owned())
    };
    let zone = match variable.map(|zone| zone.strip_prefix(':').unwrap_or(zone)) {
        Some(zone) => from_path(zone).unwrap_or_else(|| zone.to_owned()),
        None => system
            .and_then(Path::to_str)
            .and_then(from_path)
            .unwrap_or_default(),
    };
    if zone.is_empty() {
        "UTC".to_owned()
    } else {
        zone
    }
}

/// The number of cores, at least 1.
pub(crate) fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Whether the output goes to a person who sees colours.
pub(crate) fn colours() -> bool {
    let refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !refused && variable("TERM").as_deref() != Some("dumb")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command reads the environment so that libraries need not"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The location of a table: a URL as it is, a path made absolute.
///
/// # Errors
/// `InvalidInput` if a path cannot be made absolute.
pub(crate) fn location(text: &str) -> Result<String> {
    if is_url(text) {
        return Ok(text.to_owned());
    }
    let path = std::path::absolute(text).map_err(|error| {
        Error::invalid_input(format!("{text:?} is no path of a table")).with_source(error)
    })?;
    path.into_os_string().into_string().map_err(|path| {
        Error::invalid_input(format!(
            "the current directory {} is no Unicode text",
            path.display()
        ))
    })
}

/// Whether text begins with a scheme and a slash: `s3://…`, `file:/…`.
fn is_url(text: &str) -> bool {
    text.split_once(":/").is_some_and(|(scheme, _)| {
        scheme
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zone_comes_from_the_variable_else_from_the_system() {
        let system = Path::new("/usr/share/zoneinfo/Europe/Paris");
        let cases = [
            (Some("Asia/Tokyo"), Some(system), "Asia/Tokyo"),
            (Some(":Asia/Tokyo"), None, "Asia/Tokyo"),
            (Some("/usr/share/zoneinfo/Asia/Tokyo"), None, "Asia/Tokyo"),
            (Some(""), Some(system), "UTC"),
            (None, Some(system), "Europe/Paris"),
            (None, Some(Path::new("/somewhere")), "UTC"),
            (None, None, "UTC"),
        ];
        for (variable, system, zone) in cases {
            assert_eq!(zone_of(variable, system), zone, "{variable:?} {system:?}");
        }
    }

    #[test]
    fn paths_become_absolute_and_urls_stay() {
        for url in ["s3://b/t", "file:/a", "memory:///x", "HDFS://n/a"] {
            assert_eq!(location(url).unwrap(), url);
        }
        assert_eq!(location("/a/b").unwrap(), "/a/b");
        for path in ["a", "./a:b", "1:/a", "dt=a:/b"] {
            assert!(location(path).unwrap().starts_with('/'), "{path}");
        }
    }
}
