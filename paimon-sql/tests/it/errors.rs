//! Bad input: an error that names it, never an empty result.

use std::sync::Arc;

use object_store::memory::InMemory;
use paimon_io::{ResourceParts, Resources, StoreRegistry};
use paimon_meta::{Error, ErrorKind};
use paimon_plan::ResolveRequest;
use paimon_sql::{SessionRequest, open_table, session};
use paimon_testkit::{History, Layout, write_table};

use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;

use crate::warehouse::{failure, resources, table};

fn own(error: &DataFusionError) -> Error {
    match error.find_root() {
        DataFusionError::External(cause) => cause.downcast_ref::<Error>().unwrap().clone(),
        other => panic!("{other}"),
    }
}

/// A table in memory, and its store.
async fn in_memory() -> (SessionContext, Arc<InMemory>) {
    let history = r#"{"columns": [["k", "INT NOT NULL"], ["v", "STRING"]], "primary_key": ["k"],
        "options": {"bucket": "1"}, "steps": [{"write": [["+I", 1, "a"]]}, {"write": [["+I", 1, "b"]]}]}"#;
    let history = History::from_json(history.as_bytes()).unwrap();
    let written = write_table(&history, &Layout::default()).unwrap();
    let store = Arc::new(InMemory::new());
    written.put(store.as_ref(), "t").await.unwrap();
    let registry = StoreRegistry::new();
    let registered = Arc::<InMemory>::clone(&store);
    registry.register("memory://", registered).unwrap();
    let resources = Resources::new(ResourceParts {
        stores: Arc::new(registry),
        ..ResourceParts::default()
    });
    let context = SessionContext::new();
    let request = ResolveRequest::default();
    let table = open_table(&resources, "memory:///t", &request);
    context.register_table("t", table.await.unwrap()).unwrap();
    (context, store)
}

#[tokio::test]
async fn a_data_file_that_is_gone_fails_the_query_and_is_named() {
    use futures_util::TryStreamExt;
    use object_store::{ObjectStore, ObjectStoreExt};

    let (context, store) = in_memory().await;
    let listed: Vec<_> = store.list(None).try_collect().await.unwrap();
    let data = listed
        .iter()
        .find(|file| file.location.as_ref().contains("/data-"))
        .unwrap();
    store.delete(&data.location).await.unwrap();
    let error = own(&failure(&context, "SELECT * FROM t").await);
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let name = data.location.filename().unwrap();
    assert!(error.to_string().contains(name), "{error}");
}

#[tokio::test]
async fn a_warehouse_that_cannot_be_reached_is_named() {
    let request = SessionRequest {
        warehouse: Some("s9://bucket/warehouse".to_owned()),
        ..SessionRequest::new(resources())
    };
    let error = own(&session(&request).await.err().unwrap());
    assert_eq!(error.feature(), Some("object store s9"));
}

#[tokio::test]
async fn a_warehouse_without_a_database_is_named() {
    let nothing = tempfile::tempdir().unwrap();
    for place in [nothing.path().to_owned(), nothing.path().join("nowhere")] {
        let warehouse = place.to_str().unwrap().to_owned();
        let request = SessionRequest {
            warehouse: Some(warehouse.clone()),
            ..SessionRequest::new(resources())
        };
        let error = own(&session(&request).await.err().unwrap());
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.message().contains(&warehouse), "{error}");
    }
}

#[tokio::test]
async fn a_relative_path_without_a_directory_is_refused() {
    let context = session(&SessionRequest::new(resources())).await.unwrap();
    let error = own(&failure(&context, "SELECT * FROM paimon_table('t')").await);
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.message().contains("relative"), "{error}");
}

#[tokio::test]
async fn an_option_that_no_read_obeys_is_named_and_one_given_twice_too() {
    let location = table("lab_r_one");
    let key = "scan.snapshotid".to_owned();
    let request = ResolveRequest {
        options: [(key, Some("1".to_owned()))].into(),
        ..ResolveRequest::default()
    };
    let error = own(&open_table(&resources(), &location, &request)
        .await
        .unwrap_err());
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.message().contains("'scan.snapshotid'"), "{error}");

    let context = session(&SessionRequest::new(resources())).await.unwrap();
    let option = "'scan.snapshot-id=1'";
    let sql = format!("SELECT * FROM paimon_table('{location}', {option}, {option})");
    let said = failure(&context, &sql).await.to_string();
    assert!(
        said.contains("option 'scan.snapshot-id' is given twice"),
        "{said}"
    );
}

#[tokio::test]
async fn a_condition_that_fails_fails_the_query() {
    let (context, _) = in_memory().await;
    let error = failure(&context, "SELECT * FROM t WHERE 1 / (k - 1) > 0").await;
    assert!(
        error.to_string().to_lowercase().contains("divide by zero"),
        "{error}"
    );
}
