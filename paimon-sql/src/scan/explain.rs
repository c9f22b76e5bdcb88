//! What `EXPLAIN` says of a scan.

use std::fmt;

use datafusion::physical_plan::DisplayFormatType;
use paimon_meta::{FieldId, Predicate, TablePredicate};
use paimon_plan::{ConjunctUse, PruneStep};

use super::PaimonScan;

/// What a plan was made of, for people.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "ballista", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Explained {
    /// The condition, conjunct by conjunct.
    pub(crate) conjuncts: Vec<ConjunctUse>,
    /// Splits that are read as they are.
    pub(crate) raw: usize,
    /// Splits that are merged, or of changes.
    pub(crate) merged: usize,
}

impl Explained {
    /// What is left of a condition is asked of these rows.
    fn rows(&self) -> &'static str {
        match (self.raw, self.merged) {
            (_, 0) => "rows",
            (0, _) => "rows that win",
            _ => "rows and rows that win",
        }
    }

    /// Where a conjunct acts: what it prunes, and which rows it is asked of.
    fn places(&self, conjunct: &ConjunctUse, key: &[FieldId]) -> String {
        let mut places: Vec<&str> = conjunct.prunes.iter().copied().map(step).collect();
        let of_key = conjunct
            .predicate
            .uses_only(&mut |column| key.contains(column));
        match conjunct.exact {
            true => {}
            false if of_key && self.merged > 0 => places.push("keys before they are merged"),
            false => places.push(self.rows()),
        }
        places.join(", ")
    }
}

fn step(step: PruneStep) -> &'static str {
    match step {
        PruneStep::Partition => "partitions",
        PruneStep::Bucket => "buckets",
        PruneStep::Key => "files by key",
        PruneStep::Value => "files by value",
        _ => "files",
    }
}

impl PaimonScan {
    /// Writes the node, on one line or on several.
    pub(crate) fn explain(
        &self,
        format: DisplayFormatType,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let parts = self.explained();
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "PaimonScan: {}", parts.join(", "))
            }
            DisplayFormatType::TreeRender => write!(f, "{}", parts.join("\n")),
        }
    }

    fn explained(&self) -> Vec<String> {
        let parts = self.parts();
        let (reading, explained) = (&parts.reading, &parts.explained);
        let mut said = vec![format!("table={}", reading.table.location)];
        if let Some(snapshot) = &reading.table.snapshot {
            said.push(format!("snapshot={}", snapshot.id));
        }
        let (raw, merged) = (explained.raw, explained.merged);
        said.push(format!("splits={raw} raw {merged} merged"));
        said.push(format!("partitions={}", parts.partitions.tasks.len()));
        let schema = self.schema_of_rows();
        let columns: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        said.push(format!("columns=[{}]", columns.join(", ")));
        if !explained.conjuncts.is_empty() {
            let conjuncts: Vec<String> = explained
                .conjuncts
                .iter()
                .map(|one| self.conjunct(one))
                .collect();
            said.push(format!("condition=[{}]", conjuncts.join("; ")));
        }
        if !reading.filters.is_empty() {
            let filters: Vec<String> = reading.filters.iter().map(ToString::to_string).collect();
            said.push(format!(
                "filters=[{}: {}]",
                filters.join("; "),
                explained.rows()
            ));
        }
        if let Some(limit) = reading.request.limit {
            said.push(format!("limit={limit}"));
        }
        said
    }

    fn conjunct(&self, conjunct: &ConjunctUse) -> String {
        let parts = self.parts();
        let key = parts.reading.table.schema.key_fields().unwrap_or_default();
        let key: Vec<FieldId> = key.iter().map(|field| field.id).collect();
        let places = parts.explained.places(conjunct, &key);
        format!("{}: {places}", self.named(&conjunct.predicate))
    }

    /// A predicate with the names of its columns.
    fn named(&self, predicate: &TablePredicate) -> String {
        let schema = &self.parts().reading.table.schema;
        let named = predicate.try_map(&mut |leaf| {
            let field = schema.field_by_id(leaf.column)?;
            let (data_type, test) = (leaf.data_type.clone(), leaf.test.clone());
            Some(Predicate::leaf(field.name.clone(), data_type, test))
        });
        named.map(|named| named.to_string()).unwrap_or_default()
    }
}
