//! Cloud stores, each behind a feature of its own.

use std::sync::Arc;

use object_store::ObjectStore;
use paimon_meta::{Error, Result};

/// The scheme under which the options of a scheme's stores are kept.
pub(crate) fn canonical(scheme: &str) -> &str {
    match scheme {
        "s3" | "s3a" | "s3n" => "s3",
        "gs" | "gcs" => "gs",
        "az" | "azure" | "abfs" | "abfss" | "adl" => "az",
        "http" | "https" => "http",
        other => other,
    }
}

/// Makes the store of a scheme and authority.
///
/// # Errors
/// `Unsupported` if the scheme is unknown or its feature is off, `InvalidInput` if an option is not known to the store
/// or the store cannot be made from them.
#[cfg_attr(
    not(any(feature = "s3", feature = "gcs", feature = "azure", feature = "http")),
    expect(unused_variables, reason = "no cloud store is built in")
)]
pub(crate) fn make(
    scheme: &str,
    authority: &str,
    options: &[(String, String)],
) -> Result<Arc<dyn ObjectStore>> {
    match canonical(scheme) {
        #[cfg(feature = "s3")]
        "s3" => {
            let builder = object_store::aws::AmazonS3Builder::new().with_bucket_name(authority);
            let builder = configure(builder, scheme, options, |builder, key, value| {
                builder.with_config(key, value)
            })?;
            finish(scheme, builder.build())
        }
        #[cfg(feature = "gcs")]
        "gs" => {
            let builder =
                object_store::gcp::GoogleCloudStorageBuilder::new().with_bucket_name(authority);
            let builder = configure(builder, scheme, options, |builder, key, value| {
                builder.with_config(key, value)
            })?;
            finish(scheme, builder.build())
        }
        #[cfg(feature = "azure")]
        "az" => {
            let url = format!("{scheme}://{authority}");
            let builder = object_store::azure::MicrosoftAzureBuilder::new().with_url(url);
            let builder = configure(builder, scheme, options, |builder, key, value| {
                builder.with_config(key, value)
            })?;
            finish(scheme, builder.build())
        }
        #[cfg(feature = "http")]
        "http" => {
            let builder =
                object_store::http::HttpBuilder::new().with_url(format!("{scheme}://{authority}"));
            let builder = configure(builder, scheme, options, |builder, key, value| {
                builder.with_config(key, value)
            })?;
            finish(scheme, builder.build())
        }
        _ => Err(Error::unsupported(format!("object store {scheme}"))),
    }
}

#[cfg(any(feature = "s3", feature = "gcs", feature = "azure", feature = "http"))]
fn configure<B, K: std::str::FromStr>(
    builder: B,
    scheme: &str,
    options: &[(String, String)],
    set: impl Fn(B, K, &str) -> B,
) -> Result<B> {
    options.iter().try_fold(builder, |builder, (name, value)| {
        match name.to_ascii_lowercase().parse() {
            Ok(key) => Ok(set(builder, key, value)),
            Err(_) => Err(Error::invalid_input(format!(
                "option {name:?} is not known to object store {scheme}"
            ))),
        }
    })
}

#[cfg(any(feature = "s3", feature = "gcs", feature = "azure", feature = "http"))]
fn finish<S: ObjectStore>(
    scheme: &str,
    built: object_store::Result<S>,
) -> Result<Arc<dyn ObjectStore>> {
    match built {
        Ok(store) => Ok(Arc::new(store)),
        Err(error) => Err(
            Error::invalid_input(format!("cannot make object store {scheme}")).with_source(error),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::{StoreRegistry, Stores as _};

    #[cfg(not(feature = "s3"))]
    #[test]
    fn store_whose_feature_is_off_is_refused_by_name() {
        let error = StoreRegistry::new().resolve("s3://bucket/t").unwrap_err();
        assert_eq!(error.feature(), Some("object store s3"));
    }

    #[cfg(feature = "s3")]
    #[test]
    fn options_reach_every_spelling_of_the_scheme_and_typos_are_refused() {
        let registry = StoreRegistry::new()
            .with_options("s3", [("region", "eu-west-1"), ("skip_signature", "true")]);
        let (_, path) = registry.resolve("s3a://bucket/dt=a%2Fb/x y").unwrap();
        assert_eq!(path.as_ref(), "dt=a%2Fb/x y");
        let error = StoreRegistry::new()
            .with_options("s3a", [("regoin", "x")])
            .resolve("s3://bucket/t")
            .unwrap_err();
        assert_eq!(
            error.message(),
            "option \"regoin\" is not known to object store s3"
        );
    }

    #[test]
    fn canonical_scheme_of_an_unknown_one_is_itself() {
        assert_eq!(canonical("oss"), "oss");
        assert!(make("oss", "bucket", &[]).is_err());
    }
}
