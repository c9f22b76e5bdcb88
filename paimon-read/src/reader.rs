//! The entry point: a table, a request, and tasks to read.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::SchemaRef;
use futures_util::stream::try_unfold;
use paimon_io::Resources;
use paimon_meta::{Error, ResolvedTable, Result, Split};

use crate::changes::{AppendChangesProvider, AsWrittenProvider, DiffProvider, OverwriteProvider};
use crate::columns::Shape;
use crate::context::ReadContext;
use crate::estimate::Estimate;
use crate::fallback::FallbackProvider;
use crate::merge::MergeProvider;
use crate::provider::{SplitReadProvider, provider_of, read_task};
use crate::raw::RawProvider;
use crate::read_queue::ReadQueue;
use crate::request::ReadRequest;
use crate::stream::BatchStream;
use crate::task::{ReadTask, TaskOrdering};

/// Most parts of one task.
const MOST_PARTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// Reads tasks of one table with one request.
#[derive(Clone, Debug)]
pub struct TableReader {
    context: Arc<ReadContext>,
    schema: SchemaRef,
}

impl TableReader {
    /// A reader with the providers of this crate.
    ///
    /// # Errors
    /// `InvalidInput` for columns that the table does not have or a batch size of 0; `Unsupported` for types without an
    /// Arrow form.
    pub fn new(
        table: Arc<ResolvedTable>,
        request: ReadRequest,
        resources: Resources,
    ) -> Result<Self> {
        Self::from_context(ReadContext::new(table, request, resources))
    }

    /// A reader with a filter or providers of the caller's own.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_context(context: ReadContext) -> Result<Self> {
        let schema = Shape::new(&context.table, &context.request, context.filter.as_ref())?.schema;
        Ok(Self {
            context: Arc::new(context),
            schema,
        })
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// What all tasks share.
    pub fn context(&self) -> &Arc<ReadContext> {
        &self.context
    }

    /// One task per split.
    pub fn tasks(&self, splits: impl IntoIterator<Item = Split>) -> Vec<ReadTask> {
        splits.into_iter().map(ReadTask::new).collect()
    }

    /// The task as parts of about equal work that can be read side by side, at most so many (and at most 1024): together
    /// they have its rows, none twice, and one after the other they keep its [order](Self::ordering). A part can be
    /// subdivided again. Each part counts the request's limit for itself.
    ///
    /// A merge is cut at keys, files that are read as they are at rows. Where the bounds of the files in metadata are
    /// enough to tell where, nothing is read; else footers and keys of the largest files, which the parts then find in the
    /// cache. Fewer parts come back, the task alone at the least, where there is nothing to cut at.
    ///
    /// # Errors
    /// As [`Self::read`]; errors of the store and of the files.
    pub async fn subdivide(&self, task: ReadTask, parts: NonZeroUsize) -> Result<Vec<ReadTask>> {
        let provider = provider_of(&task, &self.context)?;
        match parts.min(MOST_PARTS) {
            NonZeroUsize::MIN => Ok(vec![task]),
            parts => provider.subdivide(task, parts, &self.context).await,
        }
    }

    /// What a read of a task comes to at most: files, row groups, pages and rows that are left by the steps that leave them
    /// out while reading; `None` where the provider does not tell, as of two states that are compared.
    ///
    /// Of the first `most_files` of its files it asks for the footer, the pages' bounds of the condition's columns, the
    /// file index and the deletion vector, as the read does, which finds them in the cache then.
    ///
    /// # Errors
    /// As [`Self::read`]; errors of the store and of the files.
    pub async fn estimate(&self, task: ReadTask, most_files: usize) -> Result<Option<Estimate>> {
        let provider = provider_of(&task, &self.context)?;
        provider.estimate(task, most_files, &self.context).await
    }

    /// Name of the provider that reads a task.
    ///
    /// # Errors
    /// `Unsupported` that names what nobody can read.
    pub fn provider(&self, task: &ReadTask) -> Result<&'static str> {
        provider_of(task, &self.context).map(|provider| provider.name())
    }

    /// Order of the rows of a task; nothing is promised for providers of others.
    pub fn ordering(&self, task: &ReadTask) -> TaskOrdering {
        let Split::Data(split) = &task.split else {
            return TaskOrdering::Unordered;
        };
        let keyed = self.context.table.schema.has_primary_key();
        let in_order = match self.provider(task) {
            Ok(name) if name == MergeProvider.name() => true,
            Ok(name) if name == RawProvider.name() => split.files.len() <= 1,
            _ => false,
        };
        if keyed && in_order {
            TaskOrdering::Key
        } else {
            TaskOrdering::Unordered
        }
    }

    /// The rows of one task. Nothing runs before the stream is polled.
    ///
    /// # Errors
    /// What is not supported, by name, before any data file is touched.
    pub fn read(&self, task: ReadTask) -> Result<BatchStream> {
        read_task(task, &self.context)
    }

    /// The rows of several tasks, one after the other; the request's limit counts over all of them. The first files of
    /// coming tasks are opened while earlier ones are read, but not under a limit.
    ///
    /// # Errors
    /// As [`Self::read`], for any of the tasks.
    pub fn read_all(&self, tasks: Vec<ReadTask>) -> Result<BatchStream> {
        for task in &tasks {
            self.provider(task)?;
        }
        let (queue, schema) = (self.queue(tasks), self.schema());
        let rows = try_unfold((queue, None), |(queue, mut stream)| async move {
            loop {
                if let Some(stream) = &mut stream
                    && let Some(batch) = queue.next_batch(stream).await
                {
                    break batch.map(Some);
                }
                match queue.take_next() {
                    Some((_, next)) => stream = Some(next?),
                    None => break Ok(None),
                }
            }
            .map(|batch| batch.map(|batch| (batch, (queue, stream))))
        });
        Ok(BatchStream::new(schema, rows).limited(self.context.request.limit))
    }

    /// The streams of tasks for readers side by side, with the first files of coming tasks opened ahead; not under a limit,
    /// which the first tasks may satisfy.
    pub fn queue(&self, tasks: Vec<ReadTask>) -> ReadQueue<'static> {
        let reader = self.clone();
        let tasks: Vec<Mutex<Option<ReadTask>>> = tasks
            .into_iter()
            .map(|task| Mutex::new(Some(task)))
            .collect();
        ReadQueue::new(tasks.len(), self.tasks_ahead(), move |task| {
            let task = tasks.get(task).and_then(|task| {
                let mut task = task.lock().unwrap_or_else(PoisonError::into_inner);
                task.take()
            });
            reader.read(task.ok_or_else(|| Error::internal("a task is made twice"))?)
        })
    }

    /// How many files of coming tasks may be opened ahead.
    pub fn tasks_ahead(&self) -> usize {
        match self.context.request.limit {
            Some(_) => 0,
            None => self.context.resources.io_concurrency(),
        }
    }
}

/// The providers of this crate, in order.
pub fn default_providers() -> Vec<Arc<dyn SplitReadProvider>> {
    vec![
        Arc::new(RawProvider),
        Arc::new(AsWrittenProvider),
        Arc::new(MergeProvider),
        Arc::new(OverwriteProvider),
        Arc::new(DiffProvider),
        Arc::new(AppendChangesProvider),
        Arc::new(FallbackProvider),
    ]
}
