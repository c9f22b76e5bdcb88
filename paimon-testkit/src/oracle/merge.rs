//! What comes out of the versions of a key, about thirty lines for each merge engine.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use paimon_meta::{Error, FieldId, MergeEngine, Options, Result, RowKind, SortOrder, TableSchema};

use super::order;
use crate::cell::Cell;

/// One version of a key, or one row of an append table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) kind: RowKind,
    pub(crate) sequence: i64,
    pub(crate) cells: BTreeMap<FieldId, Cell>,
}

/// Options by which tables have other rows than this oracle.
const REFUSED: [&str; 4] = [
    "rowkind.field",
    "scan.fallback-branch",
    "sequence.snapshot-ordering",
    "tag.automatic-creation",
];

/// How the versions of a key become one.
#[derive(Debug)]
pub(crate) struct MergeRules {
    /// The key that a bucket is sorted by; empty for append tables.
    pub(crate) key: Vec<FieldId>,
    sequence_fields: Vec<FieldId>,
    descending: bool,
    ignore_delete: bool,
    engine: Box<dyn Engine>,
}

/// One merge engine.
pub(super) trait Engine: fmt::Debug {
    /// What comes out of at least one version, in the order of the merge; `None` if nothing does, a retract if the key is
    /// gone and older versions of it must be too.
    fn merge(&self, versions: Vec<Record>) -> Option<Record>;
}

/// The last version wins, whatever its kind (ME-010).
#[derive(Debug)]
struct Deduplicate;

impl Engine for Deduplicate {
    fn merge(&self, mut versions: Vec<Record>) -> Option<Record> {
        versions.pop()
    }
}

impl MergeRules {
    /// The rules of a table.
    ///
    /// # Errors
    /// `Unsupported` for a merge engine or option that the kit does not have, `InvalidInput` or `Corrupt` for options
    /// and names that mean nothing.
    pub(crate) fn new(schema: &TableSchema, options: &Options) -> Result<Self> {
        let engine: Box<dyn Engine> = match options.value(&Options::MERGE_ENGINE)? {
            MergeEngine::Deduplicate => Box::new(Deduplicate),
            other => {
                return Err(Error::unsupported(format!(
                    "merge engine {other:?} in the test kit"
                )));
            }
        };
        if let Some(key) = REFUSED.into_iter().find(|key| options.get(key).is_some()) {
            return Err(Error::unsupported(format!("{key} in the test kit")));
        }
        let ids = |names: &[String]| {
            let ids = names.iter().map(|name| Ok(schema.field(name)?.id));
            ids.collect::<Result<Vec<_>>>()
        };
        let key = if schema.has_primary_key() {
            schema.key_fields()?.iter().map(|field| field.id).collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            key,
            sequence_fields: ids(&options.sequence_field())?,
            descending: options.value(&Options::SEQUENCE_FIELD_SORT_ORDER)?
                == SortOrder::Descending,
            ignore_delete: options.value(&Options::IGNORE_DELETE)?,
            engine,
        })
    }

    /// Whether a row is taken at all (`ignore-delete`).
    pub(crate) fn takes(&self, kind: RowKind) -> bool {
        kind.is_add() || !self.ignore_delete
    }

    /// Whether columns of the rows order versions of a key.
    pub(crate) fn has_sequence_fields(&self) -> bool {
        !self.sequence_fields.is_empty()
    }

    /// What comes out of the versions of one key, given in any order; `None` if there are none that count.
    pub(crate) fn merge(&self, mut versions: Vec<Record>) -> Option<Record> {
        versions.retain(|version| self.takes(version.kind));
        versions.sort_by(|a, b| self.compare(a, b));
        if versions.is_empty() {
            return None;
        }
        self.engine.merge(versions)
    }

    /// The order of versions (ME 1.3): sequence fields, sequence number, retracts before adds.
    fn compare(&self, a: &Record, b: &Record) -> Ordering {
        let fields = self.sequence_fields.iter().map(|field| {
            let (a, b) = (a.cell(*field).datum(), b.cell(*field).datum());
            match (a, b) {
                (Some(_), Some(_)) if self.descending => order(b, a),
                _ => order(a, b),
            }
        });
        let mut fields = fields.filter(|order| order.is_ne());
        fields
            .next()
            .unwrap_or(Ordering::Equal)
            .then(a.sequence.cmp(&b.sequence))
            .then(a.kind.is_add().cmp(&b.kind.is_add()))
    }
}
