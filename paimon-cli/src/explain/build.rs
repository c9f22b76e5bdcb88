//! From a planned read to its explanation.

use std::num::NonZeroUsize;

use paimon_meta::{
    CompareOp, MergeEngine, Options, ResolvedTable, Result, Snapshot, TablePredicate, Test,
};
use paimon_plan::{ConjunctUse, FileTotals, Plan, PruneStep, Pruning, Table, Why};
use paimon_read::block_on;

use super::buckets::{bucket, runs_of_buckets};
use super::model::{
    AdviceFacts, ConditionFacts, CountFacts, Explanation, PlanTotals, PruningFacts, SnapshotFacts,
    StepFacts, TableFacts,
};
use super::splits::SplitExplainer;
use super::words;
use crate::human::{count, number};
use crate::keys::KeyTypes;
use crate::names::{column_text, condition_text};
use crate::reading::Reading;

/// How much is told one by one; sums are always of all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    pub(super) splits: usize,
    pub(super) buckets: usize,
    /// Parts of each split, if some are asked for.
    pub(super) parts: Option<NonZeroUsize>,
}

/// Explains a read.
///
/// # Errors
/// Those of listing snapshots and of cutting, and `Corrupt` for keys that do not decode.
pub(super) fn explain(reading: &Reading, detail: Detail) -> Result<Explanation> {
    let (table, plan) = (&*reading.table, &reading.plan);
    let keys = KeyTypes::of(table)?;
    let groups = runs_of_buckets(plan);
    let explainer = SplitExplainer::new(reading, keys.as_ref(), detail.parts)?;
    let buckets = groups.iter().take(detail.buckets);
    let conditions = plan.conjuncts().iter();
    let advice = plan.what_would_help();
    Ok(Explanation {
        table: table_facts(table)?,
        snapshot: table
            .snapshot
            .as_ref()
            .map(|snapshot| snapshot_facts(reading, snapshot))
            .transpose()?,
        pruning: pruning_facts(plan.pruning()),
        totals: totals(plan, groups.len()),
        hidden: plan.hidden(),
        buckets: buckets
            .map(|splits| bucket(reading, keys.as_ref(), splits.clone()))
            .collect::<Result<_>>()?,
        splits: plan
            .iter()
            .take(detail.splits)
            .map(|split| explainer.explain(split))
            .collect::<Result<_>>()?,
        conditions: conditions
            .map(|conjunct| condition_facts(conjunct, table, plan))
            .collect::<Result<_>>()?,
        count: count_facts(reading),
        advice: advice
            .into_iter()
            .map(|advice| AdviceFacts {
                words: words::advice(&advice),
                advice,
            })
            .collect(),
        estimated: None,
        measured: None,
    })
}

fn table_facts(table: &ResolvedTable) -> Result<TableFacts> {
    let keyed = table.schema.has_primary_key();
    let engine: MergeEngine = table.options.value(&Options::MERGE_ENGINE)?;
    Ok(TableFacts {
        location: table.location.clone(),
        primary_key: table.schema.primary_keys.clone(),
        key: table
            .schema
            .key_fields()?
            .into_iter()
            .map(|field| column_text(&field.name))
            .collect(),
        partition_keys: table.schema.partition_keys.clone(),
        sequence_fields: table.options.sequence_field(),
        bucket: table.options.value(&Options::BUCKET)?,
        merge_engine: keyed.then(|| engine.to_string()),
        deletion_vectors: table.options.value(&Options::DELETION_VECTORS_ENABLED)?,
    })
}

fn snapshot_facts(reading: &Reading, snapshot: &Snapshot) -> Result<SnapshotFacts> {
    let ids = block_on(Table::snapshot_ids(&reading.resources, &reading.table))?;
    Ok(SnapshotFacts {
        id: snapshot.id,
        latest: ids.last().copied(),
        schema: reading.table.schema.id,
        commit_kind: snapshot.commit_kind,
        time_millis: snapshot.time_millis,
    })
}

fn pruning_facts(pruning: &Pruning) -> PruningFacts {
    let steps = pruning.steps.iter().map(|step| step.step);
    let steps = steps.map(|step| StepFacts {
        step,
        words: words::step(step),
        dropped: pruning.dropped(step),
    });
    PruningFacts {
        manifests: pruning.manifests,
        manifests_read: pruning.manifests_read,
        snapshot_files: pruning.snapshot_files,
        steps: steps.filter(|step| step.dropped.files > 0).collect(),
    }
}

fn totals(plan: &Plan, buckets: usize) -> PlanTotals {
    let mut totals = PlanTotals {
        buckets: buckets as u64,
        ..PlanTotals::default()
    };
    for split in plan.iter() {
        totals.splits += 1;
        let changes = split.is_changes();
        totals.changes += u64::from(changes);
        totals.raw += u64::from(split.raw_convertible() && !changes);
        totals.files = FileTotals {
            files: totals.files.files + split.files().len() as u64,
            rows: totals.files.rows.saturating_add(split.row_count()),
            bytes: totals.files.bytes.saturating_add(split.file_size()),
        };
    }
    totals
}

fn condition_facts(
    conjunct: &ConjunctUse,
    table: &ResolvedTable,
    plan: &Plan,
) -> Result<ConditionFacts> {
    Ok(ConditionFacts {
        condition: condition_text(&conjunct.predicate, &table.schema),
        exact: conjunct.exact,
        prunes: conjunct.prunes.clone(),
        words: acts(conjunct, table, plan)?,
    })
}

/// Where a part of the condition acts.
fn acts(conjunct: &ConjunctUse, table: &ResolvedTable, plan: &Plan) -> Result<String> {
    let buckets: i32 = table.options.value(&Options::BUCKET)?;
    let steps = conjunct.prunes.iter().filter(|step| {
        **step != PruneStep::Bucket || buckets > 1 && names_values(&conjunct.predicate)
    });
    let steps = steps.map(|step| match step {
        PruneStep::Partition => "partitions",
        PruneStep::Bucket => "buckets",
        PruneStep::Key | PruneStep::Value => "files",
        _ => "files by another rule",
    });
    let mut prunes: Vec<&str> = Vec::new();
    for step in steps {
        if !prunes.contains(&step) {
            prunes.push(step);
        }
    }
    if conjunct.exact {
        return Ok(match prunes.as_slice() {
            [] => "holds for every row of the plan".to_owned(),
            steps => format!(
                "prunes {}, and then holds for every row",
                steps.join(" and ")
            ),
        });
    }
    let overlap = plan
        .iter()
        .any(|split| matches!(split.why(), Why::Overlap | Why::DeleteRows));
    if overlap && !only_keys(&conjunct.predicate, table)? {
        return Ok(
            "after the merge only, where files overlap: an old version must not win".to_owned(),
        );
    }
    prunes.extend(["row groups", "pages"]);
    let of = if overlap { " of every run" } else { "" };
    Ok(format!("prunes {} and rows{of}", prunes.join(", ")))
}

/// Whether a condition names the values that it admits, which buckets can be told from.
fn names_values(predicate: &TablePredicate) -> bool {
    let mut all = true;
    predicate.visit_leaves(&mut |leaf| {
        all &= matches!(
            leaf.test,
            Test::Compare(CompareOp::Eq, _) | Test::In { negated: false, .. }
        );
    });
    all
}

fn only_keys(predicate: &TablePredicate, table: &ResolvedTable) -> Result<bool> {
    let keys = table.schema.key_fields()?;
    let is_key = |id| keys.iter().any(|field| field.id == id);
    Ok(predicate.columns().into_iter().all(|id| is_key(*id)))
}

/// What `COUNT(*)` takes where metadata alone says how many rows there are.
fn from_metadata(plan: &Plan, rows: u64) -> CountFacts {
    let merged = plan.iter().any(|split| !split.raw_convertible());
    let sure = if merged {
        ": no section has more than one run or deletes"
    } else {
        ""
    };
    let deleted = (0..plan.files().len()).filter_map(|file| plan.deleted_rows(file));
    let less = match deleted.fold(0, u64::saturating_add) {
        0 => String::new(),
        deleted => format!(" less {} that vectors delete", count(deleted, "row")),
    };
    CountFacts {
        rows: Some(rows),
        words: format!("{}, from metadata{less}{sure}", number(rows)),
    }
}

/// What `COUNT(*)` of the read takes.
fn count_facts(reading: &Reading) -> CountFacts {
    let plan = &reading.plan;
    if let Some(condition) = plan.residual() {
        let columns = condition.columns().into_iter();
        let names = columns.filter_map(|id| reading.table.schema.field_by_id(*id));
        let names: Vec<String> = names.map(|field| column_text(&field.name)).collect();
        return CountFacts {
            rows: None,
            words: format!("reads {} to ask the condition", words::list(&names)),
        };
    }
    if let Some(rows) = plan.exact_row_count() {
        return from_metadata(plan, rows.min(reading.limit.unwrap_or(rows)));
    }
    let (mut known, mut files, mut rows) = (0_u64, 0_u64, 0_u64);
    for split in plan.iter() {
        let sections = split.sections();
        for (place, count) in split.section_row_counts().into_iter().enumerate() {
            match count {
                Some(count) => known = known.saturating_add(count),
                None => {
                    let of_section = match sections.get(place) {
                        Some(runs) => runs.iter().flat_map(Clone::clone).collect(),
                        None => split.files().collect::<Vec<_>>(),
                    };
                    files += of_section.len() as u64;
                    let physical = of_section
                        .into_iter()
                        .map(|file| plan.files().row_count(file));
                    rows = physical.fold(rows, u64::saturating_add);
                }
            }
        }
    }
    let read = format!(
        "the keys of {}, {}",
        count(files, "file"),
        count(rows, "row")
    );
    CountFacts {
        rows: None,
        words: match known {
            0 => format!("reads {read}"),
            known => format!("{} from metadata, and reads {read}", number(known)),
        },
    }
}
