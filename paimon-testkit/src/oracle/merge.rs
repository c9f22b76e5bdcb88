//! What comes out of the versions of a key: their order, which of them count, and the merge engine.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use paimon_meta::{
    Datum, Error, FieldId, MergeEngine, Options, Result, RowKind, SortOrder, TableSchema,
};

use super::aggregation::Aggregation;
use super::first_row::FirstRow;
use super::order;
use super::partial_update::PartialUpdate;
use crate::cell::Cell;
use crate::history::kind_of;

/// One version of a key, or one row of an append table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) kind: RowKind,
    pub(crate) sequence: i64,
    pub(crate) cells: BTreeMap<FieldId, Cell>,
}

/// A version of a key, and the level that it is on.
pub(crate) type Version = (i32, Record);

/// Options by which tables have other rows than this oracle.
const REFUSED: [&str; 2] = ["scan.fallback-branch", "tag.automatic-creation"];

/// How the versions of a key become one.
#[derive(Debug)]
pub(crate) struct MergeRules {
    /// The key that a bucket is sorted by; empty for append tables.
    pub(crate) key: Vec<FieldId>,
    /// Compactions look up what older files have of a key (RP-007).
    pub(crate) looks_up: bool,
    /// The column that says which kinds rows are.
    row_kind_field: Option<FieldId>,
    /// Rows that are flushed have the number of their snapshot as sequence number (ME-022).
    pub(crate) by_snapshot: bool,
    sequence_fields: Vec<FieldId>,
    descending: bool,
    ignore_delete: bool,
    merge_engine: MergeEngine,
    engine: Box<dyn Engine>,
}

/// One merge engine.
pub(super) trait Engine: fmt::Debug {
    /// What comes out of one or more versions, in the order of the merge (ME 1.3); `None` if nothing does, a retract if
    /// the key is gone and older versions of it must be too.
    ///
    /// Of a lone version it is asked only where rule ME-020 does not hold: in compactions that look up.
    ///
    /// # Errors
    /// `InvalidInput` for versions that the reference does not merge.
    fn merge(&self, versions: &[Record]) -> Result<Option<Record>>;
}

/// The last version wins, whatever its kind (ME-036).
#[derive(Debug)]
struct Deduplicate {
    ignore_delete: bool,
}

impl Engine for Deduplicate {
    fn merge(&self, versions: &[Record]) -> Result<Option<Record>> {
        let mut counts = versions
            .iter()
            .filter(|version| version.kind.is_add() || !self.ignore_delete);
        Ok(counts.next_back().cloned())
    }
}

impl MergeRules {
    /// The rules of a table.
    ///
    /// # Errors
    /// `Unsupported` for a merge engine or option that the kit does not have, `InvalidInput` or `Corrupt` for options
    /// and names that mean nothing.
    pub(crate) fn new(schema: &TableSchema, options: &Options) -> Result<Self> {
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
        let row_kind_field = options.get("rowkind.field").map(str::to_owned);
        let row_kind_field = ids(&Vec::from_iter(row_kind_field))?;
        let merge_engine = options.value(&Options::MERGE_ENGINE)?;
        Ok(Self {
            key,
            looks_up: options.needs_lookup()?,
            row_kind_field: row_kind_field.first().copied(),
            by_snapshot: options.value(&Options::SEQUENCE_SNAPSHOT_ORDERING)?,
            sequence_fields: ids(&options.sequence_field())?,
            descending: options.value(&Options::SEQUENCE_FIELD_SORT_ORDER)?
                == SortOrder::Descending,
            ignore_delete: options.value(&Options::IGNORE_DELETE)?,
            merge_engine,
            engine: engine(merge_engine, schema, options)?,
        })
    }

    /// The kind that a row is written with: what its column says, in any case, where there is one (ME 6.2).
    ///
    /// # Errors
    /// `InvalidInput` for a column that names no kind.
    pub(crate) fn kind(&self, record: &Record) -> Result<RowKind> {
        let Some(field) = self.row_kind_field else {
            return Ok(record.kind);
        };
        let text = match record.cell(field) {
            Cell::Scalar(Datum::String(text)) => Some(text.to_uppercase()),
            _ => None,
        };
        let kind = text.as_deref().and_then(kind_of);
        kind.ok_or_else(|| {
            Error::invalid_input(format!("{text:?} in rowkind.field is no row kind"))
        })
    }

    /// A record as it counts once it is in a file of a snapshot.
    pub(crate) fn numbered(&self, record: Record, snapshot: i64) -> Record {
        if self.by_snapshot {
            return Record {
                sequence: snapshot,
                ..record
            };
        }
        record
    }

    /// Whether a row is taken at all (`ignore-delete`).
    pub(crate) fn takes(&self, kind: RowKind) -> bool {
        kind.is_add() || !self.ignore_delete
    }

    /// Whether the newest version is the result as it is, by sequence numbers alone.
    pub(crate) fn newest_wins(&self) -> bool {
        self.merge_engine == MergeEngine::Deduplicate && self.sequence_fields.is_empty()
    }

    /// What comes out of the versions of one key, given in any order; `None` if there are none that count.
    ///
    /// # Errors
    /// Those of the engine.
    pub(crate) fn merge(&self, mut versions: Vec<Version>) -> Result<Option<Record>> {
        // A lone version is not merged (ME-020).
        if versions.len() < 2 {
            return Ok(versions.pop().map(|(_, record)| record));
        }
        self.merge_all(versions)
    }

    /// What a compaction that looks up makes of a key: also a lone version is merged, and with one of level 0 goes the
    /// version of a higher level than the compacted ones.
    ///
    /// # Errors
    /// Those of the engine; `InvalidInput` where the reference fails, too: only retracts that are ignored (ME 5, item 7).
    pub(crate) fn merge_looking_up(
        &self,
        mut versions: Vec<Version>,
        higher: Option<Version>,
    ) -> Result<Option<Record>> {
        if self.merge_engine != MergeEngine::FirstRow {
            versions.extend(higher);
            return self.merge_all(versions);
        }
        let first = self.merge_all(versions)?;
        let first = first.ok_or_else(|| {
            Error::invalid_input("a compaction of merge engine first-row with no row but retracts")
        })?;
        // What has a first row already takes no other (ME 5, item 1).
        Ok(higher.is_none().then_some(first))
    }

    fn merge_all(&self, mut versions: Vec<Version>) -> Result<Option<Record>> {
        versions.sort_by(|(_, a), (_, b)| self.compare(a, b));
        if self.looks_up && self.merge_engine != MergeEngine::FirstRow {
            // The highest one is a whole result (ME 1.6).
            let level = versions.iter().map(|(level, _)| *level);
            let least = level.filter(|level| *level > 0).min();
            versions.retain(|(level, _)| *level == 0 || Some(*level) == least);
        }
        let records: Vec<Record> = versions.into_iter().map(|(_, record)| record).collect();
        self.engine.merge(&records)
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

fn engine(engine: MergeEngine, schema: &TableSchema, options: &Options) -> Result<Box<dyn Engine>> {
    let ignore_delete = options.value(&Options::IGNORE_DELETE)?;
    Ok(match engine {
        MergeEngine::Deduplicate => Box::new(Deduplicate { ignore_delete }),
        MergeEngine::PartialUpdate => Box::new(PartialUpdate::new(schema, options)?),
        MergeEngine::Aggregation => Box::new(Aggregation::new(schema, options)?),
        MergeEngine::FirstRow => Box::new(FirstRow::new(options, ignore_delete)?),
        other => {
            return Err(Error::unsupported(format!(
                "merge engine {other:?} in the test kit"
            )));
        }
    })
}
