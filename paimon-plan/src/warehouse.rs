//! A directory of databases and tables, as the reference's file system catalog lays it out.

use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_io::{Resources, join};
use paimon_meta::{Error, Result};

const DATABASE_SUFFIX: &str = ".db";

/// A warehouse: a directory whose sub-directories `name.db` are databases, and theirs are tables.
#[derive(Clone, Debug)]
pub struct Warehouse {
    resources: Resources,
    location: String,
}

impl Warehouse {
    /// The warehouse at a location; nothing is read yet.
    pub fn new(resources: &Resources, location: &str) -> Self {
        Self {
            resources: resources.clone(),
            location: location.trim_end_matches('/').to_owned(),
        }
    }

    /// Its location.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Names of the databases, ascending.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn databases(&self) -> Result<Vec<String>> {
        let names = self.resources.list_directories(&self.location).await?;
        let names = names
            .iter()
            .filter_map(|name| name.strip_suffix(DATABASE_SUFFIX));
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Names of the tables of a database, ascending: directories that hold a schema.
    ///
    /// # Errors
    /// `InvalidInput` for a name with a slash, else those of the store.
    pub async fn tables(&self, database: &str) -> Result<Vec<String>> {
        let directory = self.database_location(database)?;
        let names = self.resources.list_directories(&directory).await?;
        let found = stream::iter(names).map(|name| {
            let schemas = join(&join(&directory, &name), "schema");
            let files = self.resources.list_names(&schemas);
            async move {
                let has_schema = files
                    .await?
                    .iter()
                    .any(|(file, _)| file.starts_with("schema-"));
                Ok::<_, Error>(has_schema.then_some(name))
            }
        });
        let found = found.buffer_unordered(self.resources.io_concurrency());
        let found: Vec<Option<String>> = found.try_collect().await?;
        let mut names: Vec<String> = found.into_iter().flatten().collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The location of a table, whether it is there or not.
    ///
    /// # Errors
    /// `InvalidInput` for a name with a slash.
    pub fn table_location(&self, database: &str, table: &str) -> Result<String> {
        Ok(join(&self.database_location(database)?, checked(table)?))
    }

    fn database_location(&self, database: &str) -> Result<String> {
        let name = format!("{}{DATABASE_SUFFIX}", checked(database)?);
        Ok(join(&self.location, &name))
    }
}

/// A name that stays in its directory.
fn checked(name: &str) -> Result<&str> {
    if name.is_empty() || name.contains('/') || name == "." || name == ".." {
        return Err(Error::invalid_input(format!("{name:?} is no name")));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::run;

    #[test]
    fn databases_and_tables_are_directories_that_look_so() {
        let directory = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        };
        make("b.db/t/schema/schema-0");
        make("b.db/a t/schema/schema-0");
        make("b.db/no table/snapshot/snapshot-1");
        make("a.db/x");
        make("other/t/schema/schema-0");
        let location = directory.path().to_str().unwrap();
        let warehouse = Warehouse::new(&Resources::local(), location);
        assert_eq!(run(warehouse.databases()).unwrap(), ["a", "b"]);
        assert_eq!(run(warehouse.tables("b")).unwrap(), ["a t", "t"]);
        assert_eq!(run(warehouse.tables("missing")).unwrap(), [""; 0]);
        let table = warehouse.table_location("b", "t").unwrap();
        assert_eq!(table, format!("{location}/b.db/t"));
        for name in ["", "..", "a/b"] {
            assert!(warehouse.table_location("b", name).is_err());
            assert!(warehouse.table_location(name, "t").is_err());
        }
    }
}
