//! A line that tells how far a long command is: on a terminal only, and gone when it is done.

use std::io::{IsTerminal, Write};

use paimon_io::{Counter, Resources};

use crate::human::{number, size};

/// Nanoseconds between two looks of the line.
const PAUSE: u64 = 100_000_000;
const SECOND: u64 = 1_000_000_000;

/// How far a command is.
#[derive(Debug)]
pub(crate) struct Progress {
    resources: Resources,
    started: u64,
    shown: Option<u64>,
    visible: bool,
    splits: usize,
    rows: u64,
}

impl Progress {
    /// Nothing done yet of so many splits. The line is shown if a person looks at the errors, and the output does not
    /// go to the same screen row by row.
    pub(crate) fn new(resources: &Resources, splits: usize, output_is_quiet: bool) -> Self {
        let quiet = output_is_quiet || !std::io::stdout().is_terminal();
        Self {
            resources: resources.clone(),
            started: resources.now_nanos(),
            shown: None,
            visible: quiet && std::io::stderr().is_terminal(),
            splits,
            rows: 0,
        }
    }

    /// So many rows more, from this split.
    pub(crate) fn advance(&mut self, rows: u64, split: usize) {
        self.rows += rows;
        if !self.visible {
            return;
        }
        let now = self.resources.now_nanos();
        if now.saturating_sub(self.shown.unwrap_or(self.started)) >= PAUSE {
            self.shown = Some(now);
            let bytes = self.resources.metrics().get(Counter::RequestedBytes);
            let line = self.line(split, bytes, now.saturating_sub(self.started));
            let _gone = write!(std::io::stderr(), "\r{line}\u{1b}[K");
        }
    }

    fn line(&self, done: usize, bytes: u64, nanos: u64) -> String {
        let seconds = nanos.max(1) / SECOND;
        let speed = u128::from(bytes) * u128::from(SECOND) / u128::from(nanos.max(1));
        let speed = size(u64::try_from(speed).unwrap_or(u64::MAX));
        let left = match done {
            0 => String::new(),
            _ => {
                let left = self.splits.saturating_sub(done) as u64;
                let left = seconds.saturating_mul(left) / done as u64;
                format!(", about {} s left", number(left))
            }
        };
        format!(
            "{} of {} splits, {} rows, {speed}/s{left}",
            number(done as u64),
            number(self.splits as u64),
            number(self.rows)
        )
    }
}

impl Drop for Progress {
    /// Takes the line away.
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _gone = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_what_is_done_and_left() {
        let mut progress = Progress::new(&Resources::local(), 30, false);
        progress.advance(1_234_567, 10);
        assert_eq!(
            progress.line(10, 300 << 20, 3 * SECOND),
            "10 of 30 splits, 1,234,567 rows, 100 MiB/s, about 6 s left"
        );
        assert_eq!(
            progress.line(0, 0, 0),
            "0 of 30 splits, 1,234,567 rows, 0 bytes/s"
        );
    }
}
