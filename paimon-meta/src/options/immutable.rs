//! Options that files are written for.

use std::collections::BTreeMap;

use super::Options;

/// Those that 1.4.2 lets nobody change (ran), in a read neither: a read with others would take the files for what they are
/// not.
const IMMUTABLE: [&str; 18] = [
    "aggregation.remove-record-on-delete",
    "blob-descriptor-field",
    "blob-external-storage-field",
    "blob-external-storage-path",
    "bucket-function.type",
    "bucket-key",
    "data-evolution.enabled",
    "data-file.path-directory",
    "force-lookup",
    "index-file-in-data-file-dir",
    "merge-engine",
    "partial-update.remove-record-on-delete",
    "partial-update.remove-record-on-sequence-group",
    "partition",
    "pk-clustering-override",
    "primary-key",
    "row-tracking.enabled",
    "rowkind.field",
];

/// What lets deletion vectors be turned on and off.
const MODIFIABLE: &str = "deletion-vectors.modifiable";

impl Options {
    /// The option of a table that a read would change and must not: the reference refuses such a read, [`Self::overlaid`]
    /// does not.
    ///
    /// ```
    /// # use std::collections::BTreeMap;
    /// use paimon_meta::Options;
    /// let table = Options(BTreeMap::from([("bucket-key".to_owned(), "a".to_owned())]));
    /// let read = |key: &str, text: &str| BTreeMap::from([(key.to_owned(), Some(text.to_owned()))]);
    /// assert_eq!(table.unchangeable(&read("bucket-key", "b")), Some("bucket-key"));
    /// assert_eq!(table.unchangeable(&read("bucket-key", "a")), None);
    /// assert_eq!(table.unchangeable(&read("scan.snapshot-id", "1")), None);
    /// ```
    pub fn unchangeable<'a>(&self, read: &'a BTreeMap<String, Option<String>>) -> Option<&'a str> {
        let changed = |(key, text): &(&String, &Option<String>)| {
            let key = key.as_str();
            if key == Self::DELETION_VECTORS_ENABLED.key {
                let all = self.overlaid(read);
                let is_on = |options: &Self, key: &str| options.boolean(key, false).ok();
                return is_on(self, key) != is_on(&all, key)
                    && is_on(&all, MODIFIABLE) != Some(true);
            }
            IMMUTABLE.contains(&key) && self.get(key) != text.as_deref()
        };
        read.iter().find(changed).map(|(key, _)| key.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map<T>(pairs: &[(&str, &str)], value: impl Fn(&str) -> T) -> BTreeMap<String, T> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, text)| ((*key).to_owned(), value(text)))
            .collect()
    }

    #[test]
    fn what_files_are_written_for_is_not_changed_by_a_read() {
        let of = |table: &[(&str, &str)], read: &[(&str, &str)]| {
            let read = map(read, |text| Some(text.to_owned()));
            let table = Options(map(table, ToOwned::to_owned));
            table.unchangeable(&read).map(ToOwned::to_owned)
        };
        let vectors = ("deletion-vectors.enabled", "true");
        assert_eq!(
            of(&[], &[("merge-engine", "first-row")]).as_deref(),
            Some("merge-engine")
        );
        // As in the reference, a default that is spelt out is a change too.
        assert_eq!(
            of(&[], &[("merge-engine", "deduplicate")]).as_deref(),
            Some("merge-engine")
        );
        assert_eq!(
            of(
                &[("merge-engine", "first-row")],
                &[("merge-engine", "first-row")]
            ),
            None
        );
        assert_eq!(of(&[], &[("ignore-delete", "true"), ("branch", "b")]), None);
        assert_eq!(
            of(&[], &[vectors]).as_deref(),
            Some("deletion-vectors.enabled")
        );
        assert_eq!(of(&[vectors], &[vectors]), None);
        assert_eq!(of(&[], &[("deletion-vectors.enabled", "false")]), None);
        assert_eq!(of(&[], &[vectors, (MODIFIABLE, "true")]), None);
        let taken = BTreeMap::from([("bucket-key".to_owned(), None)]);
        assert_eq!(
            Options(map(&[("bucket-key", "k")], ToOwned::to_owned)).unchangeable(&taken),
            Some("bucket-key")
        );
        assert_eq!(Options::default().unchangeable(&taken), None);
    }
}
