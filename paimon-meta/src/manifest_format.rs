//! The seam for manifests that are not Avro. Facts: table-format section 2, `manifest.format`.

use std::fmt;

use arrow_array::StructArray;

use crate::error::Result;
use crate::schema::DataField;

/// Entries of a manifest, a manifest list or an index manifest, in batches and in the order of the file. Finished after
/// an error.
pub type EntryBatches = Box<dyn Iterator<Item = Result<StructArray>> + Send>;

/// Decodes manifests that are not Avro: versions of the reference up to 1.4 obey the option `manifest.format`.
///
/// Such files have one column for each field of an entry, so whoever reads data files of a format can read them.
pub trait ManifestFormat: fmt::Debug + Send + Sync {
    /// Those of the fields that the file has, by name, also inside of rows: what it does not have is left out. All of
    /// them are nullable; texts and bytes have offsets of 32 bits. `None` if the file is of no format known here.
    ///
    /// # Errors
    /// `Corrupt` for a damaged file, or a field that is of another type.
    fn entries(&self, file: &[u8], fields: &[DataField]) -> Option<Result<EntryBatches>>;
}
