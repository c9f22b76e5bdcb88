//! What the raw and the merge provider have in common: checks before the first request, and the stream over a pick
//! source.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Context;

use arrow_array::RecordBatch;
use futures_util::stream::try_unfold;
use paimon_format::format_reader;
use paimon_meta::{DataSplit, Error, Frame, Result, ResultExt};

use crate::columns::{PartitionValues, Shape};
use crate::context::ReadContext;
use crate::fold::{FoldPass, FoldPlan, check_options};
use crate::open::FileOpener;
use crate::opens::Opens;
use crate::stream::{Ahead, BatchStream};
use crate::value_pass::ValuePass;
use crate::window::PickSource;

/// Refuses by name what is not built, before any data file is touched.
///
/// # Errors
/// `Unsupported` that names the feature; `NotFound` for a schema file that is missing; `InvalidInput` of the request.
pub(crate) fn check(split: &DataSplit, context: &ReadContext, shape: &Shape) -> Result<()> {
    let files = split.files.len();
    if let Some(vectors) = split
        .deletion_files
        .as_ref()
        .filter(|vectors| vectors.len() != files)
    {
        return Err(Error::corrupt(format!(
            "the split has {} places for deletion vectors and {files} files",
            vectors.len()
        )));
    }
    check_options(&context.table)?;
    let fields = shape.needed(&context.table.schema)?;
    let mut checked = vec![context.table.schema.id];
    for file in &split.files {
        let frame = || Frame::File(file.file_name.clone());
        format_reader(file.format().unwrap_or_default()).at(frame)?;
        let schema = context.schema_of(file)?;
        if checked.contains(&schema.id) {
            continue;
        }
        checked.push(schema.id);
        for field in &fields {
            crate::evolve::check_readable(field, &context.table, schema).at(frame)?;
        }
    }
    Ok(())
}

/// Partition values of a split by field.
///
/// # Errors
/// `Corrupt` if the split's partition does not decode.
pub(crate) fn partition_values(
    split: &DataSplit,
    context: &ReadContext,
) -> Result<PartitionValues> {
    let fields = context.table.schema.partition_fields()?;
    let types: Vec<_> = fields.iter().map(|field| &field.data_type).collect();
    let values = split
        .partition
        .as_ref()
        .datums(&types)
        .at(|| Frame::Field("_PARTITION".into()))?;
    Ok(fields.into_iter().cloned().zip(values).collect())
}

/// Picks, and what becomes of them.
pub(crate) struct Leg {
    /// The picks.
    pub(crate) picks: Box<dyn PickSource>,
    /// How rows are made of them, where they are versions.
    pub(crate) fold: Option<Arc<FoldPlan>>,
}

/// A lazy stream over the legs that `legs` makes, one after the other.
///
/// # Errors
/// Those of the request; all others come out of the stream.
pub(crate) fn stream(
    split: DataSplit,
    context: &Arc<ReadContext>,
    legs: impl FnOnce(Opens, &Arc<Shape>, DataSplit) -> Result<VecDeque<Leg>> + Send + 'static,
) -> Result<BatchStream> {
    let shape = context.shape()?;
    let schema = Arc::clone(&shape.schema);
    let opens = Opens::new(FileOpener::new(context, &split)?);
    let (of_legs, of_shape) = (opens.clone(), Arc::clone(&shape));
    let beginning = Arc::new(Beginning {
        opens,
        legs: Mutex::new(Legs::New(Box::new(move || legs(of_legs, &of_shape, split)))),
    });
    let (limit, context) = (context.request.limit, Arc::clone(context));
    let begun = Arc::clone(&beginning);
    let batches = try_unfold(None, move |walk: Option<Box<Walk>>| {
        let walk = match walk {
            Some(walk) => Ok(walk),
            None => begun.take().map(|waiting| {
                Box::new(Walk {
                    waiting,
                    current: None,
                    shape: Arc::clone(&shape),
                    context: Arc::clone(&context),
                })
            }),
        };
        async move {
            let mut walk = walk?;
            Ok(walk.next().await?.map(|batch| (batch, Some(walk))))
        }
    });
    Ok(BatchStream::new(schema, batches)
        .with_ahead(beginning)
        .limited(limit))
}

/// What a read does before its stream is polled, if somebody asks it to open its first files.
struct Beginning {
    opens: Opens,
    legs: Mutex<Legs>,
}

/// The legs of a read.
enum Legs {
    New(Box<dyn FnOnce() -> Result<VecDeque<Leg>> + Send>),
    Made(Result<VecDeque<Leg>>),
    Taken,
}

impl Legs {
    /// Hands the legs out, made if they were not.
    fn take(&mut self) -> Result<VecDeque<Leg>> {
        match std::mem::replace(self, Self::Taken) {
            Self::New(make) => make(),
            Self::Made(legs) => legs,
            Self::Taken => Err(Error::internal("a read begins twice")),
        }
    }
}

impl Beginning {
    fn take(&self) -> Result<VecDeque<Leg>> {
        self.lock().take()
    }

    /// The legs are whole at every unlock.
    fn lock(&self) -> MutexGuard<'_, Legs> {
        self.legs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ahead for Beginning {
    fn poll_ahead(&self, most: usize, context: &mut Context<'_>) -> usize {
        let mut legs = self.lock();
        match &*legs {
            Legs::Taken => return 0,
            Legs::Made(_) => {}
            Legs::New(_) => *legs = Legs::Made(legs.take()),
        }
        self.opens.poll_ahead(most, context)
    }
}

/// A read under way.
struct Walk {
    waiting: VecDeque<Leg>,
    current: Option<Pass>,
    shape: Arc<Shape>,
    context: Arc<ReadContext>,
}

/// What turns the picks of a leg into batches.
enum Pass {
    Rows(ValuePass),
    Fold(FoldPass),
}

impl Walk {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let batch = match &mut self.current {
                Some(Pass::Rows(pass)) => pass.next().await?,
                Some(Pass::Fold(pass)) => pass.next().await?,
                None => None,
            };
            if batch.is_some() {
                return Ok(batch);
            }
            self.current = match self.waiting.pop_front() {
                Some(leg) => Some(self.pass(leg)?),
                None => return Ok(None),
            };
        }
    }

    fn pass(&self, leg: Leg) -> Result<Pass> {
        let window_bytes = self.context.request.window_bytes;
        let shape = leg.fold.as_ref().map_or(&self.shape, |fold| &fold.versions);
        let values = ValuePass::new(leg.picks, shape, &self.context.resources, window_bytes)?;
        // A condition may drop picked rows.
        let request = &self.context.request;
        let asks = request.predicate.is_some() || self.context.filter.is_some();
        Ok(match leg.fold {
            None => Pass::Rows(match request.limit.filter(|_| !asks) {
                None => values,
                Some(limit) => values.limited(limit),
            }),
            Some(fold) => Pass::Fold(FoldPass::new(values, fold)),
        })
    }
}
