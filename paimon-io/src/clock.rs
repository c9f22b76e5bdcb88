//! Elapsed time, for measured explain and for progress.

use std::fmt;
use std::time::Instant;

/// A clock that never goes back. Nothing in a read depends on it; it only measures.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Nanoseconds since a moment that is fixed for this clock.
    fn now_nanos(&self) -> u64;
}

/// The clock of the system, in nanoseconds since the value was made.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl Default for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place behind `Resources` that asks the system for the time"
    )]
    fn default() -> Self {
        Self {
            origin: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now_nanos(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_clock_never_goes_back() {
        let clock = SystemClock::default();
        let first = clock.now_nanos();
        assert!(clock.now_nanos() >= first);
    }
}
