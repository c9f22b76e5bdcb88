//! Damaged metadata: the right rows, or an error that names the file at fault.

use std::collections::BTreeMap;
use std::sync::Arc;

use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use paimon_io::{ResourceParts, Resources, StoreRegistry};
use paimon_meta::Result;
use paimon_plan::{ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, TableReader, block_on, read_blocking};
use paimon_testkit::{GoldenCase, GoldenRequest, JsonRow, JsonRows};

/// Tables with all kinds of metadata files that a read opens, and with several columns and types in keys and statistics.
const TABLES: [&str; 3] = [
    "fmt_evo_columns_pk_orc",
    "plan_dv_partitions_buckets",
    "plan_tt_tag_after_expire",
];

/// A golden table in memory, to be damaged, and reads of it.
struct Damaged {
    name: &'static str,
    store: Arc<InMemory>,
    /// Metadata by path in the table.
    metadata: BTreeMap<String, Vec<u8>>,
    reads: Vec<(GoldenRequest, Vec<JsonRow>)>,
}

fn files(directory: &std::path::Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), &format!("{path}/"), found);
        } else {
            found.insert(path, std::fs::read(entry.path()).unwrap());
        }
    }
}

impl Damaged {
    /// Its reads are those of the case that need no options, and what they give while nothing is damaged.
    fn of(name: &'static str) -> Self {
        let folder = std::path::Path::new(paimon_testkit::GOLDEN).join(name);
        let case = GoldenCase::load(&folder).unwrap();
        let mut all = BTreeMap::new();
        files(&case.table(), "", &mut all);
        let store = Arc::new(InMemory::new());
        for (path, content) in &all {
            block_on(store.put(&Path::from(format!("t/{path}")), content.clone().into())).unwrap();
        }
        all.retain(|path, _| {
            ["snapshot/", "schema/", "manifest/", "tag/", "index/"]
                .iter()
                .any(|directory| path.starts_with(directory))
        });
        let mut table = Self {
            name,
            store,
            metadata: all,
            reads: Vec::new(),
        };
        let requests = case.reads.into_iter().map(|read| read.request);
        let plain = requests.filter(|request| {
            let known = GoldenRequest {
                filter: request.filter.clone(),
                options: request.options.clone(),
                ..GoldenRequest::default()
            };
            *request == known && request.options.keys().all(|key| key == "scan.tag-name")
        });
        let all_rows = std::iter::once(GoldenRequest::default());
        for request in all_rows.chain(plain).take(2) {
            let rows = table.read(&request).unwrap();
            table.reads.push((request, rows));
        }
        table
    }

    fn read(&self, request: &GoldenRequest) -> Result<Vec<JsonRow>> {
        let registry = StoreRegistry::new();
        registry
            .register("memory://", Arc::<InMemory>::clone(&self.store))
            .unwrap();
        let resources = Resources::new(ResourceParts {
            stores: Arc::new(registry),
            ..ResourceParts::default()
        });
        let options = request.options.clone().into_iter();
        let resolve = ResolveRequest {
            options: options.map(|(key, value)| (key, Some(value))).collect(),
            ..ResolveRequest::default()
        };
        let table = block_on(Table::resolve(&resources, "memory:///t", &resolve))?;
        let scan = ScanRequest {
            predicate: request.predicate(&table.schema.fields)?,
            ..ScanRequest::default()
        };
        let plan = block_on(plan(&resources, &table, &scan))?;
        let read = ReadRequest {
            predicate: plan.residual(),
            ..ReadRequest::default()
        };
        let fields = table.schema.fields.iter();
        let types: Vec<_> = fields.map(|field| field.data_type.clone()).collect();
        let reader = TableReader::new(Arc::new(table), read, resources)?;
        let splits = (0..plan.len()).map(|index| plan.split(index));
        let tasks = reader.tasks(splits.collect::<Result<Vec<_>>>()?);
        let mut batches = read_blocking(reader.read_all(tasks)?);
        let mut rows = Vec::new();
        while let Some(batch) = batches.next_batch() {
            rows.extend(JsonRows::new(&batch?, &types)?.rows()?);
        }
        rows.sort_by_key(|row| serde_json::to_string(row).unwrap());
        Ok(rows)
    }

    /// What is wrong with the reads of a table that has another file in the place of one, or none.
    fn wrong(&self, file: &str, content: Option<Vec<u8>>, named: &[String]) -> Vec<String> {
        let path = Path::from(format!("t/{file}"));
        match content {
            Some(content) => block_on(self.store.put(&path, content.into())).map(|_| ()),
            None => block_on(self.store.delete(&path)),
        }
        .unwrap();
        let mut wrong = Vec::new();
        for (request, expected) in &self.reads {
            let what = match self.read(request) {
                Ok(rows) if rows == *expected => continue,
                Ok(rows) => format!("{} rows, expected {}", rows.len(), expected.len()),
                Err(error) => error.to_string(),
            };
            if !named.iter().any(|name| what.contains(name.as_str())) {
                wrong.push(format!("{} with {file}: {what}", self.name));
            }
        }
        let whole = self.metadata[file].clone();
        block_on(self.store.put(&path, whole.into())).unwrap();
        wrong
    }
}

/// What an error may call a file: its name, or what it is and its number.
fn names(path: &str) -> [String; 3] {
    let name = path.rsplit('/').next().unwrap();
    [
        name.to_owned(),
        name.replacen('-', " ", 1),
        "schema-<number>".to_owned(),
    ]
}

/// Where the options of a schema begin, of which any text may be one.
fn options(file: &[u8]) -> Option<usize> {
    let options = b"\"options\"";
    file.windows(options.len())
        .position(|window| window == options)
}

/// The end of an Avro file's header, where the marker stands first that also ends the file.
fn header_end(file: &[u8]) -> usize {
    let sync = &file[file.len() - 16..];
    file.windows(16).position(|window| window == sync).unwrap() + 16
}

/// Some places in a file, the ends among them.
fn places(length: usize) -> impl Iterator<Item = usize> {
    (0..length)
        .step_by((length / 16).max(1))
        .chain([length - 1])
}

fn check(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_is_gone_or_cut_is_named() {
    let mut wrong = Vec::new();
    for table in TABLES.map(Damaged::of) {
        for (file, content) in &table.metadata {
            let named = names(file);
            wrong.extend(table.wrong(file, None, &named));
            for end in places(content.len()) {
                // An index manifest without entries is what an overwrite leaves (TF-073): there is nothing to compare it with.
                if !file.contains("index-manifest") || end != header_end(content) {
                    wrong.extend(table.wrong(file, Some(content[..end].to_vec()), &named));
                }
            }
        }
    }
    check(&wrong);
}

/// The part of a file where a flipped bit must show. Names and numbers of a schema may be any, and vectors may be those of a
/// file that is gone.
fn telling(path: &str, file: &[u8]) -> usize {
    if path.contains("index-manifest") {
        header_end(file)
    } else if path.starts_with("schema/") {
        1
    } else {
        file.len()
    }
}

#[test]
fn flipped_bits_are_told_with_a_file() {
    // A flipped bit may make a name that leads elsewhere: then it is that file which is missed, or it does not fit.
    let mut wrong = Vec::new();
    for table in TABLES.map(Damaged::of) {
        for (file, content) in &table.metadata {
            let others = ["data-", "index-", "manifest", "maniFest"].map(str::to_owned);
            let named = [names(file).as_slice(), &others].concat();
            for at in places(telling(file, content)) {
                let mut flipped = content.clone();
                flipped[at] ^= 1 << (at % 8);
                wrong.extend(table.wrong(file, Some(flipped), &named));
            }
        }
    }
    check(&wrong);
}

/// Where the names of members begin: in quotes, with a colon behind them, or as a value of `"name"` in the schema of an Avro file.
fn members(file: &[u8]) -> Vec<usize> {
    let text: String = file.iter().map(|byte| char::from(*byte)).collect();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(begin) = text[from..].find('"').map(|at| from + at + 1) {
        let Some(end) = text[begin..].find('"').map(|at| begin + at) else {
            break;
        };
        let member = text[end + 1..].trim_start().starts_with(':');
        let field = text[..begin]
            .trim_end_matches('"')
            .trim_end()
            .ends_with("\"name\":");
        if member || field {
            found.push(begin);
        }
        from = end + 1;
    }
    found
}

#[test]
fn members_of_another_name_are_missed_where_rows_need_them() {
    let mut wrong = Vec::new();
    for table in TABLES.map(Damaged::of) {
        for (file, content) in &table.metadata {
            let end = match file.split_once('/').unwrap().0 {
                "index" => continue,
                "manifest" => header_end(content),
                _ => options(content).map_or(content.len(), |options| options + 2),
            };
            for at in members(&content[..end]) {
                // Snapshots without vectors have no such member: nothing tells that it is missed.
                if content[at..].starts_with(b"indexManifest") {
                    continue;
                }
                let mut renamed = content.clone();
                renamed[at] ^= 1;
                wrong.extend(table.wrong(file, Some(renamed), &names(file)));
            }
        }
    }
    check(&wrong);
}
