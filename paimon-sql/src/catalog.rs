//! A warehouse as a catalog: databases are schemas, tables are tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::common::exec_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::TableType;
use paimon_meta::{Error, ErrorKind};
use paimon_plan::Warehouse;

use crate::error::external;
use crate::open::{Source, open_table};

/// The database of table names without one, as in the reference.
pub const DEFAULT_DATABASE: &str = "default";

/// A warehouse. Which databases and tables it has is read once; a table is resolved anew for each query that names it, so
/// each query sees the latest snapshot. [`DEFAULT_DATABASE`] is always there.
#[derive(Debug)]
pub struct PaimonCatalog {
    location: String,
    databases: BTreeMap<String, Arc<PaimonDatabase>>,
}

impl PaimonCatalog {
    /// The catalog of a warehouse directory.
    ///
    /// # Errors
    /// Those of the store, and `NotFound` for a directory without a database.
    pub async fn open(source: &Source, location: &str) -> Result<Self> {
        let warehouse = Warehouse::new(&source.resources, location);
        let database = |name: &str, tables: Vec<String>| {
            let database = PaimonDatabase {
                source: source.clone(),
                warehouse: warehouse.clone(),
                name: name.to_owned(),
                tables,
                views: MemorySchemaProvider::new(),
            };
            (name.to_owned(), Arc::new(database))
        };
        let mut databases = BTreeMap::from([database(DEFAULT_DATABASE, Vec::new())]);
        let names = warehouse.databases().await.map_err(external)?;
        if names.is_empty() {
            let message = format!("{location} has no database: a warehouse has folders NAME.db");
            return Err(external(Error::not_found(message)));
        }
        for name in names {
            let tables = warehouse.tables(&name).await.map_err(external)?;
            databases.extend([database(&name, tables)]);
        }
        Ok(Self {
            location: location.to_owned(),
            databases,
        })
    }
}

impl CatalogProvider for PaimonCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.databases.keys().cloned().collect()
    }

    /// A database that is not there has a schema too, whose tables are errors that name it.
    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        Some(match self.databases.get(name) {
            Some(database) => Arc::<PaimonDatabase>::clone(database),
            None => Arc::new(MissingDatabase(format!(
                "no database {name} in {}, there are: {}",
                self.location,
                self.schema_names().join(", ")
            ))),
        })
    }
}

/// What is said of a database that a warehouse does not have.
#[derive(Debug)]
struct MissingDatabase(String);

#[async_trait]
impl SchemaProvider for MissingDatabase {
    fn table_names(&self) -> Vec<String> {
        Vec::new()
    }

    async fn table(&self, _: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        Err(external(Error::not_found(self.0.clone())))
    }

    fn table_exist(&self, _: &str) -> bool {
        false
    }
}

/// One database of a warehouse, and views that live as long as the catalog.
#[derive(Debug)]
pub struct PaimonDatabase {
    source: Source,
    warehouse: Warehouse,
    name: String,
    tables: Vec<String>,
    views: MemorySchemaProvider,
}

#[async_trait]
impl SchemaProvider for PaimonDatabase {
    fn table_names(&self) -> Vec<String> {
        let mut names = self.tables.clone();
        names.extend(self.views.table_names());
        names
    }

    /// A table that was made after the catalog was opened is found too.
    ///
    /// # Errors
    /// As [`open_table`]; a table that is not there names those that are.
    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if let Some(view) = self.views.table(name).await? {
            return Ok(Some(view));
        }
        let location = self.warehouse.table_location(&self.name, name);
        let location = location.map_err(external)?;
        let request = self.source.request();
        let opened = open_table(&self.source.resources, &location, &request);
        let opened = opened.await;
        match &opened {
            Err(error) if is_missing(error) && !self.has_table(base_name(name)) => {}
            _ => return opened.map(Some),
        }
        // Names without a database may be those of functions, too: these are not tables that are missed.
        if self.name == DEFAULT_DATABASE {
            return Ok(None);
        }
        let there = self.tables.join(", ");
        let missing = format!("no table {name} in {}, there are: {there}", self.name);
        Err(external(Error::not_found(missing)))
    }

    /// Without opening it: a listing of tables shows those too that cannot be read.
    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        let view = self.views.table_exist(name).then_some(TableType::View);
        let table = self.has_table(name).then_some(TableType::Base);
        Ok(view.or(table))
    }

    /// Takes a view, and keeps it in memory.
    fn register_table(
        &self,
        name: String,
        table: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        if table.table_type() != TableType::View {
            return exec_err!("table {name}: a warehouse is only read, it takes views alone");
        }
        self.views.register_table(name, table)
    }

    /// Drops a view.
    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if !self.views.table_exist(name) && self.has_table(name) {
            return exec_err!("table {name}: a warehouse is only read, views alone are dropped");
        }
        self.views.deregister_table(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.views.table_exist(name) || self.has_table(name)
    }
}

impl PaimonDatabase {
    fn has_table(&self, name: &str) -> bool {
        self.tables.iter().any(|table| table == name)
    }
}

/// The table's own name: without branch and system table.
fn base_name(name: &str) -> &str {
    name.split('$').next().unwrap_or(name)
}

fn is_missing(error: &DataFusionError) -> bool {
    let DataFusionError::External(cause) = error.find_root() else {
        return false;
    };
    let cause = cause.downcast_ref::<Error>();
    cause.is_some_and(|cause| cause.kind() == ErrorKind::NotFound)
}
