//! Freeing what a batch would keep alive for little.
//!
//! View arrays point into the pages that they were decoded from. Batches of rows that stand side by side share their pages
//! and are passed on as they are; scattered rows would keep whole pages alive for a few values each, so they are copied
//! together. A page counts as kept when the stream has moved past it: until then later batches use it too.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryViewType, ByteViewType, StringViewType};
use arrow_array::{Array, ArrayRef, GenericByteViewArray};
use arrow_schema::DataType as ArrowType;

/// Longest value that a view holds by itself.
const INLINE_BYTES: u32 = 12;

/// Bytes that may be kept alive in excess before anything is copied: about a page.
const SLACK_BYTES: usize = 1 << 20;

/// Decides batch by batch; remembers what earlier batches keep alive.
#[derive(Debug, Default)]
pub(crate) struct Compactor {
    /// Pages of batches that were passed on, by address, that the last batch still used.
    open: HashMap<usize, usize>,
    /// Bytes of pages of batches that were passed on, that no later batch used.
    closed: usize,
    /// Bytes of the values that were passed on.
    own: usize,
}

/// What the view columns of one batch refer to.
#[derive(Debug, Default)]
struct Weight {
    pages: HashMap<usize, usize>,
    own: usize,
    /// Bytes of the pages that later batches may use too: one a column and source.
    shared: usize,
}

impl Compactor {
    /// The columns, copied together where they would keep more than twice their own bytes alive. `sources` is the number
    /// of decoded batches that the rows come from.
    pub(crate) fn compact(&mut self, columns: Vec<ArrayRef>, sources: usize) -> Vec<ArrayRef> {
        let mut weight = Weight::default();
        for column in &columns {
            match column.data_type() {
                ArrowType::Utf8View => weight.add::<StringViewType>(column, sources),
                ArrowType::BinaryView => weight.add::<BinaryViewType>(column, sources),
                _ => {}
            }
        }
        if weight.pages.is_empty() && self.open.is_empty() {
            return columns;
        }
        self.open.retain(|page, bytes| {
            let used = weight.pages.contains_key(page);
            self.closed += if used { 0 } else { *bytes };
            used
        });
        let alive: usize = weight.pages.values().sum();
        let lone = alive.saturating_sub(weight.shared);
        if self.closed + lone > 2 * (self.own + weight.own) + SLACK_BYTES {
            return columns.iter().map(copied).collect();
        }
        self.own += weight.own;
        self.open.extend(weight.pages);
        columns
    }
}

impl Weight {
    fn add<T: ByteViewType>(&mut self, column: &ArrayRef, sources: usize) {
        let Some(array) = column.as_byte_view_opt::<T>() else {
            return;
        };
        let mut largest = 0;
        for buffer in array.data_buffers() {
            self.pages
                .insert(buffer.data_ptr().as_ptr() as usize, buffer.len());
            largest = largest.max(buffer.len());
        }
        if largest > 0 {
            self.shared += largest * sources;
            self.own += long_bytes(array);
        }
    }
}

/// Bytes of the values that do not stand in their view.
fn long_bytes<T: ByteViewType>(array: &GenericByteViewArray<T>) -> usize {
    // The low 32 bits of a view are the value's length.
    let lengths = array
        .views()
        .iter()
        .map(|view| u32::try_from(view & u128::from(u32::MAX)).unwrap_or(0));
    lengths
        .filter(|length| *length > INLINE_BYTES)
        .map(|length| length as usize)
        .sum()
}

/// A copy of a view column that owns just its values; other columns as they are.
pub(crate) fn copied(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        ArrowType::Utf8View => column
            .as_byte_view_opt::<StringViewType>()
            .map(|array| Arc::new(array.gc()) as ArrayRef),
        ArrowType::BinaryView => column
            .as_byte_view_opt::<BinaryViewType>()
            .map(|array| Arc::new(array.gc()) as ArrayRef),
        _ => None,
    }
    .unwrap_or_else(|| Arc::clone(column))
}
