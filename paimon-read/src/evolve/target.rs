//! The Arrow types of columns whose type changed.

use paimon_meta::{DataField, DataType, FieldId, ResolvedTable, TableSchema, TypeKind};

/// The type that a column comes in, for its Arrow form alone: that of the table, but
/// - what is not there in files of another schema, or is not declared `NOT NULL` there, or may be lost by a cast, may be
///   null, whatever the table says (the reference reads null, table-format section 8.4). Streams read files of schemas that
///   are newer than theirs too;
/// - `TIMESTAMP(0)` that was `TIME` has milliseconds, which the reference keeps (8.3).
pub(crate) fn target_type(table: &ResolvedTable, field: &DataField) -> DataType {
    let others = table.schemas.values();
    let others = others.filter(|schema| schema.id != table.schema.id);
    others.fold(field.data_type.clone(), |target, schema| {
        let written = field_of(schema, field.id).map(|field| &field.data_type);
        loosened(target, written)
    })
}

/// As [`target_type`], for a column whose being null does not matter.
pub(super) fn inner_target_type(table: &ResolvedTable, field: &DataField) -> DataType {
    match field.data_type.kind {
        TypeKind::Timestamp(0) | TypeKind::LocalZonedTimestamp(0) => target_type(table, field),
        ref kind if kind.is_scalar() => field.data_type.clone(),
        _ => target_type(table, field),
    }
}

/// Most columns have kept their place.
fn field_of(schema: &TableSchema, id: FieldId) -> Option<&DataField> {
    let place = usize::try_from(id.0).ok();
    let placed = place.and_then(|place| schema.fields.get(place));
    placed
        .filter(|field| field.id == id)
        .or_else(|| schema.field_by_id(id))
}

/// A type with timestamps of at most six digits.
pub(crate) fn in_micros(data_type: &DataType) -> DataType {
    let kind = match &data_type.kind {
        TypeKind::Timestamp(7..=9) => TypeKind::Timestamp(6),
        TypeKind::LocalZonedTimestamp(7..=9) => TypeKind::LocalZonedTimestamp(6),
        TypeKind::Array(element) => TypeKind::Array(Box::new(in_micros(element))),
        TypeKind::Map(key, value) => TypeKind::Map(key.clone(), Box::new(in_micros(value))),
        TypeKind::Row(fields) => {
            let cut = |field: &DataField| DataField {
                data_type: in_micros(&field.data_type),
                ..field.clone()
            };
            TypeKind::Row(fields.iter().map(cut).collect())
        }
        other => other.clone(),
    };
    DataType {
        kind,
        nullable: data_type.nullable,
    }
}

fn loosened(target: DataType, written: Option<&DataType>) -> DataType {
    let Some(written) = written else {
        return target.kind.nullable();
    };
    let nullable = target.nullable || written.nullable;
    let (kind, retyped) = match (target.kind, &written.kind) {
        (TypeKind::Row(fields), TypeKind::Row(old)) => {
            let loosen = |field: DataField| {
                let old = old.iter().find(|old| old.id == field.id);
                DataField {
                    data_type: loosened(field.data_type, old.map(|old| &old.data_type)),
                    ..field
                }
            };
            (
                TypeKind::Row(fields.into_iter().map(loosen).collect()),
                false,
            )
        }
        (TypeKind::Array(element), TypeKind::Array(old)) => (
            TypeKind::Array(Box::new(loosened(*element, Some(old)))),
            false,
        ),
        (TypeKind::Map(key, value), TypeKind::Map(_, old)) => (
            TypeKind::Map(key, Box::new(loosened(*value, Some(old)))),
            false,
        ),
        (TypeKind::Timestamp(0), TypeKind::Time(_)) => (TypeKind::Timestamp(3), true),
        (TypeKind::LocalZonedTimestamp(0), TypeKind::Time(_)) => {
            (TypeKind::LocalZonedTimestamp(3), true)
        }
        (kind, old) => {
            let retyped = kind != *old;
            (kind, retyped)
        }
    };
    DataType {
        kind,
        nullable: nullable || retyped,
    }
}
