//! The files of one state, as a batch read has them.

use futures_util::future::try_join;
use paimon_io::Resources;
use paimon_meta::{DeletionFile, FileTable, Frame, Result, ResultExt, Snapshot};

use crate::list_file::state_lists;
use crate::plan::PlannedVectors;
use crate::prune::prune;
use crate::scan::Scan;

/// The files of one state that pass.
#[derive(Default)]
pub(super) struct State {
    pub(super) snapshot_id: i64,
    pub(super) files: FileTable,
    /// By index, bucket by bucket.
    pub(super) buckets: Vec<Vec<u32>>,
    /// `None` where deletion vectors are off.
    pub(super) vectors: Option<PlannedVectors>,
}

impl State {
    /// # Errors
    /// Those of planning a snapshot.
    pub(super) async fn read(
        scan: &Scan<'_>,
        resources: &Resources,
        snapshot: Option<Snapshot>,
    ) -> Result<Self> {
        let Some(snapshot) = &snapshot else {
            return Ok(Self::default());
        };
        let entries = scan.read(resources, state_lists(snapshot));
        let read = try_join(entries, scan.vectors(resources, snapshot)).await;
        read.and_then(|(entries, vectors)| {
            let pruned = prune(&entries.added, &entries.deleted, &scan.rules);
            let files = entries.added.files;
            scan.check_schemas(&files, pruned.buckets.iter().flatten())?;
            let vectors = scan.attach(&vectors, &files, &pruned.buckets)?;
            // Put in the order of files, by which they are found.
            let order: Vec<u32> = (0u32..).take(files.len()).collect();
            Ok(Self {
                snapshot_id: snapshot.id,
                vectors: vectors.map(|vectors| vectors.permuted(&order)),
                files,
                buckets: pruned.buckets,
            })
        })
        .at(|| Frame::Snapshot(snapshot.id))
    }

    /// Where the deletion vector of a file is.
    pub(super) fn vector(&self, file: u32) -> Option<DeletionFile> {
        self.vectors.as_ref()?.get(file as usize)
    }
}
