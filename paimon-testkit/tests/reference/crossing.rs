//! Splits that cross over as bytes: those of the reference are read here, ours are read there (RP-115).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use paimon_io::Resources;
use paimon_meta::{
    DataSplit, DeletionFile, IncrementalSplit, JavaVersion, Split, data_split_from_java,
    data_split_to_java, split_from_java_object, split_to_java_object, with_absolute_paths,
};
use paimon_plan::{ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, RowKinds, TableReader, block_on, read_blocking};
use paimon_testkit::{
    GoldenCase, GoldenRead, JsonRow, JsonRows, Reference, ReferenceJob, ReferenceTable, diff_rows,
};
use serde_json::{Value, json};

use crate::coverage::Coverage;
use crate::histories::{Case, ENGINES};

/// Reads whose splits cross over. Not a diff where batch reads hide level 0: 1.4.2 leaves it out there too, unlike 2.1
/// (RP-075).
fn crossing(seed: u64) -> Vec<Value> {
    let mut reads = vec![json!({}), json!({"options": {"scan.snapshot-id": "1"}})];
    if engine(seed) != "first-row" && !has_vectors(seed) {
        let options =
            json!({"incremental-between": "1,2", "incremental-between-scan-mode": "diff"});
        reads.push(json!({"kinds": true, "options": options}));
    }
    reads
}

fn engine(seed: u64) -> &'static str {
    ENGINES[usize::try_from(seed % 4).unwrap()]
}

fn has_vectors(seed: u64) -> bool {
    engine(seed) == "deduplicate" && seed.is_multiple_of(8)
}

fn hex(text: &Value) -> Vec<u8> {
    let digits: Vec<u8> = text
        .as_str()
        .unwrap()
        .chars()
        .map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap())
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What differs where plans cross over as bytes: those of the reference are read here, ours are read there.
pub(crate) fn splits(
    reference: &Reference,
    directory: &Path,
    seeds: &[u64],
) -> (Coverage, Vec<String>) {
    let name = |seed: &u64| format!("splits-{seed}");
    let job = |seed: &u64| {
        let mut history = serde_json::to_value(Case::of(engine(*seed), *seed).history).unwrap();
        if has_vectors(*seed) {
            history["options"]["deletion-vectors.enabled"] = Value::from("true");
        }
        history["serialize"] = Value::from(crossing(*seed));
        ReferenceJob {
            name: name(seed),
            table: ReferenceTable::History(history),
            reads: crossing(*seed),
        }
    };
    let there = directory.join("there");
    let jobs: Vec<ReferenceJob> = seeds.iter().map(job).collect();
    let cases = reference.answer(&jobs, &there).unwrap();
    let mut wrong = Vec::new();
    for (seed, case) in seeds.iter().zip(&cases) {
        let text = std::fs::read(there.join(name(seed)).join("expected.json")).unwrap();
        let answer: Value = serde_json::from_slice(&text).unwrap();
        for (number, given) in answer["serialized"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            if let Err(what) = read_here(case, number, given) {
                wrong.push(format!(
                    "splits of the reference, seed {seed}, read {number}: {what}"
                ));
            }
        }
    }
    wrong.extend(read_there(
        reference,
        &directory.join("back"),
        seeds,
        &cases,
    ));
    let mut coverage = Coverage::default();
    cases.iter().for_each(|case| coverage.add(case));
    (coverage, wrong)
}

/// Reads splits of the reference, and compares them and their bytes with our own.
fn read_here(case: &GoldenCase, number: usize, given: &Value) -> Result<(), String> {
    let read = &case.reads[number];
    let Ok(expected) = &read.rows else {
        return Ok(());
    };
    let mut splits = Vec::new();
    for forms in given.as_array().unwrap() {
        let object = hex(&forms["object"]);
        let split = split_from_java_object(&object).map_err(|error| format!("{error:?}"))?;
        // Java declares the fields of the class, which we do not; what follows is the same.
        let ours = split_to_java_object(&split, JavaVersion::V1_4).unwrap();
        let class = u16::from_be_bytes([ours[6], ours[7]]);
        let frame = 8 + usize::from(class) + 8 + 1 + 2;
        if !object.ends_with(&ours[frame..]) {
            return Err(format!("another object than {}", to_hex(&object)));
        }
        if let (Split::Data(data), Some(_)) = (&split, forms.get("bytes")) {
            let bytes = hex(&forms["bytes"]);
            if data_split_from_java(&bytes).ok().as_ref() != Some(data) {
                return Err("the two forms differ".to_owned());
            }
            if data_split_to_java(data, JavaVersion::V1_4).unwrap() != bytes {
                return Err(format!("other bytes than {}", to_hex(&bytes)));
            }
        }
        splits.push(moved(split));
    }
    let options = &read.request.options;
    let found = rows_here(case, options, splits, read.request.kinds)?;
    let types: Vec<_> = read
        .columns
        .iter()
        .map(|column| &column.data_type)
        .collect();
    let without_kinds = |rows: &[JsonRow]| -> Vec<JsonRow> {
        let skipped = usize::from(read.request.kinds);
        rows.iter().map(|row| row[skipped..].to_vec()).collect()
    };
    match diff_rows(&types, &without_kinds(expected), &without_kinds(&found)) {
        None => Ok(()),
        Some(diff) => Err(diff.to_string()),
    }
}

/// The table has moved since the reference planned.
fn moved(mut split: Split) -> Split {
    let relative = |path: &mut String| {
        if let Some((_, inside)) = path.split_once("/warehouse/db.db/t/") {
            *path = inside.to_owned();
        }
    };
    let vectors = |split: &mut Option<Vec<Option<DeletionFile>>>| {
        split
            .iter_mut()
            .flatten()
            .flatten()
            .for_each(|vector| relative(&mut vector.path));
    };
    match &mut split {
        Split::Data(DataSplit {
            bucket_path,
            deletion_files,
            ..
        }) => {
            relative(bucket_path);
            vectors(deletion_files);
        }
        Split::Incremental(IncrementalSplit {
            before_deletion_files,
            after_deletion_files,
            ..
        }) => {
            vectors(before_deletion_files);
            vectors(after_deletion_files);
        }
        _ => {}
    }
    split
}

fn rows_here(
    case: &GoldenCase,
    options: &BTreeMap<String, String>,
    splits: Vec<Split>,
    kinds: bool,
) -> Result<Vec<JsonRow>, String> {
    let read = || -> paimon_meta::Result<Vec<JsonRow>> {
        let resources = Resources::local();
        let table = block_on(Table::resolve(
            &resources,
            &case.table().display().to_string(),
            &asked(options),
        ))?;
        let types: Vec<_> = table
            .schema
            .fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect();
        let request = ReadRequest {
            row_kinds: if kinds {
                RowKinds::Show
            } else {
                RowKinds::Drop
            },
            ..ReadRequest::default()
        };
        let reader = TableReader::new(Arc::new(table), request, resources)?;
        let mut batches = read_blocking(reader.read_all(reader.tasks(splits))?);
        let mut rows = Vec::new();
        while let Some(batch) = batches.next_batch() {
            let batch = batch?;
            let columns: Vec<usize> = (usize::from(kinds)..batch.num_columns()).collect();
            for mut row in JsonRows::new(&batch.project(&columns).unwrap(), &types)?.rows()? {
                if kinds {
                    row.insert(0, Value::Null);
                }
                rows.push(row);
            }
        }
        Ok(rows)
    };
    read().map_err(|error| format!("{error:?}"))
}

fn asked(options: &BTreeMap<String, String>) -> ResolveRequest {
    let options = options
        .iter()
        .map(|(key, value)| (key.clone(), Some(value.clone())));
    ResolveRequest {
        options: options.collect(),
        ..ResolveRequest::default()
    }
}

/// What a plan of ours is read as.
struct Ours<'a> {
    seed: u64,
    /// Where the table is while the reference reads.
    place: String,
    case: &'a GoldenCase,
}

impl Ours<'_> {
    /// The splits of a read as the reference gets them.
    fn splits(&self, read: &GoldenRead) -> paimon_meta::Result<Value> {
        let resources = Resources::local();
        let location = self.case.table().display().to_string();
        let table = block_on(Table::resolve(
            &resources,
            &location,
            &asked(&read.request.options),
        ))?;
        let scan = ScanRequest {
            keep_statistics: self.seed.is_multiple_of(2),
            ..ScanRequest::default()
        };
        let plan = block_on(plan(&resources, &table, &scan))?;
        let splits = (0..plan.len()).map(|index| {
            let split = with_absolute_paths(plan.split(index)?, &self.place);
            Ok(match split {
                Split::Data(split) if self.seed.is_multiple_of(3) => {
                    json!({"bytes": to_hex(&data_split_to_java(&split, JavaVersion::V1_4)?)})
                }
                split => {
                    json!({"object": to_hex(&split_to_java_object(&split, JavaVersion::V1_4)?)})
                }
            })
        });
        let splits = splits.collect::<paimon_meta::Result<Vec<Value>>>()?;
        let mut entry = json!({"splits": splits, "options": read.request.options});
        if read.request.kinds {
            entry["kinds"] = Value::from(true);
        }
        Ok(entry)
    }
}

/// Plans the reference's tables here, and has it read our splits.
fn read_there(
    reference: &Reference,
    directory: &Path,
    seeds: &[u64],
    cases: &[GoldenCase],
) -> Vec<String> {
    let (mut jobs, mut expected, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for (seed, case) in seeds.iter().zip(cases) {
        let name = format!("splits-{seed}");
        let place = directory.join(&name).join("warehouse/db.db/t");
        let ours = Ours {
            seed: *seed,
            place: place.display().to_string(),
            case,
        };
        let mut given = Vec::new();
        for read in case.reads.iter().filter(|read| read.rows.is_ok()) {
            match ours.splits(read) {
                Ok(splits) => {
                    given.push(splits);
                    expected.push((name.clone(), given.len() - 1, read));
                }
                Err(error) => wrong.push(format!("splits of ours, seed {seed}: {error:?}")),
            }
        }
        let history = json!({"table_dir": case.table(), "deserialize": given});
        jobs.push(ReferenceJob {
            name,
            table: ReferenceTable::History(history),
            reads: Vec::new(),
        });
    }
    reference.answer(&jobs, directory).unwrap();
    for (name, number, read) in expected {
        let text = std::fs::read(directory.join(&name).join("expected.json")).unwrap();
        let answer: Value = serde_json::from_slice(&text).unwrap();
        let rows = answer["deserialized"][number].clone();
        let rows: Vec<JsonRow> = serde_json::from_value(rows).unwrap();
        if sorted(&rows) != sorted(read.rows.as_ref().unwrap()) {
            wrong.push(format!(
                "splits of ours, {name}, read {number}: the reference reads {rows:?}"
            ));
        }
    }
    wrong
}

fn sorted(rows: &[JsonRow]) -> Vec<String> {
    let texts = rows.iter().map(|row| Value::from(row.clone()).to_string());
    let mut texts: Vec<String> = texts.collect();
    texts.sort_unstable();
    texts
}
