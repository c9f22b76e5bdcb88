//! SQL over whole tables: golden ones, and tables of random histories.

#[cfg(feature = "ballista")]
#[cfg(test)]
mod cluster;
#[cfg(feature = "ballista")]
#[cfg(test)]
mod codec;
#[cfg(test)]
mod command;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod random;
#[cfg(test)]
mod slt;
#[cfg(test)]
mod sql_text;

#[cfg(test)]
mod warehouse {
    use std::path::PathBuf;
    use std::sync::Arc;

    use arrow_array::RecordBatch;
    use datafusion::arrow::util::pretty::pretty_format_batches;
    use datafusion::error::{DataFusionError, Result};
    use datafusion::prelude::{SessionConfig, SessionContext};
    use paimon_io::{ResourceParts, Resources};
    use paimon_read::ManifestFormats;
    use paimon_sql::{SessionRequest, session};
    use paimon_testkit::GOLDEN;

    /// A warehouse whose database `golden` has the golden tables, and `lab` those of the lab.
    pub(crate) fn golden_warehouse() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(GOLDEN).unwrap() {
            let case = entry.unwrap();
            let name = case.file_name().into_string().unwrap();
            let table = case.path().join("table");
            if table.is_dir() {
                let (database, name) = match name.strip_prefix("lab_") {
                    Some(name) => ("lab", name.to_owned()),
                    None => ("golden", name),
                };
                let database = directory.path().join(format!("{database}.db"));
                std::fs::create_dir_all(&database).unwrap();
                std::os::unix::fs::symlink(table, database.join(name)).unwrap();
            }
        }
        directory
    }

    /// The table of a golden case.
    pub(crate) fn table(case: &str) -> String {
        let path: PathBuf = [GOLDEN, case, "table"].iter().collect();
        path.into_os_string().into_string().unwrap()
    }

    pub(crate) fn resources() -> Resources {
        Resources::new(ResourceParts {
            manifest_format: Some(Arc::new(ManifestFormats)),
            ..ResourceParts::default()
        })
    }

    /// Settings under which small tables are read in parts.
    pub(crate) fn config(partitions: usize, batch_size: usize) -> SessionConfig {
        let mut config = SessionConfig::new()
            .with_target_partitions(partitions)
            .with_batch_size(batch_size);
        config.options_mut().optimizer.repartition_file_min_size = 1;
        config
    }

    /// A session over the golden warehouse.
    pub(crate) async fn golden_session(
        config: SessionConfig,
    ) -> (SessionContext, tempfile::TempDir) {
        let warehouse = golden_warehouse();
        let request = SessionRequest {
            warehouse: Some(warehouse.path().to_str().unwrap().to_owned()),
            directory: Some(GOLDEN.to_owned()),
            config,
            ..SessionRequest::new(resources())
        };
        (session(&request).await.unwrap(), warehouse)
    }

    pub(crate) async fn rows(context: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>> {
        context.sql(sql).await?.collect().await
    }

    /// The rows as a table for people.
    pub(crate) async fn text(context: &SessionContext, sql: &str) -> String {
        let batches = rows(context, sql).await;
        let batches = batches.unwrap_or_else(|error| panic!("{sql}: {error}"));
        pretty_format_batches(&batches).unwrap().to_string()
    }

    /// The physical plan as `EXPLAIN` shows it.
    pub(crate) async fn plan(context: &SessionContext, sql: &str) -> String {
        let frame = context.sql(sql).await.unwrap();
        let plan = frame.create_physical_plan().await.unwrap();
        let shown = datafusion::physical_plan::displayable(plan.as_ref());
        shown.indent(false).to_string()
    }

    /// What a query says that must fail.
    pub(crate) async fn failure(context: &SessionContext, sql: &str) -> DataFusionError {
        match rows(context, sql).await {
            Err(error) => error,
            Ok(rows) => panic!("{sql} gives {} batches", rows.len()),
        }
    }
}
