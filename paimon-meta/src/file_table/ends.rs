//! Where the values of a column end in the buffer that they share.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::column::Store;

/// Where values end in a buffer; each begins where the one before ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Ends(Vec<u64>);

impl Ends {
    pub(super) fn push(&mut self, end: usize) {
        self.0.push(end as u64);
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Where the last value ends: the length of the buffer.
    pub(super) fn end(&self) -> usize {
        let end = self.0.last().copied().unwrap_or_default();
        usize::try_from(end).unwrap_or(usize::MAX)
    }

    /// Place of a value; `None` past the last one.
    pub(super) fn range(&self, index: usize) -> Option<Range<usize>> {
        let end = usize::try_from(*self.0.get(index)?).ok()?;
        let start = match index.checked_sub(1) {
            Some(before) => usize::try_from(*self.0.get(before)?).ok()?,
            None => 0,
        };
        Some(start..end)
    }

    /// The ends of some values, put behind each other in this order.
    pub(super) fn take(&self, values: &[u32]) -> Self {
        let mut end = 0;
        let ends = values.iter().map(|value| {
            end += self.range(*value as usize).map_or(0, |range| range.len()) as u64;
            end
        });
        Self(ends.collect())
    }

    /// Where some values are in the buffer, in this order; neighbours come as one.
    pub(super) fn runs(&self, values: &[u32]) -> impl Iterator<Item = Range<usize>> {
        let runs = values.chunk_by(|value, next| value.checked_add(1) == Some(*next));
        runs.filter_map(|run| {
            let start = self.range(*run.first()? as usize)?.start;
            Some(start..self.range(*run.last()? as usize)?.end)
        })
    }

    /// Puts the ends of a second buffer behind these, as its values come behind those of the first.
    pub(super) fn append(&mut self, more: &Self) {
        let offset = self.end() as u64;
        self.0.extend(more.0.iter().map(|end| end + offset));
    }

    /// Whether the ends ascend to the end of a buffer.
    pub(super) fn fit(&self, buffer: usize) -> bool {
        self.0.is_sorted() && self.0.last().is_none_or(|last| *last == buffer as u64)
    }
}

impl Store for Ends {
    fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }

    fn is_sound(&self, length: usize) -> bool {
        self.0.is_sound(length)
    }
}
