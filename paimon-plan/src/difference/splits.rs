//! Chosen files to splits that stand alone.

use paimon_meta::{BinaryRow, DataPaths, DataSplit, Result};

use super::DifferenceSplit;
use super::select::{Chosen, Group};
use super::state::State;
use crate::scan::Scan;

pub(super) struct Splits<'a> {
    states: &'a [State; 2],
    paths: DataPaths,
    has_key: bool,
}

impl<'a> Splits<'a> {
    /// # Errors
    /// `InvalidInput` for options that do not parse.
    pub(super) fn new(scan: &Scan<'_>, states: &'a [State; 2]) -> Result<Self> {
        Ok(Self {
            states,
            paths: DataPaths::new(scan.table)?,
            has_key: scan.table.schema.has_primary_key(),
        })
    }

    /// # Errors
    /// `Corrupt` if partitions do not decode.
    pub(super) fn of(&self, groups: Vec<Group>) -> Result<Vec<DifferenceSplit>> {
        groups.into_iter().map(|group| self.split(group)).collect()
    }

    fn split(&self, group: Group) -> Result<DifferenceSplit> {
        let [before, after] = self.states;
        Ok(DifferenceSplit {
            before: self.side(&group, before, |chosen| chosen.place.files[0])?,
            after: self.side(&group, after, |chosen| chosen.place.files[1])?,
            keys: group.keys,
        })
    }

    /// The files of one state, bucket by bucket.
    fn side(
        &self,
        group: &Group,
        state: &State,
        file: impl Fn(&Chosen) -> Option<u32>,
    ) -> Result<Vec<DataSplit>> {
        let buckets = group.files.chunk_by(|a, b| a.bucket == b.bucket);
        let mut splits = Vec::new();
        for bucket in buckets {
            let files: Vec<u32> = bucket.iter().filter_map(&file).collect();
            if !files.is_empty() {
                splits.push(self.data_split(&group.partition, state, &files)?);
            }
        }
        Ok(splits)
    }

    fn data_split(&self, partition: &BinaryRow, state: &State, files: &[u32]) -> Result<DataSplit> {
        let first = files.first().map_or(0, |file| *file as usize);
        let bucket = state.files.bucket(first);
        let metas = files.iter().map(|file| state.files.file(*file as usize));
        let vectors = || files.iter().map(|file| state.vector(*file)).collect();
        Ok(DataSplit {
            snapshot_id: state.snapshot_id,
            partition: partition.clone(),
            bucket,
            bucket_path: self.paths.bucket_path(partition.as_ref(), bucket)?,
            total_buckets: Some(state.files.total_buckets(first)),
            files: metas.collect::<Result<_>>()?,
            deletion_files: state.vectors.is_some().then(vectors),
            streaming: false,
            raw_convertible: !self.has_key,
        })
    }
}
