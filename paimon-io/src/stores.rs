//! Which object store a location lies in.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use paimon_meta::{Error, Result};

use crate::cloud;
#[cfg(feature = "fs")]
use crate::location::FILE;
use crate::location::Location;

/// Finds the object store of a location. Engines that have a registry of their own implement this.
///
/// Contract: the same location always gives the same store; the path is the location's text as it stands, made by
/// [`Path::parse`] and never by `Path::from`, which would encode it. Nothing is requested here.
pub trait Stores: fmt::Debug + Send + Sync {
    /// The store and the path in it.
    ///
    /// # Errors
    /// `Unsupported` if there is no store for the location's scheme, `InvalidInput` if the location is malformed.
    fn resolve(&self, location: &str) -> Result<(Arc<dyn ObjectStore>, Path)>;
}

/// Stores by scheme and authority: local files (`/…`, `file:/…`), stores in memory (`memory://name/…`), those that were
/// [registered](Self::register), and cloud stores as far as their features are on. Each is made when first asked for,
/// and kept. Reads no environment: what a cloud store must know comes from [options](Self::with_options).
///
/// Locations are absolute (the process's directory is not looked at) and literal. Local files are reached through
/// `object_store`'s `LocalFileSystem`, which keeps every name as it is but cannot open a file whose name ends in `#` and
/// digits: opening one is `Unsupported`, and listings leave it out.
#[derive(Default)]
pub struct StoreRegistry {
    stores: Mutex<HashMap<(String, String), Arc<dyn ObjectStore>>>,
    options: HashMap<String, Vec<(String, String)>>,
}

impl StoreRegistry {
    /// Local files, stores in memory, and cloud stores without options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds options for the cloud stores of a scheme (`s3`, `gs`, `az`, `http`), by `object_store`'s names for them:
    /// `region`, `endpoint`, `access_key_id`, and so on.
    #[must_use]
    pub fn with_options<K: Into<String>, V: Into<String>>(
        mut self,
        scheme: &str,
        options: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let known = self
            .options
            .entry(cloud::canonical(scheme).to_owned())
            .or_default();
        known.extend(
            options
                .into_iter()
                .map(|(key, value)| (key.into(), value.into())),
        );
        self
    }

    /// Uses `store` for every location with this scheme and authority, `s3://bucket` or `file://` for instance, in place
    /// of the one that would be made.
    ///
    /// # Errors
    /// `InvalidInput` if `prefix` is not `scheme://authority`.
    pub fn register(&self, prefix: &str, store: Arc<dyn ObjectStore>) -> Result<()> {
        let location = Location::parse(prefix)?;
        if !location.path.is_empty() {
            return Err(Error::invalid_input(format!(
                "prefix {prefix:?} has a path, expected scheme://authority"
            )));
        }
        self.lock()
            .insert((location.scheme, location.authority.to_owned()), store);
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, String), Arc<dyn ObjectStore>>> {
        // The map is whole even if a thread panicked while it held the lock.
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, scheme: &str, authority: &str) -> Result<Arc<dyn ObjectStore>> {
        match scheme {
            #[cfg(feature = "fs")]
            FILE => Ok(Arc::new(object_store::local::LocalFileSystem::new())),
            "memory" => Ok(Arc::new(InMemory::new())),
            _ => {
                let options = self
                    .options
                    .get(cloud::canonical(scheme))
                    .map_or(&[][..], Vec::as_slice);
                cloud::make(scheme, authority, options)
            }
        }
    }
}

impl Stores for StoreRegistry {
    fn resolve(&self, location: &str) -> Result<(Arc<dyn ObjectStore>, Path)> {
        let Location {
            scheme,
            authority,
            path,
        } = Location::parse(location)?;
        let path = Path::parse(path).map_err(|error| {
            Error::invalid_input(format!("location {location:?} is no path")).with_source(error)
        })?;
        let mut stores = self.lock();
        let key = (scheme, authority.to_owned());
        if let Some(store) = stores.get(&key) {
            return Ok((Arc::clone(store), path));
        }
        let store = self.make(&key.0, authority)?;
        stores.insert(key, Arc::clone(&store));
        Ok((store, path))
    }
}

impl fmt::Debug for StoreRegistry {
    /// Shows the stores made so far, and no options, for they hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut prefixes: Vec<_> = self
            .lock()
            .keys()
            .map(|(scheme, authority)| format!("{scheme}://{authority}"))
            .collect();
        prefixes.sort_unstable();
        f.debug_tuple("StoreRegistry").field(&prefixes).finish()
    }
}

#[cfg(test)]
mod tests {
    use paimon_meta::ErrorKind;

    use super::*;

    #[test]
    fn one_store_per_scheme_and_authority() {
        let registry = StoreRegistry::new();
        let store = |location: &str| registry.resolve(location).unwrap().0;
        assert!(Arc::ptr_eq(&store("memory:///a"), &store("memory:/b")));
        assert!(!Arc::ptr_eq(
            &store("memory:///a"),
            &store("memory://other/a")
        ));
        assert_eq!(
            format!("{registry:?}"),
            r#"StoreRegistry(["memory://", "memory://other"])"#
        );
    }

    #[cfg(feature = "fs")]
    #[test]
    fn registered_store_takes_the_place_of_the_own_one() {
        let registry = StoreRegistry::new();
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        registry.register("file://", Arc::clone(&store)).unwrap();
        registry
            .register("oss://bucket", Arc::clone(&store))
            .unwrap();
        for location in ["/a/b", "file:/a/b", "oss://bucket/a/b"] {
            let (found, path) = registry.resolve(location).unwrap();
            assert!(Arc::ptr_eq(&found, &store), "{location}");
            assert_eq!(path.as_ref(), "a/b");
        }
        assert_eq!(
            registry
                .register("oss://bucket/path", store)
                .unwrap_err()
                .kind(),
            ErrorKind::InvalidInput
        );
    }

    #[test]
    fn unknown_scheme_is_refused_by_name() {
        let error = StoreRegistry::new()
            .resolve("hdfs://namenode:8020/t")
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.feature(), Some("object store hdfs"));
    }

    #[test]
    fn control_characters_are_invalid_input() {
        let error = StoreRegistry::new().resolve("memory:///a\nb").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}
