//! Rows of append tables that are deleted by vectors: their files stay as they are.

use paimon_meta::{CommitKind, Error, Options, Result};
use serde_json::Value;

use super::commit::{Author, Change};
use super::flush::Session;
use super::table::Table;
use crate::oracle::Record;
use crate::query::holds;

impl Table {
    /// Deletes the rows that satisfy a condition: a commit of new vectors alone, if there is such a row.
    ///
    /// # Errors
    /// `InvalidInput` for a table with a key or without deletion vectors, and for what is no condition.
    pub(super) fn delete(
        &mut self,
        branch: &str,
        session: &Session,
        condition: &Value,
        number: i64,
    ) -> Result<()> {
        let enabled = session.options.value(&Options::DELETION_VECTORS_ENABLED)?;
        if !enabled || !session.rules.key.is_empty() {
            return Err(Error::invalid_input(
                "rows are deleted by a condition in append tables with deletion vectors alone",
            ));
        }
        let fields = &session.schema.fields;
        let is_deleted = |record: &Record| holds(Some(condition), fields, &record.row(fields)?);
        let mut content = self.content(branch)?;
        let mut found = false;
        for entry in content.live.clone() {
            let mut positions = Vec::new();
            for (position, record) in self.live_rows(&content, &entry) {
                if is_deleted(record)? {
                    positions.push(position);
                }
            }
            if !positions.is_empty() {
                found = true;
                let vector = content.vectors.entry(entry.file.file_name.clone());
                vector.or_default().extend(positions);
            }
        }
        if !found {
            return Ok(());
        }
        for place in content.places() {
            content.oracle.delete(&place, is_deleted)?;
        }
        let change = Change {
            kind: CommitKind::Overwrite,
            delta: Vec::new(),
            changelog: Vec::new(),
            content,
        };
        let author = Author {
            user: "testkit".to_owned(),
            identifier: number,
            watermark: None,
        };
        self.commit(branch, session, change, &author)
    }
}
