//! Changes of random histories that the reference wrote: incremental reads and streams.

use std::path::Path;

use paimon_testkit::{History, NotYet, Reference, ReferenceJob, ReferenceTable};
use serde_json::{Value, json};

use crate::coverage::Coverage;
use crate::histories::{Case, ENGINES};
use crate::library::{ROUTES, check_case};
use crate::random::Random;

/// A history with a changelog, and the reads of its changes.
fn case(seed: u64) -> (History, Vec<Value>) {
    let engine = ENGINES[usize::try_from(seed % 4).unwrap()];
    let random = &mut Random::new(seed.wrapping_mul(7919));
    let mut text = serde_json::to_value(Case::of(engine, seed).history).unwrap();
    let producer = random.pick(match engine {
        // What is as it was written is no changelog of rows that were merged.
        "deduplicate" => &["none", "none", "input", "lookup", "full-compaction"][..],
        "first-row" => &["none", "lookup"],
        _ => &["none", "lookup", "full-compaction"],
    });
    if producer != "none" {
        text["options"]["changelog-producer"] = Value::from(producer);
    }
    let mut reads = Vec::new();
    // 1.4.2 leaves level 0 out of incremental reads where batch reads hide it, unlike 2.1 (RP-075).
    for _ in 0..if engine == "first-row" { 0 } else { 3 } {
        let from = random.below(4);
        let to = from + 1 + random.below(4);
        for mode in ["delta", "changelog", "diff", "auto"] {
            let between = format!("{from},{to}");
            reads.push(json!({"kinds": true, "any_of": true, "options": {
                "incremental-between": between, "incremental-between-scan-mode": mode,
            }}));
        }
    }
    reads.push(json!({"stream": 20}));
    let first = (1 + random.below(3)).to_string();
    for mode in ["from-snapshot", "from-snapshot-full"] {
        let options = json!({"scan.mode": mode, "scan.snapshot-id": first});
        reads.push(json!({"stream": 20, "options": options}));
    }
    let history = History::from_json(text.to_string().as_bytes()).unwrap();
    (history, reads)
}

/// What the changes of histories that the reference wrote came across, and what differs.
pub(crate) fn histories(
    reference: &Reference,
    directory: &Path,
    seeds: &[u64],
) -> (Coverage, Vec<String>) {
    let job = |seed: &u64| {
        let (history, reads) = case(*seed);
        ReferenceJob {
            name: format!("changes-{seed}"),
            table: ReferenceTable::History(serde_json::to_value(history).unwrap()),
            reads,
        }
    };
    let jobs: Vec<ReferenceJob> = seeds.iter().map(job).collect();
    let answers = reference.answer(&jobs, directory).unwrap();
    let checked = seeds.iter().zip(&answers).filter_map(|(seed, answer)| {
        let what = check_case(answer, &NotYet::default(), &ROUTES).err()?;
        let (history, _) = case(*seed);
        Some(format!("changes, seed {seed}: {what}\n{history}"))
    });
    let wrong = checked.collect();
    let mut coverage = Coverage::default();
    answers.iter().for_each(|answer| coverage.add(answer));
    (coverage, wrong)
}
