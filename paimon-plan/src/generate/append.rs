//! Splits of append tables (RP-160 to RP-162).

use super::{FileShape, SplitSettings, SplitShape, Why, positions};
use crate::pack::pack;

/// Batch splits of a bucket: files by smallest sequence number, ties in the order of the plan, packed one by one.
pub fn append_splits(files: &[FileShape], settings: &SplitSettings) -> Vec<SplitShape> {
    let mut ordered: Vec<(u32, &FileShape)> = positions(files).collect();
    ordered.sort_by_key(|(_, file)| file.min_sequence_number);
    pack(ordered, settings.target_size, |(_, file)| {
        file.file_size.max(settings.open_file_cost)
    })
    .into_iter()
    .map(|bin| raw(bin.into_iter().map(|(position, _)| position).collect()))
    .collect()
}

/// Streaming splits of a bucket: as in batch where buckets mean nothing (`bucket` = -1), else the whole bucket (RP-161).
pub fn append_splits_for_streaming(
    files: &[FileShape],
    settings: &SplitSettings,
    unaware_bucket: bool,
) -> Vec<SplitShape> {
    if unaware_bucket {
        append_splits(files, settings)
    } else if files.is_empty() {
        Vec::new()
    } else {
        vec![raw(positions(files)
            .map(|(position, _)| position)
            .collect())]
    }
}

fn raw(files: Vec<u32>) -> SplitShape {
    SplitShape {
        files,
        sections: Vec::new(),
        why: Why::AppendTable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(size: u64, min_sequence_number: i64) -> FileShape {
        FileShape {
            file_size: size,
            level: 0,
            delete_row_count: Some(0),
            min_sequence_number,
        }
    }

    #[test]
    fn files_are_ordered_by_sequence_and_ties_keep_the_plan_order() {
        // RP-160, RP-574
        let splits = append_splits(
            &[file(1, 5), file(1, 0), file(1, 5), file(1, 2)],
            &SplitSettings::default(),
        );
        assert_eq!(splits, [raw(vec![1, 3, 0, 2])]);
    }

    #[test]
    fn small_files_weigh_the_open_file_cost() {
        let settings = SplitSettings {
            target_size: 8,
            open_file_cost: 4,
            ..SplitSettings::default()
        };
        let splits = append_splits(&[file(1, 0), file(1, 1), file(1, 2)], &settings);
        assert_eq!(splits, [raw(vec![0, 1]), raw(vec![2])]);
    }

    #[test]
    fn streaming_packs_only_where_buckets_mean_nothing() {
        // RP-161
        let settings = SplitSettings {
            target_size: 1,
            open_file_cost: 1,
            ..SplitSettings::default()
        };
        let files = [file(1, 1), file(1, 0)];
        assert_eq!(
            append_splits_for_streaming(&files, &settings, true),
            [raw(vec![1]), raw(vec![0])]
        );
        assert_eq!(
            append_splits_for_streaming(&files, &settings, false),
            [raw(vec![0, 1])]
        );
        assert!(append_splits_for_streaming(&[], &settings, false).is_empty());
    }
}
