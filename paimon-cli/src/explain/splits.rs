//! Why a split is raw or not, and what its reading takes.

use std::num::NonZeroUsize;

use paimon_meta::{FieldId, Result, TablePredicate, TableSchema};
use paimon_plan::{PlannedSplit, Why};
use paimon_read::{KeyPassDescription, ReadDescription, SectionDescription, TableReader, describe};

use super::model::{KeyPassFacts, OverlapFacts, RunFacts, SectionFacts, SplitFacts};
use super::words;
use crate::keys::{KeyTypes, key_text, range_text};
use crate::names::{column_text, condition_text};
use crate::part_report::PartReport;
use crate::reading::Reading;

/// Overlaps that are told one by one.
const OVERLAPS: usize = 3;

/// Explains splits of one read.
pub(super) struct SplitExplainer<'a> {
    reading: &'a Reading,
    reader: TableReader,
    keys: Option<&'a KeyTypes<'a>>,
    parts: Option<NonZeroUsize>,
}

impl<'a> SplitExplainer<'a> {
    pub(super) fn new(
        reading: &'a Reading,
        keys: Option<&'a KeyTypes<'a>>,
        parts: Option<NonZeroUsize>,
    ) -> Result<Self> {
        Ok(Self {
            reading,
            reader: reading.reader(reading.request(Default::default()))?,
            keys,
            parts,
        })
    }

    /// # Errors
    /// `Corrupt` for keys that do not decode, and those of cutting. What nobody can read is no error.
    pub(super) fn explain(&self, split: PlannedSplit<'_>) -> Result<SplitFacts> {
        let as_written = split.is_changes() && split.why() != Why::TwoStates;
        // The flags that a stream's splits carry say nothing of how they are read.
        let (why, obstacles) = if as_written {
            (Why::Streaming, Vec::new())
        } else {
            (split.why(), split.obstacles())
        };
        let task = self.reading.task(split.index())?;
        let description = describe(&task, self.reader.context());
        let (description, not_supported) = match description {
            Ok(description) => (Some(description), None),
            Err(error) => (None, Some(error.message().to_owned())),
        };
        let parts = self.parts.filter(|_| description.is_some());
        let parts = parts.map(|parts| {
            let schema = self.reading.schema_of(&task);
            PartReport::all(&self.reader, task, parts, schema)
                .map_err(|error| self.reading.error_in(split.index(), error))
        });
        let sections = description
            .as_ref()
            .map_or(&[][..], |description| description.sections.as_slice());
        Ok(SplitFacts {
            index: split.index(),
            bucket_path: split.bucket_path(),
            raw_convertible: split.raw_convertible(),
            why: split.why(),
            changes: split.is_changes(),
            words: words::why(why, &obstacles, &self.reading.table)?,
            obstacles,
            overlaps: self.overlaps(split)?,
            files: split.files().len() as u64,
            rows: split.row_count(),
            size: split.file_size(),
            exact_row_count: split.exact_row_count(),
            not_supported,
            sections: sections
                .iter()
                .map(|section| self.section(split, section))
                .collect::<Result<_>>()?,
            parts: parts.transpose()?.unwrap_or_default(),
            reader: description.map(|ReadDescription { provider, .. }| provider),
        })
    }

    fn schema(&self) -> &TableSchema {
        &self.reading.table.schema
    }

    fn overlaps(&self, split: PlannedSplit<'_>) -> Result<Vec<OverlapFacts>> {
        let files = self.reading.plan.files();
        let overlaps = split.overlaps().take(OVERLAPS).map(|overlap| {
            let overlap = overlap?;
            Ok(OverlapFacts {
                files: overlap
                    .files
                    .map(|file| files.file_name(file as usize).to_owned()),
                keys: range_text(&key_text(&overlap.from), &key_text(&overlap.to)),
            })
        });
        overlaps.collect()
    }

    fn section(
        &self,
        split: PlannedSplit<'_>,
        section: &SectionDescription,
    ) -> Result<SectionFacts> {
        let files = self.reading.plan.files();
        let first = split.files().start;
        let rows = section.runs.iter().flatten();
        let rows = rows.map(|file| files.row_count(first + file));
        let runs = section.runs.iter().map(|run| {
            Ok(RunFacts {
                keys: self.key_range(split, run.iter().copied())?,
                files: run.iter().map(|file| self.name(split, *file)).collect(),
            })
        });
        Ok(SectionFacts {
            keys: self.key_range(split, section.runs.iter().flatten().copied())?,
            rows: rows.fold(0, u64::saturating_add),
            runs: runs.collect::<Result<_>>()?,
            key_pass: section
                .key_pass
                .as_ref()
                .map(|key_pass| self.key_pass(split, key_pass)),
            fold: section.fold.clone(),
            condition: self.condition(section.condition.as_ref()),
            condition_columns: self.columns(&section.condition_columns),
            value_columns: self.columns(&section.value_columns),
            nothing_passes: section.nothing_passes,
        })
    }

    fn key_pass(&self, split: PlannedSplit<'_>, key_pass: &KeyPassDescription) -> KeyPassFacts {
        let files = key_pass.files.iter();
        let sequence = files.clone().filter(|file| file.sequence_number);
        let kind = files.filter(|file| file.row_kind);
        KeyPassFacts {
            keys: self.columns(&key_pass.keys),
            sequence_fields: self.columns(&key_pass.sequence_fields),
            sequence_number_of: sequence.map(|file| self.name(split, file.file)).collect(),
            row_kind_of: kind.map(|file| self.name(split, file.file)).collect(),
            condition: self.condition(key_pass.condition.as_ref()),
        }
    }

    fn key_range(
        &self,
        split: PlannedSplit<'_>,
        files: impl Iterator<Item = usize>,
    ) -> Result<Option<String>> {
        let first = split.files().start;
        let files = files.map(|file| first + file);
        self.keys
            .map(|keys| keys.range(self.reading.plan.files(), files))
            .transpose()
    }

    fn name(&self, split: PlannedSplit<'_>, file: usize) -> String {
        let files = self.reading.plan.files();
        files.file_name(split.files().start + file).to_owned()
    }

    fn condition(&self, condition: Option<&TablePredicate>) -> Option<String> {
        condition.map(|condition| condition_text(condition, self.schema()))
    }

    fn columns(&self, ids: &[FieldId]) -> Vec<String> {
        let fields = ids.iter().filter_map(|id| self.schema().field_by_id(*id));
        fields.map(|field| column_text(&field.name)).collect()
    }
}
