//! What is compared.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use benches::setup::keys;

use crate::case::Case;
use crate::peer::{Answer, Peer};
use crate::readers::{Reader, Readers};
use crate::report::Report;
use crate::server::{BUCKET, SlowStore};
use crate::tables::{self, MergeTable};

/// Rounds of a comparison, unless `PAIMON_PEERS_ROUNDS` says otherwise.
const ROUNDS: usize = 5;
/// What the object store waits before each answer.
const DELAY: Duration = Duration::from_millis(30);

fn warehouse() -> PathBuf {
    env::temp_dir().join("paimon-peers")
}

/// What a command asks for: names of tables and readers, and numbers of threads; all, where none of a sort is named.
struct Wanted {
    tables: Vec<String>,
    readers: Vec<Reader>,
    threads: Vec<usize>,
}

impl Wanted {
    fn of(names: &[String], readers: &[Reader]) -> Self {
        let mut wanted = Self {
            tables: Vec::new(),
            readers: Vec::new(),
            threads: Vec::new(),
        };
        for name in names {
            match (name.parse(), Reader::of(name)) {
                (Ok(threads), _) => wanted.threads.push(threads),
                (_, Some(reader)) => wanted.readers.push(reader),
                _ => wanted.tables.push(name.clone()),
            }
        }
        if wanted.readers.is_empty() {
            wanted.readers = readers.to_vec();
        }
        if wanted.threads.is_empty() {
            wanted.threads = vec![1, 2];
        }
        wanted
    }
}

/// Reads of the merge tables.
pub fn merge(names: &[String]) -> Result<(), Box<dyn Error>> {
    compare_tables(Wanted::of(names, &Reader::ALL), &Case::READS)
}

/// Queries of the merge tables.
pub fn sql(names: &[String]) -> Result<(), Box<dyn Error>> {
    compare_tables(Wanted::of(names, &Reader::SQL), &Case::QUERIES)
}

fn compare_tables(wanted: Wanted, cases: &[Case]) -> Result<(), Box<dyn Error>> {
    let readers = Readers::new(&warehouse(), &wanted.readers)?;
    let mut report = Report::new(&wanted.readers);
    for table in tables::merge_tables(&warehouse(), keys(), &wanted.tables)? {
        for threads in &wanted.threads {
            let peers = warm(&readers, &wanted.readers, &table, *threads)?;
            compare(peers, (&table, *threads), cases, &mut report)?;
        }
    }
    report.print();
    Ok(())
}

/// New processes that have read a table before: the page cache is warm, and the virtual machine.
fn warm(
    readers: &Readers,
    wanted: &[Reader],
    table: &MergeTable,
    threads: usize,
) -> Result<Vec<(Reader, Peer)>, Box<dyn Error>> {
    let mut peers = Vec::new();
    for reader in wanted {
        let mut peer = readers.start(*reader)?;
        for _ in 0..if *reader == Reader::Java { 2 } else { 1 } {
            peer.ask(Case::Full, threads, &table.location)?;
        }
        peers.push((*reader, peer));
    }
    Ok(peers)
}

/// All reads of one table.
fn compare(
    mut peers: Vec<(Reader, Peer)>,
    (table, threads): (&MergeTable, usize),
    cases: &[Case],
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    for case in cases.iter().copied() {
        let peers = peers.iter_mut().filter(|(reader, _)| reader.does(case));
        let line = format!("{}, {}, {threads}", table.name, case.name());
        let take = |reader, answer| report.add(&line, reader, answer);
        rounds(peers.collect(), case, threads, &table.location, take)?;
    }
    Ok(())
}

/// The most memory that a full read of the merge tables takes, each in a process of its own.
pub fn memory(names: &[String]) -> Result<(), Box<dyn Error>> {
    let wanted = Wanted::of(names, &Reader::ALL);
    let readers = Readers::new(&warehouse(), &wanted.readers)?;
    for table in tables::merge_tables(&warehouse(), keys(), &wanted.tables)? {
        for threads in &wanted.threads {
            for reader in &wanted.readers {
                let mut peer = readers.start(*reader)?;
                let answer = peer.ask(Case::Full, *threads, &table.location)?;
                println!(
                    "{}, {threads} thread(s), {}: {} rows, {} MB resident at most",
                    table.name,
                    reader.title(),
                    answer.rows.rows,
                    peer.peak_kilobytes()? / 1024,
                );
            }
        }
    }
    Ok(())
}

/// The planning of a million files.
pub fn plan() -> Result<(), Box<dyn Error>> {
    let location = tables::many_files(&warehouse())?;
    let planners = [Reader::Ours, Reader::PaimonRust, Reader::Java];
    let readers = Readers::new(&warehouse(), &planners)?;
    for reader in planners {
        let mut peer = readers.start(reader)?;
        // What a reader takes for itself, without files.
        peer.ask(Case::Plan, 1, &tables::few_files(&warehouse())?)?;
        let before = peer.peak_kilobytes()?;
        let files = peer.ask(Case::Plan, 1, &location)?.rows.rows;
        let bytes = (peer.peak_kilobytes()? - before) * 1024 / files as u64;
        println!(
            "{}: {files} files, {bytes} bytes resident at most for each",
            reader.title()
        );
    }
    let mut report = Report::new(&planners);
    for threads in [1, 2] {
        let mut peers = Vec::new();
        for reader in planners {
            let mut peer = readers.start(reader)?;
            peer.ask(Case::Plan, threads, &location)?;
            peers.push((reader, peer));
        }
        let line = format!("planning, {threads}");
        rounds(
            peers.iter_mut().collect(),
            Case::Plan,
            threads,
            &location,
            |reader, answer| {
                report.add(&line, reader, answer);
            },
        )?;
    }
    report.print();
    Ok(())
}

/// The read of many small files from a store that answers slowly.
pub fn store() -> Result<(), Box<dyn Error>> {
    let warehouse = warehouse();
    tables::small_files(&warehouse)?;
    let server = SlowStore::start(&warehouse, DELAY)?;
    let (database, table) = (tables::DATABASE, tables::SMALL_FILES);
    let location = format!("{}|s3://{BUCKET}/{database}/{table}", server.endpoint);
    let these = [Reader::Ours, Reader::PaimonRust];
    let readers = Readers::new(&warehouse, &these)?;
    let mut peers = Vec::new();
    for reader in these {
        let mut peer = readers.start(reader)?;
        server.take_requests();
        peer.ask(Case::Full, 2, &location)?;
        println!("{}: {} requests", reader.title(), server.take_requests());
        peers.push((reader, peer));
    }
    let mut report = Report::new(&these);
    rounds(
        peers.iter_mut().collect(),
        Case::Full,
        2,
        &location,
        |reader, answer| {
            report.add("2 000 small files behind 30 ms, full, 2", reader, answer);
        },
    )?;
    report.print();
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a bench is told its size by its environment"
)]
fn count_of_rounds() -> usize {
    let rounds = env::var("PAIMON_PEERS_ROUNDS").ok();
    rounds
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(ROUNDS)
}

/// Asks readers in turn, some rounds.
fn rounds(
    mut peers: Vec<&mut (Reader, Peer)>,
    case: Case,
    threads: usize,
    location: &str,
    mut take: impl FnMut(Reader, Answer),
) -> Result<(), Box<dyn Error>> {
    for _ in 0..count_of_rounds() {
        for (reader, peer) in &mut peers {
            take(*reader, peer.ask(case, threads, location)?);
        }
    }
    Ok(())
}
