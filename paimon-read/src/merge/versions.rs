//! Which version of a key is newer. Facts: merge-engines section 1.3.

use std::cmp::Ordering;

use arrow_row::Rows;
use paimon_meta::{Error, Frame, Result, RowKind};

use super::keys::KeyWindow;
use super::whole::Wholeness;
use crate::positions::Positions;

/// What the key pass knows of the rows of one head beside their keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadRows<'a> {
    /// Name of their file, for errors.
    pub(crate) file: &'a str,
    /// The piece that the rows belong to.
    pub(crate) piece: u32,
    /// Which rows of the piece they are.
    pub(crate) positions: &'a Positions,
    /// Their keys.
    pub(crate) keys: Option<&'a KeyWindow>,
    /// Kind bytes; absent where every row is known to be an add.
    pub(crate) kinds: Option<&'a [i8]>,
    /// Sequence numbers.
    pub(crate) sequences: Sequences<'a>,
    /// Columns of `sequence.field` in comparable form.
    pub(crate) user: Option<&'a Rows>,
    /// What is known of their values.
    pub(crate) wholeness: Wholeness,
    /// Level of the file.
    pub(crate) level: i32,
    /// Rank among the files of the section, for rows that nothing else tells apart: by largest sequence number, then by
    /// file name. The reference leaves this open (RP-337).
    pub(crate) rank: u32,
}

/// Sequence numbers of the rows of one head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequences<'a> {
    /// No row has a smaller one.
    pub(crate) min: i64,
    /// No row has a larger one.
    pub(crate) max: i64,
    /// The numbers, where the ranges of the section's files do not decide.
    pub(crate) values: Option<&'a [i64]>,
}

impl Sequences<'_> {
    fn compare(&self, position: usize, other: &Self, other_position: usize) -> Ordering {
        if self.max < other.min {
            return Ordering::Less;
        }
        if self.min > other.max {
            return Ordering::Greater;
        }
        self.value(position).cmp(&other.value(other_position))
    }

    /// Read where ranges overlap, unless the range is one number.
    fn value(&self, position: usize) -> i64 {
        self.values
            .and_then(|values| values.get(position))
            .copied()
            .unwrap_or(self.min)
    }
}

/// For heads that hold no rows.
static NO_ROWS: Positions = Positions::From {
    first: 0,
    length: 0,
};

impl HeadRows<'_> {
    /// Of a sentinel: the kernel hands none of its rows over.
    pub(crate) fn none() -> Self {
        let sequences = Sequences {
            min: 0,
            max: 0,
            values: None,
        };
        Self {
            file: "",
            piece: u32::MAX,
            positions: &NO_ROWS,
            keys: None,
            kinds: None,
            sequences,
            user: None,
            wholeness: Wholeness::default(),
            level: 0,
            rank: 0,
        }
    }

    /// The kind of a row.
    ///
    /// # Errors
    /// `Corrupt` for a byte that is no kind (ME-001).
    pub(crate) fn kind(&self, position: usize) -> Result<RowKind> {
        match self.kinds.and_then(|kinds| kinds.get(position)) {
            None => Ok(RowKind::Insert),
            Some(byte) => RowKind::from_byte(*byte)
                .map_err(|error| error.at(Frame::Field("_VALUE_KIND".into()))),
        }
    }
}

/// Compares two versions of one key, the newer one being greater (ME 1.3): user sequence, sequence number, retract
/// before add, then the rank of the file.
///
/// # Errors
/// `Corrupt` for a bad kind byte.
pub(crate) fn compare_versions(
    a: (&HeadRows<'_>, usize),
    b: (&HeadRows<'_>, usize),
) -> Result<Ordering> {
    let by_user = match (a.0.user, b.0.user) {
        (Some(rows_a), Some(rows_b)) => rows_a.row(a.1).cmp(&rows_b.row(b.1)),
        (None, None) => Ordering::Equal,
        _ => {
            return Err(Error::internal(
                "user sequence columns are missing in one run",
            ));
        }
    };
    let by_sequence = by_user.then_with(|| a.0.sequences.compare(a.1, &b.0.sequences, b.1));
    if by_sequence != Ordering::Equal {
        return Ok(by_sequence);
    }
    let (add_a, add_b) = (a.0.kind(a.1)?.is_add(), b.0.kind(b.1)?.is_add());
    Ok(add_a.cmp(&add_b).then_with(|| a.0.rank.cmp(&b.0.rank)))
}
