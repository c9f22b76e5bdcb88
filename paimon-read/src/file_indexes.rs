//! File indexes of a data file, embedded in its meta or in a file beside it: which rows may satisfy a condition.
//! Facts: table-format 4.5, RP-260, RP-632 to RP-635.
//!
//! ```text
//! .index   directory │ body │ body │ body …       one request for the directory and what comes with it,
//!          ╰─────────┴───────╯       ╰────╯       one for the bodies of the condition's columns behind that
//! ```

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready, try_join_all};
use paimon_format::RowRanges;
use paimon_io::Object;
use paimon_meta::{
    DataFileMeta, DataType, Error, FileIndex, FileIndexDirectory, FilePath, Frame, Options,
    Predicate, Result, ResultExt, TablePredicate, TableSchema,
};

use crate::context::ReadContext;
use crate::open::FileOpener;
use crate::window::JOINED_ROWS;

/// Bytes of the first request for an index file: all of most.
const FIRST_BYTES: u64 = 16 << 10;

/// The end of an index file's name.
const SUFFIX: &str = ".index";

/// What was read of an index file: its directory, and the bodies that were asked for.
#[derive(Clone)]
struct CachedIndex(Arc<Loaded>);

struct Loaded {
    directory: FileIndexDirectory,
    /// Bytes by where they begin in the file.
    parts: Vec<(u64, Bytes)>,
}

impl Loaded {
    fn body(&self, range: &Range<u64>) -> Option<&[u8]> {
        self.parts.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
            let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
            bytes.get(from..to)
        })
    }
}

impl FileOpener {
    /// The rows of a file that may satisfy a condition, by its indexes; `None` if any row may, or nothing is known.
    ///
    /// # Errors
    /// Of the store; `Corrupt` for a broken index, naming the file and the column, and for two index files (RP-635).
    pub(crate) fn indexed(
        &self,
        meta: &Arc<DataFileMeta>,
        condition: Option<&TablePredicate>,
    ) -> BoxFuture<'static, Result<Option<RowRanges>>> {
        let Some(condition) = condition.filter(|_| has_index(meta)) else {
            return ready(Ok(None)).boxed();
        };
        let (opener, meta, condition) = (self.clone(), Arc::clone(meta), condition.clone());
        async move {
            let found = opener.ask(&meta, &condition).await;
            found.at(|| Frame::File(meta.file_name.clone()))
        }
        .boxed()
    }

    async fn ask(
        &self,
        meta: &DataFileMeta,
        condition: &TablePredicate,
    ) -> Result<Option<RowRanges>> {
        let context = self.context();
        let options = &context.table.options;
        if !options.value(&Options::FILE_INDEX_READ_ENABLED)? {
            return Ok(None);
        }
        let predicate = self.bound(meta, condition)?;
        if let Predicate::Constant(_) = predicate {
            return Ok(None);
        }
        let schema = context.schema_of(meta)?;
        if let Some(embedded) = &meta.embedded_index {
            return selection(&FileIndex::decode(embedded)?, &predicate, schema, meta);
        }
        let Some(name) = index_file(meta)? else {
            return Ok(None);
        };
        let path = meta.extra_path(self.bucket_path(), name)?;
        let names = predicate.columns().into_iter();
        let names: Vec<String> = names.filter_map(|path| path.0.first().cloned()).collect();
        let found = load(context, &path, names).await.and_then(|loaded| {
            let index = FileIndex::of_bodies(&loaded.0.directory, |range| loaded.0.body(range));
            selection(&index, &predicate, schema, meta)
        });
        found.at(|| Frame::File(name.to_owned()))
    }
}

/// Whether the file has indexes anywhere.
fn has_index(meta: &DataFileMeta) -> bool {
    let mut names = meta.extra_files.iter();
    meta.embedded_index.is_some() || names.any(|name| name.ends_with(SUFFIX))
}

/// The name of the file with the indexes.
///
/// # Errors
/// `Corrupt` for several (RP-635).
fn index_file(meta: &DataFileMeta) -> Result<Option<&str>> {
    let mut names = meta
        .extra_files
        .iter()
        .filter(|name| name.ends_with(SUFFIX));
    let first = names.next().map(String::as_str);
    match (first, names.next()) {
        (Some(first), Some(second)) => Err(Error::corrupt(format!(
            "the data file has two index files, {first} and {second}"
        ))),
        _ => Ok(first),
    }
}

fn selection(
    index: &FileIndex<'_>,
    predicate: &Predicate<FilePath>,
    schema: &TableSchema,
    meta: &DataFileMeta,
) -> Result<Option<RowRanges>> {
    let column = |path: &FilePath| -> Option<(&str, &DataType)> {
        let name = path.0.first()?;
        let field = schema.fields.iter().find(|field| field.name == *name)?;
        Some((field.name.as_str(), &field.data_type))
    };
    let ranges = index.selection(predicate, &column, meta.row_count, JOINED_ROWS)?;
    Ok(ranges.map(RowRanges::from))
}

/// The directory of an index file and the indexes of some columns, unless the cache has them.
async fn load(
    context: &Arc<ReadContext>,
    path: &str,
    mut columns: Vec<String>,
) -> Result<CachedIndex> {
    columns.sort_unstable();
    let location = context.location(path);
    let key = format!("{location}#{}", columns.join("\n"));
    let object = context.resources.object(&location)?;
    let weight = |index: &CachedIndex| {
        let parts = index.0.parts.iter();
        parts.map(|(_, bytes)| bytes.len() as u64).sum()
    };
    let cache = context.resources.cache::<CachedIndex>();
    cache
        .get_or_load(key, weight, move || load_uncached(object, columns))
        .await
}

async fn load_uncached(object: Object, columns: Vec<String>) -> Result<CachedIndex> {
    let mut first = object.get_range(0..FIRST_BYTES).await?;
    let length = FileIndexDirectory::length(&first)?;
    if length > first.len() as u64 {
        first = object.get_range(0..length).await?;
    }
    let directory = FileIndexDirectory::decode(&first)?;
    let have = first.len() as u64;
    let wanted = directory.places().iter();
    let wanted = wanted
        .filter(|place| columns.contains(&place.column) && place.range.end > have)
        .map(|place| place.range.clone());
    let wanted = joined(wanted);
    let fetched = wanted.iter().map(|range| object.get_range(range.clone()));
    let fetched = try_join_all(fetched).await?;
    let short =
        |(range, bytes): (&Range<u64>, &Bytes)| (bytes.len() as u64) < range.end - range.start;
    if wanted.iter().zip(&fetched).any(short) {
        return Err(Error::corrupt("the file index is cut short"));
    }
    let parts = wanted.iter().map(|range| range.start).zip(fetched);
    Ok(CachedIndex(Arc::new(Loaded {
        parts: std::iter::once((0, first)).chain(parts).collect(),
        directory,
    })))
}

/// Ranges that follow each other as one.
fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = ranges.collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
