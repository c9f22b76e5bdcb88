//! `paimon lab`: writes small tables that show each case of planning and merging, and shows how each is read.

mod show;
mod summary;
mod tables;

use std::io::Write;
use std::path::{Path, PathBuf};

use paimon_meta::{Error, Frame};
use paimon_testkit::{History, Layout, WrittenTable, write_table};

use crate::args::LabArguments;
use crate::environment;
use crate::failure::Failure;
use crate::paper::Paper;
use show::show;
use summary::summary;
use tables::{TABLES, Table};

pub(crate) fn run(arguments: &LabArguments) -> Result<(), Failure> {
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => std::env::temp_dir().join("paimon-lab"),
    };
    let written = TABLES
        .iter()
        .zip(1..)
        .map(|(table, seed)| write(table, seed));
    let written = written.collect::<Result<Vec<_>, Error>>()?;
    // All or nothing: no table of somebody else's is written over.
    for (table, files) in TABLES.iter().zip(&written) {
        check_free(&directory.join(table.name), files)?;
    }
    for (table, files) in TABLES.iter().zip(&written) {
        files.save(&directory.join(table.name))?;
    }
    let mut out = std::io::stdout().lock();
    let mut paper = Paper::new(environment::colours());
    paper.line("lab", &directory.display().to_string());
    let mut shown = Vec::new();
    for table in &TABLES {
        paper.gap();
        shown.push(show(&mut paper, table, &directory.join(table.name))?);
    }
    paper.gap();
    summary(&mut paper, &shown);
    out.write_all(paper.finish().as_bytes())?;
    out.flush()?;
    Ok(())
}

fn write(table: &Table, seed: u64) -> Result<WrittenTable, Error> {
    let layout = Layout {
        seed,
        ..Layout::default()
    };
    write_table(&History::from_json(table.history.as_bytes())?, &layout)
}

/// Refuses a directory that holds another table.
fn check_free(directory: &Path, files: &WrittenTable) -> Result<(), Error> {
    let schema: PathBuf = directory.join("schema").join("schema-0");
    let ours = files.files().find(|(path, _)| *path == "schema/schema-0");
    let (Ok(found), Some((_, ours))) = (std::fs::read(&schema), ours) else {
        return Ok(());
    };
    if found == *ours {
        return Ok(());
    }
    Err(
        Error::invalid_input("there is a table that is none of the lab's")
            .at(Frame::Table(directory.display().to_string()))
            .with_hint("another directory: paimon lab DIR"),
    )
}
