//! Parts of a merge.

use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use paimon_meta::{BinaryRow, DataFileMeta, DataSplit, Predicate, Result, TablePredicate};

use super::balance::{Stretch, choose};
use super::narrowed;
use super::samples::{Samples, sample};
use super::span::SpanOf;
use crate::context::ReadContext;
use crate::open::FileOpener;
use crate::task::KeySpan;

/// Files that are looked into at the same time.
const FILES_AT_ONCE: usize = 8;

/// The parts of the keys of a range, in key order, each with the files that may hold some of them, and the bytes that it
/// is estimated to be.
///
/// The bounds of the files decide where they are enough: where files lie beside each other, or few small ones across them.
/// Else the largest files are looked into. `condition` is one on key columns: only what may satisfy it is work.
///
/// # Errors
/// `Corrupt` for keys that do not decode; of the store and of the files that are opened.
pub(crate) async fn key_parts(
    split: &DataSplit,
    span: &SpanOf,
    condition: Option<&TablePredicate>,
    parts: NonZeroUsize,
    context: &Arc<ReadContext>,
) -> Result<Vec<(DataSplit, KeySpan, u64)>> {
    let mut files = Vec::new();
    for file in &split.files {
        if span.meets(file)? {
            files.push(Arc::new(file.clone()));
        }
    }
    let work = Work {
        span,
        files: sorted(files, span),
    };
    let known = choose(&work.by_bounds(), work.minima()?, parts, |a, b| {
        work.order(a, b)
    });
    let cuts = if known.good && condition.is_none() {
        known
    } else {
        let opener = FileOpener::new(context, split)?;
        let (stretches, candidates) = work.by_samples(&opener, condition, parts).await?;
        choose(&stretches, candidates, parts, |a, b| work.order(a, b))
    };
    spans(span.span(), cuts.keys)
        .zip(cuts.work)
        .map(|(part, bytes)| {
            let range = SpanOf::new(Some(&part), span.fields().to_vec())?;
            let met = split.files.iter().map(|file| range.meets(file));
            let met = met.collect::<Result<Vec<_>>>()?;
            let (split, _) = narrowed(split, |file| met.get(file)?.then_some(()));
            Ok((split, part, bytes))
        })
        .filter(|part| {
            part.as_ref()
                .map_or(true, |(split, ..)| !split.files.is_empty())
        })
        .collect()
}

/// The ranges between cuts.
fn spans(span: &KeySpan, cuts: Vec<BinaryRow>) -> impl Iterator<Item = KeySpan> {
    let starts = std::iter::once(span.from.clone()).chain(cuts.clone().into_iter().map(Some));
    let ends = cuts.into_iter().map(Some).chain([span.to.clone()]);
    let ends: Vec<_> = ends.collect();
    starts.zip(ends).map(|(from, to)| KeySpan { from, to })
}

fn sorted(mut files: Vec<Arc<DataFileMeta>>, span: &SpanOf) -> Vec<Arc<DataFileMeta>> {
    files.sort_by(|a, b| order(span, &a.min_key, &b.min_key));
    files
}

/// All keys that are compared have been decoded before.
fn order(span: &SpanOf, a: &BinaryRow, b: &BinaryRow) -> Ordering {
    span.compare(a, b).unwrap_or(Ordering::Equal)
}

/// The files of a merge, by their least keys.
struct Work<'a> {
    span: &'a SpanOf,
    files: Vec<Arc<DataFileMeta>>,
}

impl Work<'_> {
    fn order(&self, a: &BinaryRow, b: &BinaryRow) -> Ordering {
        order(self.span, a, b)
    }

    /// Least keys that can be cut at.
    fn minima(&self) -> Result<Vec<BinaryRow>> {
        let mut keys = Vec::new();
        for file in &self.files {
            if self.span.divides(&file.min_key)? {
                keys.push(file.min_key.clone());
            }
        }
        Ok(keys)
    }

    fn by_bounds(&self) -> Vec<Stretch<BinaryRow>> {
        self.files.iter().map(|file| whole(file)).collect()
    }

    /// Work and keys to cut at, with a look into the files that hold most of the work.
    async fn by_samples(
        &self,
        opener: &FileOpener,
        condition: Option<&TablePredicate>,
        parts: NonZeroUsize,
    ) -> Result<(Vec<Stretch<BinaryRow>>, Vec<BinaryRow>)> {
        let condition = condition.cloned().into_iter().chain(self.span.condition()?);
        let condition: Vec<_> = condition.collect();
        let condition = (!condition.is_empty()).then(|| Predicate::and(condition));
        let chosen = self.files.iter().zip(self.counts(parts));
        let samples = chosen.map(|(file, count)| {
            let condition = condition.as_ref();
            async move {
                if count == 0 {
                    return Ok(None);
                }
                let samples = sample(opener, file, self.span, condition, count).await?;
                Ok(Some(samples))
            }
        });
        // Boxed, or else the compiler cannot tell that the whole can be sent.
        let samples = samples.map(FutureExt::boxed).collect::<Vec<_>>();
        let samples: Vec<Option<Samples>> = stream::iter(samples)
            .buffered(FILES_AT_ONCE)
            .try_collect()
            .await?;
        let mut stretches = Vec::new();
        for (file, samples) in self.files.iter().zip(samples) {
            match samples {
                None => stretches.push(whole(file)),
                Some(samples) => self.add(file, samples, &mut stretches)?,
            }
        }
        let mut candidates = self.minima()?;
        for stretch in &stretches {
            if self.span.divides(&stretch.low)? {
                candidates.push(stretch.low.clone());
            }
        }
        Ok((stretches, candidates))
    }

    /// How many keys to take of each file: more of larger ones, of most small ones none.
    fn counts(&self, parts: NonZeroUsize) -> Vec<u64> {
        let parts = u64::try_from(parts.get()).unwrap_or(u64::MAX);
        let points = parts.saturating_mul(2).clamp(16, 64);
        let total: u128 = self.files.iter().map(|file| weight(file)).sum();
        let mut below = 0;
        let mut next = 0;
        let counts = self.files.iter().map(|file| {
            below += weight(file);
            let first = next;
            while next < points && u128::from(2 * next + 1) * total < below * 2 * u128::from(points)
            {
                next += 1;
            }
            match next - first {
                0 => 0,
                hits => 3 + parts.saturating_mul(4 * hits).div_ceil(points),
            }
        });
        counts.collect()
    }

    /// The work of a file between the keys that were taken of it, as far as it is in the range.
    fn add(
        &self,
        file: &DataFileMeta,
        samples: Samples,
        stretches: &mut Vec<Stretch<BinaryRow>>,
    ) -> Result<()> {
        let bytes = |rows: u64| {
            let bytes = weight(file) * u128::from(rows);
            let bytes = bytes.checked_div(u128::from(file.row_count));
            u64::try_from(bytes.unwrap_or_default()).unwrap_or(u64::MAX)
        };
        let mut low = file.min_key.clone();
        let mut taken = 0;
        let ends = samples
            .keys
            .into_iter()
            .map(|(rows, key)| (rows, key, false));
        let last = (samples.row_count, file.max_key.clone(), true);
        for (rows, high, closed) in ends.chain([last]) {
            let stretch = Stretch {
                low,
                high: high.clone(),
                closed,
                weight: bytes(rows.saturating_sub(taken)),
            };
            if self.span.meets_range(&stretch.low, &stretch.high)? {
                stretches.push(stretch);
            }
            (low, taken) = (high, rows);
        }
        Ok(())
    }
}

fn weight(file: &DataFileMeta) -> u128 {
    u128::from(file.file_size.max(1))
}

fn whole(file: &DataFileMeta) -> Stretch<BinaryRow> {
    Stretch {
        low: file.min_key.clone(),
        high: file.max_key.clone(),
        closed: true,
        weight: file.file_size.max(1),
    }
}
