//! The legs of a merge split: sections that are read in the same way, one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{DataSplit, Result};

use super::section::{KeyedFile, SplitMerge};
use crate::columns::{PartitionValues, Shape};
use crate::fold::FoldPlan;
use crate::opens::Opens;
use crate::split_read::Leg;
use crate::task::KeySpan;
use crate::window::{PickSource, Window};

/// The legs of a merge split in key order.
///
/// # Errors
/// `Corrupt` for keys that do not decode, `InvalidInput` and `Unsupported` for options of the table.
pub(crate) fn merge_legs(
    opens: Opens,
    shape: &Arc<Shape>,
    split: DataSplit,
    partition: PartitionValues,
    span: Option<&KeySpan>,
) -> Result<VecDeque<Leg>> {
    let plans = SplitPlans::new(opens, shape, partition, span)?;
    let sections = plans.rows.joined(plans.rows.sections(split.files)?);
    let mut legs: Vec<(Option<&Fold>, Sections)> = Vec::new();
    for section in sections {
        let fold = plans.fold_of(&section);
        let source = plans.merge_of(fold).section(section)?;
        match legs.last_mut() {
            Some((last, sources)) if last.is_some() == fold.is_some() => {
                sources.0.push_back(source);
            }
            _ => legs.push((fold, Sections([source].into()))),
        }
    }
    let leg = |(fold, sources): (Option<&Fold>, _)| Leg {
        picks: Box::new(sources),
        fold: fold.map(|fold| Arc::clone(&fold.plan)),
    };
    Ok(legs.into_iter().map(leg).collect())
}

/// How the sections of a split are read.
pub(super) struct SplitPlans {
    /// Sections of which each row that is picked is one of the result.
    pub(super) rows: SplitMerge,
    fold: Option<Fold>,
}

/// Sections whose versions are folded.
pub(super) struct Fold {
    pub(super) plan: Arc<FoldPlan>,
    merge: SplitMerge,
}

impl SplitPlans {
    pub(super) fn new(
        opens: Opens,
        shape: &Arc<Shape>,
        partition: PartitionValues,
        span: Option<&KeySpan>,
    ) -> Result<Self> {
        let context = opens.opener().context();
        let fold = match FoldPlan::new(&context.table, shape, context.request.row_kinds)? {
            None => None,
            Some(plan) => Some(Fold {
                merge: SplitMerge::new(opens.clone(), &plan.versions, partition.clone(), span)?
                    .newest_decides(plan.newest_decides()),
                plan: Arc::new(plan),
            }),
        };
        Ok(Self {
            rows: SplitMerge::new(opens, shape, partition, span)?,
            fold,
        })
    }

    /// The fold of a section: in one run each key has one version, which is a row as it is (ME 1.5).
    pub(super) fn fold_of(&self, section: &[Vec<KeyedFile>]) -> Option<&Fold> {
        self.fold.as_ref().filter(|_| section.len() > 1)
    }

    pub(super) fn merge_of<'a>(&'a self, fold: Option<&'a Fold>) -> &'a SplitMerge {
        fold.map_or(&self.rows, |fold| &fold.merge)
    }
}

/// Sources one after the other.
struct Sections(VecDeque<Box<dyn PickSource>>);

impl PickSource for Sections {
    fn step<'a>(&'a mut self, window: &'a mut Window) -> BoxFuture<'a, Result<bool>> {
        async move {
            if let Some(section) = self.0.front_mut()
                && !section.step(window).await?
            {
                self.0.pop_front();
            }
            Ok(!self.0.is_empty())
        }
        .boxed()
    }
}
