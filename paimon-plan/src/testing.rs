//! What tests of the store part share: a table in memory, and running futures.

use std::future::Future;
use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};
use paimon_io::{ResourceParts, Resources, StoreRegistry};

/// Where [`resources`] puts its files.
pub(crate) const ROOT: &str = "memory://test/table";

/// Runs a future of a test to its end.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no runtime, and nothing else to do meanwhile"
)]
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    futures::executor::block_on(future)
}

/// Resources over a store in memory with these files under [`ROOT`].
pub(crate) fn resources<'a>(files: impl IntoIterator<Item = (&'a str, String)>) -> Resources {
    let store = Arc::new(InMemory::new());
    for (name, content) in files {
        let path = Path::parse(format!("table/{name}")).unwrap();
        run(store.put(&path, PutPayload::from(content))).unwrap();
    }
    let registry = StoreRegistry::new();
    registry.register("memory://test", store).unwrap();
    Resources::new(ResourceParts {
        stores: Arc::new(registry),
        ..ResourceParts::default()
    })
}
