//! Tags, branches, rollback and expiry: which versions of the table there are.

use std::sync::Arc;

use paimon_meta::{BranchPaths, Error, MAIN_BRANCH, Result};

use super::Table;
use crate::history::RollbackTo;
use crate::writer::state::{Branch, State};

impl Table {
    /// Names a snapshot, the last one without an id.
    pub(super) fn tag(&mut self, branch: &str, name: &str, snapshot: Option<i64>) -> Result<()> {
        let state = match snapshot {
            Some(id) => self.branch(branch)?.snapshots.get(&id),
            None => self.branch(branch)?.latest(),
        };
        let state =
            state.ok_or_else(|| Error::invalid_input(format!("nothing to tag {name:?}")))?;
        let state = Arc::clone(state);
        self.put_tag(branch, name, state)
    }

    fn put_tag(&mut self, branch: &str, name: &str, state: Arc<State>) -> Result<()> {
        let path = BranchPaths::new(branch)?.tag(name)?;
        self.files.insert(path, state.snapshot.to_json()?.into());
        self.branch_mut(branch)?.tags.insert(name.to_owned(), state);
        Ok(())
    }

    pub(super) fn delete_tag(&mut self, branch: &str, name: &str) -> Result<()> {
        self.remove_tag(branch, name)?;
        self.remove_unnamed();
        Ok(())
    }

    fn remove_tag(&mut self, branch: &str, name: &str) -> Result<()> {
        self.branch_mut(branch)?.tags.remove(name);
        let path = BranchPaths::new(branch)?.tag(name)?;
        self.files.remove(&path);
        Ok(())
    }

    fn remove_snapshot(&mut self, branch: &str, id: i64) -> Result<()> {
        self.branch_mut(branch)?.snapshots.remove(&id);
        let path = BranchPaths::new(branch)?.snapshot(id);
        self.files.remove(&path);
        Ok(())
    }

    /// A branch of the schemas up to the tag's, or all, with the tag's snapshot if there is one.
    pub(super) fn create_branch(
        &mut self,
        from: &str,
        name: &str,
        from_tag: Option<&str>,
    ) -> Result<()> {
        let parent = self.branch(from)?.clone();
        let tagged = match from_tag {
            None => None,
            Some(tag) => {
                let state = parent.tags.get(tag).cloned();
                Some((
                    tag,
                    state.ok_or_else(|| Error::invalid_input(format!("no tag {tag:?}")))?,
                ))
            }
        };
        self.branches.insert(name.to_owned(), Branch::default());
        let last = tagged
            .as_ref()
            .map_or(i64::MAX, |(_, state)| state.snapshot.schema_id);
        for schema in parent
            .schemas
            .into_values()
            .filter(|schema| schema.id <= last)
        {
            self.put_schema(name, schema)?;
        }
        if let Some((tag, state)) = tagged {
            self.put_tag(name, tag, Arc::clone(&state))?;
            self.publish(name, State::clone(&state))?;
        }
        Ok(())
    }

    /// The main branch becomes a branch: what it has from the branch's first snapshot on is gone.
    pub(super) fn fast_forward(&mut self, name: &str) -> Result<()> {
        let branch = self.branch(name)?.clone();
        let Some(first) = branch.snapshots.keys().next().copied() else {
            return Err(Error::invalid_input(format!(
                "branch {name:?} has no snapshot"
            )));
        };
        let main = self.branch(MAIN_BRANCH)?;
        let ids: Vec<i64> = main.snapshots.range(first..).map(|(id, _)| *id).collect();
        for id in ids {
            self.remove_snapshot(MAIN_BRANCH, id)?;
        }
        for schema in branch.schemas.into_values() {
            self.put_schema(MAIN_BRANCH, schema)?;
        }
        for (tag, state) in branch.tags {
            self.put_tag(MAIN_BRANCH, &tag, state)?;
        }
        for state in branch.snapshots.into_values() {
            self.publish(MAIN_BRANCH, State::clone(&state))?;
        }
        self.remove_unnamed();
        Ok(())
    }

    /// Later snapshots and tags are gone.
    pub(super) fn rollback(&mut self, branch: &str, to: &RollbackTo) -> Result<()> {
        let found = match to {
            RollbackTo::Snapshot(id) => self.branch(branch)?.snapshots.get(id),
            RollbackTo::Tag(name) => self.branch(branch)?.tags.get(name),
        };
        let missing = || Error::invalid_input(format!("nothing to roll back to: {to:?}"));
        let state = Arc::clone(found.ok_or_else(missing)?);
        let id = state.snapshot.id;
        let later: Vec<i64> = self
            .branch(branch)?
            .snapshots
            .range(id + 1..)
            .map(|(id, _)| *id)
            .collect();
        for id in later {
            self.remove_snapshot(branch, id)?;
        }
        let tags = self.branch(branch)?.tags.iter();
        let tags = tags.filter(|(_, state)| state.snapshot.id > id);
        let tags: Vec<String> = tags.map(|(name, _)| name.clone()).collect();
        for tag in tags {
            self.remove_tag(branch, &tag)?;
        }
        self.publish(branch, State::clone(&state))?;
        self.remove_unnamed();
        Ok(())
    }

    /// All snapshots but the last ones are gone.
    pub(super) fn expire(&mut self, branch: &str, retain: u32) -> Result<()> {
        let ids: Vec<i64> = self.branch(branch)?.snapshots.keys().copied().collect();
        let kept = usize::try_from(retain.max(1)).unwrap_or(usize::MAX);
        let expired = ids.len().saturating_sub(kept);
        for id in ids.into_iter().take(expired) {
            self.remove_snapshot(branch, id)?;
        }
        self.write_hints(branch)?;
        self.remove_unnamed();
        Ok(())
    }
}
