//! What all tasks of one read share.

use std::sync::Arc;

use paimon_io::{Resources, join};
use paimon_meta::{
    DataFileMeta, Error, Frame, ResolvedTable, Result, TableSchema, is_absolute_path,
};

use crate::columns::Shape;
use crate::filter::RowFilter;
use crate::provider::SplitReadProvider;
use crate::reader::default_providers;
use crate::request::ReadRequest;

/// What all tasks of one read share. Cheap to share behind an `Arc`.
#[derive(Clone, Debug)]
pub struct ReadContext {
    /// The table as the read sees it.
    pub table: Arc<ResolvedTable>,
    /// What is read.
    pub request: ReadRequest,
    /// A filter of the caller's own, evaluated on rows of the result beside the request's predicate.
    pub filter: Option<Arc<dyn RowFilter>>,
    /// The way to the outside.
    pub resources: Resources,
    /// Asked in order; the first claim wins.
    pub providers: Vec<Arc<dyn SplitReadProvider>>,
}

impl ReadContext {
    /// A read with the providers of this crate and no filter of the caller's own.
    pub fn new(table: Arc<ResolvedTable>, request: ReadRequest, resources: Resources) -> Self {
        Self {
            table,
            request,
            filter: None,
            resources,
            providers: default_providers(),
        }
    }

    /// The checked request.
    ///
    /// # Errors
    /// As [`Shape::new`].
    pub(crate) fn shape(&self) -> Result<Arc<Shape>> {
        Shape::new(&self.table, &self.request, self.filter.as_ref()).map(Arc::new)
    }

    /// The location of a path that metadata gives: relative to the table, or absolute.
    pub(crate) fn location(&self, path: &str) -> String {
        if is_absolute_path(path) {
            path.to_owned()
        } else {
            join(&self.table.location, path)
        }
    }

    /// The schema that a file was written with.
    ///
    /// # Errors
    /// `NotFound` if the table has no such schema file (TF-099).
    pub(crate) fn schema_of(&self, file: &DataFileMeta) -> Result<&TableSchema> {
        if file.schema_id == self.table.schema.id {
            return Ok(&self.table.schema);
        }
        self.table.schemas.get(&file.schema_id).ok_or_else(|| {
            Error::not_found(format!(
                "schema-{} of the data file is missing",
                file.schema_id
            ))
            .at(Frame::File(file.file_name.clone()))
        })
    }
}
