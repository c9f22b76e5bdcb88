//! Which manifest a file came from: told where what the manifest says of the file turns out to be wrong.

use std::sync::Arc;

use paimon_meta::{Error, FileTable, Frame};

use crate::list_file::Listed;

/// The manifests of a table of files, in its order.
#[derive(Debug, Default)]
pub(crate) struct Origins(Vec<Origin>);

#[derive(Debug)]
struct Origin {
    list: Arc<str>,
    manifest: String,
    /// The number of files up to its last one.
    end: usize,
}

impl Origins {
    /// No files yet, of these manifests.
    pub(crate) fn of(opened: &[Listed]) -> Self {
        let origin = |(list, manifest): &Listed| Origin {
            list: Arc::clone(list),
            manifest: manifest.file_name.clone(),
            end: usize::MAX,
        };
        Self(opened.iter().map(origin).collect())
    }

    /// The `number`-th manifest is at its end: so many files came so far.
    pub(crate) fn end(&mut self, number: usize, files: usize) {
        if let Some(origin) = self.0.get_mut(number) {
            origin.end = files;
        }
    }

    /// Puts the manifests of another table behind these.
    pub(crate) fn append(&mut self, more: Self, files: usize) {
        self.0.extend(more.0.into_iter().map(|origin| Origin {
            end: origin.end.saturating_add(files),
            ..origin
        }));
    }

    /// Adds manifest and list to an error that names a file of the table.
    pub(crate) fn locate(&self, files: &FileTable, error: Error) -> Error {
        let named = |name: &str| (0..files.len()).find(|file| files.file_name(*file) == name);
        let file = error.frames().find_map(|frame| match frame {
            Frame::File(name) => named(name),
            _ => None,
        });
        let origin = file.and_then(|file| self.0.iter().find(|origin| file < origin.end));
        match origin {
            None => error,
            Some(origin) => error
                .at(Frame::Manifest(origin.manifest.clone()))
                .at(Frame::ManifestList(origin.list.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use paimon_meta::ManifestFileMeta;

    use super::*;
    use crate::testing::{file, files};

    fn listed(name: &str) -> Listed {
        let manifest = ManifestFileMeta {
            file_name: name.to_owned(),
            file_size: 1,
            num_added_files: 1,
            num_deleted_files: 0,
            partition_stats: paimon_meta::SimpleStats::default(),
            schema_id: 0,
            min_bucket: None,
            max_bucket: None,
            min_level: None,
            max_level: None,
            min_row_id: None,
            max_row_id: None,
        };
        (Arc::from("l"), manifest)
    }

    #[test]
    fn an_error_learns_the_manifest_of_its_file() {
        let names = ["a", "b", "c"];
        let files = files(&names.map(|name| (1, 0, file(name, 5, 1, 9))));
        let mut origins = Origins::of(&[listed("m"), listed("empty")]);
        origins.end(0, 1);
        origins.end(1, 1);
        let mut more = Origins::of(&[listed("n")]);
        more.end(0, 2);
        origins.append(more, 1);
        let told = |name: &str| {
            let error = Error::corrupt("bad").at(Frame::File(name.to_owned()));
            origins.locate(&files, error).to_string()
        };
        assert_eq!(
            told("a"),
            "corrupt: bad [manifest list l > manifest m > file a]"
        );
        assert_eq!(
            told("c"),
            "corrupt: bad [manifest list l > manifest n > file c]"
        );
        assert_eq!(told("other"), "corrupt: bad [file other]");
    }
}
