//! Which files must be read: those that changed, and of the others those that may hold a key of a changed one.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use paimon_meta::{BinaryRow, BinaryRowRef, DataType, FileTable, Options, Result};

use super::pairs::{Bucket, Pairs, Place};
use super::state::State;
use crate::layout::checked_order;
use crate::pruning::FileTotals;
use crate::scan::Scan;
use crate::section::interval_partition;

/// A file to read, in a bucket of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) bucket: i32,
    pub(super) place: Place,
}

/// What becomes one split.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) partition: BinaryRow,
    /// In the order of their buckets' numbers.
    pub(super) files: Vec<Chosen>,
    /// The keys that may have changed.
    pub(super) keys: Option<(BinaryRow, BinaryRow)>,
}

pub(super) struct Selected {
    pub(super) groups: Vec<Group>,
    pub(super) common: FileTotals,
}

/// Chooses files, and groups them by the keys that they may share.
///
/// # Errors
/// `Corrupt` if keys do not hold the key columns, with the file at fault.
pub(super) fn select(scan: &Scan<'_>, states: &[State; 2], pairs: Pairs) -> Result<Selected> {
    let fields = scan.key_fields()?;
    let types: Vec<&DataType> = fields.into_iter().map(|field| &field.data_type).collect();
    let moving = moving_partitions(scan, states, &pairs)?;
    let mut selected = Selected {
        groups: Vec::new(),
        common: FileTotals::default(),
    };
    let mut together: HashMap<BinaryRow, usize> = HashMap::new();
    let mut groups: Vec<(BinaryRow, Vec<Keyed<'_>>)> = Vec::new();
    for bucket in pairs.buckets {
        let files = chosen(&bucket, states, &types, &mut selected.common)?;
        if files.is_empty() {
            continue;
        }
        if !moving.contains(&bucket.partition) {
            groups.push((bucket.partition, files));
            continue;
        }
        let number = *together
            .entry(bucket.partition.clone())
            .or_insert(groups.len());
        match groups.get_mut(number) {
            Some((_, group)) => group.extend(files),
            None => groups.push((bucket.partition, files)),
        }
    }
    for (partition, files) in groups {
        if types.is_empty() {
            selected.groups.push(group(&partition, &files, &types)?);
            continue;
        }
        for runs in interval_partition(files, |a, b| checked_order(*a, *b, &types)) {
            let files: Vec<Keyed<'_>> = runs.into_iter().flatten().collect();
            selected.groups.push(group(&partition, &files, &types)?);
        }
    }
    Ok(selected)
}

/// Partitions in which a row may be in another bucket of the later state: their number changed, or keys have no bucket that
/// follows from them.
fn moving_partitions(
    scan: &Scan<'_>,
    states: &[State; 2],
    pairs: &Pairs,
) -> Result<HashSet<BinaryRow>> {
    let dynamic = scan.table.options.value(&Options::BUCKET)? == -1;
    let mut numbers: HashMap<&BinaryRow, i32> = HashMap::new();
    let mut moving = HashSet::new();
    for bucket in &pairs.buckets {
        for place in &bucket.places {
            for (state, file) in states.iter().zip(place.files) {
                let Some(file) = file else { continue };
                let found = state.files.total_buckets(file as usize);
                let number = *numbers.entry(&bucket.partition).or_insert(found);
                if dynamic || number != found {
                    moving.insert(bucket.partition.clone());
                }
            }
        }
    }
    Ok(moving)
}

/// A file to read with its keys; none in a table without keys.
type Keyed<'a> = crate::layout::Keyed<'a, Chosen>;

/// The files of a bucket that changed, and those that may share keys with them.
fn chosen<'a>(
    bucket: &Bucket,
    states: &'a [State; 2],
    types: &[&DataType],
    common: &mut FileTotals,
) -> Result<Vec<Keyed<'a>>> {
    let (changed, same): (Vec<Place>, Vec<Place>) =
        bucket.places.iter().partition(|place| place.changed);
    let keyed = |place| keyed(bucket.bucket, place, states, types);
    let mut chosen: Vec<Keyed<'a>> = changed.into_iter().map(keyed).collect::<Result<_>>()?;
    let ranges = merged(&chosen, types);
    for place in same {
        if !types.is_empty() && !ranges.is_empty() {
            let file = keyed(place)?;
            if touches(&ranges, &file, types) {
                chosen.push(file);
                continue;
            }
        }
        add(common, states, place);
    }
    Ok(chosen)
}

fn keyed<'a>(
    bucket: i32,
    place: Place,
    states: &'a [State; 2],
    types: &[&DataType],
) -> Result<Keyed<'a>> {
    let (files, number) = of_either(states, place);
    Keyed::of(Chosen { bucket, place }, files, number, types)
}

/// A table that has the file, and its number there.
fn of_either(states: &[State; 2], place: Place) -> (&FileTable, usize) {
    let [before, after] = states;
    let (side, file) = place.any();
    let state = if side == 0 { before } else { after };
    (&state.files, file as usize)
}

/// The ranges of files, those that overlap as one, ascending.
fn merged<'a>(
    files: &[Keyed<'a>],
    types: &[&DataType],
) -> Vec<(BinaryRowRef<'a>, BinaryRowRef<'a>)> {
    let mut ranges: Vec<_> = files.iter().map(|file| (file.min, file.max)).collect();
    ranges.sort_by(|a, b| checked_order(a.0, b.0, types));
    let mut merged: Vec<(BinaryRowRef<'a>, BinaryRowRef<'a>)> = Vec::new();
    for (min, max) in ranges {
        match merged.last_mut() {
            Some((_, last)) if checked_order(min, *last, types).is_le() => {
                if checked_order(max, *last, types).is_gt() {
                    *last = max;
                }
            }
            _ => merged.push((min, max)),
        }
    }
    merged
}

fn touches(
    ranges: &[(BinaryRowRef<'_>, BinaryRowRef<'_>)],
    file: &Keyed<'_>,
    types: &[&DataType],
) -> bool {
    let first = ranges.partition_point(|(_, max)| checked_order(*max, file.min, types).is_lt());
    let range = ranges.get(first);
    range.is_some_and(|(min, _)| checked_order(*min, file.max, types).is_le())
}

fn group(partition: &BinaryRow, files: &[Keyed<'_>], types: &[&DataType]) -> Result<Group> {
    let changed = || files.iter().filter(|file| file.file.place.changed);
    let order =
        |a: &BinaryRowRef<'_>, b: &BinaryRowRef<'_>| -> Ordering { checked_order(*a, *b, types) };
    let min = changed().map(|file| file.min).min_by(order);
    let max = changed().map(|file| file.max).max_by(order);
    let owned = |row: BinaryRowRef<'_>| BinaryRow::from_parts(row.arity(), row.row_bytes());
    let mut chosen: Vec<Chosen> = files.iter().map(|file| file.file).collect();
    chosen.sort_by_key(|chosen| chosen.bucket); // stable: files of a bucket stay in their order
    Ok(Group {
        partition: partition.clone(),
        keys: match min.zip(max).filter(|_| !types.is_empty()) {
            Some((min, max)) => Some((owned(min)?, owned(max)?)),
            None => None,
        },
        files: chosen,
    })
}

fn add(common: &mut FileTotals, states: &[State; 2], place: Place) {
    let (files, number) = of_either(states, place);
    common.add(files.row_count(number), files.file_size(number));
}
