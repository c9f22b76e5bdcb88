//! The file's schema as the decoder gets to see it.
//!
//! The decoder is told only how values are stored; what they mean is decided in `convert`, by table-format section 8.2.
//! So annotations that the decoder refuses do not matter in columns nobody asks for, `isAdjustedToUTC` is ignored by
//! construction, and INT96 comes as its 12 bytes instead of as wrapped nanoseconds. Text stays annotated: that is what
//! makes the decoder check UTF-8.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use paimon_meta::Result;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type, TypePtr};

use super::error::corrupt;

/// Bytes of an INT96.
const INT96_BYTES: i32 = 12;

/// The top-level columns of a file, and the metadata that decodes them.
#[derive(Debug)]
pub(super) struct FileSchema {
    columns: Vec<StoredColumn>,
    by_name: HashMap<String, usize>,
    /// The schema as it is in the file, with all annotations.
    annotated: Arc<SchemaDescriptor>,
    /// Whether statistics of floats are in Java's order, so that a bound covers NaN.
    pub(super) nan_is_largest: bool,
    /// Footer and schema of the decoder.
    pub(super) decoder: ArrowReaderMetadata,
}

/// One top-level column as it is stored.
#[derive(Debug)]
pub(super) struct StoredColumn {
    pub(super) name: String,
    /// Its leaf columns.
    pub(super) leaves: Range<usize>,
    /// Its index in the decoder's schema, or why the decoder cannot read it.
    pub(super) decoded: Result<usize, String>,
}

impl FileSchema {
    /// Takes the footer over and puts the decoder's schema in the place of the file's.
    ///
    /// # Errors
    /// `Corrupt` if even the stored types make no sense.
    pub(super) fn new(metadata: ParquetMetaData) -> Result<Self> {
        let annotated = metadata.file_metadata().schema_descr_ptr();
        let nan_is_largest = metadata
            .file_metadata()
            .created_by()
            .is_some_and(orders_nan);
        let (columns, fields) = decoder_fields(&annotated);
        let decoder =
            decoder(metadata, fields).map_err(|error| corrupt("schema does not decode", error))?;
        let by_name = columns
            .iter()
            .enumerate()
            .rev()
            .map(|(index, column)| (column.name.clone(), index))
            .collect();
        Ok(Self {
            columns,
            by_name,
            annotated,
            nan_is_largest,
            decoder,
        })
    }

    pub(super) fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.decoder.metadata()
    }

    /// The columns in file order.
    pub(super) fn columns(&self) -> &[StoredColumn] {
        &self.columns
    }

    /// The first column of that name (TF-077: ids do not matter).
    pub(super) fn column(&self, name: &str) -> Option<&StoredColumn> {
        self.by_name
            .get(name)
            .and_then(|index| self.columns.get(*index))
    }

    /// A leaf with the file's annotations.
    pub(super) fn leaf(&self, index: usize) -> Option<&ColumnDescriptor> {
        self.annotated.columns().get(index).map(AsRef::as_ref)
    }
}

/// Since 1.10 the Java library compares floats by Java's order when it gathers statistics.
fn orders_nan(created_by: &str) -> bool {
    let version = created_by
        .strip_prefix("parquet-mr version ")
        .unwrap_or_default();
    let mut parts = version
        .split(['.', ' ', '-'])
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    version >= (1, 10)
}

/// The columns, and for each of them what the decoder's schema has in its place.
fn decoder_fields(annotated: &SchemaDescriptor) -> (Vec<StoredColumn>, Vec<TypePtr>) {
    let mut columns = Vec::new();
    let mut fields: Vec<TypePtr> = Vec::new();
    let mut first_leaf = 0;
    for node in annotated.root_schema().get_fields() {
        let leaves = first_leaf..first_leaf + leaf_count(node);
        first_leaf = leaves.end;
        let decoded = match decodable(node) {
            Ok(field) => {
                fields.push(field);
                Ok(fields.len() - 1)
            }
            Err(reason) => {
                fields.extend(leaves.clone().filter_map(|_| placeholder()));
                Err(reason)
            }
        };
        columns.push(StoredColumn {
            name: node.name().to_owned(),
            leaves,
            decoded,
        });
    }
    (columns, fields)
}

fn decoder(
    metadata: ParquetMetaData,
    fields: Vec<TypePtr>,
) -> Result<ArrowReaderMetadata, ParquetError> {
    let file = metadata.file_metadata();
    let root = Type::group_type_builder(file.schema().name())
        .with_fields(fields)
        .build()?;
    let file = FileMetaData::new(
        file.version(),
        file.num_rows(),
        None,
        None,
        Arc::new(SchemaDescriptor::new(Arc::new(root))),
        file.column_orders().cloned(),
    );
    let groups = metadata.into_builder().take_row_groups();
    let metadata = ParquetMetaData::new(file, groups);
    ArrowReaderMetadata::try_new(
        Arc::new(metadata),
        ArrowReaderOptions::new().with_skip_arrow_metadata(true),
    )
}

fn leaf_count(node: &Type) -> usize {
    if node.is_primitive() {
        1
    } else {
        node.get_fields()
            .iter()
            .map(|field| leaf_count(field))
            .sum()
    }
}

/// A leaf that keeps the place of one that cannot be decoded.
fn placeholder() -> Option<TypePtr> {
    Type::primitive_type_builder("", PhysicalType::INT32)
        .build()
        .ok()
        .map(Arc::new)
}

/// The column as the decoder shall see it, or why it would not understand it.
fn decodable(node: &TypePtr) -> Result<TypePtr, String> {
    let physical = Arc::new(physical(node).map_err(|error| error.to_string())?);
    if physical.is_primitive() {
        return Ok(physical);
    }
    let root = Type::group_type_builder("root")
        .with_fields(vec![Arc::clone(&physical)])
        .build();
    let schema =
        root.and_then(|root| parquet_to_arrow_schema(&SchemaDescriptor::new(Arc::new(root)), None));
    match schema {
        Ok(schema) if schema.fields().len() == 1 => Ok(physical),
        Ok(_) => Err("group without columns".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The type with no more annotations than its layout needs.
fn physical(node: &Type) -> Result<Type, ParquetError> {
    let info = node.get_basic_info();
    let repetition = if info.has_repetition() {
        info.repetition()
    } else {
        Repetition::REQUIRED
    };
    match node {
        Type::GroupType { fields, .. } => {
            let fields = fields
                .iter()
                .map(|field| physical(field).map(Arc::new))
                .collect::<Result<_, _>>()?;
            Type::group_type_builder(node.name())
                .with_repetition(repetition)
                .with_logical_type(is_collection(node).then_some(LogicalType::List))
                .with_fields(fields)
                .build()
        }
        Type::PrimitiveType {
            physical_type,
            type_length,
            ..
        } => {
            let (stored, length) = match physical_type {
                PhysicalType::INT96 => (PhysicalType::FIXED_LEN_BYTE_ARRAY, INT96_BYTES),
                other => (*other, *type_length),
            };
            let text = is_text(node).then_some(LogicalType::String);
            Type::primitive_type_builder(node.name(), stored)
                .with_repetition(repetition)
                .with_length(length)
                .with_logical_type(text)
                .build()
        }
    }
}

/// Whether a group is a list or a map. Both are read as lists, a map as one of its entries: the decoder checks entries
/// that are rows, but trusts those of a map to have as many keys as values.
fn is_collection(group: &Type) -> bool {
    let info = group.get_basic_info();
    let annotated = match info.logical_type_ref() {
        Some(logical) => matches!(logical, LogicalType::List | LogicalType::Map),
        None => matches!(
            info.converted_type(),
            ConvertedType::LIST | ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE
        ),
    };
    // Old writers annotate the entries, too.
    annotated && info.has_repetition() && info.repetition() != Repetition::REPEATED
}

/// Whether a leaf is annotated as UTF-8 text.
pub(super) fn is_text(leaf: &Type) -> bool {
    let info = leaf.get_basic_info();
    leaf.is_primitive()
        && leaf.get_physical_type() == PhysicalType::BYTE_ARRAY
        && (info.converted_type() == ConvertedType::UTF8
            || info.logical_type_ref() == Some(&LogicalType::String))
}
