//! A line that tells how far a long query is: on a terminal only, and gone when it is done.

use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::pin::pin;
use std::time::Duration;

use paimon_io::{Counter, MetricsSnapshot, Resources};

/// A query that takes no longer shows no line.
const PAUSE: Duration = Duration::from_millis(500);
const SECOND: u64 = 1_000_000_000;

/// What was read since a query began.
pub(crate) struct Progress {
    resources: Resources,
    begin: MetricsSnapshot,
    started: u64,
    visible: bool,
    shown: bool,
}

impl Progress {
    pub(crate) fn new(resources: &Resources) -> Self {
        Self {
            resources: resources.clone(),
            begin: resources.metrics().snapshot(),
            started: resources.now_nanos(),
            visible: io::stderr().is_terminal(),
            shown: false,
        }
    }

    /// Waits for something, and tells every now and then what was read so far.
    pub(crate) async fn during<T>(&mut self, waited: impl Future<Output = T>) -> T {
        let mut waited = pin!(waited);
        while self.visible {
            match tokio::time::timeout(PAUSE, waited.as_mut()).await {
                Ok(done) => return done,
                Err(_) => self.show(),
            }
        }
        waited.await
    }

    fn show(&mut self) {
        self.shown = true;
        let now = self.resources.metrics().snapshot();
        let nanos = self.resources.now_nanos().saturating_sub(self.started);
        let line = line(|counter| now.get(counter) - self.begin.get(counter), nanos);
        let _gone = write!(io::stderr(), "\r{line}\u{1b}[K");
    }
}

fn line(count: impl Fn(Counter) -> u64, nanos: u64) -> String {
    format!(
        "{} s: {} files opened, {} rows decoded, {} MiB read",
        nanos / SECOND,
        count(Counter::FilesOpened),
        count(Counter::RowsDecoded),
        count(Counter::RequestedBytes) >> 20
    )
}

impl Drop for Progress {
    /// Takes the line away.
    fn drop(&mut self) {
        if self.shown {
            let _gone = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_what_was_read() {
        let count = |counter| match counter {
            Counter::FilesOpened => 12,
            Counter::RowsDecoded => 3_000_000,
            Counter::RequestedBytes => 300 << 20,
            _ => 0,
        };
        assert_eq!(
            line(count, 4 * SECOND + 1),
            "4 s: 12 files opened, 3000000 rows decoded, 300 MiB read"
        );
    }

    #[tokio::test]
    async fn waiting_ends_with_what_was_waited_for_whether_a_line_is_shown_or_not() {
        for visible in [false, true] {
            let mut progress = Progress::new(&Resources::local());
            progress.visible = visible;
            let slow = async {
                tokio::time::sleep(PAUSE + PAUSE / 2).await;
                7
            };
            assert_eq!(progress.during(slow).await, 7);
            assert_eq!(progress.shown, visible);
        }
    }
}
