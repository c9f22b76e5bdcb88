//! Options of object stores on the command line.

use std::str::FromStr;
use std::sync::Arc;

use paimon_io::{ResourceParts, Resources, StoreRegistry};
use paimon_read::ManifestFormats;

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

/// Everything that a process reads through, with these options of stores.
pub(crate) fn resources(options: &[StoreOption]) -> Resources {
    let stores = options.iter().fold(StoreRegistry::new(), |stores, option| {
        let pair = (option.key.as_str(), option.value.as_str());
        stores.with_options(&option.scheme, [pair])
    });
    Resources::new(ResourceParts {
        stores: Arc::new(stores),
        manifest_format: Some(Arc::new(ManifestFormats)),
        ..ResourceParts::default()
    })
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
