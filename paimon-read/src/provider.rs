//! The chain of readers: who reads a task. Facts: RP-200, RP-201, RP-211.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use paimon_meta::{Error, Result};

use crate::context::ReadContext;
use crate::describe::SectionDescription;
use crate::estimate::Estimate;
use crate::stream::BatchStream;
use crate::task::ReadTask;

/// A provider's answer to a task.
#[derive(Debug)]
pub enum Claim {
    /// Somebody else's.
    No,
    /// Mine.
    Read,
    /// Valid and mine, but not supported: the error names the feature.
    Refuse(Error),
}

impl Claim {
    /// Of a task that is mine: read it if what was checked holds.
    pub(crate) fn of(checked: Result<()>) -> Self {
        match checked {
            Ok(()) => Self::Read,
            Err(error) => Self::Refuse(error),
        }
    }
}

/// Reads the tasks it claims.
///
/// Contract: `claim` is cheap and requests nothing; `read` returns at once, nothing runs before the stream is polled. A
/// provider may hand parts of its work on to the chain through [`read_task`].
pub trait SplitReadProvider: Debug + Send + Sync {
    /// Name for people, as `explain` shows it.
    fn name(&self) -> &'static str;

    /// Whether this provider reads the task.
    fn claim(&self, task: &ReadTask, context: &ReadContext) -> Claim;

    /// How a task that was claimed will be read, for explanations; nothing if the provider does not tell. Requests
    /// nothing.
    ///
    /// # Errors
    /// What is wrong with the task or the request.
    fn describe(
        &self,
        _task: &ReadTask,
        _context: &Arc<ReadContext>,
    ) -> Result<Vec<SectionDescription>> {
        Ok(Vec::new())
    }

    /// What is left of the task's files at most, of which the first `most_files` are looked at; `None` if the provider
    /// does not tell. Reads footers and indexes, and no column.
    ///
    /// # Errors
    /// What is wrong with the task; errors of the store and the files.
    fn estimate(
        &self,
        _task: ReadTask,
        _most_files: usize,
        _context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Option<Estimate>>> {
        ready(Ok(None)).boxed()
    }

    /// The task as at most so many parts of about equal work, which can be read side by side: together they have its
    /// rows, none twice, and in their order they keep its order. A provider that cannot cut gives the task back whole, and
    /// then never sees a part of one. May read what tells where to cut, footers say.
    ///
    /// # Errors
    /// What is wrong with the task; errors of the store.
    fn subdivide(
        &self,
        task: ReadTask,
        _parts: NonZeroUsize,
        _context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Vec<ReadTask>>> {
        ready(Ok(vec![task])).boxed()
    }

    /// The rows of a task that was claimed.
    ///
    /// # Errors
    /// What is wrong with the task or the request; errors of the store come out of the stream.
    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream>;
}

/// The provider that reads a task: the first claim wins.
///
/// # Errors
/// The error of a refusal; `Unsupported` if nobody claims the task.
pub fn provider_of<'a>(
    task: &ReadTask,
    context: &'a ReadContext,
) -> Result<&'a Arc<dyn SplitReadProvider>> {
    for provider in &context.providers {
        match provider.claim(task, context) {
            Claim::No => {}
            Claim::Read => return Ok(provider),
            Claim::Refuse(error) => return Err(error),
        }
    }
    Err(Error::unsupported("this kind of split").with_detail("no provider claims it"))
}

/// A provider was handed a task that it did not claim.
pub(crate) fn not_mine() -> Error {
    Error::internal("a provider was asked to read a task that it does not claim")
}

/// Reads a task with the chain of the context.
///
/// # Errors
/// As [`provider_of`], and those of the provider.
pub fn read_task(task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
    provider_of(&task, context)?.read(task, context)
}
