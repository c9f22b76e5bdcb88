//! The files of `tests/slt`, over the golden tables.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner};
use tokio::runtime::Runtime;

use crate::warehouse::{config, golden_session, rows};

struct Database(SessionContext);

#[async_trait::async_trait]
impl AsyncDB for Database {
    type Error = DataFusionError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>> {
        let frame = self.0.sql(sql).await?;
        let types = frame
            .schema()
            .fields()
            .iter()
            .map(|field| column_type(field.data_type()));
        let types: Vec<DefaultColumnType> = types.collect();
        let batches = frame.collect().await?;
        if types.is_empty() {
            return Ok(DBOutput::StatementComplete(0));
        }
        let mut rows = Vec::new();
        for batch in &batches {
            rows.extend(texts(batch)?);
        }
        Ok(DBOutput::Rows { types, rows })
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "paimon-sql"
    }
}

fn column_type(data_type: &DataType) -> DefaultColumnType {
    if data_type.is_integer() {
        DefaultColumnType::Integer
    } else if data_type.is_floating() {
        DefaultColumnType::FloatingPoint
    } else {
        DefaultColumnType::Text
    }
}

/// The rows as texts; an empty text is shown as `(empty)`.
fn texts(batch: &RecordBatch) -> Result<Vec<Vec<String>>> {
    let options = FormatOptions::new().with_null("NULL");
    let columns = batch.columns().iter();
    let columns = columns.map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
    let text = |column: &ArrayFormatter<'_>, row: usize| match column.value(row).to_string() {
        text if text.is_empty() => "(empty)".to_owned(),
        text => text.replace('\n', "\\n"),
    };
    let row = |row: usize| columns.iter().map(|column| text(column, row)).collect();
    Ok((0..batch.num_rows()).map(row).collect())
}

#[test]
fn statements_of_files_give_what_the_files_say() {
    let runtime = Runtime::new().unwrap();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt");
    let files = std::fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort_unstable();
    assert!(files.len() > 3);
    for partitions in [1, 3] {
        for file in &files {
            let done = runtime.block_on(async {
                let (context, _kept) = golden_session(config(partitions, 100)).await;
                // The tables are there at all.
                assert!(!rows(&context, "SHOW TABLES").await.unwrap().is_empty());
                let connect = || async { Ok::<_, DataFusionError>(Database(context.clone())) };
                Runner::new(connect).run_file_async(file).await
            });
            done.unwrap_or_else(|error| panic!("{partitions} partitions: {error}"));
        }
    }
}
