//! Schemas as the reference makes them: of a definition, and of changes.

use std::collections::BTreeMap;

use paimon_meta::{DataField, DataType, Error, FieldId, Options, Result, TableSchema, TypeKind};

use crate::history::{ColumnPlace, SchemaChange, TableDefinition};

/// The first schema of a table.
pub(crate) fn schema_of(
    table: &TableDefinition,
    version: i32,
    time_millis: i64,
) -> Result<TableSchema> {
    let nullable_key = Options(table.options.clone()).value(&Options::PRIMARY_KEY_NULLABLE)?;
    let mut next = 0;
    let mut fields = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let mut data_type = column.data_type.clone();
        if table.primary_key.contains(&column.name) && !nullable_key {
            data_type.nullable = false;
        }
        let mut field = new_field(&column.name, data_type, &mut next);
        field.description.clone_from(&column.comment);
        field.default_value.clone_from(&column.default_value);
        fields.push(field);
    }
    let schema = TableSchema {
        version,
        id: 0,
        fields,
        highest_field_id: next - 1,
        partition_keys: table.partition_by.clone(),
        primary_keys: table.primary_key.clone(),
        options: table.options.clone(),
        comment: Some(String::new()),
        time_millis,
    };
    checked(&schema)
}

/// The next schema.
pub(crate) fn altered(
    schema: &TableSchema,
    changes: &[SchemaChange],
    time_millis: i64,
) -> Result<TableSchema> {
    let mut next = TableSchema {
        id: schema.id + 1,
        time_millis,
        ..schema.clone()
    };
    for change in changes {
        apply(&mut next, change)?;
    }
    checked(&next)
}

/// The schema as its reader sees it, with all that a schema must be.
fn checked(schema: &TableSchema) -> Result<TableSchema> {
    TableSchema::from_json(schema.to_json_pretty()?.as_bytes())
}

/// A field with the next id; fields inside it are numbered behind it, each behind those inside itself (TF section 2.3).
fn new_field(name: &str, mut data_type: DataType, next: &mut i32) -> DataField {
    let id = FieldId(*next);
    *next += 1;
    number(&mut data_type, next);
    DataField {
        id,
        name: name.to_owned(),
        data_type,
        description: None,
        default_value: None,
    }
}

fn number(data_type: &mut DataType, next: &mut i32) {
    match &mut data_type.kind {
        TypeKind::Row(fields) => {
            for field in fields {
                number(&mut field.data_type, next);
                field.id = FieldId(*next);
                *next += 1;
            }
        }
        TypeKind::Array(element) | TypeKind::Multiset(element) => number(element, next),
        TypeKind::Map(key, value) => {
            number(key, next);
            number(value, next);
        }
        _ => {}
    }
}

fn apply(schema: &mut TableSchema, change: &SchemaChange) -> Result<()> {
    match change {
        SchemaChange::Add {
            column,
            data_type,
            place,
        } => {
            top_level(column)?;
            let mut next = schema.highest_field_id + 1;
            let field = new_field(column, data_type.clone(), &mut next);
            schema.highest_field_id = next - 1;
            insert(schema, field, place.as_ref())?;
        }
        SchemaChange::Drop { column } => {
            let at = position(schema, column)?;
            schema.fields.remove(at);
        }
        SchemaChange::Move { column, place } => {
            let at = position(schema, column)?;
            let field = schema.fields.remove(at);
            insert(schema, field, Some(place))?;
        }
        SchemaChange::Rename { column, name } => rename(schema, column, name)?,
        SchemaChange::Type { .. } => {
            return Err(Error::unsupported(
                "changes of a column's type in the test kit",
            ));
        }
        SchemaChange::Nullability { column, nullable } => {
            field(schema, column)?.data_type.nullable = *nullable;
        }
        SchemaChange::Default { column, value } => {
            field(schema, column)?.default_value = Some(value.clone());
        }
        SchemaChange::Set { key, value } => {
            schema.options.insert(key.clone(), value.clone());
        }
        SchemaChange::Unset { key } => {
            schema.options.remove(key);
        }
    }
    Ok(())
}

fn top_level(column: &str) -> Result<()> {
    if column.contains('.') {
        return Err(Error::unsupported(
            "schema changes inside a row in the test kit",
        ));
    }
    Ok(())
}

fn position(schema: &TableSchema, column: &str) -> Result<usize> {
    top_level(column)?;
    let at = schema.fields.iter().position(|field| field.name == column);
    at.ok_or_else(|| Error::invalid_input(format!("no column {column:?} to change")))
}

fn field<'a>(schema: &'a mut TableSchema, column: &str) -> Result<&'a mut DataField> {
    let at = position(schema, column)?;
    let field = schema.fields.get_mut(at);
    field.ok_or_else(|| Error::internal(format!("no field {at}")))
}

fn insert(schema: &mut TableSchema, field: DataField, place: Option<&ColumnPlace>) -> Result<()> {
    let at = match place {
        None => schema.fields.len(),
        Some(ColumnPlace::First) => 0,
        Some(ColumnPlace::After(other)) => position(schema, other)? + 1,
    };
    schema.fields.insert(at, field);
    Ok(())
}

/// Keys and the options that name columns follow a new name.
fn rename(schema: &mut TableSchema, column: &str, name: &str) -> Result<()> {
    name.clone_into(&mut field(schema, column)?.name);
    for key in schema.primary_keys.iter_mut().filter(|key| *key == column) {
        name.clone_into(key);
    }
    rename_options(&mut schema.options, column, name);
    Ok(())
}

fn rename_options(options: &mut BTreeMap<String, String>, column: &str, name: &str) {
    for key in ["bucket-key", "sequence.field"] {
        if let Some(columns) = options.get_mut(key) {
            let names = columns
                .split(',')
                .map(|other| if other.trim() == column { name } else { other });
            *columns = names.collect::<Vec<_>>().join(",");
        }
    }
}
