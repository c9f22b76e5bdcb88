//! Deletion vectors of the files of a split: loaded once, applied by file position. Facts: RP-262, RP-263, RP-614, RP-617.
//!
//! A vector takes rows away before anything else looks at a file, in raw reads, key passes and value passes alike. It is
//! never turned into a list of the rows of a whole file: row groups ask for theirs.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use paimon_format::RowRanges;
use paimon_meta::{
    DataFileMeta, DataSplit, DeletionFile, DeletionVector, Error, Frame, Result, ResultExt,
};

use crate::context::ReadContext;

/// Where the vectors of a split's files are.
#[derive(Debug, Default)]
pub(crate) struct DeletionFiles(HashMap<String, DeletionFile>);

/// A vector as the cache holds it.
#[derive(Clone)]
struct CachedVector(Arc<DeletionVector>);

/// Deleted rows of one opened file; `None` if there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deletions(Option<Arc<DeletionVector>>);

impl DeletionFiles {
    pub(crate) fn of(split: &DataSplit) -> Self {
        let vectors = split.deletion_files.iter().flatten();
        let named = split
            .files
            .iter()
            .zip(vectors)
            .filter_map(|(file, vector)| Some((file.file_name.clone(), vector.clone()?)));
        Self(named.collect())
    }

    /// Loads the vector of a file, unless the cache has it.
    ///
    /// # Errors
    /// Of the store; `Corrupt` if the vector is broken or marks rows that the file does not have. Each names the data file
    /// and the index file.
    pub(crate) fn load(
        &self,
        meta: &DataFileMeta,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Deletions>> {
        let Some(file) = self.0.get(&meta.file_name) else {
            return ready(Ok(Deletions::default())).boxed();
        };
        let location = context.location(&file.path);
        let key = format!("{location}#{}+{}", file.offset, file.length);
        let load = {
            let (context, file, location) = (Arc::clone(context), file.clone(), location.clone());
            move || load_uncached(context, location, file)
        };
        let cache = context.resources.cache::<CachedVector>();
        let vector = cache.get_or_load(key, |vector| vector.0.heap_bytes(), load);
        let (index_file, data_file) = (file.path.clone(), meta.file_name.clone());
        let rows = meta.row_count;
        async move {
            let checked = vector
                .await
                .and_then(|vector| Deletions::new(vector.0, rows));
            checked
                .at(|| Frame::File(index_file))
                .at(|| Frame::File(data_file))
        }
        .boxed()
    }
}

async fn load_uncached(
    context: Arc<ReadContext>,
    location: String,
    file: DeletionFile,
) -> Result<CachedVector> {
    let range = file.byte_range()?;
    let bytes = context
        .resources
        .object(&location)?
        .get_range(range)
        .await?;
    let vector = DeletionVector::decode(&bytes, &file)?;
    Ok(CachedVector(Arc::new(vector)))
}

impl Deletions {
    /// # Errors
    /// `Corrupt` if a row is marked that a file of so many rows does not have.
    fn new(vector: Arc<DeletionVector>, rows: u64) -> Result<Self> {
        match vector.last() {
            None => Ok(Self(None)),
            Some(last) if last < rows => Ok(Self(Some(vector))),
            Some(last) => Err(Error::corrupt(format!(
                "the deletion vector marks row {last}, the file has {rows} rows"
            ))),
        }
    }

    /// The rows that are not deleted.
    pub(crate) fn left_of(&self, rows: RowRanges) -> RowRanges {
        match &self.0 {
            Some(vector) => rows.subtract_ranges(vector.ranges(rows.span())),
            None => rows,
        }
    }
}
