//! Numbered files and what is in them.

use paimon_io::Resources;
use paimon_meta::{Frame, Result, ResultExt, Snapshot, numbered_name};

/// The numbers of the files `<prefix><number>` in a directory, ascending; other names are ignored (TF-007).
///
/// # Errors
/// `Storage`.
pub(crate) async fn numbered_files(
    resources: &Resources,
    directory: &str,
    prefix: &str,
) -> Result<Vec<i64>> {
    let names = resources.list_names(directory).await?;
    let mut numbers: Vec<i64> = names
        .iter()
        .filter_map(|(name, _)| numbered_name(name, prefix))
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// A snapshot from its file, read again while it does not parse.
///
/// # Errors
/// `Corrupt` if it never parses, or `Storage`.
pub(super) async fn read_snapshot(
    resources: &Resources,
    path: &str,
    tries: usize,
) -> Result<Option<Snapshot>> {
    let mut tried = 0;
    loop {
        let Some(bytes) = resources.get_if_exists(path).await? else {
            return Ok(None);
        };
        tried += 1;
        match Snapshot::from_json(&bytes) {
            Err(_) if tried < tries => {}
            parsed => return parsed.map(Some).at(|| Frame::File(path.to_owned())),
        }
    }
}
