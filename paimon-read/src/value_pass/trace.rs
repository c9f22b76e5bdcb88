//! Which file each row of a batch comes from, for errors about values.

use std::sync::Arc;

use crate::open::OpenFile;

/// The origins of a batch's rows.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// Rows up to this one are of that piece.
    ends: Vec<(usize, u32)>,
    files: Vec<(u32, Arc<OpenFile>)>,
}

impl Trace {
    pub(super) fn clear(&mut self) {
        self.ends.clear();
        self.files.clear();
    }

    /// Says which file a piece is of, before rows of it are added.
    pub(super) fn know(&mut self, piece: u32, file: &Arc<OpenFile>) {
        self.files.push((piece, Arc::clone(file)));
    }

    /// The next rows are of that piece.
    #[inline]
    pub(super) fn add(&mut self, piece: u32, rows: u32) {
        let before = self.ends.last().map_or(0, |(end, _)| *end);
        self.ends.push((before + rows as usize, piece));
    }

    pub(super) fn file_of(&self, row: usize) -> Option<&str> {
        let at = self.ends.partition_point(|(end, _)| *end <= row);
        let (_, piece) = self.ends.get(at)?;
        let file = self.files.iter().find(|(known, _)| known == piece);
        file.map(|(_, file)| file.name.as_str())
    }
}
