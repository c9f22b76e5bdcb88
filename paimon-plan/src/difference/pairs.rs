//! Which files of a bucket both states have.

use std::collections::HashMap;

use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_io::{Resources, join};
use paimon_meta::{
    BinaryRow, DeletionFile, FileIdentity, Frame, Result, ResultExt, is_absolute_path,
};

use super::state::State;
use crate::scan::Scan;

/// A file by its index in each of the two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) files: [Option<u32>; 2],
    /// The rows that it shows are not the same in both.
    pub(super) changed: bool,
}

impl Place {
    /// A side on which it is, with its index there; the later one if it is on both.
    pub(super) fn any(self) -> (usize, u32) {
        match self.files {
            [_, Some(file)] => (1, file),
            [before, None] => (0, before.unwrap_or_default()),
        }
    }
}

/// The files of one bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) partition: BinaryRow,
    pub(super) bucket: i32,
    pub(super) places: Vec<Place>,
}

/// The files of both states, bucket by bucket, in the order of the earlier state and then of the later one.
pub(super) struct Pairs {
    pub(super) buckets: Vec<Bucket>,
    location: String,
}

impl Pairs {
    /// # Errors
    /// `InvalidInput` for options that do not parse.
    pub(super) fn new(scan: &Scan<'_>, states: &[State; 2]) -> Result<Self> {
        // In a lookup table the level decides which versions of a key count (RP-347), if they are merged at all.
        let by_level = scan.table.options.needs_lookup()? && !scan.engine.hides_level_zero();
        let mut numbers: HashMap<(&BinaryRow, i32), usize> = HashMap::new();
        let mut buckets: Vec<[&[u32]; 2]> = Vec::new();
        for (side, state) in states.iter().enumerate() {
            for files in &state.buckets {
                let Some(first) = files.first().map(|file| *file as usize) else {
                    continue;
                };
                let key = (state.files.partition(first), state.files.bucket(first));
                let number = *numbers.entry(key).or_insert(buckets.len());
                if number == buckets.len() {
                    buckets.push(Default::default());
                }
                let slot = buckets
                    .get_mut(number)
                    .and_then(|sides| sides.get_mut(side));
                if let Some(slot) = slot {
                    *slot = files;
                }
            }
        }
        let mut keys: Vec<_> = numbers.into_iter().collect();
        keys.sort_unstable_by_key(|(_, number)| *number);
        let paired = keys.into_iter().zip(buckets);
        Ok(Self {
            location: scan.table.location.clone(),
            buckets: paired
                .map(|(((partition, bucket), _), files)| Bucket {
                    partition: partition.clone(),
                    bucket,
                    places: places(states, files, by_level),
                })
                .collect(),
        })
    }

    /// Compares deletion vectors that were written anew without more rows in them: an index file holds those of many files,
    /// and is replaced as a whole.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn compare_vectors(
        &mut self,
        resources: &Resources,
        states: &[State; 2],
    ) -> Result<()> {
        let location = &self.location;
        let places = self
            .buckets
            .iter_mut()
            .flat_map(|bucket| &mut bucket.places);
        let unsure = places.filter_map(|place| {
            let [before, after] = vectors(states, *place)?;
            let may_be_equal =
                before.length == after.length && before.cardinality == after.cardinality;
            may_be_equal.then_some((place, before, after))
        });
        let compared = unsure.map(|(place, before, after)| async move {
            let bytes = async |vector: &DeletionFile| {
                let path = match is_absolute_path(&vector.path) {
                    true => vector.path.clone(),
                    false => join(location, &vector.path),
                };
                let read = async {
                    let object = resources.object(&path)?;
                    object.get_range(vector.byte_range()?).await
                };
                read.await.at(|| Frame::File(vector.path.clone()))
            };
            place.changed = bytes(&before).await? != bytes(&after).await?;
            Ok(())
        });
        // Boxed one by one: their futures borrow places of their own.
        let compared: Vec<_> = compared.collect();
        stream::iter(compared)
            .buffer_unordered(resources.io_concurrency())
            .try_collect()
            .await
    }
}

/// The vectors of a file that both states have, if both are there and are not at the same place.
fn vectors(states: &[State; 2], place: Place) -> Option<[DeletionFile; 2]> {
    let ([before, after], [Some(old), Some(new)]) = (states, place.files) else {
        return None;
    };
    let vectors = [before.vector(old)?, after.vector(new)?];
    let [before, after] = &vectors;
    (before != after).then_some(vectors)
}

fn places(states: &[State; 2], [before, after]: [&[u32]; 2], by_level: bool) -> Vec<Place> {
    let [earlier, later] = states;
    // Additions may be there twice (RP-043).
    let mut old: HashMap<FileIdentity<'_>, Vec<u32>> = HashMap::new();
    for file in before.iter().rev() {
        let identity = identity(earlier, *file, by_level);
        old.entry(identity).or_default().push(*file);
    }
    let mut paired: HashMap<u32, u32> = HashMap::new();
    let mut new = Vec::new();
    for file in after {
        let same = old.get_mut(&identity(later, *file, by_level));
        match same.and_then(Vec::pop) {
            Some(before) => {
                paired.insert(before, *file);
            }
            None => new.push(*file),
        }
    }
    let before = before.iter().map(|file| {
        let after = paired.get(file).copied();
        Place {
            files: [Some(*file), after],
            changed: after.is_none_or(|after| earlier.vector(*file) != later.vector(after)),
        }
    });
    let after = new.into_iter().map(|file| Place {
        files: [None, Some(file)],
        changed: true,
    });
    before.chain(after).collect()
}

/// What tells a file from all others.
fn identity(state: &State, file: u32, by_level: bool) -> FileIdentity<'_> {
    let identity = state.files.identity(file as usize);
    FileIdentity {
        level: if by_level { identity.level } else { 0 },
        // Says nothing of the rows.
        embedded_index: None,
        ..identity
    }
}
