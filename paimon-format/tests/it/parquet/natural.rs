//! The table type that fits a stored column best, for reading files without a table.

use paimon_format::FileColumn;
use paimon_meta::{DataField, DataType, FieldId, MAX_LENGTH, TypeKind};
use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::Type;

/// All columns of a file that have such a type.
pub(crate) fn natural_columns(bytes: bytes::Bytes) -> Vec<FileColumn> {
    let reader = SerializedFileReader::new(bytes).unwrap();
    let fields = reader
        .metadata()
        .file_metadata()
        .schema()
        .get_fields()
        .to_vec();
    let column = |field: &Type| {
        let data_type = natural(field)?;
        Some(FileColumn {
            name: field.name().to_owned(),
            data_type,
        })
    };
    fields.iter().filter_map(|field| column(field)).collect()
}

fn natural(node: &Type) -> Option<DataType> {
    let info = node.get_basic_info();
    let kind = match info.converted_type() {
        _ if node.is_primitive() => primitive(node)?,
        ConvertedType::LIST => {
            let repeated = &node.get_fields()[0];
            let element = if repeated.is_primitive() {
                repeated
            } else {
                &repeated.get_fields()[0]
            };
            TypeKind::Array(Box::new(natural(element)?))
        }
        ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE => {
            let entry = node.get_fields()[0].get_fields();
            TypeKind::Map(Box::new(natural(&entry[0])?), Box::new(natural(&entry[1])?))
        }
        _ => {
            let field = |(id, field): (i32, &Type)| {
                let data_type = natural(field)?;
                let name = field.name().to_owned();
                Some(DataField {
                    id: FieldId(id),
                    name,
                    data_type,
                    description: None,
                    default_value: None,
                })
            };
            TypeKind::Row(
                (0..)
                    .zip(node.get_fields())
                    .map(|(id, child)| field((id, child)))
                    .collect::<Option<_>>()?,
            )
        }
    };
    Some(DataType {
        kind,
        nullable: info.repetition() != Repetition::REQUIRED,
    })
}

fn primitive(node: &Type) -> Option<TypeKind> {
    let info = node.get_basic_info();
    let unit = match info.logical_type_ref() {
        Some(LogicalType::Timestamp(timestamp)) => {
            Some((timestamp.unit, timestamp.is_adjusted_to_u_t_c))
        }
        _ => None,
    };
    Some(match (node.get_physical_type(), info.converted_type()) {
        (_, ConvertedType::DECIMAL) => TypeKind::Decimal {
            precision: node.get_precision().try_into().ok()?,
            scale: node.get_scale().try_into().ok()?,
        },
        (PhysicalType::BOOLEAN, _) => TypeKind::Boolean,
        (PhysicalType::INT32, ConvertedType::INT_8) => TypeKind::TinyInt,
        (PhysicalType::INT32, ConvertedType::INT_16) => TypeKind::SmallInt,
        (PhysicalType::INT32, ConvertedType::DATE) => TypeKind::Date,
        (PhysicalType::INT32, ConvertedType::TIME_MILLIS) => TypeKind::Time(3),
        (PhysicalType::INT32, _) => TypeKind::Int,
        (PhysicalType::INT64, _) => match unit {
            None => TypeKind::BigInt,
            Some((TimeUnit::MILLIS, false)) => TypeKind::Timestamp(3),
            Some((TimeUnit::MICROS, false)) => TypeKind::Timestamp(6),
            Some((TimeUnit::NANOS, false)) => TypeKind::Timestamp(9),
            Some((TimeUnit::MILLIS, true)) => TypeKind::LocalZonedTimestamp(3),
            Some((TimeUnit::MICROS, true)) => TypeKind::LocalZonedTimestamp(6),
            Some((TimeUnit::NANOS, true)) => TypeKind::LocalZonedTimestamp(9),
        },
        (PhysicalType::INT96, _) => TypeKind::Timestamp(6),
        (PhysicalType::FLOAT, _) => TypeKind::Float,
        (PhysicalType::DOUBLE, _) => TypeKind::Double,
        (PhysicalType::BYTE_ARRAY, ConvertedType::UTF8) => TypeKind::VarChar(MAX_LENGTH),
        (PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY, _) => {
            TypeKind::VarBinary(MAX_LENGTH)
        }
    })
}
