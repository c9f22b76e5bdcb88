//! Values that are lists of elements or maps of entries: what is accumulated are positions in their child array, so that
//! the elements themselves are copied once, at the end.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray, UInt32Array};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer};
use arrow_row::{Row, RowConverter, Rows, SortField};
use arrow_schema::DataType;
use arrow_select::take::take;
use paimon_meta::{Error, ErrorKind, Result};

use super::fold::{Fold, fold};
use super::versions::{Versions, type_not_declared};
use super::{MergeFault, Merged};

/// A column of lists or maps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lists<'a> {
    offsets: &'a OffsetBuffer<i32>,
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Lists<'a> {
    /// Of an array of lists, with the elements.
    pub(super) fn of_lists(
        function: &str,
        values: &'a ArrayRef,
    ) -> Result<(Self, &'a ListArray), MergeFault> {
        let list = values.as_list_opt::<i32>();
        let list = list.ok_or_else(|| type_not_declared(function, values))?;
        let lists = Self {
            offsets: list.offsets(),
            nulls: list.nulls(),
        };
        Ok((lists, list))
    }

    /// Of an array of maps, with the entries.
    pub(super) fn of_maps(
        function: &str,
        values: &'a ArrayRef,
    ) -> Result<(Self, &'a MapArray), MergeFault> {
        let map = values.as_map_opt();
        let map = map.ok_or_else(|| type_not_declared(function, values))?;
        let lists = Self {
            offsets: map.offsets(),
            nulls: map.nulls(),
        };
        Ok((lists, map))
    }

    /// Positions of the elements of a row; `None` for null.
    pub(super) fn elements(&self, row: u32) -> Option<Range<u32>> {
        let row = row as usize;
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let start = u32::try_from(*self.offsets.get(row)?).ok()?;
        let end = u32::try_from(*self.offsets.get(row + 1)?).ok()?;
        Some(start..end)
    }
}

/// The elements of the results of all groups, as positions in the child array.
#[derive(Debug)]
struct Results {
    elements: Vec<u32>,
    lengths: Vec<usize>,
    nulls: NullBufferBuilder,
}

impl Results {
    fn push(&mut self, elements: Option<impl IntoIterator<Item = u32>>) {
        self.nulls.append(elements.is_some());
        let before = self.elements.len();
        self.elements.extend(elements.into_iter().flatten());
        self.lengths.push(self.elements.len() - before);
    }
}

/// Offsets of lists of these lengths.
fn list_offsets(lengths: &[usize]) -> Result<OffsetBuffer<i32>, MergeFault> {
    if i32::try_from(lengths.iter().sum::<usize>()).is_err() {
        let message = "merged lists hold more than 2^31 elements";
        let error = Error::new(ErrorKind::ResourcesExhausted, message);
        return Err(MergeFault::new(0, error));
    }
    Ok(OffsetBuffer::from_lengths(lengths.iter().copied()))
}

/// Lists of the type of `list`.
pub(super) fn build_lists(
    list: &ListArray,
    lengths: &[usize],
    elements: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<Merged, MergeFault> {
    let DataType::List(field) = list.data_type() else {
        return Err(MergeFault::new(0, Error::internal("lists are no lists")));
    };
    let offsets = list_offsets(lengths)?;
    let merged = ListArray::try_new(Arc::clone(field), offsets, elements, nulls);
    Ok(Merged::Computed(Arc::new(merged.map_err(cannot_build)?)))
}

fn fold_elements<F>(
    function: &mut F,
    values: &ArrayRef,
    versions: &Versions<'_>,
) -> Result<Results, MergeFault>
where
    F: Fold<Value: IntoIterator<Item = u32>>,
{
    let mut results = Results {
        elements: Vec::new(),
        lengths: Vec::with_capacity(versions.group_count()),
        nulls: NullBufferBuilder::new(versions.group_count()),
    };
    fold(function, values, versions, |list| results.push(list))?;
    Ok(results)
}

/// Folds lists of elements, which the function chooses from those of `list`.
pub(super) fn merge_lists<F>(
    function: &mut F,
    list: &ListArray,
    values: &ArrayRef,
    versions: &Versions<'_>,
) -> Result<Merged, MergeFault>
where
    F: Fold<Value: IntoIterator<Item = u32>>,
{
    let mut results = fold_elements(function, values, versions)?;
    let elements = gather(list.values(), results.elements)?;
    build_lists(list, &results.lengths, elements, results.nulls.finish())
}

/// Folds maps of entries, which the function chooses from those of `map`.
pub(super) fn merge_maps<F>(
    function: &mut F,
    map: &MapArray,
    values: &ArrayRef,
    versions: &Versions<'_>,
) -> Result<Merged, MergeFault>
where
    F: Fold<Value: IntoIterator<Item = u32>>,
{
    let mut results = fold_elements(function, values, versions)?;
    let offsets = list_offsets(&results.lengths)?;
    let entries: ArrayRef = Arc::new(map.entries().clone());
    let entries = gather(&entries, results.elements)?;
    let DataType::Map(field, sorted) = map.data_type() else {
        return Err(MergeFault::new(0, Error::internal("maps are no maps")));
    };
    let entries: &StructArray = entries.as_struct();
    let merged = MapArray::try_new(
        Arc::clone(field),
        offsets,
        entries.clone(),
        results.nulls.finish(),
        *sorted,
    );
    Ok(Merged::Computed(Arc::new(merged.map_err(cannot_build)?)))
}

fn gather(child: &ArrayRef, positions: Vec<u32>) -> Result<ArrayRef, MergeFault> {
    take(child, &UInt32Array::from(positions), None).map_err(cannot_build)
}

pub(super) fn cannot_build(error: arrow_schema::ArrowError) -> MergeFault {
    let internal = Error::internal("merged lists cannot be built").with_source(error);
    MergeFault::new(0, internal)
}

/// Elements, or some of their fields, in a form in which equal ones are equal bytes: NaN equals NaN, -0.0 differs from
/// 0.0, null equals null (ME section 4.5).
pub(super) fn comparable(columns: &[ArrayRef]) -> Result<Rows, MergeFault> {
    let columns: Vec<_> = columns.iter().map(with_one_nan).collect();
    let fields = columns
        .iter()
        .map(|column| SortField::new(column.data_type().clone()));
    let rows = RowConverter::new(fields.collect())
        .and_then(|converter| converter.convert_columns(&columns));
    rows.map_err(|error| {
        let refused = Error::unsupported("merging of lists of this type").with_source(error);
        MergeFault::new(0, refused)
    })
}

/// The row of an element.
pub(super) fn row_of(rows: &Rows, element: u32) -> Result<Row<'_>> {
    let element = element as usize;
    if element < rows.num_rows() {
        return Ok(rows.row(element));
    }
    Err(Error::corrupt("a list reaches beyond its elements"))
}

/// Floats whose NaNs are all the same, at the top or in a row.
fn with_one_nan(column: &ArrayRef) -> ArrayRef {
    use arrow_array::types::{Float32Type, Float64Type};
    match column.data_type() {
        DataType::Float32 => {
            let one_nan = |number: f32| if number.is_nan() { f32::NAN } else { number };
            Arc::new(
                column
                    .as_primitive::<Float32Type>()
                    .unary::<_, Float32Type>(one_nan),
            )
        }
        DataType::Float64 => {
            let one_nan = |number: f64| if number.is_nan() { f64::NAN } else { number };
            Arc::new(
                column
                    .as_primitive::<Float64Type>()
                    .unary::<_, Float64Type>(one_nan),
            )
        }
        DataType::Struct(fields) => {
            let row = column.as_struct();
            let columns = row.columns().iter().map(with_one_nan).collect();
            let same = StructArray::try_new(fields.clone(), columns, row.nulls().cloned());
            same.map_or_else(|_| Arc::clone(column), |row| Arc::new(row))
        }
        _ => Arc::clone(column),
    }
}

/// Elements by key, in the order in which the keys came.
#[derive(Debug)]
pub(super) struct Keyed<'a, T = u32> {
    slots: Vec<Option<(Row<'a>, T)>>,
    by_key: HashMap<Row<'a>, usize>,
}

impl<T> Default for Keyed<'_, T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            by_key: HashMap::new(),
        }
    }
}

impl<'a, T> Keyed<'a, T> {
    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// The element of a key.
    pub(super) fn get_mut(&mut self, key: Row<'a>) -> Option<&mut T> {
        let slot = *self.by_key.get(&key)?;
        let (_, element) = self.slots.get_mut(slot)?.as_mut()?;
        Some(element)
    }

    /// Sets the element of a key.
    pub(super) fn put(&mut self, key: Row<'a>, element: T) {
        if let Some(old) = self.get_mut(key) {
            *old = element;
        } else {
            self.by_key.insert(key, self.slots.len());
            self.slots.push(Some((key, element)));
        }
    }

    /// Takes a key out.
    pub(super) fn remove(&mut self, key: Row<'a>) {
        if let Some(slot) = self.by_key.remove(&key)
            && let Some(element) = self.slots.get_mut(slot)
        {
            *element = None;
        }
    }

    /// Keys and elements.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (Row<'a>, T)> {
        self.slots.into_iter().flatten()
    }
}

/// What is accumulated of keyed elements: a value as it came, or elements by key.
#[derive(Debug)]
pub(super) enum Accumulated<'a> {
    /// As it came.
    Untouched(Range<u32>),
    /// Merged with others.
    Merged(Keyed<'a>),
}

impl<'a> Accumulated<'a> {
    /// By key; of equal keys the last one counts.
    pub(super) fn keyed(self, keys: &'a Rows) -> Result<Keyed<'a>> {
        let elements = match self {
            Self::Untouched(elements) => elements,
            Self::Merged(keyed) => return Ok(keyed),
        };
        let mut keyed = Keyed::default();
        for element in elements {
            keyed.put(row_of(keys, element)?, element);
        }
        Ok(keyed)
    }

    /// Whether there are no elements.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Untouched(elements) => elements.is_empty(),
            Self::Merged(keyed) => keyed.len() == 0,
        }
    }
}

impl IntoIterator for Accumulated<'_> {
    type Item = u32;
    type IntoIter = std::vec::IntoIter<u32>;

    fn into_iter(self) -> Self::IntoIter {
        let elements: Vec<_> = match self {
            Self::Untouched(elements) => elements.collect(),
            Self::Merged(keyed) => keyed.into_entries().map(|(_, element)| element).collect(),
        };
        elements.into_iter()
    }
}
