//! `paimon info`: a snapshot's metadata as a tree, file by file, as it is and before any pruning.
//!
//! ```text
//! snapshot ─▶ manifest lists ─▶ manifests ─▶ entries
//!         ├─▶ index manifest ─▶ index files
//!         └─▶ statistics
//! ```
//!
//! What cannot be read is shown in its place, the walk goes on, and the command fails at its end.

mod entries;
mod tree;

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::ops::Deref;

use paimon_io::{Resources, join};
use paimon_meta::{
    DataPaths, DeletionVectorRange, Error, Frame, IndexManifestEntry, ManifestColumns,
    ManifestFileMeta, ManifestReader, ResolvedTable, Result, ResultExt, Snapshot, Statistics,
    decode_hash_index, decode_index_manifest_with, decode_manifest_list_with, index_path,
    manifest_path, statistics_path,
};
use paimon_plan::TableLocation;
use paimon_read::block_on;

use crate::args::{InfoArguments, Selection};
use crate::failure::Failure;
use crate::human::{count, number, size, time};
use crate::keys::range_text;
use crate::resolving::resolve;
use entries::Entries;
use tree::Tree;

/// The type of index that finds the buckets of keys.
const HASH_INDEX: &str = "HASH";

pub(crate) fn run(arguments: &InfoArguments) -> Result<(), Failure> {
    let selection = &arguments.selection;
    refuse(selection)?;
    let (resources, table) = resolve(selection)?;
    let mut walk = Walk {
        entries: Entries::new(&table, selection)?,
        resources: &resources,
        table: &table,
        tree: Tree::new(BufWriter::new(std::io::stdout().lock())),
        failed: None,
    };
    walk.table(&selection.table)?;
    walk.tree.finish()?;
    match walk.failed {
        None => Ok(()),
        Some(error) => Err(Failure::Read(
            error.at(Frame::Table(table.location.clone())),
        )),
    }
}

/// Flags that say nothing here.
fn refuse(selection: &Selection) -> Result<(), Failure> {
    if let Some(system) = TableLocation::parse(&selection.table)?.system_table {
        let fault = format!("{system} is rows, info shows files");
        return Err(Failure::Usage(
            Error::invalid_input(fault).with_hint("paimon scan, which reads it"),
        ));
    }
    let pruned = "explain, which shows what the flag prunes";
    let streamed = "plan --stream, which shows the files of every snapshot's changes";
    let flags = [
        ("--columns", selection.columns.is_some(), pruned),
        ("--where", selection.condition.is_some(), pruned),
        ("--rowkind", selection.rowkind, pruned),
        ("--keep-deletes", selection.keep_deletes, pruned),
        ("--stream", selection.stream, streamed),
    ];
    match flags.into_iter().find(|(_, given, _)| *given) {
        None => Ok(()),
        Some((flag, _, hint)) => Err(Failure::Usage(
            Error::invalid_input(format!("{flag} is for rows, info shows files")).with_hint(hint),
        )),
    }
}

struct Walk<'a, W> {
    resources: &'a Resources,
    table: &'a ResolvedTable,
    entries: Entries<'a>,
    tree: Tree<W>,
    /// The first thing that could not be read.
    failed: Option<Error>,
}

/// A file that a snapshot names.
enum Part<'a> {
    List(&'static str, &'a str),
    Index(&'a str),
    Statistics(&'a str),
}

impl<W: Write> Walk<'_, W> {
    /// `name` is the table as the user called it.
    fn table(&mut self, name: &str) -> Result<(), Failure> {
        let table = self.table;
        let schema = &table.schema;
        let mut facts = vec![
            format!("schema {}, {} in all", schema.id, table.schemas.len()),
            count(schema.fields.len() as u64, "column"),
        ];
        if schema.has_primary_key() {
            facts.push(format!("primary key ({})", schema.primary_keys.join(", ")));
        }
        if !schema.partition_keys.is_empty() {
            facts.push(format!(
                "partitions by {}",
                schema.partition_keys.join(", ")
            ));
        }
        self.tree
            .root(&format!("table {name}, {}", facts.join(", ")))?;
        match &table.snapshot {
            None => self
                .tree
                .leaf(true, "no snapshot: nothing was committed yet")?,
            Some(snapshot) => self.snapshot(snapshot)?,
        }
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &Snapshot) -> Result<(), Failure> {
        let mut facts = vec![
            format!("snapshot {}", snapshot.id),
            format!("{:?}", snapshot.commit_kind).to_lowercase(),
            format!("schema {}", snapshot.schema_id),
            format!(
                "committed {} by {}",
                time(snapshot.time_millis),
                snapshot.commit_user
            ),
        ];
        if let Some(rows) = snapshot.total_record_count {
            facts.push(format!("{} in its files", counted(rows, "row")));
        }
        if let Some(mark) = snapshot.effective_watermark() {
            facts.push(format!("watermark {mark}"));
        }
        self.tree.open(true, &facts.join(", "))?;
        let parts = parts(snapshot);
        for (index, part) in parts.iter().enumerate() {
            let last = index + 1 == parts.len();
            match part {
                Part::List(kind, name) => self.list(snapshot, last, kind, name)?,
                Part::Index(name) => self.index(snapshot, last, name)?,
                Part::Statistics(name) => self.statistics(snapshot, last, name)?,
            }
        }
        self.tree.close();
        Ok(())
    }

    /// Shows a value that was read, or why it was not.
    fn read<T>(&mut self, last: bool, what: &str, read: Result<T>) -> Result<Option<T>, Failure> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                self.tree
                    .leaf(last, &format!("{what}: ✗ {}", error.message()))?;
                self.failed.get_or_insert(error);
                Ok(None)
            }
        }
    }

    fn get(&self, path: Result<String>) -> Result<impl Deref<Target = [u8]> + use<W>> {
        block_on(self.resources.get(&join(&self.table.location, &path?)))
    }

    fn list(
        &mut self,
        snapshot: &Snapshot,
        last: bool,
        kind: &str,
        name: &str,
    ) -> Result<(), Failure> {
        let bytes = self.get(manifest_path(name));
        let length = bytes.as_ref().map_or(0, |bytes| bytes.len()) as u64;
        let manifests = bytes
            .and_then(|bytes| decode_manifest_list_with(&bytes, self.resources.manifest_format()))
            .at(|| Frame::ManifestList(name.to_owned()))
            .at(|| Frame::Snapshot(snapshot.id));
        let what = format!("{kind} manifest list {name}");
        let Some(manifests) = self.read(last, &what, manifests)? else {
            return Ok(());
        };
        let manifest_count = count(manifests.len() as u64, "manifest");
        self.tree
            .open(last, &format!("{what}, {}, {manifest_count}", size(length)))?;
        for (index, manifest) in manifests.iter().enumerate() {
            self.manifest(snapshot, name, index + 1 == manifests.len(), manifest)?;
        }
        self.tree.close();
        Ok(())
    }

    fn manifest(
        &mut self,
        snapshot: &Snapshot,
        list: &str,
        last: bool,
        manifest: &ManifestFileMeta,
    ) -> Result<(), Failure> {
        self.tree.open(last, &self.manifest_line(manifest))?;
        let frames = |error: Error| {
            error
                .at(Frame::Manifest(manifest.file_name.clone()))
                .at(Frame::ManifestList(list.to_owned()))
                .at(Frame::Snapshot(snapshot.id))
        };
        let bytes = self.get(manifest_path(&manifest.file_name)).map_err(frames);
        if let Some(bytes) = self.read(true, "manifest", bytes)? {
            let shown = self.show_entries(&bytes, manifest.entry_count())?;
            if let Err(error) = shown.map_err(frames) {
                self.read(true, "entries", Err::<(), _>(error))?;
            }
        }
        self.tree.close();
        Ok(())
    }

    fn manifest_line(&self, manifest: &ManifestFileMeta) -> String {
        let range = |what: &str, min: Option<i32>, max: Option<i32>| {
            let (min, max) = min.zip(max)?;
            Some(format!(
                "{what} {}",
                range_text(&min.to_string(), &max.to_string())
            ))
        };
        let optional = [
            self.entries.partitions(&manifest.partition_stats),
            range("buckets", manifest.min_bucket, manifest.max_bucket),
            range("levels", manifest.min_level, manifest.max_level),
        ];
        let mut facts = vec![
            format!("manifest {}", manifest.file_name),
            size(manifest.file_size),
            format!(
                "{} added, {} deleted",
                number(manifest.num_added_files),
                number(manifest.num_deleted_files)
            ),
        ];
        facts.extend(optional.into_iter().flatten());
        facts.join(", ")
    }

    /// The inner error is that of the manifest, the outer one that of the output.
    fn show_entries(&mut self, bytes: &[u8], expected: u64) -> Result<Result<()>, Failure> {
        let reader = match ManifestReader::new_with(
            bytes,
            ManifestColumns::default(),
            self.resources.manifest_format(),
        ) {
            Ok(reader) => reader,
            Err(error) => return Ok(Err(error)),
        };
        let (mut lines, mut left_out, mut found) = (Vec::new(), 0_u64, 0_u64);
        for batch in reader {
            let shown = batch.and_then(|batch| {
                found += batch.len() as u64;
                self.entries.lines(&batch, &mut lines, &mut left_out)
            });
            if let Err(error) = shown {
                self.tree.leaves(&lines, false)?;
                return Ok(Err(error));
            }
        }
        let complete = found == expected;
        if left_out > 0 {
            lines.push(format!("… and {}", count(left_out, "more entry")));
        }
        self.tree.leaves(&lines, complete)?;
        Ok(if complete {
            Ok(())
        } else {
            Err(Error::corrupt(format!(
                "manifest has {found} entries, its list says {expected}"
            )))
        })
    }

    fn index(&mut self, snapshot: &Snapshot, last: bool, name: &str) -> Result<(), Failure> {
        let bytes = self.get(manifest_path(name));
        let length = bytes.as_ref().map_or(0, |bytes| bytes.len()) as u64;
        let files = bytes
            .and_then(|bytes| decode_index_manifest_with(&bytes, self.resources.manifest_format()))
            .at(|| Frame::IndexManifest(name.to_owned()))
            .at(|| Frame::Snapshot(snapshot.id));
        let what = format!("index manifest {name}");
        let Some(files) = self.read(last, &what, files)? else {
            return Ok(());
        };
        let file_count = count(files.len() as u64, "file");
        self.tree
            .open(last, &format!("{what}, {}, {file_count}", size(length)))?;
        for (index, file) in files.iter().enumerate() {
            let last = index + 1 == files.len();
            let line = self.entries.index_line(file);
            if let Some(line) = self.read(last, &file.file_name, line)? {
                self.tree.open(last, &line)?;
                self.tree.leaves(&vector_lines(file), true)?;
                if file.index_type == HASH_INDEX {
                    let hashes = self.hashes(file).at(|| Frame::Snapshot(snapshot.id));
                    if let Some(line) = self.read(true, "hashes", hashes)? {
                        self.tree.leaf(true, &line)?;
                    }
                }
                self.tree.close();
            }
        }
        self.tree.close();
        Ok(())
    }

    /// The hash index of a bucket as a line.
    fn hashes(&self, file: &IndexManifestEntry) -> Result<String> {
        let paths = DataPaths::new(self.table)?;
        let bucket_path = paths
            .index_in_bucket()
            .then(|| paths.bucket_path(file.partition.as_ref(), file.bucket))
            .transpose()?;
        let (name, external) = (&file.file_name, file.external_path.as_deref());
        let hashes = self
            .get(index_path(name, external, bucket_path.as_deref()))
            .and_then(|bytes| decode_hash_index(&bytes, file.row_count))
            .at(|| Frame::File(name.clone()))?;
        let distinct: BTreeSet<i32> = hashes.iter().copied().collect();
        let range = distinct.first().zip(distinct.last()).map(|(least, most)| {
            format!(", {}", range_text(&least.to_string(), &most.to_string()))
        });
        Ok(format!(
            "hashes of primary keys, {}{}",
            count(distinct.len() as u64, "different value"),
            range.unwrap_or_default()
        ))
    }

    fn statistics(&mut self, snapshot: &Snapshot, last: bool, name: &str) -> Result<(), Failure> {
        let statistics = self
            .get(statistics_path(name))
            .and_then(|bytes| Statistics::from_json(&bytes))
            .at(|| Frame::File(name.to_owned()))
            .at(|| Frame::Snapshot(snapshot.id));
        let what = format!("statistics {name}");
        if let Some(statistics) = self.read(last, &what, statistics)? {
            let mut line = format!("{what}, of snapshot {}", statistics.snapshot_id);
            if let Some(rows) = statistics.merged_record_count {
                line.push_str(&format!(", {} after merging", counted(rows, "row")));
            }
            self.tree.leaf(last, &line)?;
        }
        Ok(())
    }
}

fn parts(snapshot: &Snapshot) -> Vec<Part<'_>> {
    let mut parts = vec![
        Part::List("base", &snapshot.base_manifest_list),
        Part::List("delta", &snapshot.delta_manifest_list),
    ];
    let changelog = snapshot.changelog_manifest_list.as_deref();
    parts.extend(changelog.map(|name| Part::List("changelog", name)));
    parts.extend(snapshot.index_manifest.as_deref().map(Part::Index));
    parts.extend(snapshot.statistics.as_deref().map(Part::Statistics));
    parts
}

/// Counts of snapshots have a sign.
fn counted(value: i64, word: &str) -> String {
    match u64::try_from(value) {
        Ok(value) => count(value, word),
        Err(_) => format!("{value} {word}s"),
    }
}

fn vector_lines(file: &IndexManifestEntry) -> Vec<String> {
    let line = |vector: &DeletionVectorRange| {
        let deleted = match vector.cardinality {
            Some(rows) => format!("{} deleted", count(rows, "row")),
            None => "deleted rows unknown".to_owned(),
        };
        format!(
            "of {}, {deleted}, bytes {}..{}",
            vector.data_file,
            vector.offset,
            vector.offset.saturating_add(vector.length)
        )
    };
    file.deletion_vectors.iter().flatten().map(line).collect()
}
