//! Engines that make a row of several versions: every version that takes part is picked, oldest first.
//!
//! Keys of one version are rows as they are (ME 1.5). The versions of other keys are marked as a group, for the fold that
//! comes after the value pass; so is the one version that is left of a key by the rule of lookup tables (ME 1.6). Where
//! the newest version is known to be the row, it alone is picked.

use paimon_meta::{Error, Frame, Result};

use super::kernel::Sink;
use super::picked_keys::Written;
use super::picker::{Picker, Version, sort_versions};

/// Picks all versions.
#[derive(Debug)]
pub(crate) struct Members<'a, 'b> {
    picker: &'b mut Picker<'a>,
    versions: Vec<Version<'a>>,
    /// Heads and positions of the versions, while they are put in order.
    members: Vec<(usize, usize)>,
}

impl<'a, 'b> Members<'a, 'b> {
    pub(crate) fn new(picker: &'b mut Picker<'a>) -> Self {
        Self {
            picker,
            versions: Vec::new(),
            members: Vec::new(),
        }
    }
}

impl<'a> Members<'a, '_> {
    /// The newest version, if it is known that it is the row of the key; versions come oldest first.
    fn whole(&self) -> Result<Option<Version<'a>>> {
        let Some(((rows, position), older)) = self.versions.split_last() else {
            return Ok(None);
        };
        let whole = rows.wholeness.whole && older.iter().all(|(rows, _)| rows.wholeness.sound);
        Ok((whole && rows.kind(*position)?.is_add()).then_some((*rows, *position)))
    }

    /// The versions that count, oldest first.
    fn order(&mut self, members: &[(usize, usize)]) -> Result<()> {
        self.versions.clear();
        let Some(ages) = self.picker.ages() else {
            self.versions.extend(self.picker.counted(members));
            return sort_versions(&mut self.versions);
        };
        // Runs often come in the order of their age.
        let members = if members.is_sorted_by_key(|(head, _)| ages.get(*head)) {
            members
        } else {
            self.members.clear();
            self.members.extend_from_slice(members);
            self.members
                .sort_unstable_by_key(|(head, _)| ages.get(*head));
            &self.members
        };
        let versions = members.iter();
        let versions =
            versions.filter_map(|(head, position)| Some((self.picker.head(*head)?, *position)));
        self.versions.extend(versions);
        Ok(())
    }

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
        self.order(members)?;
        if self.picker.rules.refuses_retracts {
            self.refuse_retracts()?;
        }
        match self.whole()? {
            Some((rows, position)) => self.picker.emit(rows, position, 1),
            None => self.picker.group(&self.versions),
        }
    }

    fn precedence(&self) -> Option<Vec<usize>> {
        self.picker.whole_rows_newest_first()
    }

    fn stretches<T: Written>(
        &mut self,
        keys: &[T],
        stretches: impl Iterator<Item = (usize, usize, usize)>,
    ) -> Result<()> {
        self.picker.lone_all(keys, stretches)
    }
}
