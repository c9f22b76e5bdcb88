//! Where the files of a table are, as paths with `/` relative to its root. Facts: table-format section 1.1.
//!
//! Names that come from metadata are checked: none leads out of its directory. Where data files are is in
//! [`DataPaths`](crate::DataPaths).

use crate::data_file::DataFileMeta;
use crate::error::{Error, Frame, Result};

/// The branch that a table has without asking.
pub const MAIN_BRANCH: &str = "main";

/// Directory of the branches; each is a directory `branch-<name>` in it.
pub const BRANCH_DIRECTORY: &str = "branch";

/// Paths of the metadata that every branch has of its own: schemas, snapshots, tags, changelogs, consumers. Manifests,
/// index files, statistics and data of all branches are in the table's root (TF-009).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BranchPaths {
    /// Empty, or the branch's directory with a `/` at its end.
    root: String,
}

impl BranchPaths {
    /// Paths of the main branch.
    pub fn main() -> Self {
        Self {
            root: String::new(),
        }
    }

    /// Paths of a branch; the blank name means [`MAIN_BRANCH`].
    ///
    /// # Errors
    /// `InvalidInput` for a name that cannot be that of a directory.
    pub fn new(branch: &str) -> Result<Self> {
        if branch.trim().is_empty() || branch == MAIN_BRANCH {
            return Ok(Self::main());
        }
        let name = user_name("branch", branch)?;
        Ok(Self {
            root: format!("{BRANCH_DIRECTORY}/branch-{name}/"),
        })
    }

    /// Directory of the schemas, whose files are `schema-<id>`.
    pub fn schema_directory(&self) -> String {
        format!("{}schema", self.root)
    }

    /// A schema.
    pub fn schema(&self, id: i64) -> String {
        format!("{}schema/schema-{id}", self.root)
    }

    /// Directory of the snapshots, whose files are `snapshot-<id>`, and of their hints `LATEST` and `EARLIEST`.
    pub fn snapshot_directory(&self) -> String {
        format!("{}snapshot", self.root)
    }

    /// A snapshot.
    pub fn snapshot(&self, id: i64) -> String {
        format!("{}snapshot/snapshot-{id}", self.root)
    }

    /// Directory of the tags, whose files are `tag-<name>`.
    pub fn tag_directory(&self) -> String {
        format!("{}tag", self.root)
    }

    /// A tag.
    ///
    /// # Errors
    /// `InvalidInput` for a name that cannot be that of a file.
    pub fn tag(&self, name: &str) -> Result<String> {
        Ok(format!("{}tag/tag-{}", self.root, user_name("tag", name)?))
    }

    /// Directory of the changelogs, whose files are `changelog-<id>`, and of their hints `LATEST` and `EARLIEST`.
    pub fn changelog_directory(&self) -> String {
        format!("{}changelog", self.root)
    }

    /// A changelog.
    pub fn changelog(&self, id: i64) -> String {
        format!("{}changelog/changelog-{id}", self.root)
    }

    /// Directory of the consumers, whose files are `consumer-<id>`.
    pub fn consumer_directory(&self) -> String {
        format!("{}consumer", self.root)
    }

    /// A consumer.
    ///
    /// # Errors
    /// `InvalidInput` for an id that cannot be the name of a file.
    pub fn consumer(&self, id: &str) -> Result<String> {
        Ok(format!(
            "{}consumer/consumer-{}",
            self.root,
            user_name("consumer", id)?
        ))
    }
}

/// A manifest, manifest list or index manifest, by the name that metadata gives it.
///
/// # Errors
/// `Corrupt` for a name that leads out of the directory.
pub fn manifest_path(name: &str) -> Result<String> {
    bare_name(name).map(|name| format!("manifest/{name}"))
}

/// A statistics file, by the name that its snapshot gives it.
///
/// # Errors
/// `Corrupt` for a name that leads out of the directory.
pub fn statistics_path(name: &str) -> Result<String> {
    bare_name(name).map(|name| format!("statistics/{name}"))
}

/// An index file: its external path if it has one, else in the bucket's directory if that is where the table keeps
/// index files ([`DataPaths::index_in_bucket`](crate::DataPaths::index_in_bucket), TF-021), else in `index/`. The
/// option may have been changed since the file was written: what is missing in one place may be in the other. Global
/// indexes are never in a bucket's directory.
///
/// # Errors
/// `Corrupt` for a name that leads out of the directory, or an external path that is not absolute.
pub fn index_path(
    name: &str,
    external_path: Option<&str>,
    bucket_path: Option<&str>,
) -> Result<String> {
    match external_path {
        Some(path) => absolute(path).map(str::to_owned),
        None => bare_name(name).map(|name| format!("{}/{name}", bucket_path.unwrap_or("index"))),
    }
}

/// Directory name of a bucket (TF-017).
pub fn bucket_directory(bucket: i32) -> String {
    if bucket == -2 {
        "bucket-postpone".to_owned()
    } else {
        format!("bucket-{bucket}")
    }
}

/// Whether a path stands for itself: it begins with `/` or with a scheme, as external paths do. All others are relative
/// to the table's root.
pub fn is_absolute_path(path: &str) -> bool {
    let has_scheme = path.split_once(":/").is_some_and(|(scheme, _)| {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(inside)
    });
    path.starts_with('/') || has_scheme
}

impl DataFileMeta {
    /// The file's path: its external path if it has one (TF-020), else its name in the bucket's directory.
    ///
    /// # Errors
    /// `Corrupt` for a name that leads out of the directory, or an external path that is not absolute.
    pub fn path(&self, bucket_path: &str) -> Result<String> {
        match &self.external_path {
            Some(path) => absolute(path).map(str::to_owned),
            None => bare_name(&self.file_name).map(|name| format!("{bucket_path}/{name}")),
        }
    }

    /// The path of a side file, one of [`Self::extra_files`]: in the same directory as the file.
    ///
    /// # Errors
    /// As [`Self::path`].
    pub fn extra_path(&self, bucket_path: &str, name: &str) -> Result<String> {
        let name = bare_name(name)?;
        let path = self.path(bucket_path)?;
        Ok(path
            .rsplit_once('/')
            .map_or(name.to_owned(), |(directory, _)| {
                format!("{directory}/{name}")
            }))
    }
}

fn absolute(path: &str) -> Result<&str> {
    if is_absolute_path(path) {
        Ok(path)
    } else {
        Err(
            Error::corrupt(format!("path is {path:?}, expected an absolute one"))
                .at(Frame::Field("_EXTERNAL_PATH".to_owned())),
        )
    }
}

/// A name from metadata, if it is that of a file in a directory and nothing else.
fn bare_name(name: &str) -> Result<&str> {
    if is_segment(name) {
        Ok(name)
    } else {
        Err(Error::corrupt(format!(
            "{name:?} is not the name of a file"
        )))
    }
}

fn user_name<'a>(what: &str, name: &'a str) -> Result<&'a str> {
    if is_segment(name) {
        Ok(name)
    } else {
        Err(Error::invalid_input(format!(
            "{name:?} is not the name of a {what}"
        )))
    }
}

pub(crate) fn is_segment(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn main_branch_is_the_root_and_others_are_below() {
        // TF-009
        for name in ["main", "", "  "] {
            let paths = BranchPaths::new(name).unwrap();
            assert_eq!(paths.schema(3), "schema/schema-3");
            assert_eq!(paths.snapshot_directory(), "snapshot");
            assert_eq!(paths.consumer("c 1").unwrap(), "consumer/consumer-c 1");
        }
        let paths = BranchPaths::new("dev").unwrap();
        assert_eq!(paths.schema_directory(), "branch/branch-dev/schema");
        assert_eq!(paths.snapshot(9), "branch/branch-dev/snapshot/snapshot-9");
        assert_eq!(paths.tag("t1").unwrap(), "branch/branch-dev/tag/tag-t1");
        assert_eq!(
            paths.changelog(2),
            "branch/branch-dev/changelog/changelog-2"
        );
        assert_eq!(
            paths.tag("../x").unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            BranchPaths::new("a/b").unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }

    #[test]
    fn names_in_metadata_do_not_leave_their_directory() {
        assert_eq!(manifest_path("manifest-1").unwrap(), "manifest/manifest-1");
        assert_eq!(statistics_path("stat-1").unwrap(), "statistics/stat-1");
        for name in [
            "",
            ".",
            "..",
            "../x",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "s3://b/x",
            "a\0",
        ] {
            assert_eq!(
                manifest_path(name).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{name:?}"
            );
            let file = DataFileMeta {
                file_name: name.to_owned(),
                ..DataFileMeta::default()
            };
            assert_eq!(
                file.path("bucket-0").unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{name:?}"
            );
            assert_eq!(
                index_path(name, None, None).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{name:?}"
            );
        }
    }

    #[test]
    fn external_paths_replace_root_and_bucket() {
        // TF-020
        let mut file = DataFileMeta {
            file_name: "data-1.orc".to_owned(),
            ..DataFileMeta::default()
        };
        assert_eq!(
            file.path("dt=1/bucket-0").unwrap(),
            "dt=1/bucket-0/data-1.orc"
        );
        assert_eq!(
            file.extra_path("bucket-0", "data-1.orc.index").unwrap(),
            "bucket-0/data-1.orc.index"
        );
        file.external_path = Some("s3://other/x/y/data-1.orc".to_owned());
        assert_eq!(file.path("bucket-0").unwrap(), "s3://other/x/y/data-1.orc");
        assert_eq!(
            file.extra_path("bucket-0", "data-1.orc.index").unwrap(),
            "s3://other/x/y/data-1.orc.index"
        );
        assert!(file.extra_path("bucket-0", "../i").is_err());
        file.external_path = Some("data-1.orc".to_owned());
        assert_eq!(
            file.path("bucket-0").unwrap_err().kind(),
            ErrorKind::Corrupt
        );
    }

    #[test]
    fn index_files_are_in_one_of_three_places() {
        // TF-021
        assert_eq!(index_path("i", None, None).unwrap(), "index/i");
        assert_eq!(
            index_path("i", None, Some("dt=1/bucket-0")).unwrap(),
            "dt=1/bucket-0/i"
        );
        assert_eq!(
            index_path("i", Some("/x/i"), Some("bucket-0")).unwrap(),
            "/x/i"
        );
    }

    #[test]
    fn absolute_paths_begin_with_slash_or_scheme() {
        for path in ["/a", "s3://b/a", "file:/a", "hdfs+x://h/a"] {
            assert!(is_absolute_path(path), "{path}");
        }
        for path in ["a", "", "dt=a:/b", "1s:/x", "bucket-0/a:/b", ":/a"] {
            assert!(!is_absolute_path(path), "{path}");
        }
    }

    #[test]
    fn postpone_bucket_has_a_name() {
        // TF-017
        assert_eq!(
            [
                bucket_directory(0),
                bucket_directory(12),
                bucket_directory(-2)
            ],
            ["bucket-0", "bucket-12", "bucket-postpone"]
        );
    }
}
