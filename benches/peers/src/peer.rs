//! The other end of [`serve`](crate::serve): a child process that reads.

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::case::Case;
use crate::serve::Rows;

/// A reader that answers requests.
pub struct Peer {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// What a read gave.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// What came out.
    pub rows: Rows,
    /// Seconds that it took, planning included.
    pub seconds: f64,
    /// Seconds on processors that the process took for it, all threads together.
    pub processor: f64,
}

impl Peer {
    /// Starts a reader.
    pub fn start(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let requests = child.stdin.take().ok_or("no standard input")?;
        let answers = child.stdout.take().ok_or("no standard output")?;
        Ok(Self {
            child,
            requests,
            answers: BufReader::new(answers),
        })
    }

    /// One read.
    pub fn ask(
        &mut self,
        case: Case,
        threads: usize,
        location: &str,
    ) -> Result<Answer, Box<dyn Error>> {
        let before = self.processor_seconds()?;
        writeln!(self.requests, "{} {threads} {location}", case.name())?;
        self.requests.flush()?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let mut words = line.split_whitespace();
        let mut word = || words.next().ok_or("the reader ended");
        let (rows, sum) = (word()?.parse()?, word()?.parse()?);
        Ok(Answer {
            rows: Rows { rows, sum },
            seconds: word()?.parse()?,
            processor: self.processor_seconds()? - before,
        })
    }

    /// Seconds that all threads of the process were on processors.
    fn processor_seconds(&self) -> Result<f64, Box<dyn Error>> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name of the program, in parentheses, may hold spaces; utime and stime are the 12th and 13th word behind it.
        let (_, words) = stat.rsplit_once(')').ok_or("no name")?;
        let ticks = words.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.map(str::parse::<u64>).sum::<Result<_, _>>()?;
        // Linux counts them in hundredths for every program.
        Ok(ticks as f64 / 100.0)
    }

    /// The most memory that the process has had, in kilobytes.
    pub fn peak_kilobytes(&self) -> Result<u64, Box<dyn Error>> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next());
        Ok(kilobytes.ok_or("no VmHWM")?.parse()?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
