//! The `paimon-sql` command: SQL over a warehouse of Apache Paimon tables.

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
