//! The files of a bucket as intervals of keys.

use std::ops::Range;

use paimon_meta::{BinaryRowRef, Result};
use paimon_plan::{Plan, PlannedSplit};
use paimon_testkit::datum_to_json;

use super::model::{Bucket, FileFacts, SectionSpan};
use crate::keys::KeyTypes;
use crate::reading::Reading;

/// The splits of each bucket, which follow each other in a plan.
pub(super) fn runs_of_buckets(plan: &Plan) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let same = |a: usize, b: usize| {
        let place = |split: usize| {
            let split = plan.get(split)?;
            Some((split.partition(), split.bucket()))
        };
        place(a) == place(b)
    };
    for split in 0..plan.len() {
        match groups.last_mut() {
            Some(group) if same(group.start, split) => group.end = split + 1,
            _ => groups.push(split..split + 1),
        }
    }
    groups
}

/// A bucket by its splits.
///
/// # Errors
/// `Corrupt` for keys and partitions that do not decode.
pub(super) fn bucket(
    reading: &Reading,
    keys: Option<&KeyTypes<'_>>,
    splits: Range<usize>,
) -> Result<Bucket> {
    let plan = &reading.plan;
    let splits: Vec<PlannedSplit<'_>> = splits.filter_map(|split| plan.get(split)).collect();
    let ruler = keys
        .map(|keys| Ruler::new(keys, plan, splits.iter().flat_map(PlannedSplit::files)))
        .transpose()?;
    let (mut files, mut sections) = (Vec::new(), Vec::new());
    for split in &splits {
        add_split(plan, *split, ruler.as_ref(), &mut files, &mut sections)?;
    }
    files.sort_by_key(|file: &FileFacts| (file.level, file.keys));
    Ok(Bucket {
        path: splits
            .first()
            .map(PlannedSplit::bucket_path)
            .unwrap_or_default(),
        partition: partition(reading, splits.first())?,
        bounds: ruler
            .map(|ruler| ruler.texts())
            .transpose()?
            .unwrap_or_default(),
        files,
        sections,
    })
}

fn partition(
    reading: &Reading,
    split: Option<&PlannedSplit<'_>>,
) -> Result<Vec<(String, serde_json::Value)>> {
    let fields = reading.table.schema.partition_fields()?;
    let Some(row) = split.and_then(PlannedSplit::partition) else {
        return Ok(Vec::new());
    };
    let types: Vec<_> = fields.iter().map(|field| &field.data_type).collect();
    let values = row.as_ref().datums(&types)?;
    let named = fields.iter().zip(values).map(|(field, value)| {
        datum_to_json(value.as_ref(), &field.data_type).map(|value| (field.name.clone(), value))
    });
    named.collect()
}

fn add_split(
    plan: &Plan,
    split: PlannedSplit<'_>,
    ruler: Option<&Ruler<'_>>,
    files: &mut Vec<FileFacts>,
    sections: &mut Vec<SectionSpan>,
) -> Result<()> {
    let runs = split.sections();
    let counts = split.section_row_counts();
    let looked_at = if runs.is_empty() {
        vec![split.files().collect::<Vec<_>>()]
    } else {
        runs.into_iter()
            .map(|runs| runs.into_iter().flatten().collect())
            .collect()
    };
    for (of_section, count) in looked_at.into_iter().zip(counts) {
        // A section whose rows are known is read as it is, so is a raw split with vectors of an unknown number of rows.
        let merged = ruler.is_some() && count.is_none() && !split.raw_convertible();
        let mut span: Option<(usize, usize)> = None;
        for file in of_section {
            let keys = ruler.map(|ruler| ruler.place(plan, file)).transpose()?;
            if let Some((from, to)) = keys {
                let (low, high) = span.unwrap_or((from, to));
                span = Some((low.min(from), high.max(to)));
            }
            files.push(file_facts(plan, split.index(), file, keys, merged));
        }
        sections.extend(span.map(|keys| SectionSpan {
            split: split.index(),
            keys,
            merged,
        }));
    }
    Ok(())
}

fn file_facts(
    plan: &Plan,
    split: usize,
    file: usize,
    keys: Option<(usize, usize)>,
    merged: bool,
) -> FileFacts {
    let files = plan.files();
    FileFacts {
        name: files.file_name(file).to_owned(),
        split,
        level: files.level(file),
        rows: files.row_count(file),
        delete_rows: files.delete_row_count(file),
        deletion_vector: plan.deletion_file(file),
        size: files.file_size(file),
        min_sequence_number: files.min_sequence_number(file),
        max_sequence_number: files.max_sequence_number(file),
        keys,
        merged,
    }
}

/// The first and last keys of files, ascending.
struct Ruler<'a> {
    keys: &'a KeyTypes<'a>,
    bounds: Vec<BinaryRowRef<'a>>,
}

impl<'a> Ruler<'a> {
    fn new(
        keys: &'a KeyTypes<'a>,
        plan: &'a Plan,
        files: impl Iterator<Item = usize>,
    ) -> Result<Self> {
        let mut bounds = Vec::new();
        for file in files {
            let (min, max) = keys.ends(plan.files(), file)?;
            bounds.extend([min, max]);
        }
        // All of them decode, so they compare.
        let compare = |a: &BinaryRowRef<'_>, b: &BinaryRowRef<'_>| {
            a.compare(*b, keys.types())
                .unwrap_or(std::cmp::Ordering::Equal)
        };
        bounds.sort_by(compare);
        bounds.dedup_by(|a, b| compare(a, b).is_eq());
        Ok(Self { keys, bounds })
    }

    fn place(&self, plan: &Plan, file: usize) -> Result<(usize, usize)> {
        let (min, max) = self.keys.ends(plan.files(), file)?;
        let place = |key: BinaryRowRef<'_>| {
            let below = |bound: &BinaryRowRef<'_>| {
                bound
                    .compare(key, self.keys.types())
                    .is_ok_and(std::cmp::Ordering::is_lt)
            };
            self.bounds.partition_point(below)
        };
        Ok((place(min), place(max)))
    }

    fn texts(&self) -> Result<Vec<String>> {
        self.bounds.iter().map(|key| self.keys.text(*key)).collect()
    }
}
