//! What each version of a key does in `partial-update`, before sequence groups are asked. Facts: merge-engines section 2.2.

use paimon_meta::RowKind;

use super::options::PartialUpdateOptions;
use crate::merge::KeyGroups;

/// What a version does to the row of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Adds its values.
    Add,
    /// Nothing.
    Skip,
    /// Is the base of the row: its values as they are (ME-048).
    Base,
    /// Is the base, then is taken back from the sequence groups (ME-079).
    BaseRetract,
    /// Is taken back from the sequence groups.
    Retract,
    /// Removes the row: it is the base of what comes after (ME-051, ME-072).
    Remove,
}

impl Action {
    /// Whether the version's values take the place of the whole row.
    pub(super) fn replaces(self) -> bool {
        matches!(self, Self::Base | Self::BaseRetract | Self::Remove)
    }
}

/// What the merged versions of a batch do; all add where no group has a retract.
#[derive(Debug)]
pub(super) struct Actions(pub(super) Option<Vec<Action>>);

impl Actions {
    pub(super) fn of(groups: &KeyGroups, options: &PartialUpdateOptions) -> Self {
        if !groups.retract() {
            return Self(None);
        }
        let mut actions = vec![Action::Add; groups.merged_rows() as usize];
        for group in groups.merged_keys() {
            for (row, kind) in group.versions() {
                if let Some(action) = actions.get_mut(row as usize) {
                    *action = action_of(kind, row == group.first, options);
                }
            }
        }
        Self(Some(actions))
    }

    #[inline]
    pub(super) fn at(&self, row: u32) -> Action {
        let action = self
            .0
            .as_ref()
            .and_then(|actions| actions.get(row as usize));
        action.copied().unwrap_or(Action::Add)
    }

    /// The merged keys whose result is a retract (ME-049, ME-050, ME-069).
    pub(super) fn retracted(&self, groups: &KeyGroups) -> Vec<usize> {
        if self.0.is_none() {
            return Vec::new();
        }
        let retracted = groups.merged_keys().filter(|group| {
            let removed = self.at(group.last()) == Action::Remove;
            removed || !group.rows().any(|row| self.at(row) == Action::Add)
        });
        retracted.map(|group| group.key).collect()
    }
}

fn action_of(kind: RowKind, first: bool, options: &PartialUpdateOptions) -> Action {
    if kind.is_add() {
        return Action::Add;
    }
    let base_or = |other| if first { Action::Base } else { other };
    if options.ignore_delete {
        base_or(Action::Skip)
    } else if !options.groups.is_empty() {
        if first {
            Action::BaseRetract
        } else {
            Action::Retract
        }
    } else if kind == RowKind::Delete {
        Action::Remove
    } else {
        base_or(Action::Skip)
    }
}
