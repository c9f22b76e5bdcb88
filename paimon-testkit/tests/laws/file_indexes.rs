//! File indexes that the reference wrote, against the rows of their files: of every type, in every version, embedded in
//! manifests and in files of their own. Nothing that matches is left out, and what an exact index knows it tells.

use std::path::Path;
use std::sync::Arc;

use paimon_io::Resources;
use paimon_meta::{DataField, FieldId, FileIndex, FileIndexDirectory, ResolvedTable, TypeKind};
use paimon_plan::{Plan, ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, TableReader, block_on, read_blocking};
use paimon_testkit::{GOLDEN, JsonRow, JsonRows, Query};
use serde_json::{Value, json};

/// The files of a golden table: the bytes of each index container, and the rows.
struct Files {
    fields: Vec<DataField>,
    files: Vec<(Vec<u8>, Vec<JsonRow>)>,
}

impl Files {
    fn load(case: &str) -> Self {
        let table = Path::new(GOLDEN).join(case).join("table");
        let resources = Resources::local();
        let location = table.to_str().unwrap();
        let request = ResolveRequest::default();
        let table = block_on(Table::resolve(&resources, location, &request)).unwrap();
        let plan = block_on(plan(&resources, &table, &ScanRequest::default())).unwrap();
        let rows = all_rows(&resources, &table, &plan);
        let mut rows = rows.into_iter();
        let files = plan.files();
        let mut found = Vec::new();
        for file in 0..files.len() {
            let count = usize::try_from(files.row_count(file)).unwrap();
            let rows: Vec<JsonRow> = rows.by_ref().take(count).collect();
            let index = match files.embedded_index(file) {
                Some(index) => index.to_vec(),
                None => {
                    let name = files.extra_files(file).iter().next().unwrap();
                    std::fs::read(Path::new(location).join("bucket-0").join(name)).unwrap()
                }
            };
            found.push((index, rows));
        }
        Self {
            fields: table.schema.fields,
            files: found,
        }
    }
}

fn all_rows(resources: &Resources, table: &ResolvedTable, plan: &Plan) -> Vec<JsonRow> {
    let request = ReadRequest::default();
    let types = table.schema.fields.iter();
    let types: Vec<_> = types.map(|field| field.data_type.clone()).collect();
    let reader = TableReader::new(Arc::new(table.clone()), request, resources.clone()).unwrap();
    let splits: Vec<_> = (0..plan.len())
        .map(|split| plan.split(split).unwrap())
        .collect();
    let mut batches = read_blocking(reader.read_all(reader.tasks(splits)).unwrap());
    let mut rows = Vec::new();
    while let Some(batch) = batches.next_batch() {
        rows.extend(
            JsonRows::new(&batch.unwrap(), &types)
                .unwrap()
                .rows()
                .unwrap(),
        );
    }
    rows
}

/// Conditions on a column by each of its values, and on null.
fn conditions(column: &str, values: &[Value]) -> Vec<Value> {
    let mut conditions = vec![json!(["is_null", column]), json!(["is_not_null", column])];
    for value in values {
        for operator in ["=", "!=", "<", "<=", ">", ">="] {
            conditions.push(json!([operator, column, value]));
        }
        for operator in ["in", "not_in"] {
            conditions.push(json!([operator, column, [value, &values[0]]]));
        }
    }
    conditions
}

/// Whether the rows that an index of that kind finds are those that match: it tells values apart, and null from values.
fn is_exact(kind: &str, data_type: &TypeKind, condition: &Value) -> bool {
    let fine = matches!(
        data_type,
        TypeKind::Timestamp(7..) | TypeKind::LocalZonedTimestamp(7..)
    );
    let ordered = matches!(kind, "bsi" | "range-bitmap");
    ordered && !fine || kind == "bitmap" && condition[0] == "is_null"
}

fn check(case: &str) {
    let files = Files::load(case);
    let (mut asked, mut excluded) = (0, 0);
    for field in &files.fields {
        let values = distinct(&files, field);
        for condition in conditions(&field.name, &values) {
            let query = Query {
                filter: Some(condition.clone()),
                ..Query::default()
            };
            let predicate = query.predicate(&files.fields).unwrap().unwrap();
            for (container, rows) in &files.files {
                let matching: Vec<u64> = (0..)
                    .zip(rows)
                    .filter(|(_, row)| {
                        let row = std::slice::from_ref(*row);
                        !query.matching(&files.fields, row).unwrap().is_empty()
                    })
                    .map(|(position, _)| position)
                    .collect();
                let directory = FileIndexDirectory::decode(container).unwrap();
                let places = directory.places().iter();
                for place in places.filter(|place| place.column == field.name) {
                    let index = FileIndex::of_bodies(&directory, |range| {
                        let range = (range == &place.range).then_some(range)?;
                        let place = |at: u64| usize::try_from(at).unwrap();
                        container.get(place(range.start)..place(range.end))
                    });
                    let column = |_: &FieldId| Some((field.name.as_str(), &field.data_type));
                    let count = rows.len() as u64;
                    let selected = index.selection(&predicate, &column, count, 1).unwrap();
                    asked += 1;
                    let Some(selected) = selected else { continue };
                    let selected: Vec<u64> = selected.into_iter().flatten().collect();
                    let about = format!("{} of {} for {condition}", place.kind, field.name);
                    let lost = matching.iter().find(|row| !selected.contains(row));
                    assert_eq!(lost, None, "{about} loses rows");
                    if is_exact(&place.kind, &field.data_type.kind, &condition) {
                        assert_eq!(selected, matching, "{about} finds too many rows");
                    }
                    excluded += usize::from(selected.len() < rows.len());
                }
            }
        }
    }
    assert!(
        excluded * 3 > asked,
        "{excluded} of {asked} answers exclude rows"
    );
}

/// The values of a column, each once.
fn distinct(files: &Files, field: &DataField) -> Vec<Value> {
    let place = files.fields.iter().position(|other| other.id == field.id);
    let mut values: Vec<Value> = Vec::new();
    for row in files.files.iter().flat_map(|(_, rows)| rows) {
        let value = &row[place.unwrap()];
        if !value.is_null() && !values.contains(value) {
            values.push(value.clone());
        }
    }
    // Row numbers have too many values to try all of them.
    values.truncate(12);
    values
}

#[test]
fn embedded_indexes_admit_what_matches() {
    check("fmt_file_index_all_types_embedded");
}

#[test]
fn index_files_admit_what_matches() {
    check("fmt_file_index_all_types_sidecar");
}
