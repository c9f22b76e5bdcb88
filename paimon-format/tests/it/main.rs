//! Tests of the public surface: the contract of [`paimon_format::DataFile`], once per format, and each format's own.

#[cfg(test)]
mod avro;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod orc;
#[cfg(test)]
mod parquet;
#[cfg(test)]
mod prune;
#[cfg(test)]
mod stream;
