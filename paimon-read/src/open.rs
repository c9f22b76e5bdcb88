//! Opening the data files of a split.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join, try_join3};
use paimon_format::{
    ByteSource, DataFile, FileColumn, FormatOptions, Pruned, RowRanges, format_reader_with,
    prune_file,
};
use paimon_io::Counter;
use paimon_meta::{
    DataFileMeta, DataPaths, DataSplit, Error, FilePath, Frame, Options, Predicate, Result,
    ResultExt, StringLayout, TablePredicate,
};

use crate::columns::ColumnPlan;
use crate::context::ReadContext;
use crate::deletions::{DeletionFiles, Deletions};
use crate::evolve::{FileScan, Wanted};
use crate::group_rows::Pages;
use crate::source::StoreSource;

/// An opened data file with the scans of one section.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// Name for errors.
    pub(crate) name: String,
    /// The file.
    pub(crate) data: Arc<dyn DataFile>,
    /// Scan of the value pass, if it has columns.
    pub(crate) late: Option<FileScan>,
    /// Scan of the row filter, if it has columns.
    pub(crate) filter: Option<FileScan>,
    /// Rows that may pass the row filter, by what the file and its indexes say.
    pub(crate) may_match: RowRanges,
    /// What the row filter tells of pages.
    pub(crate) pages: Pages,
    /// Rows that are deleted.
    pub(crate) deletions: Deletions,
}

/// One row group as the window counts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) first_row: u64,
    pub(crate) row_count: u32,
    /// Bytes of all its columns in the file.
    pub(crate) compressed_bytes: u64,
}

impl OpenFile {
    /// A row group.
    ///
    /// # Errors
    /// `Internal` if there is none of that number, `Unsupported` if it has 2^32 rows or more.
    pub(crate) fn group(&self, index: usize) -> Result<Group> {
        let layout = self.data.layout();
        let group = layout
            .groups
            .get(index)
            .ok_or_else(|| Error::internal(format!("no row group {index}")))?;
        let row_count = u32::try_from(group.row_count).map_err(|_| {
            Error::unsupported("row groups of 2^32 rows").at(Frame::File(self.name.clone()))
        })?;
        Ok(Group {
            first_row: group.first_row,
            row_count,
            compressed_bytes: group.compressed_bytes,
        })
    }
}

/// What opening the files of one split needs.
#[derive(Clone, Debug)]
pub(crate) struct FileOpener {
    context: Arc<ReadContext>,
    bucket_path: Arc<str>,
    deletion_files: Arc<DeletionFiles>,
}

impl FileOpener {
    /// # Errors
    /// `Corrupt` and `InvalidInput` if the split does not say where its bucket is, as splits of two states in the
    /// reference's form do not, and its partition has no directory (RP-115).
    pub(crate) fn new(context: &Arc<ReadContext>, split: &DataSplit) -> Result<Self> {
        let bucket_path = match split.bucket_path.as_str() {
            "" => {
                let paths = DataPaths::new(&context.table)?;
                paths.bucket_path(split.partition.as_ref(), split.bucket)?
            }
            path => path.to_owned(),
        };
        Ok(Self {
            context: Arc::clone(context),
            bucket_path: bucket_path.into(),
            deletion_files: Arc::new(DeletionFiles::of(split)),
        })
    }

    pub(crate) fn context(&self) -> &Arc<ReadContext> {
        &self.context
    }

    pub(crate) fn bucket_path(&self) -> &str {
        &self.bucket_path
    }

    /// Opens a file; its footer is read once, however many readers share the cache.
    ///
    /// # Errors
    /// `NotFound` and `Storage` of the store; `Corrupt` if the file is no file of its format or holds another number of
    /// rows than its meta says; `Unsupported` for a format that is not there.
    pub(crate) fn open(
        &self,
        meta: &Arc<DataFileMeta>,
    ) -> BoxFuture<'static, Result<Arc<dyn DataFile>>> {
        let (context, bucket_path, meta) = (
            Arc::clone(&self.context),
            Arc::clone(&self.bucket_path),
            Arc::clone(meta),
        );
        async move {
            let location = context.location(&meta.path(&bucket_path)?);
            let load = {
                let (context, meta, location) =
                    (Arc::clone(&context), Arc::clone(&meta), location.clone());
                move || open_uncached(context, location, meta)
            };
            let cache = context.resources.cache::<Arc<dyn DataFile>>();
            let options = format_options(&context, meta.format().unwrap_or_default())?;
            let zone = options.orc_instant_zone.unwrap_or_default();
            let key = format!("{location}#{}{zone}", meta.file_size);
            let data = cache
                .get_or_load(key, |file| file.heap_bytes(), load)
                .await?;
            let rows = data.layout().row_count;
            if rows != meta.row_count {
                let message = format!(
                    "the file holds {rows} rows, its meta says {}",
                    meta.row_count
                );
                return Err(Error::corrupt(message).at(Frame::File(meta.file_name.clone())));
            }
            Ok(data)
        }
        .boxed()
    }

    /// The scan of wanted columns of a file; `None` if there are none.
    pub(crate) fn scan(
        &self,
        meta: &DataFileMeta,
        wanted: &[Wanted],
        batch_size: usize,
        strings: StringLayout,
    ) -> Result<Option<FileScan>> {
        if wanted.is_empty() {
            return Ok(None);
        }
        let schema = self.context.schema_of(meta)?;
        let window_bytes = self.context.request.file_window_bytes();
        let table = &self.context.table;
        FileScan::new(wanted, table, schema, batch_size, strings, window_bytes)
            .map(Some)
            .at(|| Frame::File(meta.file_name.clone()))
    }

    /// Opens a file for a section with those columns; its deletion vector and its indexes are loaded at the same time. The
    /// answer is never `None`.
    ///
    /// # Errors
    /// As [`Self::open`], [`DeletionFiles::load`] and [`Self::indexed`].
    pub(crate) fn open_for(
        &self,
        meta: &Arc<DataFileMeta>,
        columns: &Arc<ColumnPlan>,
    ) -> BoxFuture<'static, Result<Option<Arc<OpenFile>>>> {
        let (opener, meta, columns) = (self.clone(), Arc::clone(meta), Arc::clone(columns));
        async move {
            let indexed = opener.indexed(&meta, columns.condition());
            let deletions = opener.deletion_files.load(&meta, &opener.context);
            let (data, deletions, indexed) =
                try_join3(opener.open(&meta), deletions, indexed).await?;
            let file = opener.opened(&meta, &columns, data, deletions, indexed);
            file.await.map(Some)
        }
        .boxed()
    }

    /// As [`Self::open_for`], unless the file's indexes exclude all of its rows: it is then not opened (RP-634), and the
    /// answer is `None`.
    ///
    /// # Errors
    /// As [`Self::open_for`].
    pub(crate) fn open_matching(
        &self,
        meta: &Arc<DataFileMeta>,
        columns: &Arc<ColumnPlan>,
    ) -> BoxFuture<'static, Result<Option<Arc<OpenFile>>>> {
        let (opener, meta, columns) = (self.clone(), Arc::clone(meta), Arc::clone(columns));
        async move {
            let indexed = opener.indexed(&meta, columns.condition()).await?;
            if indexed.as_ref().is_some_and(RowRanges::is_empty) {
                return Ok(None);
            }
            let deletions = opener.deletion_files.load(&meta, &opener.context);
            let (data, deletions) = try_join(opener.open(&meta), deletions).await?;
            let file = opener.opened(&meta, &columns, data, deletions, indexed);
            file.await.map(Some)
        }
        .boxed()
    }

    async fn opened(
        &self,
        meta: &DataFileMeta,
        columns: &ColumnPlan,
        data: Arc<dyn DataFile>,
        deletions: Deletions,
        indexed: Option<RowRanges>,
    ) -> Result<Arc<OpenFile>> {
        let batch_size = self.context.request.batch_size;
        let strings = columns.strings;
        let late = self.scan(meta, &columns.late, batch_size, strings)?;
        let filter = match &columns.filter {
            Some(filter) => self.scan(meta, &filter.read, batch_size, strings)?,
            None => None,
        };
        let pruned = self.may_match(meta, &data, columns.condition()).await?;
        Ok(Arc::new(OpenFile {
            name: meta.file_name.clone(),
            data,
            late,
            filter,
            pages: Pages::of(&pruned),
            may_match: match indexed {
                Some(indexed) => pruned.rows.intersect(&indexed),
                None => pruned.rows,
            },
            deletions,
        }))
    }
}

impl FileOpener {
    /// The rows of a file that may satisfy a condition, by what the file says of its row groups and pages; all without
    /// one.
    ///
    /// # Errors
    /// Of the store and the file.
    pub(crate) async fn may_match(
        &self,
        meta: &DataFileMeta,
        data: &Arc<dyn DataFile>,
        condition: Option<&TablePredicate>,
    ) -> Result<Pruned> {
        let Some(condition) = condition else {
            return Ok(Pruned {
                rows: RowRanges::from_range(0..data.layout().row_count),
                ..Pruned::default()
            });
        };
        let schema = self.context.schema_of(meta)?;
        let pushed = self.bound(meta, condition)?;
        let column = |path: &FilePath| {
            let name = path.0.first()?;
            let field = schema.fields.iter().find(|field| field.name == *name)?;
            Some(FileColumn {
                name: name.clone(),
                data_type: field.data_type.clone(),
            })
        };
        prune_file(data, &pushed, &column)
            .await
            .at(|| Frame::File(meta.file_name.clone()))
    }

    /// What can be asked of a file of a condition: the parts whose columns it has and can be exact on (RP-257).
    ///
    /// # Errors
    /// `NotFound` if the file's schema is gone.
    pub(crate) fn bound(
        &self,
        meta: &DataFileMeta,
        condition: &TablePredicate,
    ) -> Result<Predicate<FilePath>> {
        let schema = self.context.schema_of(meta)?;
        let partition = &self.context.table.schema.partition_keys;
        let bound = condition.bind_to_file(&schema.fields, &mut |field| {
            (!partition.contains(&field.name)).then(|| FilePath(vec![field.name.clone()]))
        });
        Ok(Predicate::and(bound.into_iter().flatten()))
    }
}

/// What the files of a format do not say themselves.
fn format_options(context: &ReadContext, format: &str) -> Result<FormatOptions> {
    let table = &context.table;
    let legacy = format == "orc"
        && table
            .options
            .value(&Options::ORC_TIMESTAMP_LTZ_LEGACY_TYPE)?;
    Ok(FormatOptions {
        orc_instant_zone: legacy.then(|| table.time_zone.clone()),
    })
}

async fn open_uncached(
    context: Arc<ReadContext>,
    location: String,
    meta: Arc<DataFileMeta>,
) -> Result<Arc<dyn DataFile>> {
    let format = meta.format().unwrap_or_default();
    let options = format_options(&context, format)?;
    let reader = format_reader_with(format, &options).at(|| Frame::File(meta.file_name.clone()))?;
    let source: Arc<dyn ByteSource> = Arc::new(StoreSource::new(
        &context.resources,
        &location,
        meta.file_size,
    )?);
    context.resources.metrics().add(Counter::FilesOpened, 1);
    reader.open(source).await
}
