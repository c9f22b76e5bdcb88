//! Writes the tables of histories, for other readers to be tried on.
//!
//! `write_history OUT HISTORY.json...` makes of each history `OUT/<name>/table`, and `OUT/<name>/rows.json` with the rows
//! that a read of it must give. A `layout` beside the steps says how files are laid out.

use std::error::Error;
use std::fs;
use std::path::Path;

use paimon_testkit::{History, Layout, write_table};
use serde::Deserialize;

/// What a history file has beside the history.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    layout: Layout,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let out = arguments
        .next()
        .ok_or("write_history OUT HISTORY.json...")?;
    for file in arguments {
        let text = fs::read(&file)?;
        let name = Path::new(&file).file_stem().ok_or("a file without name")?;
        let layout = serde_json::from_slice::<Named>(&text)?.layout;
        let table = write_table(&History::from_json(&text)?, &layout)?;
        let folder = Path::new(&out).join(name);
        table.save(&folder.join("table"))?;
        fs::write(
            folder.join("rows.json"),
            serde_json::to_vec(&table.rows()?)?,
        )?;
    }
    Ok(())
}
