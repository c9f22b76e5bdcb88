//! What tests over tables share.

/// Runs a future of a test to its end.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no runtime, and nothing else to do meanwhile"
)]
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    futures::executor::block_on(future)
}
