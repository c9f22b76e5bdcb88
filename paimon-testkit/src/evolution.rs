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
            let mut next = schema.highest_field_id + 1;
            let (fields, name) = fields_of(&mut schema.fields, column)?;
            let field = new_field(name, data_type.clone(), &mut next);
            insert(fields, field, place.as_ref())?;
            schema.highest_field_id = next - 1;
        }
        SchemaChange::Drop { column } => {
            let (fields, name) = fields_of(&mut schema.fields, column)?;
            let at = position(fields, name)?;
            fields.remove(at);
        }
        SchemaChange::Move { column, place } => {
            let (fields, name) = fields_of(&mut schema.fields, column)?;
            let at = position(fields, name)?;
            let field = fields.remove(at);
            insert(fields, field, Some(place))?;
        }
        SchemaChange::Rename { column, name } => rename(schema, column, name)?,
        SchemaChange::Type { column, data_type } => {
            *type_at(&mut schema.fields, column)? = data_type.clone();
        }
        SchemaChange::Nullability { column, nullable } => {
            type_at(&mut schema.fields, column)?.nullable = *nullable;
        }
        SchemaChange::Default { column, value } => {
            field(&mut schema.fields, column)?.default_value = Some(value.clone());
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

/// Whether a column of a schema has had another type, or other fields inside of it, in one of these.
pub(crate) fn is_retyped<'a>(
    schema: &TableSchema,
    mut others: impl Iterator<Item = &'a TableSchema>,
) -> bool {
    others.any(|other| {
        other.fields.iter().any(|old| {
            let new = schema.fields.iter().find(|new| new.id == old.id);
            new.is_some_and(|new| new.data_type.kind != old.data_type.kind)
        })
    })
}

/// The fields that a path leads to, and its last name. Elements of arrays are called `element`, values of maps `value`.
fn fields_of<'a, 'p>(
    fields: &'a mut Vec<DataField>,
    path: &'p str,
) -> Result<(&'a mut Vec<DataField>, &'p str)> {
    let Some((parent, name)) = path.rsplit_once('.') else {
        return Ok((fields, path));
    };
    match &mut type_at(fields, parent)?.kind {
        TypeKind::Row(fields) => Ok((fields, name)),
        _ => Err(Error::invalid_input(format!("{parent:?} is no row"))),
    }
}

/// The type that a path leads to.
fn type_at<'a>(fields: &'a mut [DataField], path: &str) -> Result<&'a mut DataType> {
    let mut names = path.split('.');
    let mut found = &mut field(fields, names.next().unwrap_or_default())?.data_type;
    for name in names {
        found = match (&mut found.kind, name) {
            (TypeKind::Row(fields), name) => &mut field(fields, name)?.data_type,
            (TypeKind::Array(element), "element") => element,
            (TypeKind::Map(_, value), "value") => value,
            _ => return Err(Error::invalid_input(format!("no type at {path:?}"))),
        };
    }
    Ok(found)
}

fn position(fields: &[DataField], name: &str) -> Result<usize> {
    let at = fields.iter().position(|field| field.name == name);
    at.ok_or_else(|| Error::invalid_input(format!("no column {name:?} to change")))
}

fn field<'a>(fields: &'a mut [DataField], name: &str) -> Result<&'a mut DataField> {
    let at = position(fields, name)?;
    let field = fields.get_mut(at);
    field.ok_or_else(|| Error::internal(format!("no field {at}")))
}

fn insert(
    fields: &mut Vec<DataField>,
    field: DataField,
    place: Option<&ColumnPlace>,
) -> Result<()> {
    let at = match place {
        None => fields.len(),
        Some(ColumnPlace::First) => 0,
        Some(ColumnPlace::After(other)) => position(fields, other)? + 1,
    };
    fields.insert(at, field);
    Ok(())
}

/// Keys and the options that name columns follow a new name.
fn rename(schema: &mut TableSchema, column: &str, name: &str) -> Result<()> {
    let (fields, last) = fields_of(&mut schema.fields, column)?;
    name.clone_into(&mut field(fields, last)?.name);
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
