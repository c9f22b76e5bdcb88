//! Types as Parquet and Avro files store them.

use paimon_meta::{DataField, DataType, Error, Result, TypeKind};

/// The type whose Arrow form is stored: whole seconds are milliseconds (table-format 8.1).
///
/// # Errors
/// `Unsupported` where the reference would store a form that the kit does not write.
pub(super) fn stored_type(data_type: &DataType) -> Result<DataType> {
    let boxed = |inner: &DataType| stored_type(inner).map(Box::new);
    let kind = match &data_type.kind {
        TypeKind::Timestamp(7..) | TypeKind::LocalZonedTimestamp(7..) => {
            return refused("TIMESTAMP(7) and finer");
        }
        TypeKind::Variant => return refused("VARIANT"),
        TypeKind::Timestamp(0) => TypeKind::Timestamp(3),
        TypeKind::LocalZonedTimestamp(0) => TypeKind::LocalZonedTimestamp(3),
        TypeKind::Array(element) => TypeKind::Array(boxed(element)?),
        TypeKind::Multiset(element) => TypeKind::Multiset(boxed(element)?),
        TypeKind::Map(key, value) => TypeKind::Map(boxed(key)?, boxed(value)?),
        TypeKind::Row(fields) => {
            let fields = fields.iter().map(|field| {
                let data_type = stored_type(&field.data_type)?;
                Ok(DataField {
                    data_type,
                    ..field.clone()
                })
            });
            TypeKind::Row(fields.collect::<Result<_>>()?)
        }
        kind => kind.clone(),
    };
    Ok(DataType {
        kind,
        nullable: data_type.nullable,
    })
}

fn refused<T>(what: &str) -> Result<T> {
    Err(Error::unsupported(format!("{what} in the test kit")))
}
