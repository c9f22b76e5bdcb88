//! What a read comes to at most, told before it: files, row groups, pages and rows that are left by the steps that leave
//! them out while reading. Footers, page indexes, file indexes and deletion vectors are read for it, no column.

use std::sync::Arc;

use paimon_format::RowRanges;
use paimon_meta::{DataFileMeta, Frame, Result, ResultExt, TablePredicate};
use serde::{Deserialize, Serialize};

use crate::columns::ColumnPlan;
use crate::group_rows::Pages;
use crate::open::OpenFile;
use crate::opens::{ComingFile, FileNumber, Opens};

/// What is left of the files of a task. No limit is looked at: a read that stops early comes to less.
///
/// All but the number of files is of those that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// Files of the task.
    pub files: u64,
    /// Those that were looked at.
    pub files_seen: u64,
    /// Those that are opened: indexes do not exclude all of their rows.
    pub files_kept: u64,
    /// Row groups of the opened files, those of the task's part alone.
    pub row_groups: u64,
    /// Those in which a merge reads keys; none where nothing is merged.
    pub key_row_groups: u64,
    /// Those that may give rows.
    pub row_groups_kept: u64,
    /// Pages that the condition may tell apart, in row groups that may match.
    pub pages: u64,
    /// Those that may match.
    pub pages_kept: u64,
    /// Rows, those of the task's part alone.
    pub rows: u64,
    /// Rows of which a merge reads the keys, those between them left out; none where nothing is merged.
    pub key_rows: u64,
    /// Rows that may match and that deletion vectors take away.
    pub rows_deleted: u64,
    /// Rows that may come out: of a merge those that may be the newest ones and match.
    pub rows_kept: u64,
}

impl Estimate {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            files: self.files.saturating_add(other.files),
            files_seen: self.files_seen.saturating_add(other.files_seen),
            files_kept: self.files_kept.saturating_add(other.files_kept),
            row_groups: self.row_groups.saturating_add(other.row_groups),
            key_row_groups: self.key_row_groups.saturating_add(other.key_row_groups),
            row_groups_kept: self.row_groups_kept.saturating_add(other.row_groups_kept),
            pages: self.pages.saturating_add(other.pages),
            pages_kept: self.pages_kept.saturating_add(other.pages_kept),
            rows: self.rows.saturating_add(other.rows),
            key_rows: self.key_rows.saturating_add(other.key_rows),
            rows_deleted: self.rows_deleted.saturating_add(other.rows_deleted),
            rows_kept: self.rows_kept.saturating_add(other.rows_kept),
        }
    }
}

/// A file of a task, and how it is read.
pub(crate) struct FileToRead {
    pub(crate) meta: Arc<DataFileMeta>,
    pub(crate) columns: Arc<ColumnPlan>,
    pub(crate) first: FirstPass,
}

/// What is read of a file first.
pub(crate) enum FirstPass {
    /// Its rows, those of a part alone if it is one.
    Rows(Option<RowRanges>),
    /// Its keys, where they may satisfy this.
    Keys(Option<TablePredicate>),
}

/// What is left of files, of which the first `most` are looked at.
///
/// # Errors
/// Of the store and the files.
pub(crate) async fn estimate(
    opens: Opens,
    files: Vec<FileToRead>,
    most: usize,
) -> Result<Estimate> {
    let mut found = Estimate {
        files: files.len() as u64,
        ..Estimate::default()
    };
    let add = |file: FileToRead| (file.announce(&opens), file);
    let files: Vec<_> = files.into_iter().take(most).map(add).collect();
    for (number, file) in files {
        let seen = match number {
            Some(number) => file.look(&opens, number).await,
            None => Ok(file.closed()),
        };
        found = found.plus(seen.at(|| Frame::File(file.meta.file_name.clone()))?);
    }
    Ok(found)
}

impl FileToRead {
    /// Adds the file to those that are opened, unless no row can pass.
    fn announce(&self, opens: &Opens) -> Option<FileNumber> {
        let coming = ComingFile {
            meta: Arc::clone(&self.meta),
            columns: Arc::clone(&self.columns),
            may_stay_closed: matches!(self.first, FirstPass::Rows(_)),
            rows_before: 0,
        };
        (!self.columns.nothing_passes).then(|| opens.add(coming))
    }

    /// Of a file that is not opened.
    fn closed(&self) -> Estimate {
        let rows = match &self.first {
            FirstPass::Rows(Some(rows)) => rows.row_count(),
            _ => self.meta.row_count,
        };
        Estimate {
            files_seen: 1,
            rows,
            ..Estimate::default()
        }
    }

    async fn look(&self, opens: &Opens, number: FileNumber) -> Result<Estimate> {
        let Some(file) = opens.take(number).await? else {
            return Ok(self.closed());
        };
        let (part, first, pages) = match &self.first {
            FirstPass::Rows(part) => (part.as_ref(), file.rows_of_part(part.as_ref()), file.pages),
            FirstPass::Keys(condition) => {
                let opener = opens.opener();
                let keys = opener.may_match(&self.meta, &file.data, condition.as_ref());
                let keys = keys.await?;
                let pages = file.pages.plus(Pages::of(&keys));
                (None, keys.rows, pages)
            }
        };
        self.of_groups(&file, part, &first, pages)
    }

    fn of_groups(
        &self,
        file: &OpenFile,
        part: Option<&RowRanges>,
        first: &RowRanges,
        pages: Pages,
    ) -> Result<Estimate> {
        let merges = matches!(self.first, FirstPass::Keys(_));
        let mut found = Estimate {
            files_seen: 1,
            files_kept: 1,
            pages: pages.all,
            pages_kept: pages.all.saturating_sub(pages.dropped),
            ..Estimate::default()
        };
        for group in 0..file.data.layout().groups.len() {
            let rows = file.rows_of_group(group, part, first)?;
            let keys = rows.first.row_count() * u64::from(merges);
            found = found.plus(Estimate {
                row_groups: u64::from(rows.in_part > 0),
                key_row_groups: u64::from(keys > 0),
                row_groups_kept: u64::from(rows.left > 0),
                rows: rows.in_part,
                key_rows: keys,
                rows_deleted: rows.may_match - rows.left,
                rows_kept: rows.left,
                ..Estimate::default()
            });
        }
        Ok(found)
    }
}
