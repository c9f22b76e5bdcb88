//! Which row groups hold whole rows, by what the file says of its nulls.
//!
//! Where the newest version of a key is an add without null and no function or sequence group asks for more, it is the row
//! of its key (RP-344, ME-108, ME-109): older versions are not decoded at all. They must only be such that decoding them
//! could not have failed.

use paimon_format::{DataFile, FileColumn, Grain};
use paimon_meta::Result;

use crate::evolve::{FileScan, ScannedAs, Wanted};

/// What is known of the values of a row group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wholeness {
    /// No value is null.
    pub(crate) whole: bool,
    /// No value is null that must not be, and all are read as they are.
    pub(crate) sound: bool,
}

/// What the row groups of a file hold in the columns of a scan.
///
/// # Errors
/// `Corrupt` for a footer that contradicts itself.
pub(super) async fn wholeness(
    file: &dyn DataFile,
    scan: &FileScan,
    columns: &[Wanted],
) -> Result<Vec<Wholeness>> {
    let sound = Wholeness {
        whole: true,
        sound: true,
    };
    let mut groups = vec![sound; file.layout().groups.len()];
    for (index, column) in columns.iter().enumerate() {
        let nullable = match column {
            Wanted::Field(field) => field.data_type.nullable,
            Wanted::Sequence | Wanted::Kind => false,
        };
        let without_null = match scan.scanned_as(index) {
            ScannedAs::Changed => vec![],
            ScannedAs::Null => vec![false; groups.len()],
            ScannedAs::Same(column) => without_null(file, column).await?,
        };
        let changed = without_null.is_empty();
        for (number, group) in groups.iter_mut().enumerate() {
            let without_null = without_null.get(number).copied().unwrap_or(false);
            group.whole &= without_null;
            group.sound &= without_null || nullable && !changed;
        }
    }
    Ok(groups)
}

/// Of each row group, whether a column is known to hold no null.
async fn without_null(file: &dyn DataFile, column: &FileColumn) -> Result<Vec<bool>> {
    let groups = file.layout().groups.len();
    let bounds = file.bounds(column, Grain::Group).await?;
    let counts = bounds.map(|bounds| bounds.null_counts);
    let counts = counts.filter(|counts| counts.len() == groups);
    Ok(match counts {
        Some(counts) => counts.iter().map(|count| count == Some(0)).collect(),
        None => vec![false; groups],
    })
}
