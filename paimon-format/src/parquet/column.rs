//! From an asked column to the leaves that hold it, the Arrow type they are decoded to, and what is left to convert.
//!
//! The decoder's type tree is walked together with the asked type. Both have the same leaves in the same order, so a
//! running leaf number finds the file's annotation whatever form a list or map group has (table-format 7.5).

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields};
use paimon_meta::{
    DataField, DataType, Error, FieldId, Frame, MAX_LENGTH, Result, ResultExt, TypeKind,
};

use super::convert::{Convert, hint};
use super::nested::Conversion;
use super::schema::FileSchema;
use super::stored::Stored;
use crate::scan::FileColumn;

/// The child by which a map in the layout `shared-shredding` is known (table-format 7.8).
const SHREDDED: &str = "__field_mapping";
/// The child by which a variant with columns of its own is known (TF-087).
const SHREDDED_VALUE: &str = "typed_value";

/// An asked column that is in the file.
#[derive(Debug)]
pub(super) struct Resolved {
    /// Its index in the decoder's schema.
    pub(super) root: usize,
    /// The leaves to read.
    pub(super) leaves: Vec<usize>,
    /// The type to ask the decoder for.
    pub(super) decoded: ArrowType,
    pub(super) conversion: Conversion,
}

/// Finds a column; `None` if the file does not have it.
///
/// # Errors
/// `Corrupt` if the stored type cannot hold the asked one, `Unsupported` for types that are not read.
pub(super) fn resolve(
    schema: &FileSchema,
    column: &FileColumn,
    to: &ArrowType,
) -> Result<Option<Resolved>> {
    let Some(stored) = schema.column(&column.name) else {
        return Ok(None);
    };
    let root = match &stored.decoded {
        Ok(root) => *root,
        Err(reason) => {
            return Err(Error::corrupt(format!(
                "stored in a form that is not read: {reason}"
            )));
        }
    };
    let inferred = schema
        .decoder
        .schema()
        .fields()
        .get(root)
        .map(|field| field.data_type());
    let inferred =
        inferred.ok_or_else(|| Error::internal("column is missing in the decoder's schema"))?;
    let mut walk = Walk {
        schema,
        leaf: stored.leaves.start,
        leaves: Vec::new(),
    };
    let (decoded, conversion) = walk.node(inferred, &column.data_type, to)?;
    Ok(Some(Resolved {
        root,
        leaves: walk.leaves,
        decoded,
        conversion,
    }))
}

struct Walk<'a> {
    schema: &'a FileSchema,
    /// The leaf that comes next.
    leaf: usize,
    /// Leaves asked for so far.
    leaves: Vec<usize>,
}

impl Walk<'_> {
    fn node(
        &mut self,
        from: &ArrowType,
        asked: &DataType,
        to: &ArrowType,
    ) -> Result<(ArrowType, Conversion)> {
        match (&asked.kind, from, to) {
            (TypeKind::Array(element), ArrowType::List(item), ArrowType::List(field)) => {
                let (decoded, element) = self.node(item.data_type(), element, field.data_type())?;
                let conversion = Conversion::List {
                    element: Box::new(element),
                    field: Arc::clone(field),
                };
                Ok((ArrowType::List(retyped(item, decoded)), conversion))
            }
            (
                TypeKind::Vector { element, .. },
                ArrowType::List(item),
                ArrowType::FixedSizeList(field, length),
            ) => {
                let (decoded, element) = self.node(item.data_type(), element, field.data_type())?;
                let element = Box::new(element);
                let conversion = Conversion::Vector {
                    element,
                    field: Arc::clone(field),
                    length: *length,
                };
                Ok((ArrowType::List(retyped(item, decoded)), conversion))
            }
            (TypeKind::Map(key, value), ArrowType::List(entries), ArrowType::Map(to, _)) => {
                self.map(entries, (key, value), to)
            }
            (TypeKind::Multiset(element), ArrowType::List(entries), ArrowType::Map(to, _)) => {
                self.map(entries, (element, &TypeKind::Int.not_null()), to)
            }
            (TypeKind::Row(asked), ArrowType::Struct(from), ArrowType::Struct(to)) => {
                self.row(from, asked, to)
            }
            (TypeKind::Map(..), ArrowType::Struct(from), _) if from.find(SHREDDED).is_some() => {
                Err(Error::unsupported("shared-shredding maps in Parquet files"))
            }
            (TypeKind::Variant, ArrowType::Struct(from), ArrowType::Struct(to)) => {
                self.variant(from, to)
            }
            (TypeKind::Blob, ..) => Err(not_read("BLOB")),
            (TypeKind::Geometry(_), ..) => Err(not_read("GEOMETRY")),
            (TypeKind::Geography { .. }, ..) => Err(not_read("GEOGRAPHY")),
            (kind, from, to) if kind.is_scalar() && !from.is_nested() => self.leaf(from, kind, to),
            (_, from, _) => Err(Error::corrupt(format!(
                "stored as {from}, which cannot be read as {asked}"
            ))),
        }
    }

    fn leaf(
        &mut self,
        from: &ArrowType,
        kind: &TypeKind,
        to: &ArrowType,
    ) -> Result<(ArrowType, Conversion)> {
        let leaf = self
            .schema
            .leaf(self.leaf)
            .ok_or_else(|| Error::internal("leaf is missing in the schema"))?;
        self.leaves.push(self.leaf);
        self.leaf += 1;
        let decoded = hint(Stored::of(leaf), from, kind, to);
        let convert = Convert::choose(leaf, &decoded, kind, to)?;
        Ok((
            decoded,
            Conversion::Leaf {
                convert,
                to: to.clone(),
            },
        ))
    }

    /// `from` is an entry, a row of key and value.
    fn map(
        &mut self,
        from: &FieldRef,
        asked: (&DataType, &DataType),
        to: &FieldRef,
    ) -> Result<(ArrowType, Conversion)> {
        let (key, value) = children(from, "stored as a list, which cannot be read as a map")?;
        let (to_key, to_value) = children(to, "map without entries")?;
        if key.name() != "key" || value.name() != "value" {
            let (first, second) = (key.name(), value.name());
            return Err(Error::corrupt(format!(
                "map children are {first} and {second}, expected key and value"
            )));
        }
        let (key_type, key_conversion) = self.node(key.data_type(), asked.0, to_key.data_type())?;
        let (value_type, value_conversion) =
            self.node(value.data_type(), asked.1, to_value.data_type())?;
        let decoded = Fields::from(vec![retyped(key, key_type), retyped(value, value_type)]);
        let conversion = Conversion::Map {
            key: Box::new(key_conversion),
            value: Box::new(value_conversion),
            entries: Arc::clone(to),
        };
        Ok((
            ArrowType::List(retyped(from, ArrowType::Struct(decoded))),
            conversion,
        ))
    }

    /// A value and its metadata, in whatever order (TF-087).
    fn variant(&mut self, from: &Fields, to: &Fields) -> Result<(ArrowType, Conversion)> {
        if from.find(SHREDDED_VALUE).is_some() {
            return Err(Error::unsupported("shredded VARIANT in Parquet files"));
        }
        let child = |field: &FieldRef| DataField {
            id: FieldId(0),
            name: field.name().clone(),
            data_type: TypeKind::VarBinary(MAX_LENGTH).not_null(),
            description: None,
            default_value: None,
        };
        self.row(from, &to.iter().map(child).collect::<Vec<_>>(), to)
    }

    /// The asked children by name; the others are not read.
    fn row(
        &mut self,
        from: &Fields,
        asked: &[DataField],
        to: &Fields,
    ) -> Result<(ArrowType, Conversion)> {
        let mut decoded = Vec::with_capacity(from.len());
        let mut children: Vec<Option<(usize, Conversion)>> = asked.iter().map(|_| None).collect();
        let mut read = 0;
        for field in from {
            let wanted = asked
                .iter()
                .zip(to)
                .zip(&mut children)
                .find(|((asked, _), _)| asked.name == *field.name());
            let Some(((asked, to), child)) = wanted else {
                self.leaf += leaf_count(field.data_type());
                decoded.push(Arc::clone(field));
                continue;
            };
            let (data_type, conversion) = self
                .node(field.data_type(), &asked.data_type, to.data_type())
                .at(|| Frame::Field(asked.name.clone()))?;
            decoded.push(retyped(field, data_type));
            *child = Some((read, conversion));
            read += 1;
        }
        let missing = |(child, asked): (Option<_>, &DataField)| {
            child.ok_or_else(|| {
                Error::corrupt("nested field is missing").at(Frame::Field(asked.name.clone()))
            })
        };
        let children = children
            .into_iter()
            .zip(asked)
            .map(missing)
            .collect::<Result<Vec<_>>>()?;
        if children.is_empty() {
            return Err(Error::invalid_input("row type without fields"));
        }
        Ok((
            ArrowType::Struct(decoded.into()),
            Conversion::Row {
                children,
                fields: to.clone(),
            },
        ))
    }
}

/// Both children of an entry of a map.
fn children<'a>(entry: &'a Field, otherwise: &str) -> Result<(&'a FieldRef, &'a FieldRef)> {
    match entry.data_type() {
        ArrowType::Struct(fields) => match &fields[..] {
            [key, value] => Ok((key, value)),
            _ => Err(Error::corrupt(otherwise)),
        },
        _ => Err(Error::corrupt(otherwise)),
    }
}

fn not_read(name: &str) -> Error {
    Error::unsupported(format!("type {name} in Parquet files"))
}

fn retyped(field: &Field, data_type: ArrowType) -> FieldRef {
    Arc::new(field.clone().with_data_type(data_type))
}

fn leaf_count(data_type: &ArrowType) -> usize {
    match data_type {
        ArrowType::Struct(fields) => fields
            .iter()
            .map(|field| leaf_count(field.data_type()))
            .sum(),
        ArrowType::List(field) => leaf_count(field.data_type()),
        _ => 1,
    }
}
