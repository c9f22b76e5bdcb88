//! `$schemas` and `$options`.

use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_io::{Resources, join};
use paimon_meta::{BranchPaths, Error, Frame, ResolvedTable, Result, ResultExt, TableSchema};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::cell::{Rows, time};
use super::java_json::flat_json;
use super::java_map::map_order;
use crate::zone::Zone;

/// Options in the order in which the reference lists them.
pub(super) struct OrderedOptions<'a>(pub(super) Vec<(String, &'a str)>);

impl Serialize for OrderedOptions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The schemas of the branch, by id.
pub(super) async fn schemas(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let zone = Zone::parse(&table.time_zone)?;
    let schemas = table.schemas.values().map(|schema| async move {
        let options = ordered_options(resources, table, schema).await?;
        Ok::<_, Error>(vec![
            schema.id.into(),
            flat_json(&schema.fields)?.into(),
            flat_json(&schema.partition_keys)?.into(),
            flat_json(&schema.primary_keys)?.into(),
            flat_json(&options)?.into(),
            schema.comment.as_deref().into(),
            time(zone.wall_of(schema.time_millis)),
        ])
    });
    // As a list, so that the compiler sees that the future can go to another thread.
    let schemas: Vec<_> = schemas.collect();
    let schemas = stream::iter(schemas).buffered(resources.io_concurrency());
    schemas.try_collect().await
}

/// The options of the latest schema.
pub(super) async fn options(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let options = ordered_options(resources, table, latest(table)).await?;
    let rows = options.0.into_iter();
    Ok(rows
        .map(|(name, value)| vec![name.into(), value.into()])
        .collect())
}

/// The latest schema, which need not be the one that is read with.
pub(super) fn latest(table: &ResolvedTable) -> &TableSchema {
    table
        .schemas
        .last_key_value()
        .map_or(&table.schema, |(_, schema)| schema)
}

pub(super) async fn ordered_options<'a>(
    resources: &Resources,
    table: &ResolvedTable,
    schema: &'a TableSchema,
) -> Result<OrderedOptions<'a>> {
    let paths = BranchPaths::new(&table.branch)?;
    let file = resources.get(&join(&table.location, &paths.schema(schema.id)));
    let names = async { schema.option_order(&file.await?) };
    let names = map_order(names.await.at(|| Frame::Schema(schema.id))?);
    let option = |name: String| {
        let value = schema.options.get(&name)?;
        Some((name, value.as_str()))
    };
    Ok(OrderedOptions(
        names.into_iter().filter_map(option).collect(),
    ))
}
