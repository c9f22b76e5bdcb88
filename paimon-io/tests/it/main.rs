//! Resources over real directories and over stores that take their time.

#[cfg(test)]
#[cfg(feature = "fs")]
mod local_files;
#[cfg(test)]
mod slow_store;

/// Runs a future of a test to its end.
#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no runtime, and nothing else to do meanwhile"
)]
fn run<F: Future>(future: F) -> F::Output {
    futures::executor::block_on(future)
}
