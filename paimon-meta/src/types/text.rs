//! Types as text. Facts: table-format section 2.2.

use std::fmt;

use crate::schema::DataField;
use crate::types::{DataType, MAX_LENGTH, TypeKind};

/// The canonical text; nested types as SQL writes them.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        if self.nullable {
            Ok(())
        } else {
            f.write_str(" NOT NULL")
        }
    }
}

impl fmt::Display for TypeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::TinyInt => f.write_str("TINYINT"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Int => f.write_str("INT"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::Char(length) => write!(f, "CHAR({length})"),
            Self::VarChar(MAX_LENGTH) => f.write_str("STRING"),
            Self::VarChar(length) => write!(f, "VARCHAR({length})"),
            Self::Binary(length) => write!(f, "BINARY({length})"),
            Self::VarBinary(MAX_LENGTH) => f.write_str("BYTES"),
            Self::VarBinary(length) => write!(f, "VARBINARY({length})"),
            Self::Date => f.write_str("DATE"),
            Self::Time(precision) => write!(f, "TIME({precision})"),
            Self::Timestamp(precision) => write!(f, "TIMESTAMP({precision})"),
            Self::LocalZonedTimestamp(precision) => {
                write!(f, "TIMESTAMP({precision}) WITH LOCAL TIME ZONE")
            }
            Self::Variant => f.write_str("VARIANT"),
            Self::Blob => f.write_str("BLOB"),
            Self::Geometry(crs) => write!(f, "GEOMETRY({})", Crs(crs)),
            Self::Geography { crs, algorithm } => write!(f, "GEOGRAPHY({}, {algorithm})", Crs(crs)),
            Self::Array(element) => write!(f, "ARRAY<{element}>"),
            Self::Vector { element, length } => write!(f, "VECTOR<{element}, {length}>"),
            Self::Multiset(element) => write!(f, "MULTISET<{element}>"),
            Self::Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            Self::Row(fields) => {
                f.write_str("ROW<")?;
                for (index, field) in fields.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    write_field(field, f)?;
                }
                f.write_str(">")
            }
        }
    }
}

fn write_field(field: &DataField, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "`{}` {}", field.name.replace('`', "``"), field.data_type)?;
    if let Some(comment) = field
        .description
        .as_deref()
        .filter(|comment| !comment.is_empty())
    {
        write!(f, " COMMENT '{}'", comment.replace('\'', "''"))?;
    }
    field
        .default_value
        .as_deref()
        .map_or(Ok(()), |default| write!(f, " DEFAULT {default}"))
}

/// A coordinate reference system, in quotes where it would not read back without.
struct Crs<'a>(&'a str);

impl fmt::Display for Crs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let special = |symbol: char| {
            symbol.is_whitespace()
                || matches!(symbol, '<' | '>' | '(' | ')' | ',' | '.' | '\'' | '`')
        };
        if self.0.starts_with(|first: char| first.is_ascii_digit()) || self.0.contains(special) {
            write!(f, "'{}'", self.0.replace('\'', "''"))
        } else {
            f.write_str(self.0)
        }
    }
}
