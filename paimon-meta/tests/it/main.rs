//! Tests of the public surface, over tables that the reference wrote.

#[cfg(test)]
mod golden;
#[cfg(test)]
#[cfg(feature = "manifest")]
mod manifests;
