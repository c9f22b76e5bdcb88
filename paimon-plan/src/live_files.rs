//! Added and deleted entries to the files that are live (RP-040 to RP-045).

use std::collections::HashSet;

use paimon_meta::{FileIdentity, FileTable};

/// The files of `added` that no entry of `deleted` takes away, by index, in order.
///
/// Merged as sets: one deletion takes away every addition of its identity, also a later one (RP-043), and two equal
/// additions both stay. The level is part of the identity (RP-041). Without deletions nothing is hashed.
pub fn live_files(added: &FileTable, deleted: &FileTable) -> Vec<u32> {
    let all = (0u32..).take(added.len());
    if deleted.is_empty() {
        return all.collect();
    }
    let gone: HashSet<FileIdentity<'_>> = (0..deleted.len())
        .map(|index| deleted.identity(index))
        .collect();
    all.filter(|index| !gone.contains(&added.identity(*index as usize)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use paimon_meta::{
        BinaryRow, DataFileMeta, Datum, FileTableBuilder, KeepStats, TypeKind, encode_row,
    };
    use proptest::prelude::*;

    use super::*;

    /// Partition, bucket, level, name, side file.
    type Entry = (i32, i32, i32, u8, bool);

    fn partition(value: i32) -> BinaryRow {
        encode_row(&[&TypeKind::Int.nullable()], &[Some(Datum::Int(value))]).unwrap()
    }

    fn table(entries: &[Entry]) -> FileTable {
        let mut builder = FileTableBuilder::new();
        for (value, bucket, level, name, side_file) in entries {
            let file = DataFileMeta {
                file_name: format!("data-{name}"),
                level: *level,
                extra_files: side_file.then(|| "side".to_owned()).into_iter().collect(),
                ..DataFileMeta::default()
            };
            builder
                .push_file(&partition(*value), *bucket, 1, &file, KeepStats::default())
                .unwrap();
        }
        builder.finish()
    }

    fn live(added: &[Entry], deleted: &[Entry]) -> Vec<u32> {
        live_files(&table(added), &table(deleted))
    }

    #[test]
    fn deletion_takes_away_its_addition_wherever_it_stands() {
        // RP-520, RP-521
        assert_eq!(
            live(
                &[(1, 0, 0, 1, false), (1, 0, 0, 2, false)],
                &[(1, 0, 0, 1, false)]
            ),
            [1]
        );
    }

    #[test]
    fn upgrade_to_another_level_leaves_the_new_entry() {
        // RP-522, TF-036
        assert_eq!(
            live(
                &[(1, 0, 0, 1, false), (1, 0, 5, 1, false)],
                &[(1, 0, 0, 1, false)]
            ),
            [1]
        );
    }

    #[test]
    fn entries_that_differ_in_any_part_of_the_identity_are_different_files() {
        // RP-523, RP-524
        let added = [
            (1, 0, 0, 1, true),
            (2, 0, 0, 1, false),
            (1, 1, 0, 1, false),
            (1, 0, 0, 2, false),
        ];
        assert_eq!(live(&added, &[(1, 0, 0, 1, false)]), [0, 1, 2, 3]);
    }

    #[test]
    fn equal_additions_both_stay() {
        // RP-043
        assert_eq!(live(&[(1, 0, 0, 1, false); 2], &[]), [0, 1]);
        assert_eq!(
            live(&[(1, 0, 0, 1, false); 2], &[(1, 0, 0, 1, false)]),
            [] as [u32; 0]
        );
    }

    proptest! {
        #[test]
        fn live_files_are_the_difference_of_sets_in_order(
            added in prop::collection::vec((0i32..2, 0i32..2, 0i32..2, 0u8..4, any::<bool>()), 0..30),
            deleted in prop::collection::vec((0i32..2, 0i32..2, 0i32..2, 0u8..4, any::<bool>()), 0..30),
        ) {
            let gone: BTreeSet<Entry> = deleted.iter().copied().collect();
            let expected: Vec<u32> =
                (0u32..).zip(&added).filter_map(|(index, entry)| (!gone.contains(entry)).then_some(index)).collect();
            prop_assert_eq!(live(&added, &deleted), expected);
        }
    }
}
