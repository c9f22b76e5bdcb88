//! Columns of variable-length and of rare values, compact: one buffer for many values, nothing for absent ones.

use serde::{Deserialize, Serialize};

use super::at;
use super::ends::Ends;
use super::view::{NullCounts, StatsRef, TextList};

/// What all columns have in common.
pub(super) trait Store {
    fn shrink_to_fit(&mut self);

    fn heap_bytes(&self) -> usize;

    /// Whether a column that came from outside can have been made by pushing, to a table of `length` rows.
    fn is_sound(&self, length: usize) -> bool;
}

/// A column of one kind of values, one a row.
pub(super) trait Column: Store + Default {
    type Item<'a>
    where
        Self: 'a;

    /// `None` past the end.
    fn item(&self, index: usize) -> Option<Self::Item<'_>>;

    fn push(&mut self, item: Self::Item<'_>);

    /// The values at these places, in their order.
    fn take(&self, places: &[u32]) -> Self;

    /// Puts all values of another column behind these.
    fn append(&mut self, more: &Self);
}

impl<T: Copy> Store for Vec<T> {
    fn shrink_to_fit(&mut self) {
        self.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }

    fn is_sound(&self, length: usize) -> bool {
        self.len() == length
    }
}

impl<T: Copy> Column for Vec<T> {
    type Item<'a>
        = T
    where
        T: 'a;

    fn item(&self, index: usize) -> Option<T> {
        self.as_slice().get(index).copied()
    }

    fn push(&mut self, item: T) {
        self.push(item);
    }

    fn take(&self, places: &[u32]) -> Self {
        places
            .iter()
            .map(|place| at(self, *place as usize))
            .collect()
    }

    fn append(&mut self, more: &Self) {
        self.extend_from_slice(more);
    }
}

/// Bytes, or lists of longs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Slices<T> {
    values: Vec<T>,
    ends: Ends,
}

impl<T: Copy> Store for Slices<T> {
    fn shrink_to_fit(&mut self) {
        self.values.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        self.values.heap_bytes() + self.ends.heap_bytes()
    }

    fn is_sound(&self, length: usize) -> bool {
        self.ends.fit(self.values.len()) && self.ends.len() == length
    }
}

impl<T: Copy + Default> Column for Slices<T> {
    type Item<'a>
        = &'a [T]
    where
        T: 'a;

    fn item(&self, index: usize) -> Option<&[T]> {
        self.values.get(self.ends.range(index)?)
    }

    fn push(&mut self, item: &[T]) {
        self.values.extend_from_slice(item);
        self.ends.push(self.values.len());
    }

    fn take(&self, places: &[u32]) -> Self {
        let ends = self.ends.take(places);
        let mut values = Vec::with_capacity(ends.end());
        for run in self.ends.runs(places) {
            values.extend_from_slice(self.values.get(run).unwrap_or_default());
        }
        Self { values, ends }
    }

    fn append(&mut self, more: &Self) {
        self.ends.append(&more.ends);
        self.values.extend_from_slice(&more.values);
    }
}

/// Texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Texts {
    text: String,
    ends: Ends,
}

impl Store for Texts {
    fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        self.text.capacity() + self.ends.heap_bytes()
    }

    fn is_sound(&self, length: usize) -> bool {
        let between_characters = || (0..length).all(|index| self.item(index).is_some());
        self.ends.fit(self.text.len()) && self.ends.len() == length && between_characters()
    }
}

impl Column for Texts {
    type Item<'a> = &'a str;

    fn item(&self, index: usize) -> Option<&str> {
        self.text.get(self.ends.range(index)?)
    }

    fn push(&mut self, item: &str) {
        self.text.push_str(item);
        self.ends.push(self.text.len());
    }

    fn take(&self, places: &[u32]) -> Self {
        let ends = self.ends.take(places);
        let mut text = String::with_capacity(ends.end());
        for run in self.ends.runs(places) {
            text.push_str(self.text.get(run).unwrap_or_default());
        }
        Self { text, ends }
    }

    fn append(&mut self, more: &Self) {
        self.ends.append(&more.ends);
        self.text.push_str(&more.text);
    }
}

/// Lists of texts. A list that is equal to one shortly before shares its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TextLists {
    texts: Texts,
    /// Ends of the lists in `texts`.
    ends: Ends,
    /// The list of each row.
    lists: Vec<u32>,
}

impl TextLists {
    /// How many lists back an equal one is looked for: the files of a table have few different lists of columns.
    const LOOK_BACK: usize = 8;

    fn list(&self, index: usize) -> Option<TextList<'_>> {
        self.ends
            .range(index)
            .map(|range| TextList::of_column(&self.texts, range))
    }

    /// Pushes lists of another column. A list that comes again right away is not looked for again.
    fn extend(&mut self, from: &Self, lists: impl Iterator<Item = u32>) {
        let mut before = None;
        for list in lists {
            match self.lists.last() {
                Some(last) if before == Some(list) => self.lists.push(*last),
                _ => self.push(from.list(list as usize).unwrap_or(TextList::EMPTY)),
            }
            before = Some(list);
        }
    }
}

impl Store for TextLists {
    fn shrink_to_fit(&mut self) {
        self.texts.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.lists.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        self.texts.heap_bytes() + self.ends.heap_bytes() + self.lists.heap_bytes()
    }

    fn is_sound(&self, length: usize) -> bool {
        let texts = self.texts.ends.len();
        let lists = || (0..length).all(|index| self.item(index).is_some());
        self.texts.is_sound(texts) && self.ends.fit(texts) && self.lists.len() == length && lists()
    }
}

impl Column for TextLists {
    type Item<'a> = TextList<'a>;

    fn item(&self, index: usize) -> Option<TextList<'_>> {
        self.list(usize::try_from(*self.lists.get(index)?).ok()?)
    }

    fn push(&mut self, item: TextList<'_>) {
        let count = self.ends.len();
        let mut recent = (count.saturating_sub(Self::LOOK_BACK)..count).rev();
        let place = recent
            .find(|place| self.list(*place) == Some(item))
            .unwrap_or_else(|| {
                item.iter().for_each(|text| self.texts.push(text));
                self.ends.push(self.texts.ends.len());
                count
            });
        // A table has no more rows than fit, and a row has one list.
        self.lists.push(u32::try_from(place).unwrap_or(u32::MAX));
    }

    fn take(&self, places: &[u32]) -> Self {
        let mut taken = Self::default();
        let lists = places.iter().map(|place| at(&self.lists, *place as usize));
        taken.extend(self, lists);
        taken
    }

    fn append(&mut self, more: &Self) {
        self.extend(more, more.lists.iter().copied());
    }
}

/// Statistics; an unknown null count is -1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StatsColumn {
    min: Slices<u8>,
    max: Slices<u8>,
    has_null_counts: Vec<bool>,
    null_counts: Slices<i64>,
}

impl Store for StatsColumn {
    fn shrink_to_fit(&mut self) {
        self.min.shrink_to_fit();
        self.max.shrink_to_fit();
        self.has_null_counts.shrink_to_fit();
        self.null_counts.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        let bounds = self.min.heap_bytes() + self.max.heap_bytes();
        bounds + self.has_null_counts.heap_bytes() + self.null_counts.heap_bytes()
    }

    fn is_sound(&self, length: usize) -> bool {
        self.min.is_sound(length)
            && self.max.is_sound(length)
            && self.has_null_counts.is_sound(length)
            && self.null_counts.is_sound(length)
    }
}

impl Column for StatsColumn {
    type Item<'a> = StatsRef<'a>;

    fn item(&self, index: usize) -> Option<StatsRef<'_>> {
        let null_counts = if *self.has_null_counts.get(index)? {
            NullCounts::Longs {
                counts: self.null_counts.item(index)?,
                valid: None,
            }
        } else {
            NullCounts::Absent
        };
        Some(StatsRef {
            min: self.min.item(index)?,
            max: self.max.item(index)?,
            null_counts,
        })
    }

    fn push(&mut self, item: StatsRef<'_>) {
        self.min.push(item.min);
        self.max.push(item.max);
        let length = item.null_counts_len();
        self.has_null_counts.push(length.is_some());
        let count = |index| {
            item.null_count(index)
                .and_then(|count| i64::try_from(count).ok())
        };
        let counts = (0..length.unwrap_or(0)).map(|index| count(index).unwrap_or(-1));
        self.null_counts.values.extend(counts);
        self.null_counts.ends.push(self.null_counts.values.len());
    }

    fn take(&self, places: &[u32]) -> Self {
        Self {
            min: self.min.take(places),
            max: self.max.take(places),
            has_null_counts: self.has_null_counts.take(places),
            null_counts: self.null_counts.take(places),
        }
    }

    fn append(&mut self, more: &Self) {
        self.min.append(&more.min);
        self.max.append(&more.max);
        Column::append(&mut self.has_null_counts, &more.has_null_counts);
        self.null_counts.append(&more.null_counts);
    }
}
