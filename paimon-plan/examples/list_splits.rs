//! Plans a table and writes its splits: `cargo run -p paimon-plan --example list_splits [PATH]`.

use std::error::Error;
use std::io::{self, Write};

use paimon_io::Resources;
use paimon_meta::Result;
use paimon_plan::{Plan, ResolveRequest, ScanRequest, Table, plan};

/// Two writes with keys in common, so its only split must be merged.
pub(crate) const GOLDEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../paimon-testkit/golden/lab_r_overlap/table"
);

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1);
    write_splits(path.as_deref().unwrap_or(GOLDEN), &mut io::stdout())
}

/// Writes the splits of a table with their files, and why each is raw or not.
#[expect(
    clippy::disallowed_methods,
    reason = "local files need no runtime, and there is nothing else to do meanwhile"
)]
pub(crate) fn write_splits(path: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let plan = futures::executor::block_on(planned(path))?;
    let files = plan.files();
    for split in plan.iter() {
        let raw = split.raw_convertible();
        let how = if raw { "raw" } else { "to merge" };
        writeln!(out, "{}: {how}, {:?}", split.bucket_path(), split.why())?;
        for file in split.files() {
            let (name, rows) = (files.file_name(file), files.row_count(file));
            writeln!(out, "  level {}  {rows} rows  {name}", files.level(file))?;
        }
        writeln!(out, "  in the way: {:?}", split.obstacles())?;
    }
    writeln!(out, "what would help: {:?}", plan.what_would_help())?;
    Ok(())
}

async fn planned(path: &str) -> Result<Plan> {
    let resources = Resources::local();
    let table = Table::resolve(&resources, path, &ResolveRequest::default()).await?;
    plan(&resources, &table, &ScanRequest::default()).await
}
