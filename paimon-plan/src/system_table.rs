//! Names of system tables, and locations that name one: `t$files`, `t$branch_dev`, `t$branch_dev$files`.

use std::fmt;

use paimon_meta::{Error, Result};
use serde::{Deserialize, Serialize};

/// What stands between a table's name and that of its branch or system table.
const SPLITTER: char = '$';

const BRANCH_PREFIX: &str = "branch_";

/// A table that every table has beside its own rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SystemTable {
    /// Rows made of metadata alone.
    Metadata(MetadataTable),
    /// `$ro`: the rows of the top level, which need no merge (RP-652).
    ReadOptimized,
    /// `$audit_log`: the rows with their kinds, deletes too (RP-650).
    AuditLog,
    /// `$binlog`: as `$audit_log`, each value in an array (RP-650).
    Binlog,
}

/// A system table whose rows are made of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MetadataTable {
    /// `$snapshots`: the snapshots of the branch, by id.
    Snapshots,
    /// `$schemas`: the schemas of the branch, by id.
    Schemas,
    /// `$options`: the options of the latest schema.
    Options,
    /// `$manifests`: the manifests of the snapshot.
    Manifests,
    /// `$files`: the data files of the snapshot.
    Files,
    /// `$file_key_ranges`: the data files of the snapshot with the ranges of their keys.
    FileKeyRanges,
    /// `$partitions`: the partitions of the snapshot.
    Partitions,
    /// `$buckets`: the buckets of the latest snapshot, whatever snapshot was chosen, as in the reference.
    Buckets,
    /// `$tags`: the tags of the branch, by name.
    Tags,
    /// `$branches`: the branches of the table.
    Branches,
    /// `$consumers`: how far the consumers of the branch have come.
    Consumers,
    /// `$aggregation_fields`: the columns of the latest schema and how they are aggregated.
    AggregationFields,
    /// `$statistics`: the statistics that the snapshot names.
    Statistics,
    /// `$table_indexes`: the index files of the snapshot.
    TableIndexes,
}

use MetadataTable as Metadata;

/// The names, as errors list them.
const NAMES: [(&str, SystemTable); 17] = [
    ("snapshots", SystemTable::Metadata(Metadata::Snapshots)),
    ("schemas", SystemTable::Metadata(Metadata::Schemas)),
    ("options", SystemTable::Metadata(Metadata::Options)),
    ("manifests", SystemTable::Metadata(Metadata::Manifests)),
    ("files", SystemTable::Metadata(Metadata::Files)),
    (
        "file_key_ranges",
        SystemTable::Metadata(Metadata::FileKeyRanges),
    ),
    ("partitions", SystemTable::Metadata(Metadata::Partitions)),
    ("buckets", SystemTable::Metadata(Metadata::Buckets)),
    ("tags", SystemTable::Metadata(Metadata::Tags)),
    ("branches", SystemTable::Metadata(Metadata::Branches)),
    ("consumers", SystemTable::Metadata(Metadata::Consumers)),
    (
        "aggregation_fields",
        SystemTable::Metadata(Metadata::AggregationFields),
    ),
    ("statistics", SystemTable::Metadata(Metadata::Statistics)),
    (
        "table_indexes",
        SystemTable::Metadata(Metadata::TableIndexes),
    ),
    ("ro", SystemTable::ReadOptimized),
    ("audit_log", SystemTable::AuditLog),
    ("binlog", SystemTable::Binlog),
];

/// System tables of the reference that are not built.
const REFUSED: [&str; 2] = ["row_tracking", "file_indexes"];

impl SystemTable {
    /// The system table of a name, in any case.
    ///
    /// # Errors
    /// `NotFound` that lists the names there are, `Unsupported` for a system table that is not built.
    pub fn parse(name: &str) -> Result<Self> {
        let wanted = name.to_lowercase();
        if let Some((_, table)) = NAMES.iter().find(|(known, _)| *known == wanted) {
            return Ok(*table);
        }
        if REFUSED.contains(&wanted.as_str()) {
            return Err(Error::unsupported(format!("system table ${wanted}")));
        }
        let names: Vec<String> = NAMES.iter().map(|(name, _)| format!("${name}")).collect();
        Err(Error::not_found(format!(
            "no system table ${name}, there are {}",
            names.join(", ")
        )))
    }

    /// The name, without the `$`.
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(_, table)| *table == self)
            .map_or("", |(name, _)| name)
    }
}

impl fmt::Display for SystemTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}", self.name())
    }
}

/// A location that may name a branch and a system table behind the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableLocation {
    /// Root of the table.
    pub table: String,
    /// The branch, if one is named.
    pub branch: Option<String>,
    /// The system table, if one is named.
    pub system_table: Option<SystemTable>,
}

impl TableLocation {
    /// Cuts the last segment of a location at `$`: `<table>[$branch_<branch>][$<system table>]`.
    ///
    /// # Errors
    /// `InvalidInput` for more parts than these, and as [`SystemTable::parse`].
    pub fn parse(location: &str) -> Result<Self> {
        let location = location.trim_end_matches('/');
        let name = location.rfind('/').map_or(0, |slash| slash + 1);
        let (parent, name) = location.split_at_checked(name).unwrap_or(("", location));
        let mut parts = name.split(SPLITTER);
        let table = parts.next().unwrap_or_default();
        let mut parts = parts.peekable();
        let branch = parts.next_if(|part| part.starts_with(BRANCH_PREFIX));
        let branch = branch.and_then(|part| part.strip_prefix(BRANCH_PREFIX));
        let system_table = parts.next().map(SystemTable::parse).transpose()?;
        if table.is_empty() || parts.next().is_some() {
            return Err(Error::invalid_input(format!(
                "table is {name:?}, expected <table>, <table>$<system table>, <table>$branch_<branch> or both"
            )));
        }
        Ok(Self {
            table: format!("{parent}{table}"),
            branch: branch.map(str::to_owned),
            system_table,
        })
    }
}

#[cfg(test)]
mod tests {
    use paimon_meta::ErrorKind;

    use super::*;

    #[test]
    fn every_name_is_found_in_any_case_and_comes_back() {
        for (name, table) in NAMES {
            assert_eq!(SystemTable::parse(&name.to_uppercase()).unwrap(), table);
            assert_eq!(table.to_string(), format!("${name}"));
        }
    }

    #[test]
    fn unknown_names_list_those_there_are() {
        let error = SystemTable::parse("nonsense").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(
            error
                .message()
                .starts_with("no system table $nonsense, there are $snapshots, $schemas"),
            "{error}"
        );
        let refused = SystemTable::parse("row_tracking").unwrap_err();
        assert_eq!(refused.feature(), Some("system table $row_tracking"));
    }

    #[test]
    fn locations_name_tables_branches_and_system_tables() {
        let parse = |text: &str| {
            let location = TableLocation::parse(text).unwrap();
            let name = location.system_table.map(SystemTable::name);
            (location.table, location.branch, name)
        };
        let own = |text: &str| text.to_owned();
        assert_eq!(parse("/a$b/t/"), (own("/a$b/t"), None, None));
        assert_eq!(
            parse("s3://b/db/t$files"),
            (own("s3://b/db/t"), None, Some("files"))
        );
        assert_eq!(parse("t$branch_dev"), (own("t"), Some(own("dev")), None));
        assert_eq!(
            parse("t$branch_dev$ro"),
            (own("t"), Some(own("dev")), Some("ro"))
        );
        for wrong in [
            "t$files$ro",
            "t$branch_a$files$x",
            "$files",
            "t$files$branch_a",
        ] {
            let error = TableLocation::parse(wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{wrong}");
        }
    }
}
