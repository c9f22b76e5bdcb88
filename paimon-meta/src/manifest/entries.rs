//! The entries of a file, whatever its format.

use arrow_array::{Array, StructArray};

use super::avro::{AvroEntries, MAGIC};
use crate::error::{Error, Result};
use crate::manifest_format::{EntryBatches, ManifestFormat};
use crate::schema::{DataField, FieldId};
use crate::types::{DataType, MAX_LENGTH, TypeKind};

/// A wanted field: its name and what it must be. Whether it must be there is the caller's business.
pub(super) type Field = (&'static str, Want);

/// What a wanted field must be, or a union of null with it.
#[derive(Clone, Copy)]
pub(super) enum Want {
    Int,
    /// Also given for an int.
    Long,
    /// Milliseconds as a long, or as a timestamp where the format has such.
    Millis,
    Bytes,
    Text,
    List(&'static Want),
    Record(&'static [Field]),
}

impl Want {
    fn data_type(self, unwanted: &[&str]) -> DataType {
        let kind = match self {
            Self::Int => TypeKind::Int,
            Self::Long => TypeKind::BigInt,
            Self::Millis => TypeKind::Timestamp(3),
            Self::Bytes => TypeKind::VarBinary(MAX_LENGTH),
            Self::Text => TypeKind::VarChar(MAX_LENGTH),
            Self::List(item) => TypeKind::Array(Box::new(item.data_type(unwanted))),
            Self::Record(fields) => TypeKind::Row(data_fields(fields, unwanted)),
        };
        kind.nullable()
    }
}

fn data_fields(fields: &[Field], unwanted: &[&str]) -> Vec<DataField> {
    let wanted = fields.iter().filter(|(name, _)| !unwanted.contains(name));
    let field = |(number, (name, want)): (i32, &Field)| DataField {
        id: FieldId(number),
        name: (*name).to_owned(),
        data_type: want.data_type(unwanted),
        description: None,
        default_value: None,
    };
    (0..).zip(wanted).map(field).collect()
}

/// Entries of one batch.
pub(super) struct EntryBatch {
    /// Number of entries in the file before this batch.
    pub(super) first: u64,
    /// The wanted fields that the file has, without null entries.
    pub(super) entries: StructArray,
}

/// Reads the entries of a file in batches. After an error there is nothing more.
pub(super) enum EntryReader<'a> {
    Avro(Box<AvroEntries<'a>>),
    Other { batches: EntryBatches, read: u64 },
}

impl<'a> EntryReader<'a> {
    /// Opens a file for the fields of `wanted` that are not in `unwanted`, at any depth.
    ///
    /// # Errors
    /// `Unsupported` for a format that is neither Avro nor known to `format`, `Corrupt` for what is no such file.
    pub(super) fn open(
        file: &'a [u8],
        wanted: &[Field],
        unwanted: &[&str],
        format: Option<&dyn ManifestFormat>,
    ) -> Result<Self> {
        if file.starts_with(MAGIC) {
            let entries = AvroEntries::open(file, wanted, unwanted)?;
            return Ok(Self::Avro(Box::new(entries)));
        }
        let fields = data_fields(wanted, unwanted);
        match format.and_then(|format| format.entries(file, &fields)) {
            Some(batches) => Ok(Self::Other {
                batches: batches?,
                read: 0,
            }),
            None => Err(no_format(file)),
        }
    }
}

impl Iterator for EntryReader<'_> {
    type Item = Result<EntryBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Avro(entries) => entries.next(),
            Self::Other { batches, read } => {
                let entries = match batches.next()? {
                    Ok(entries) => entries,
                    Err(error) => return Some(Err(error)),
                };
                let first = *read;
                *read += u64::try_from(entries.len()).unwrap_or_default();
                Some(Ok(EntryBatch { first, entries }))
            }
        }
    }
}

/// Why a file without Avro's magic cannot be read.
fn no_format(file: &[u8]) -> Error {
    let named = |name: &str| {
        Error::unsupported(format!("manifest format {name}"))
            .with_hint("a ManifestFormat reads it, as that of paimon-format")
    };
    if file.starts_with(b"ORC") {
        named("orc")
    } else if file.starts_with(b"PAR1") {
        named("parquet")
    } else {
        let found = file.get(..MAGIC.len()).unwrap_or(file);
        Error::corrupt(format!(
            "file begins with {found:02x?}, expected {MAGIC:02x?} (avro)"
        ))
    }
}
