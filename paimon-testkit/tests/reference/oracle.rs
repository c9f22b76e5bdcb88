//! The kit's oracle as a reader of the tables that the kit wrote.

use std::path::Path;

use paimon_meta::{DataField, Error, ErrorKind, Result};
use paimon_testkit::{
    GoldenCase, GoldenRequest, GoldenRows, GoldenSplit, JsonRow, Query, Reader, Verdict,
    WrittenTable, check_read,
};

pub(crate) struct Oracle {
    fields: Vec<DataField>,
    /// `None` where it does not know them.
    rows: Option<Result<Vec<JsonRow>, String>>,
}

impl Oracle {
    pub(crate) fn of(table: &WrittenTable) -> Self {
        let schema = table.main().unwrap().schema().unwrap();
        Self {
            fields: schema.fields.clone(),
            rows: match table.rows() {
                Err(error) if error.kind() == ErrorKind::Unsupported => None,
                rows => Some(rows.map_err(|error| error.to_string())),
            },
        }
    }

    /// That the reference answers what the oracle answers, where that is asked what it knows.
    pub(crate) fn check(&self, answer: &GoldenCase) -> Result<(), String> {
        let Some(rows) = &self.rows else {
            return Ok(());
        };
        for read in &answer.reads {
            let asked = &read.request;
            let simple = GoldenRequest {
                columns: asked.columns.clone(),
                filter: asked.filter.clone(),
                ..GoldenRequest::default()
            };
            // Versions that cannot be merged fail a read of all of them, and others perhaps.
            let failing = rows.is_err() && *asked != GoldenRequest::default();
            if *asked != simple || failing {
                continue;
            }
            match check_read(answer, read, self) {
                Verdict::Same => {}
                other => return Err(format!("oracle and reference, {asked:?}: {other:?}")),
            }
        }
        Ok(())
    }
}

impl Reader for Oracle {
    fn plan(&self, _: &Path, _: &GoldenRequest) -> Result<Option<Vec<Vec<GoldenSplit>>>> {
        Ok(None)
    }

    fn rows(&self, _: &Path, request: &GoldenRequest) -> Result<GoldenRows> {
        let rows = self.rows.as_ref().map(Result::as_ref);
        let rows = rows.ok_or_else(|| Error::unsupported("rows that the oracle does not know"))?;
        let rows = rows.map_err(|error| Error::corrupt(error.as_str()))?;
        let query = Query {
            columns: request.columns.clone(),
            filter: request.filter.clone(),
            limit: None,
        };
        let all = || self.fields.iter().map(|field| field.name.clone()).collect();
        Ok(GoldenRows {
            columns: request.columns.clone().unwrap_or_else(all),
            rows: query.answer(&self.fields, rows)?,
        })
    }
}
