//! Where the deletion vectors of planned files are, kept compactly.

use paimon_meta::DeletionFile;
use serde::{Deserialize, Serialize};

/// The deletion vectors of the files of a table of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedVectors {
    /// Paths of the index files, relative to the table or absolute.
    paths: Vec<String>,
    /// By file, ascending; files without a vector are left out.
    vectors: Vec<PlannedVector>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PlannedVector {
    file: u32,
    path: u32,
    offset: u64,
    length: u64,
    cardinality: Option<u64>,
}

impl PlannedVectors {
    /// Takes in an index file; its number is what [`Self::push`] wants.
    #[cfg(feature = "store")]
    pub(crate) fn add_path(&mut self, path: String) -> u32 {
        let number = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        self.paths.push(path);
        number
    }

    /// Takes in the vector of a file, in any order of files.
    #[cfg(feature = "store")]
    pub(crate) fn push(&mut self, file: u32, path: u32, range: &paimon_meta::DeletionVectorRange) {
        self.vectors.push(PlannedVector {
            file,
            path,
            offset: range.offset,
            length: range.length,
            cardinality: range.cardinality,
        });
    }

    /// Takes in the vectors of files that were put behind, `offset` of them being there before.
    #[cfg(feature = "store")]
    pub(crate) fn append(&mut self, more: Self, offset: u32) {
        let paths = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        self.paths.extend(more.paths);
        self.vectors
            .extend(more.vectors.into_iter().map(|vector| PlannedVector {
                file: vector.file.saturating_add(offset),
                path: vector.path.saturating_add(paths),
                ..vector
            }));
    }

    /// The same for files in another order: file `i` of the result was file `order[i]`.
    #[cfg(feature = "store")]
    #[must_use]
    pub(crate) fn permuted(&self, order: &[u32]) -> Self {
        let by_file: std::collections::HashMap<u32, &PlannedVector> = self
            .vectors
            .iter()
            .map(|vector| (vector.file, vector))
            .collect();
        let moved = (0u32..).zip(order).filter_map(|(file, before)| {
            by_file
                .get(before)
                .map(|vector| PlannedVector { file, ..**vector })
        });
        Self {
            paths: self.paths.clone(),
            vectors: moved.collect(),
        }
    }

    fn find(&self, file: usize) -> Option<&PlannedVector> {
        let found = self
            .vectors
            .binary_search_by_key(&file, |vector| vector.file as usize);
        found.ok().and_then(|at| self.vectors.get(at))
    }

    /// Where the vector of a file is; `None` if it has none.
    pub(crate) fn get(&self, file: usize) -> Option<DeletionFile> {
        let vector = self.find(file)?;
        Some(DeletionFile {
            path: self.paths.get(vector.path as usize)?.clone(),
            offset: vector.offset,
            length: vector.length,
            cardinality: vector.cardinality,
        })
    }

    /// Rows of a file that its vector deletes, 0 without one; `None` if that is unknown (TF-068).
    pub(crate) fn deleted_rows(&self, file: usize) -> Option<u64> {
        self.find(file).map_or(Some(0), |vector| vector.cardinality)
    }

    /// Bytes of heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let paths = self.paths.iter().map(String::capacity).sum::<usize>();
        paths
            + self.paths.capacity() * size_of::<String>()
            + self.vectors.capacity() * size_of::<PlannedVector>()
    }
}
