//! Two states of a table as what they do not share, bucket by bucket (RP-153, RP-305, ME-150).

use std::collections::{HashMap, HashSet};

use futures_util::future::try_join;
use paimon_io::Resources;
use paimon_meta::{
    Error, FileIdentity, FileTable, FileTableBuilder, Frame, Options, ResolvedTable, Result,
    ResultExt, Snapshot,
};

use crate::generate::Why;
use crate::list_file::{ListFile, state_lists};
use crate::manifests::Entries;
use crate::origins::Origins;
use crate::plan::{Plan, PlannedVectors, SplitEntry};
use crate::prune::prune;
use crate::pruning::Pruning;
use crate::scan::{Scan, ScanRequest};
use crate::vectors::VectorEntries;
use crate::view::View;

/// Plans the difference from one state to another. Files that both have are left out, so that what changed in them by
/// deletion vectors alone does not show (RP-710).
///
/// # Errors
/// `InvalidInput` if the number of buckets of a partition changed between the states; else those of planning.
pub(crate) async fn plan_diff(
    resources: &Resources,
    table: &ResolvedTable,
    request: &ScanRequest,
    (from, to): (&Snapshot, &Snapshot),
) -> Result<Plan> {
    let scan = Scan::new(table, request, View::Side)?;
    let side = async |snapshot: &Snapshot| {
        let entries = scan.read(resources, state_lists(snapshot));
        try_join(entries, scan.vectors(resources, snapshot))
            .await
            .and_then(|(entries, vectors)| State::of(&scan, entries, &vectors))
            .at(|| Frame::Snapshot(snapshot.id))
    };
    let (before, after) = try_join(side(from), side(to)).await?;
    let joined = Joined::new(before, after)?;
    if table.options.value(&Options::BUCKET)? != -1 {
        joined.check_rescale(from.id, to.id)?;
    }
    joined.plan(&scan, to)
}

/// Plans what one overwriting commit changed: the files that it took away, and those that it added (RP-151).
///
/// # Errors
/// Those of planning.
pub(crate) async fn plan_overwrite(
    resources: &Resources,
    table: &ResolvedTable,
    request: &ScanRequest,
    snapshot: &Snapshot,
) -> Result<Plan> {
    let scan = Scan::new(table, request, View::Delta)?;
    let planned = async {
        let lists = vec![ListFile::delta(snapshot)];
        let Entries {
            added,
            deleted,
            pruning,
            origins,
        } = scan.read(resources, lists).await?;
        let before = State {
            kept: (0u32..).take(deleted.len()).collect(),
            files: deleted,
            pruning: Pruning::default(),
            vectors: None,
            origins: Origins::default(),
        };
        let after = Entries {
            added,
            deleted: FileTable::default(),
            pruning,
            origins,
        };
        Joined::new(before, State::of(&scan, after, &VectorEntries::default())?)?
            .plan(&scan, snapshot)
    };
    planned.await.at(|| Frame::Snapshot(snapshot.id))
}

/// The files of one state that pass.
struct State {
    files: FileTable,
    /// By index.
    kept: Vec<u32>,
    pruning: Pruning,
    vectors: Option<PlannedVectors>,
    origins: Origins,
}

impl State {
    fn of(scan: &Scan<'_>, entries: Entries, vectors: &VectorEntries) -> Result<Self> {
        let pruned = prune(&entries.added, &entries.deleted, &scan.rules);
        let mut pruning = entries.pruning;
        pruning.steps.extend(pruned.steps);
        let files = entries.added.files;
        Ok(Self {
            vectors: scan.attach(vectors, &files, &pruned.buckets)?,
            files,
            kept: pruned.buckets.into_iter().flatten().collect(),
            pruning,
            origins: entries.origins,
        })
    }
}

/// Both states in one table of files.
struct Joined {
    files: FileTable,
    /// Buckets in the order of their first files; in each the files of both states.
    buckets: Vec<[Vec<u32>; 2]>,
    pruning: Pruning,
    vectors: Option<PlannedVectors>,
    origins: Origins,
}

impl Joined {
    fn new(before: State, after: State) -> Result<Self> {
        let mut builder = FileTableBuilder::new();
        builder.append(before.files)?;
        let length = builder.len();
        let offset = u32::try_from(length).unwrap_or(u32::MAX);
        builder.append(after.files)?;
        let files = builder.finish();
        let mut positions: HashMap<(u32, i32), usize> = HashMap::new();
        let mut buckets: Vec<[Vec<u32>; 2]> = Vec::new();
        let of_before = before.kept.into_iter().map(|file| (0, file));
        let of_after = after
            .kept
            .into_iter()
            .map(|file| (1, file.saturating_add(offset)));
        for (side, file) in of_before.chain(of_after) {
            let at = file as usize;
            let position = *positions
                .entry((files.partition_id(at), files.bucket(at)))
                .or_insert(buckets.len());
            if position == buckets.len() {
                buckets.push(Default::default());
            }
            let bucket = buckets.get_mut(position);
            if let Some(list) = bucket.and_then(|sides| sides.get_mut(side)) {
                list.push(file);
            }
        }
        let mut pruning = before.pruning;
        pruning.append(after.pruning);
        let mut vectors = before.vectors;
        if let (Some(vectors), Some(more)) = (&mut vectors, after.vectors) {
            vectors.append(more, offset);
        }
        let mut origins = before.origins;
        origins.append(after.origins, length);
        Ok(Self {
            files,
            buckets,
            pruning,
            vectors,
            origins,
        })
    }

    /// A partition with another number of buckets holds its keys in other buckets, where they cannot be compared.
    fn check_rescale(&self, from: i64, to: i64) -> Result<()> {
        let mut numbers: HashMap<u32, [Option<i32>; 2]> = HashMap::new();
        for sides in &self.buckets {
            for (side, files) in sides.iter().enumerate() {
                for file in files {
                    let at = *file as usize;
                    let numbers = numbers.entry(self.files.partition_id(at)).or_default();
                    if let Some(number) = numbers.get_mut(side) {
                        *number = Some(self.files.total_buckets(at));
                    }
                }
            }
        }
        let changed = numbers.into_values().find_map(|[before, after]| {
            before.zip(after).filter(|(before, after)| before != after)
        });
        match changed {
            None => Ok(()),
            Some((before, after)) => Err(Error::invalid_input(format!(
                "snapshot {from} has {before} buckets and snapshot {to} has {after} in the same partition, rows of two \
                 numbers of buckets cannot be compared bucket by bucket"
            ))),
        }
    }

    /// Takes away what both states have; what is left of each bucket becomes a split.
    fn plan(self, scan: &Scan<'_>, snapshot: &Snapshot) -> Result<Plan> {
        let mut order: Vec<u32> = Vec::new();
        let (mut splits, mut after_starts) = (Vec::new(), Vec::new());
        let length = |order: &Vec<u32>| u32::try_from(order.len()).unwrap_or(u32::MAX);
        for [before, after] in &self.buckets {
            let first = after.first().or(before.first());
            let total_buckets = first.map_or(0, |file| self.files.total_buckets(*file as usize));
            let start = order.len();
            order.extend(self.without(before, after));
            after_starts.push(length(&order));
            order.extend(self.without(after, before));
            if order.len() == start {
                after_starts.pop();
                continue;
            }
            splits.push(SplitEntry {
                files_end: length(&order),
                runs_end: 0,
                sections_end: 0,
                total_buckets,
                why: Why::TwoStates,
            });
        }
        scan.check_schemas(&self.files, order.iter())
            .map_err(|error| self.origins.locate(&self.files, error))?;
        let files = self.files.permute(&order)?;
        Ok(Plan {
            splits,
            after_starts,
            pruning: self.pruning,
            vectors: self.vectors.map(|vectors| vectors.permuted(&order)),
            ..scan.plan_of(Some(snapshot), files)?
        })
    }

    /// The files of one list that the other does not have.
    fn without<'a>(&'a self, files: &'a [u32], others: &[u32]) -> impl Iterator<Item = u32> + 'a {
        let others: HashSet<FileIdentity<'a>> = others
            .iter()
            .map(|file| self.files.identity(*file as usize))
            .collect();
        let kept = files
            .iter()
            .filter(move |file| !others.contains(&self.files.identity(**file as usize)));
        kept.copied()
    }
}
