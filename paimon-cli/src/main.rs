//! The `paimon` command: reads Apache Paimon tables, and shows what a read does and why.

mod args;
mod condition;
mod count;
mod environment;
mod explain;
mod failure;
mod following;
mod human;
mod info;
mod keys;
mod lab;
mod ls;
mod metadata;
mod names;
mod ordered;
mod paper;
mod part_report;
mod parts;
mod plan;
mod progress;
mod reading;
mod resolving;
mod row_reader;
mod scan;
mod state;
mod threads;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version too come as errors. A reader that is gone wants neither.
            let _gone = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match run(&arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_broken_pipe() {
                let _gone = std::io::stderr().write_all(failure.text().as_bytes());
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Scan(arguments) => scan::run(arguments),
        Command::Count(arguments) => count::run(arguments),
        Command::Diff(arguments) => scan::difference::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Plan(arguments) => plan::run(arguments),
        Command::Lab(arguments) => lab::run(arguments),
        Command::Ls(arguments) => ls::run(arguments),
    }
}
