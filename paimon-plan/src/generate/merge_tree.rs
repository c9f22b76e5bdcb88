//! Splits of primary-key tables (RP-120 to RP-126, RP-150).

use paimon_meta::Result;

use super::{FileShape, SplitSettings, SplitShape, Why, positions};
use crate::pack::pack;
use crate::section::Section;

/// The rule by which a whole bucket is read raw, if there is one: no file on level 0, none with delete rows, and
/// deletion vectors, first-row or a single level.
///
/// Files of one level above 0 are taken to be disjoint, as the reference does (RP-125).
pub fn bucket_is_raw(files: &[FileShape], settings: &SplitSettings) -> Option<Why> {
    let all_raw = files
        .iter()
        .all(|file| file.level != 0 && file.may_be_raw());
    let first = files.first()?;
    if !all_raw {
        None
    } else if settings.deletion_vectors {
        Some(Why::DeletionVectors)
    } else if settings.first_row {
        Some(Why::FirstRow)
    } else {
        files
            .iter()
            .all(|file| file.level == first.level)
            .then_some(Why::OneLevel)
    }
}

/// Batch splits of a bucket, in two steps: the whole bucket raw, packed file by file in the order of the plan; else whole
/// sections packed in key order, where only a split of exactly one file without delete rows is raw (RP-120 to RP-124).
///
/// `sections` divides the files (as positions) by [interval partition](crate::interval_partition); it is called only
/// for the second step, because it has to decode keys.
///
/// # Errors
/// Those of `sections`.
pub fn merge_tree_splits(
    files: &[FileShape],
    settings: &SplitSettings,
    sections: impl FnOnce() -> Result<Vec<Section<u32>>>,
) -> Result<Vec<SplitShape>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(why) = bucket_is_raw(files, settings) {
        let bins = pack(positions(files), settings.target_size, |(_, file)| {
            file.file_size.max(settings.open_file_cost)
        });
        let positions =
            |bin: Vec<(u32, _)>| bin.into_iter().map(|(position, _)| position).collect();
        return Ok(bins
            .into_iter()
            .map(|bin| SplitShape {
                files: positions(bin),
                sections: Vec::new(),
                why,
            })
            .collect());
    }
    let size = |position: &u32| {
        usize::try_from(*position)
            .ok()
            .and_then(|at| files.get(at))
            .map_or(0, |f| f.file_size)
    };
    let items = sections()?.into_iter().map(|section| {
        let bytes = section
            .iter()
            .flatten()
            .map(size)
            .fold(0u64, u64::saturating_add);
        (section, bytes.max(settings.open_file_cost))
    });
    let bins = pack(items, settings.target_size, |(_, weight)| *weight);
    Ok(bins
        .into_iter()
        .map(|bin| of_sections(bin.into_iter().map(|(section, _)| section).collect(), files))
        .collect())
}

/// The split of one bin of sections.
fn of_sections(sections: Vec<Section<u32>>, files: &[FileShape]) -> SplitShape {
    let lengths = |section: &Section<u32>| {
        section
            .iter()
            .map(|run| u32::try_from(run.len()).unwrap_or(u32::MAX))
            .collect()
    };
    let lengths: Vec<Vec<u32>> = sections.iter().map(lengths).collect();
    let order: Vec<u32> = sections.into_iter().flatten().flatten().collect();
    let lone = match order.as_slice() {
        [position] => usize::try_from(*position).ok().and_then(|at| files.get(at)),
        _ => None,
    };
    let why = match lone {
        Some(file) if file.may_be_raw() => Why::LoneFile,
        Some(_) => Why::DeleteRows,
        None if lengths.iter().any(|runs| runs.len() > 1) => Why::Overlap,
        None => Why::SharedSplit,
    };
    SplitShape {
        files: order,
        sections: lengths,
        why,
    }
}

/// The one streaming split of a bucket: all files in the order of the plan (RP-150).
pub fn merge_tree_splits_for_streaming(files: &[FileShape]) -> Option<SplitShape> {
    let order: Vec<u32> = positions(files).map(|(position, _)| position).collect();
    (!order.is_empty()).then_some(SplitShape {
        files: order,
        sections: Vec::new(),
        why: Why::Streaming,
    })
}

#[cfg(test)]
mod tests;
