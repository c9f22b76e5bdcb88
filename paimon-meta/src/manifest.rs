//! Manifest lists, manifests and index manifests: files in, models or columns out.
//!
//! ```text
//! snapshot ─▶ manifest list ─▶ manifest ─▶ data files        (list, entry, reader and batch)
//!         └─▶ index manifest ─▶ deletion vectors, indexes    (index)
//! ```
//!
//! Fields are found by name, so files of other writers and of older versions decode; unknown fields are skipped
//! (TF-039). Avro files are decoded here, others by a [`ManifestFormat`](crate::ManifestFormat). Facts: table-format
//! sections 4 and 6.1.

mod avro;
mod batch;
mod columns;
mod entries;
mod entry;
mod index;
mod list;
mod lists;
mod reader;

pub use batch::ManifestBatch;
pub use entry::{EntryKind, ManifestEntry, decode_manifest};
pub use index::{
    DeletionVectorRange, IndexManifestEntry, decode_index_manifest, decode_index_manifest_with,
};
pub use list::{ManifestFileMeta, decode_manifest_list, decode_manifest_list_with};
pub use reader::{ManifestColumns, ManifestReader};
