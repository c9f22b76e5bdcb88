//! Freeing what a batch would keep alive for little.
//!
//! View arrays point into the pages that they were decoded from. A batch of scattered rows would keep whole pages alive
//! for a few values each, so it is copied together; batches of rows that stood side by side share their pages and are
//! passed on as they are.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryViewType, ByteViewType, StringViewType};
use arrow_array::{Array, ArrayRef, GenericByteViewArray};
use arrow_schema::DataType as ArrowType;

/// Longest value that a view holds by itself.
const INLINE_BYTES: u32 = 12;

/// Bytes that may be kept alive in excess before anything is copied: about two pages.
const SLACK_BYTES: usize = 2 << 20;

/// Decides batch by batch; remembers what earlier batches keep alive, because pages are shared.
#[derive(Debug, Default)]
pub(crate) struct Compactor {
    /// Buffers of the last batch that was passed on, by address.
    known: HashSet<usize>,
    /// Bytes of the values that were passed on.
    own: usize,
    /// Bytes of the buffers that were passed on, each counted once.
    alive: usize,
}

impl Compactor {
    /// The columns, copied together where they would keep more than twice their own bytes alive.
    pub(crate) fn compact(&mut self, columns: Vec<ArrayRef>) -> Vec<ArrayRef> {
        let mut known = HashSet::new();
        let (mut own, mut alive) = (0, 0);
        for column in &columns {
            match column.data_type() {
                ArrowType::Utf8View => {
                    self.weigh::<StringViewType>(column, &mut known, &mut own, &mut alive);
                }
                ArrowType::BinaryView => {
                    self.weigh::<BinaryViewType>(column, &mut known, &mut own, &mut alive);
                }
                _ => {}
            }
        }
        if self.alive + alive > 2 * (self.own + own) + SLACK_BYTES {
            return columns.iter().map(copied).collect();
        }
        self.own += own;
        self.alive += alive;
        self.known = known;
        columns
    }

    fn weigh<T: ByteViewType>(
        &self,
        column: &ArrayRef,
        known: &mut HashSet<usize>,
        own: &mut usize,
        alive: &mut usize,
    ) {
        let Some(array) = column.as_byte_view_opt::<T>() else {
            return;
        };
        if array.data_buffers().is_empty() {
            return;
        }
        for buffer in array.data_buffers() {
            let address = buffer.data_ptr().as_ptr() as usize;
            if known.insert(address) && !self.known.contains(&address) {
                *alive += buffer.len();
            }
        }
        *own += long_bytes(array);
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
