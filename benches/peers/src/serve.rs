//! A reader as a process: a line `CASE THREADS LOCATION` in, a line `ROWS SUM SECONDS` out.

use std::error::Error;
use std::io::{BufRead, Write};
use std::ops::AddAssign;
use std::time::Instant;

use crate::case::Case;

/// What came out of a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// How many.
    pub rows: usize,
    /// The sum of `i1`, where that is read: it tells the right versions from others.
    pub sum: i64,
}

impl AddAssign for Rows {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.sum += other.sum;
    }
}

/// What a reader does for one request.
pub type Read = fn(Case, usize, &str) -> Result<Rows, Box<dyn Error>>;

/// Answers requests until standard input ends.
pub fn serve(read: Read) -> Result<(), Box<dyn Error>> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.splitn(3, ' ');
        let request = (
            words.next().and_then(Case::of),
            words.next().and_then(|threads| threads.parse().ok()),
            words.next(),
        );
        let (Some(case), Some(threads), Some(location)) = request else {
            return Err(format!("not a request: {line}").into());
        };
        #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
        let begin = Instant::now();
        let Rows { rows, sum } = read(case, threads, location)?;
        let seconds = begin.elapsed().as_secs_f64();
        println!("{rows} {sum} {seconds}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
