//! The branches of a table: each has schemas, snapshots and tags of its own (RP-010, TF-009).

use std::collections::BTreeMap;

use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_io::{Resources, join};
use paimon_meta::{
    BRANCH_DIRECTORY, BranchPaths, Error, Frame, MAIN_BRANCH, Options, Result, ResultExt,
    TableSchema,
};

use crate::resolve::ResolveRequest;
use crate::snapshots::{numbered_files, there_are};

/// A branch with its schemas.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) name: String,
    pub(crate) paths: BranchPaths,
    /// By id.
    pub(crate) schemas: BTreeMap<i64, TableSchema>,
}

impl Branch {
    /// The branch that a read asks for: by name, else by the option `branch` of the read or, last, of the table.
    ///
    /// # Errors
    /// `NotFound` if there is no table or no such branch; the message says what there is. `Corrupt` and `Storage` as the
    /// files are.
    pub(crate) async fn open(
        resources: &Resources,
        location: &str,
        request: &ResolveRequest,
    ) -> Result<Self> {
        let key = Options::BRANCH.key;
        let asked = request.branch.as_deref();
        let asked = asked.or_else(|| request.options.get(key)?.as_deref());
        if let Some(name) = asked.map(str::trim).filter(|name| !name.is_empty()) {
            return Self::existing(resources, location, name).await;
        }
        let main = Self::existing(resources, location, MAIN_BRANCH).await?;
        let options = main.latest().map(|schema| &schema.options);
        match options.and_then(|options| options.get(key)) {
            Some(name) if !request.options.contains_key(key) => {
                let name = name.trim();
                if matches!(name, "" | MAIN_BRANCH) {
                    return Ok(main);
                }
                Self::existing(resources, location, name)
                    .await
                    .at(|| Frame::Option(key.to_owned()))
            }
            _ => Ok(main),
        }
    }

    /// The branch of a name, if it has a schema.
    ///
    /// # Errors
    /// `Corrupt` and `Storage` as the files are.
    pub(crate) async fn find(
        resources: &Resources,
        location: &str,
        name: &str,
    ) -> Result<Option<Self>> {
        let paths = BranchPaths::new(name)?;
        let schemas = read_schemas(resources, location, &paths).await?;
        Ok((!schemas.is_empty()).then(|| Self {
            name: name.to_owned(),
            paths,
            schemas,
        }))
    }

    /// The branch of a name.
    ///
    /// # Errors
    /// `NotFound` says which branches there are; else as [`Self::find`].
    pub(crate) async fn existing(
        resources: &Resources,
        location: &str,
        name: &str,
    ) -> Result<Self> {
        match Self::find(resources, location, name).await? {
            Some(branch) => Ok(branch),
            None if name == MAIN_BRANCH => Err(no_table(resources, location).await),
            None => Err(no_branch(resources, location, name).await),
        }
    }

    /// The schema of the largest id.
    pub(crate) fn latest(&self) -> Option<&TableSchema> {
        self.schemas.values().next_back()
    }
}

/// All schemas of a branch by id.
///
/// # Errors
/// `Corrupt` with the schema at fault, or `Storage`.
pub(crate) async fn read_schemas(
    resources: &Resources,
    location: &str,
    paths: &BranchPaths,
) -> Result<BTreeMap<i64, TableSchema>> {
    let directory = join(location, &paths.schema_directory());
    let ids = numbered_files(resources, &directory, "schema-").await?;
    let schemas = ids.into_iter().map(|id| {
        let path = join(location, &paths.schema(id));
        let file = resources.get(&path);
        async move {
            let schema = TableSchema::from_json(&file.await?);
            let checked = schema.and_then(|schema| checked_id(schema, id));
            let schema = checked.at(|| Frame::File(path)).at(|| Frame::Schema(id))?;
            Ok((id, schema))
        }
    });
    stream::iter(schemas)
        .buffered(resources.io_concurrency())
        .try_collect()
        .await
}

fn checked_id(schema: TableSchema, id: i64) -> Result<TableSchema> {
    if schema.id == id {
        Ok(schema)
    } else {
        Err(Error::corrupt(format!(
            "schema has id {}, its file name says {id}",
            schema.id
        ))
        .at(Frame::Field("id".to_owned())))
    }
}

async fn is_file(resources: &Resources, location: &str) -> bool {
    resources.exists(location).await.unwrap_or(false)
}

/// What there is instead of a table.
async fn no_table(resources: &Resources, location: &str) -> Error {
    let listing = async {
        let files = resources.list_names(location).await?;
        let directories = resources.list_directories(location).await?;
        Ok(files.is_empty() && directories.is_empty())
    };
    match listing.await {
        // Of some stores this is the answer for a file.
        Err(_) | Ok(true) if is_file(resources, location).await => Error::not_found(format!(
            "{location} is a file, expected the directory of a table"
        )),
        Err(error) => error,
        Ok(true) => Error::not_found(format!("there is nothing at {location}")),
        Ok(false) => Error::not_found(format!(
            "{location} is no Paimon table: it has no file schema/schema-<number>"
        )),
    }
}

/// What there is instead of a branch.
async fn no_branch(resources: &Resources, location: &str, name: &str) -> Error {
    match read_schemas(resources, location, &BranchPaths::main()).await {
        Ok(schemas) if schemas.is_empty() => return no_table(resources, location).await,
        _ => {}
    }
    let directory = join(location, BRANCH_DIRECTORY);
    match resources.list_directories(&directory).await {
        Err(error) => error,
        Ok(found) => {
            let mut names: Vec<&str> = found
                .iter()
                .filter_map(|name| name.strip_prefix("branch-"))
                .collect();
            names.sort_unstable();
            Error::not_found(format!(
                "branch {name:?} does not exist, {}",
                there_are("branches", &names.join(", "))
            ))
        }
    }
}
