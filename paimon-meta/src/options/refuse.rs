//! Options that change rows and are not implemented: refused by name, before the first row. Facts: TF-100.

use crate::error::{Error, Frame, Result};
use crate::options::text::one_of;
use crate::options::{FromOption, Options, TableOption};
use crate::schema::TableSchema;

/// Options that change the rows of any table when true.
const FLAGS: [&str; 3] = [
    "data-evolution.enabled",
    "chain-table.enabled",
    "query-auth.enabled",
];

/// The same for tables with a primary key.
const KEY_FLAGS: [&str; 2] = ["pk-clustering-override", "postpone.merge-on-read"];

/// Options that name branches to read beside the table's own.
const BRANCHES: [&str; 3] = [
    "scan.primary-branch",
    "scan.fallback-snapshot-branch",
    "scan.fallback-delta-branch",
];

/// Keys of options that are refused.
pub(super) fn refused_keys() -> impl Iterator<Item = &'static str> {
    FLAGS.into_iter().chain(KEY_FLAGS).chain(BRANCHES)
}

/// Refuses a table whose options change its rows in a way that is not implemented, or mean nothing.
///
/// # Errors
/// `Unsupported` that names the option, `InvalidInput` for an option that does not parse.
pub fn unsupported_feature(options: &Options, schema: &TableSchema) -> Result<()> {
    table_type(options)?;
    let key_flags = KEY_FLAGS.iter().filter(|_| schema.has_primary_key());
    for key in FLAGS.iter().chain(key_flags) {
        if options.boolean(key, false)? {
            return Err(refusal(key, (*key).to_owned()));
        }
    }
    for key in BRANCHES {
        if options
            .get(key)
            .is_some_and(|branch| !branch.trim().is_empty())
        {
            return Err(refusal(key, key.to_owned()));
        }
    }
    parses(options, &Options::MERGE_ENGINE)?;
    parses(options, &Options::CHANGELOG_PRODUCER)?;
    parses(options, &Options::SEQUENCE_FIELD_SORT_ORDER)?;
    parses(options, &Options::BUCKET)?;
    parses(options, &Options::BUCKET_FUNCTION_TYPE)?;
    parses(options, &Options::SCAN_MODE)?;
    parses(options, &Options::INCREMENTAL_BETWEEN_SCAN_MODE)
}

/// Other types than these are laid out differently.
fn table_type(options: &Options) -> Result<()> {
    let key = "type";
    let names = [
        ("table", true),
        ("materialized-table", true),
        ("format-table", false),
        ("object-table", false),
        ("lance-table", false),
        ("iceberg-table", false),
    ];
    let text = options.get(key).unwrap_or("table");
    match one_of(text, &names) {
        Some(true) => Ok(()),
        Some(false) => Err(refusal(key, text.trim().to_ascii_lowercase())),
        None => Err(Options::invalid(key, text, "the type of a table")),
    }
}

fn parses<T: FromOption>(options: &Options, option: &TableOption<T>) -> Result<()> {
    options.value(option).map(|_| ())
}

fn refusal(key: &str, feature: String) -> Error {
    Error::unsupported(feature).at(Frame::Option(key.to_owned()))
}
