//! Engines that make a row of several versions: every version that takes part is picked, oldest first.
//!
//! Keys of one version are rows as they are (ME 1.5). The versions of other keys are marked as a group, for the fold that
//! comes after the value pass; so is the one version that is left of a key by the rule of lookup tables (ME 1.6).

use paimon_meta::{Error, Frame, Result};

use super::kernel::Sink;
use super::picker::{Picker, Version, sort_versions};

/// Picks all versions.
#[derive(Debug)]
pub(crate) struct Members<'a, 'b> {
    picker: &'b mut Picker<'a>,
    versions: Vec<Version<'a>>,
}

impl<'a, 'b> Members<'a, 'b> {
    pub(crate) fn new(picker: &'b mut Picker<'a>) -> Self {
        Self {
            picker,
            versions: Vec::new(),
        }
    }
}

impl Members<'_, '_> {
    fn refuse_retracts(&self) -> Result<()> {
        for (rows, position) in &self.versions {
            if !rows.kind(*position)?.is_add() {
                let hint =
                    "set ignore-delete, partial-update.remove-record-on-delete or a sequence group";
                return Err(
                    Error::corrupt("merge engine partial-update takes no retractions")
                        .with_hint(hint)
                        .at(Frame::File(rows.file.to_owned())),
                );
            }
        }
        Ok(())
    }
}

impl Sink for Members<'_, '_> {
    fn stretch(&mut self, head: usize, position: usize, length: usize) -> Result<()> {
        self.picker.lone(head, position, length)
    }

    fn versions(&mut self, members: &[(usize, usize)]) -> Result<()> {
        self.versions.clear();
        self.versions.extend(self.picker.counted(members));
        if self.picker.rules.refuses_retracts {
            self.refuse_retracts()?;
        }
        sort_versions(&mut self.versions)?;
        self.picker.group(&self.versions)
    }
}
