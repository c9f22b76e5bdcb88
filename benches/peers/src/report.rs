//! A table of results.

use crate::peer::Answer;
use crate::readers::Reader;
use crate::serve::Rows;

/// Times of reads, a line each.
pub struct Report {
    readers: Vec<Reader>,
    lines: Vec<Line>,
}

/// One read by all readers.
struct Line {
    title: String,
    answers: Vec<(Reader, Answer)>,
}

impl Report {
    /// A report without results.
    pub fn new(readers: &[Reader]) -> Self {
        Self {
            readers: readers.to_vec(),
            lines: Vec::new(),
        }
    }

    /// One more time of a read.
    pub fn add(&mut self, title: &str, reader: Reader, answer: Answer) {
        let answer = (reader, answer);
        match self.lines.iter_mut().find(|line| line.title == title) {
            Some(line) => line.answers.push(answer),
            None => self.lines.push(Line {
                title: title.to_owned(),
                answers: vec![answer],
            }),
        }
    }

    /// Prints seconds: minimum, median, and how many times the minimum of this reader the minimum is; then who gave
    /// other rows.
    pub fn print(&self) {
        self.print_times("seconds", |answer| answer.seconds);
        self.print_times("seconds on processors", |answer| answer.processor);
        println!();
        for line in &self.lines {
            line.print_wrong();
        }
    }

    fn print_times(&self, what: &str, time: fn(&Answer) -> f64) {
        let titles: Vec<_> = self.readers.iter().map(|reader| reader.title()).collect();
        println!(
            "\n| {what}: table, read, threads | {} |",
            titles.join(" | ")
        );
        println!("| --- |{}", " --- |".repeat(titles.len()));
        for line in &self.lines {
            let ours = line.low(Reader::Ours, time);
            let cells = self
                .readers
                .iter()
                .map(|reader| match (line.low(*reader, time), ours) {
                    (None, _) => String::new(),
                    (Some((least, median)), Some((base, _))) if *reader != Reader::Ours => {
                        format!("{least:.3} ({median:.3}) {:.2} ×", least / base)
                    }
                    (Some((least, median)), _) => format!("**{least:.3}** ({median:.3})"),
                });
            println!(
                "| {} | {} |",
                line.title,
                cells.collect::<Vec<_>>().join(" | ")
            );
        }
    }
}

impl Line {
    /// Minimum and median of a reader.
    fn low(&self, reader: Reader, time: fn(&Answer) -> f64) -> Option<(f64, f64)> {
        let answers = self.answers.iter().filter(|(of, _)| *of == reader);
        let mut times: Vec<f64> = answers.map(|(_, answer)| time(answer)).collect();
        times.sort_by(f64::total_cmp);
        Some((*times.first()?, *times.get(times.len() / 2)?))
    }

    /// Tells rows that are not those of this reader; plain decode has those of all versions.
    fn print_wrong(&self) {
        let rows = |reader: Reader| -> Vec<Rows> {
            let answers = self.answers.iter().filter(|(of, _)| *of == reader);
            let mut rows: Vec<_> = answers.map(|(_, answer)| answer.rows).collect();
            rows.dedup();
            rows
        };
        let ours = rows(Reader::Ours);
        println!("- {}: {ours:?}", self.title);
        for reader in [Reader::PaimonRust, Reader::DuckDb, Reader::Java] {
            let theirs = rows(reader);
            if !theirs.is_empty() && theirs != ours {
                println!("  - {} differs: {theirs:?}", reader.title());
            }
        }
    }
}
