//! Reasons and advice in words.

use paimon_meta::{Options, ResolvedTable, Result};
use paimon_plan::{Advice, Obstacle, PruneStep, Why};

use crate::human::{count, number, size};

/// Which files a step drops.
pub(super) fn step(step: PruneStep) -> &'static str {
    match step {
        PruneStep::Partition => "partition",
        PruneStep::Bucket => "bucket",
        PruneStep::Deleted => "deleted again by later commits",
        PruneStep::HiddenLevel => "level 0, hidden until compacted",
        PruneStep::LowerLevel => "below the top level",
        PruneStep::CreationTime => "creation time",
        PruneStep::Shard => "other shards",
        PruneStep::Key => "key statistics",
        PruneStep::Value => "value statistics and file indexes",
        PruneStep::Limit | PruneStep::SplitLimit => "limit reached without them",
        _ => "another rule",
    }
}

/// Why a split is raw or not.
///
/// # Errors
/// `InvalidInput` for options that do not parse.
pub(super) fn why(why: Why, obstacles: &[Obstacle], table: &ResolvedTable) -> Result<String> {
    let text = match why {
        Why::AppendTable => "rows of a table without primary key never replace each other",
        Why::Streaming => "files of a streaming read are read as they are",
        Why::OneLevel => {
            "all files of the bucket are on one level above 0, and none has delete rows"
        }
        Why::DeletionVectors => {
            "deletion vectors mark the rows that were replaced, and level 0 is empty"
        }
        Why::FirstRow => "with first-row no row is ever replaced, and level 0 is empty",
        Why::LoneFile => "one file alone, without delete rows",
        Why::Overlap => "a key can be in more than one file",
        Why::DeleteRows => "the file has delete rows",
        Why::TwoStates => "two states of the bucket are compared",
        Why::SharedSplit => return shared(obstacles, table),
        _ => "a rule that this program has no words for",
    };
    // What is raw all the same needs no excuse.
    let obstacles = if why.is_raw() { &[] } else { obstacles };
    Ok(with_obstacles(text.to_owned(), obstacles))
}

/// Sections weigh the open-file cost at least, so small ones share a split.
fn shared(obstacles: &[Obstacle], table: &ResolvedTable) -> Result<String> {
    let cost = table.options.value(&Options::SOURCE_SPLIT_OPEN_FILE_COST)?;
    let target = table.options.value(&Options::SOURCE_SPLIT_TARGET_SIZE)?;
    let text = format!(
        "no key is in two files, but sections share the split: each weighs {} at least, the open-file cost, and the \
         target is {}",
        size(cost.0),
        size(target.0)
    );
    Ok(with_obstacles(text, obstacles))
}

/// Behind the reason, what keeps the bucket from being raw as a whole.
fn with_obstacles(mut text: String, obstacles: &[Obstacle]) -> String {
    let parts: Vec<String> = obstacles.iter().filter_map(obstacle).collect();
    if !parts.is_empty() {
        text.push_str("; in the way of a bucket that is raw as a whole: ");
        text.push_str(&parts.join(" and "));
    }
    text
}

fn obstacle(obstacle: &Obstacle) -> Option<String> {
    match obstacle {
        Obstacle::LevelZero(files) => {
            Some(format!("{} on level 0", count(files.len() as u64, "file")))
        }
        Obstacle::DeleteRows(files) => Some(format!(
            "{} with delete rows",
            count(files.len() as u64, "file")
        )),
        Obstacle::SeveralLevels(levels) => {
            let levels: Vec<String> = levels.iter().map(i32::to_string).collect();
            Some(format!("several levels ({})", levels.join(", ")))
        }
        _ => None,
    }
}

/// What would make the read cheaper or complete.
pub(super) fn advice(advice: &Advice) -> String {
    match advice {
        Advice::FullCompaction { splits, rows } => format!(
            "a full compaction would make {} raw: a merge looks at all of {}",
            these(*splits),
            count(*rows, "row")
        ),
        Advice::DeletionVectors { splits } => format!(
            "deletion vectors would make {} raw after every compaction, not only a full one",
            these(*splits)
        ),
        Advice::TargetSize {
            bytes,
            splits,
            raw_splits,
        } => format!(
            "{} = {} would make {} of {}; it helps only with more than one reader",
            Options::SOURCE_SPLIT_TARGET_SIZE.key,
            option_size(*bytes),
            count(*raw_splits, "raw split"),
            these(*splits)
        ),
        Advice::Compaction { hidden } => format!(
            "a compaction would show {} that are hidden on level 0",
            count(hidden.rows, "row")
        ),
        Advice::MergeOnRead { hidden } => format!(
            "{} = true would read the {} on level 0 too, by merging",
            Options::DELETION_VECTORS_MERGE_ON_READ.key,
            count(hidden.rows, "hidden row")
        ),
        _ => "advice that this program has no words for".to_owned(),
    }
}

/// A size as options have it.
fn option_size(bytes: u64) -> String {
    let units = [("gb", 30), ("mb", 20), ("kb", 10)];
    let unit = units
        .into_iter()
        .find(|(_, bits)| bytes.is_multiple_of(1 << bits));
    match unit {
        Some((unit, bits)) if bytes > 0 => format!("{} {unit}", bytes >> bits),
        _ => format!("{bytes} bytes"),
    }
}

fn these(splits: u64) -> String {
    match splits {
        1 => "the split".to_owned(),
        many => format!("{} splits", number(many)),
    }
}

/// Names with commas between, the last ones counted where they are many.
pub(super) fn list(names: &[String]) -> String {
    const MOST: usize = 8;
    match names.len().checked_sub(MOST) {
        None | Some(0 | 1) => names.join(", "),
        Some(more) => {
            let shown = names.get(..MOST).unwrap_or_default().join(", ");
            format!("{shown} and {more} more")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_options_can_be_typed() {
        let cases = [
            (0, "0 bytes"),
            (1000, "1000 bytes"),
            (4 << 20, "4 mb"),
            (1 << 30, "1 gb"),
            (1 << 10, "1 kb"),
        ];
        for (bytes, text) in cases {
            assert_eq!(option_size(bytes), text);
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let names = |count: usize| (0..count).map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(list(&names(2)), "0, 1");
        assert_eq!(list(&names(9)), "0, 1, 2, 3, 4, 5, 6, 7, 8");
        assert_eq!(list(&names(12)), "0, 1, 2, 3, 4, 5, 6, 7 and 4 more");
    }
}
