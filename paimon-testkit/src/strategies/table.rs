//! Tables of seeds: columns and options.

use std::collections::BTreeMap;

use paimon_meta::{MAX_LENGTH, MergeEngine, TypeKind};

use super::HistoryShape;
use super::engines::{Choice, EngineSeed, Kinds};
use super::values::{key_kind, partition_kind, value_kind};
use crate::history::{ColumnDefinition, TableDefinition};

/// Rows of one snapshot have one sequence number.
pub(super) const BY_SNAPSHOT: &str = "sequence.snapshot-ordering";

/// Rows are deleted by vectors.
pub(super) const VECTORS: &str = "deletion-vectors.enabled";

/// The column that says which kinds rows are.
pub(super) const ROW_KIND: &str = "kind";

/// What a table is made of.
#[derive(Clone, Debug)]
pub(super) struct SchemaSeed {
    pub(super) keys: Vec<u8>,
    pub(super) values: Vec<u8>,
    pub(super) partitioned: bool,
    pub(super) sequence_field: bool,
    pub(super) append: bool,
    pub(super) deletion_vectors: bool,
    pub(super) ignore_delete: bool,
    pub(super) row_kind_field: bool,
    pub(super) buckets: i32,
    pub(super) options: u16,
    pub(super) engine: EngineSeed,
}

/// The table, its columns that must stay, and the kinds of rows that it takes.
pub(super) fn definition(
    seed: &SchemaSeed,
    append: bool,
    shape: HistoryShape,
) -> (TableDefinition, Vec<String>, Kinds) {
    let partitioned = seed.partitioned && seed.keys.len() > 1;
    let mut columns = Vec::new();
    for (index, key) in seed.keys.iter().enumerate() {
        let kind = if partitioned && index == 0 {
            partition_kind(*key)
        } else {
            key_kind(*key)
        };
        columns.push(ColumnDefinition::new(format!("k{index}"), kind.not_null()));
    }
    for (index, value) in seed.values.iter().enumerate() {
        let kind = value_kind(*value);
        columns.push(ColumnDefinition::new(format!("v{index}"), kind.nullable()));
    }
    let mut fixed: Vec<String> = (0..seed.keys.len())
        .map(|index| format!("k{index}"))
        .collect();
    let mut options = layout_options(seed);
    let mut kinds = Kinds::Adds;
    if append {
        append_options(seed, shape, &mut options);
    } else {
        let sequence = merge_options(seed, &columns, shape, &mut options);
        fixed.extend(sequence);
        let mut choice = Choice {
            seed: &seed.engine,
            columns: &mut columns,
            options: &mut options,
            fixed: &mut fixed,
        };
        kinds = choice.choose();
        if seed.row_kind_field {
            let data_type = TypeKind::VarChar(MAX_LENGTH).nullable();
            columns.push(ColumnDefinition::new(ROW_KIND, data_type));
            fixed.push(ROW_KIND.to_owned());
            options.insert("rowkind.field".to_owned(), ROW_KIND.to_owned());
        }
    }
    let names = fixed.iter().take(seed.keys.len()).cloned();
    let table = TableDefinition {
        columns,
        primary_key: if append {
            Vec::new()
        } else {
            names.clone().collect()
        },
        partition_by: names.take(usize::from(partitioned)).collect(),
        options,
    };
    (table, fixed, kinds)
}

/// Options of a table without a key.
fn append_options(seed: &SchemaSeed, shape: HistoryShape, options: &mut BTreeMap<String, String>) {
    options.insert("bucket".to_owned(), "-1".to_owned());
    if shape.deletion_vectors && (seed.deletion_vectors || seed.options & 1 == 1) {
        options.insert(VECTORS.to_owned(), "true".to_owned());
        if seed.options & 2 == 2 {
            options.insert("deletion-vectors.bitmap64".to_owned(), "true".to_owned());
        }
    }
}

/// Options that change how rows are stored, and not which rows there are.
fn layout_options(seed: &SchemaSeed) -> BTreeMap<String, String> {
    let mut options = BTreeMap::new();
    let mut set = |key: &str, value: &str| options.insert(key.to_owned(), value.to_owned());
    set("write-only", "true");
    match seed.options >> 2 & 7 {
        0 => set("metadata.stats-mode", "none"),
        1 => set("metadata.stats-mode", "counts"),
        2 => set("metadata.stats-mode", "truncate(3)"),
        3 => set("fields.v0.stats-mode", "none"),
        _ => set("metadata.stats-mode", "full"),
    };
    match seed.options >> 6 & 15 {
        0 | 1 => set("file.format", "avro"),
        2..=4 => set("file.format", "orc"),
        5 => set("file.format.per.level", "0:avro"),
        6 => set("file.format.per.level", "0:orc"),
        7 => set("file.format.per.level", "1:avro,2:avro,3:orc,4:orc,5:orc"),
        _ => None,
    };
    if seed.options >> 5 & 1 == 1 {
        set("manifest.merge-min-count", "3");
    }
    options
}

/// Options of tables with a key; the column that orders versions, if there is one.
fn merge_options(
    seed: &SchemaSeed,
    columns: &[ColumnDefinition],
    shape: HistoryShape,
    options: &mut BTreeMap<String, String>,
) -> Option<String> {
    let mut set = |key: &str, value: &str| options.insert(key.to_owned(), value.to_owned());
    set("bucket", &seed.buckets.to_string());
    if seed.options & 1 == 1 {
        set("data-file.thin-mode", "true");
    }
    let engine = seed.engine.engine;
    if seed.ignore_delete && engine == MergeEngine::Deduplicate {
        set("ignore-delete", "true");
    }
    if engine == MergeEngine::FirstRow {
        return None;
    }
    if seed.deletion_vectors && shape.deletion_vectors {
        set(VECTORS, "true");
    } else if seed.engine.mode >= 224 && shape.deletion_vectors {
        set("force-lookup", "true");
    }
    let producer = match seed.engine.mode {
        208..224 if shape.deletion_vectors => "lookup",
        200..208 => "full-compaction",
        192..200 => "input",
        _ => "none",
    };
    set("changelog-producer", producer);
    let mut scalars = columns
        .iter()
        .filter(|column| column.name.starts_with('v') && column.data_type.kind.is_scalar());
    let column = scalars.next();
    if !seed.sequence_field && seed.engine.mode % 32 >= 28 {
        set(BY_SNAPSHOT, "true");
    }
    let column = column.filter(|_| seed.sequence_field && shape.sequence_fields)?;
    set("sequence.field", &column.name);
    if seed.options & 2 == 2 {
        set("sequence.field.sort-order", "descending");
    }
    Some(column.name.clone())
}
