//! `paimon ls`: the databases and tables of a warehouse, or the tables of one database.

use std::io::Write;

use paimon_io::Resources;
use paimon_meta::{Error, Result};
use paimon_plan::Warehouse;
use paimon_read::block_on;
use serde::Serialize;

use crate::args::{LsArguments, TextOrJson};
use crate::environment;
use crate::failure::Failure;

/// A database and its tables.
#[derive(Debug, Serialize)]
struct Database {
    database: String,
    tables: Vec<String>,
}

pub(crate) fn run(arguments: &LsArguments) -> Result<(), Failure> {
    let location = environment::location(&arguments.warehouse)?;
    let databases = block_on(list(&location))?;
    let mut out = std::io::stdout().lock();
    match arguments.format {
        TextOrJson::Json => {
            for database in &databases {
                serde_json::to_writer(&mut out, database).map_err(Failure::of_writer)?;
                writeln!(out)?;
            }
        }
        TextOrJson::Text => out.write_all(text(&databases).as_bytes())?,
    }
    out.flush()?;
    Ok(())
}

/// The databases of a warehouse, or the one that the location itself is.
async fn list(location: &str) -> Result<Vec<Database>> {
    let location = location.trim_end_matches('/');
    let (parent, name) = location.rsplit_once('/').unwrap_or(("", location));
    let resources = Resources::local();
    let (warehouse, names) = match name.strip_suffix(".db") {
        Some(name) => (Warehouse::new(&resources, parent), vec![name.to_owned()]),
        None => {
            let warehouse = Warehouse::new(&resources, location);
            let names = warehouse.databases().await?;
            (warehouse, names)
        }
    };
    let mut databases = Vec::with_capacity(names.len());
    for database in names {
        let tables = warehouse.tables(&database).await?;
        databases.push(Database { database, tables });
    }
    if databases.iter().all(|database| database.tables.is_empty()) {
        check_exists(&resources, location, databases.is_empty()).await?;
    }
    Ok(databases)
}

/// A directory without tables may not be there at all, or be none of databases.
async fn check_exists(resources: &Resources, location: &str, no_databases: bool) -> Result<()> {
    let directories = resources.list_directories(location).await?;
    if directories.is_empty() && resources.list_names(location).await?.is_empty() {
        if resources.exists(location).await? {
            let fault = format!("{location} is a file, expected the directory of a warehouse");
            return Err(Error::not_found(fault));
        }
        return Err(Error::not_found(format!("there is nothing at {location}")));
    }
    if no_databases {
        return Err(Error::not_found(format!(
            "{location} is no warehouse: it has no directory <name>.db"
        )));
    }
    Ok(())
}

/// One line per table, `database.table`, and one for a database without tables.
fn text(databases: &[Database]) -> String {
    let mut text = String::new();
    for Database { database, tables } in databases {
        if tables.is_empty() {
            text.push_str(&format!("{database} (no tables)\n"));
        }
        for table in tables {
            text.push_str(&format!("{database}.{table}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_behind_their_databases() {
        let database = |name: &str, tables: &[&str]| Database {
            database: name.to_owned(),
            tables: tables.iter().map(|table| (*table).to_owned()).collect(),
        };
        let databases = [database("a", &["t", "u v"]), database("b", &[])];
        assert_eq!(text(&databases), "a.t\na.u v\nb (no tables)\n");
    }
}
