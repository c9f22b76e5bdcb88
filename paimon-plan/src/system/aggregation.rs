//! `$aggregation_fields`.

use paimon_io::Resources;
use paimon_meta::{ResolvedTable, Result};

use super::cell::Rows;
use super::schemas::{latest, ordered_options};

/// The columns of the latest schema, each with the values and the keys of the options `fields.<column>.…`.
pub(super) async fn fields(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let schema = latest(table);
    let options = ordered_options(resources, table, schema).await?;
    let rows = schema.fields.iter().map(|field| {
        let own = || {
            options
                .0
                .iter()
                .filter(|(key, _)| column_of(key) == Some(&field.name))
        };
        let values = own().map(|(_, value)| *value);
        let keys = own().map(|(key, _)| key.as_str());
        vec![
            (&field.name).into(),
            field.data_type.to_string().into(),
            list_text(values).into(),
            list_text(keys).into(),
            field.description.as_deref().into(),
        ]
    });
    Ok(rows.collect())
}

/// The part behind `fields.` of an option of at least three parts. Parts at the end that are empty do not count, and a
/// name with a dot is cut at it.
fn column_of(key: &str) -> Option<&str> {
    let mut parts = key.trim_end_matches('.').split('.');
    let (first, column) = (parts.next()?, parts.next()?);
    parts.next()?;
    (first == "fields").then_some(column)
}

fn list_text<'a>(items: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_belong_to_the_column_between_the_first_dots() {
        assert_eq!(column_of("fields.a.aggregate-function"), Some("a"));
        assert_eq!(column_of("fields.a.b.aggregate-function"), Some("a"));
        for none in [
            "fields.default-aggregate-function",
            "bucket",
            "fields.a.",
            "field.a.b",
        ] {
            assert_eq!(column_of(none), None, "{none}");
        }
    }
}
