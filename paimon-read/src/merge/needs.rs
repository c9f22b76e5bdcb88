//! What the key pass must decode of each file of a section. Facts: merge-engines sections 1.3 and 1.4.
//!
//! Sequence numbers are read only where the metas do not decide: a file whose sequence range is disjoint from those of
//! all others, or one number, needs none. Kinds are read only where a file may hold retracts or kinds are wanted.

use std::cmp::Ordering;

use paimon_meta::{DataFileMeta, Error, FileSource, Frame, Result};

/// What the key pass reads and knows of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileNeeds {
    /// `_SEQUENCE_NUMBER` must be read.
    pub(crate) sequence: bool,
    /// `_VALUE_KIND` must be read.
    pub(crate) kind: bool,
    /// Smallest and largest sequence number of the file's records.
    pub(crate) range: (i64, i64),
    /// Rank of the file among those of the section, see [`super::versions::HeadRows::rank`].
    pub(crate) rank: u32,
}

/// Rules of the table and the request that change what is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NeedRules {
    /// Kinds are part of the output.
    pub(crate) keep_kinds: bool,
    /// `sequence.snapshot-ordering`: records of written files have the file's smallest sequence number (RP-338).
    pub(crate) snapshot_ordering: bool,
}

/// The needs of each file, in the order of `files`; `run[i]` is the run of file `i`.
///
/// # Errors
/// `Corrupt` if snapshot ordering meets a file of unknown source (ME-024).
pub(crate) fn needs(
    files: &[&DataFileMeta],
    runs: &[usize],
    rules: NeedRules,
) -> Result<Vec<FileNeeds>> {
    let ranges = files
        .iter()
        .map(|file| sequence_range(file, rules))
        .collect::<Result<Vec<_>>>()?;
    let ambiguous = ambiguous(&ranges, runs);
    let ranks = ranks(files);
    Ok(files
        .iter()
        .zip(ranges)
        .zip(ambiguous.into_iter().zip(ranks))
        .map(|((file, range), (ambiguous, rank))| FileNeeds {
            sequence: ambiguous && range.0 != range.1,
            kind: rules.keep_kinds || !file.is_known_without_deletes(),
            range,
            rank,
        })
        .collect())
}

fn sequence_range(file: &DataFileMeta, rules: NeedRules) -> Result<(i64, i64)> {
    if rules.snapshot_ordering {
        match file.file_source {
            Some(FileSource::Append) => {
                return Ok((file.min_sequence_number, file.min_sequence_number));
            }
            Some(FileSource::Compact) => {}
            None => {
                return Err(Error::corrupt(
                    "sequence.snapshot-ordering needs a file source, found none",
                )
                .at(Frame::Field("_FILE_SOURCE".into()))
                .at(Frame::File(file.file_name.clone())));
            }
        }
    }
    let range = (file.min_sequence_number, file.max_sequence_number);
    // A range that cannot be decides nothing.
    Ok(if range.0 <= range.1 {
        range
    } else {
        (i64::MIN, i64::MAX)
    })
}

/// Whether the range of a file touches that of a file of another run. Ranges chain together: a file in a chain with
/// files of several runs counts, which reads a little more than needed and never too little.
fn ambiguous(ranges: &[(i64, i64)], runs: &[usize]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by_key(|file| ranges.get(*file));
    let mut result = vec![false; ranges.len()];
    let mut chain: Vec<usize> = Vec::new();
    let mut bound = i64::MIN;
    for file in order {
        let Some((min, max)) = ranges.get(file).copied() else {
            continue;
        };
        if !chain.is_empty() && min > bound {
            close(&mut chain, runs, &mut result);
            bound = i64::MIN;
        }
        chain.push(file);
        bound = bound.max(max);
    }
    close(&mut chain, runs, &mut result);
    result
}

fn close(chain: &mut Vec<usize>, runs: &[usize], result: &mut [bool]) {
    let run_of = |file: &usize| runs.get(*file);
    let several = chain
        .iter()
        .any(|file| run_of(file) != chain.first().and_then(run_of));
    for file in chain.drain(..) {
        if let Some(slot) = result.get_mut(file) {
            *slot = several;
        }
    }
}

fn ranks(files: &[&DataFileMeta]) -> Vec<u32> {
    let mut order: Vec<(usize, &DataFileMeta)> = files.iter().copied().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| newer_file(a, b));
    let mut ranks = vec![0; files.len()];
    for ((file, _), rank) in order.into_iter().zip(0u32..) {
        if let Some(slot) = ranks.get_mut(file) {
            *slot = rank;
        }
    }
    ranks
}

/// Orders files for records that nothing else tells apart.
fn newer_file(a: &DataFileMeta, b: &DataFileMeta) -> Ordering {
    (a.max_sequence_number, &a.file_name).cmp(&(b.max_sequence_number, &b.file_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, range: (i64, i64), deletes: Option<u64>) -> DataFileMeta {
        DataFileMeta {
            file_name: name.into(),
            min_sequence_number: range.0,
            max_sequence_number: range.1,
            delete_row_count: deletes,
            ..DataFileMeta::default()
        }
    }

    fn sequences_read(files: &[DataFileMeta], runs: &[usize]) -> Vec<bool> {
        let files: Vec<&DataFileMeta> = files.iter().collect();
        let needs = needs(&files, runs, NeedRules::default()).unwrap();
        needs.into_iter().map(|needs| needs.sequence).collect()
    }

    #[test]
    fn disjoint_ranges_decide_without_reading_sequence_numbers() {
        let files = [file("a", (0, 99), Some(0)), file("b", (100, 199), Some(0))];
        assert_eq!(sequences_read(&files, &[0, 1]), [false, false]);
        let touching = [file("a", (0, 100), Some(0)), file("b", (100, 199), Some(0))];
        assert_eq!(sequences_read(&touching, &[0, 1]), [true, true]);
    }

    #[test]
    fn only_files_that_meet_another_run_need_them() {
        let files = [
            file("a", (0, 99), Some(0)),
            file("b", (50, 150), Some(0)),
            file("c", (500, 600), Some(0)),
        ];
        assert_eq!(sequences_read(&files, &[0, 1, 2]), [true, true, false]);
        assert_eq!(sequences_read(&files, &[0, 0, 1]), [false, false, false]);
    }

    #[test]
    fn a_range_of_one_number_needs_no_column() {
        let files = [file("a", (7, 7), Some(0)), file("b", (7, 7), Some(0))];
        assert_eq!(sequences_read(&files, &[0, 1]), [false, false]);
    }

    #[test]
    fn an_impossible_range_decides_nothing() {
        let files = [file("a", (9, 3), Some(0)), file("b", (100, 199), Some(0))];
        assert_eq!(sequences_read(&files, &[0, 1]), [true, true]);
    }

    #[test]
    fn kinds_are_read_unless_retracts_are_known_to_be_absent() {
        let files = [
            file("a", (0, 9), None),
            file("b", (10, 19), Some(0)),
            file("c", (20, 29), Some(2)),
        ];
        let metas: Vec<&DataFileMeta> = files.iter().collect();
        let kinds = |rules| -> Vec<bool> {
            needs(&metas, &[0, 1, 2], rules)
                .unwrap()
                .into_iter()
                .map(|needs| needs.kind)
                .collect()
        };
        assert_eq!(kinds(NeedRules::default()), [true, false, true]);
        assert_eq!(
            kinds(NeedRules {
                keep_kinds: true,
                ..NeedRules::default()
            }),
            [true, true, true]
        );
    }

    #[test]
    fn snapshot_ordering_gives_written_files_one_number_and_wants_a_source() {
        // ME-022 to ME-024
        let rules = NeedRules {
            snapshot_ordering: true,
            ..NeedRules::default()
        };
        let mut written = file("a", (3, 80), Some(0));
        written.file_source = Some(FileSource::Append);
        let mut compacted = file("b", (1, 2), Some(0));
        compacted.file_source = Some(FileSource::Compact);
        let found = needs(&[&written, &compacted], &[0, 1], rules).unwrap();
        assert_eq!(
            found.iter().map(|needs| needs.range).collect::<Vec<_>>(),
            [(3, 3), (1, 2)]
        );
        compacted.file_source = None;
        let error = needs(&[&written, &compacted], &[0, 1], rules).unwrap_err();
        assert!(
            error
                .frames()
                .any(|frame| *frame == Frame::Field("_FILE_SOURCE".into()))
        );
    }

    #[test]
    fn ranks_follow_the_largest_sequence_number_then_the_name() {
        let files = [
            file("b", (0, 9), None),
            file("a", (0, 9), None),
            file("z", (0, 5), None),
        ];
        let metas: Vec<&DataFileMeta> = files.iter().collect();
        let ranks: Vec<u32> = needs(&metas, &[0, 1, 2], NeedRules::default())
            .unwrap()
            .iter()
            .map(|needs| needs.rank)
            .collect();
        assert_eq!(ranks, [2, 1, 0]);
    }
}
