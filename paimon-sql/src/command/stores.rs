//! Options of object stores on the command line.

use std::str::FromStr;
use std::sync::Arc;

use paimon_io::{ResourceParts, Resources, StoreRegistry, Stores};
use paimon_meta::ErrorKind;
use paimon_read::ManifestFormats;

use super::failure::Failure;

/// Schemes whose stores take options.
const SCHEMES: [&str; 4] = ["s3", "gs", "az", "http"];

/// One option of the stores of a scheme: `s3.region=eu-west-1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreOption {
    scheme: String,
    key: String,
    value: String,
}

impl FromStr for StoreOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('=').and_then(|(name, value)| {
            let (scheme, key) = name.split_once('.')?;
            Some((scheme, key, value))
        });
        match parts {
            Some((scheme, key, value)) if !scheme.is_empty() && !key.is_empty() => Ok(Self {
                scheme: scheme.to_owned(),
                key: key.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err("expected SCHEME.KEY=VALUE, such as s3.region=eu-west-1".to_owned()),
        }
    }
}

impl StoreOption {
    fn add_to(&self, stores: StoreRegistry) -> StoreRegistry {
        let pair = (self.key.as_str(), self.value.as_str());
        stores.with_options(&self.scheme, [pair])
    }

    /// # Errors
    /// Usage for a scheme without options, or that is not built in, and for a key that its stores do not know.
    fn verify(&self) -> Result<(), Failure> {
        let refused = |why: &str| {
            let (scheme, key) = (&self.scheme, &self.key);
            let built_in: Vec<&str> = SCHEMES.into_iter().filter(|one| is_built_in(one)).collect();
            let there = match built_in.as_slice() {
                [] => {
                    "no store with options is built in (features s3, gcs, azure, http)".to_owned()
                }
                schemes => format!("stores with options are {}", schemes.join(", ")),
            };
            Err(Failure::usage(&format!(
                "--store {scheme}.{key}: {why}; {there}"
            )))
        };
        if ["file", "memory"].contains(&self.scheme.as_str()) {
            return refused("it takes no options");
        }
        match self
            .add_to(StoreRegistry::new())
            .resolve(&of_any_bucket(&self.scheme))
        {
            Err(error) if error.kind() == ErrorKind::Unsupported => refused(&error.to_string()),
            // Other options may be missing; that has a cause.
            Err(error) if std::error::Error::source(&error).is_none() => refused(error.message()),
            _ => Ok(()),
        }
    }
}

fn is_built_in(scheme: &str) -> bool {
    let made = StoreRegistry::new().resolve(&of_any_bucket(scheme));
    made.map_or_else(|error| error.kind() != ErrorKind::Unsupported, |_| true)
}

fn of_any_bucket(scheme: &str) -> String {
    format!("{scheme}://bucket/")
}

/// Everything that a process reads through, with these options of stores.
///
/// # Errors
/// Usage for an option that no store knows.
pub(crate) fn resources(options: &[StoreOption]) -> Result<Resources, Failure> {
    let mut stores = StoreRegistry::new();
    for option in options {
        option.verify()?;
        stores = option.add_to(stores);
    }
    Ok(Resources::new(ResourceParts {
        stores: Arc::new(stores),
        manifest_format: Some(Arc::new(ManifestFormats)),
        ..ResourceParts::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_scheme_key_and_value() {
        let option: StoreOption = "s3.endpoint=http://h:1/a=b".parse().unwrap();
        assert_eq!(option.scheme, "s3");
        assert_eq!(option.key, "endpoint");
        assert_eq!(option.value, "http://h:1/a=b");
        for wrong in ["", "s3", "s3.region", "region=x", ".a=b", "s3.=b"] {
            assert!(wrong.parse::<StoreOption>().is_err(), "{wrong}");
        }
    }
}
