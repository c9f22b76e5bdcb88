//! Tests of the public surface, over tables that the reference wrote and files made here.

#[cfg(test)]
#[cfg(feature = "manifest")]
mod avro_files;
#[cfg(test)]
#[cfg(feature = "manifest")]
mod bad_values;
#[cfg(test)]
#[cfg(feature = "manifest")]
mod broken_files;
#[cfg(test)]
#[cfg(feature = "manifest")]
mod file_table;
#[cfg(test)]
mod golden;
#[cfg(test)]
#[cfg(feature = "manifest")]
mod manifests;
#[cfg(test)]
#[cfg(feature = "manifest")]
mod writers;
