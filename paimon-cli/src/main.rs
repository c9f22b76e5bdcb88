//! The `paimon` command.

fn main() {}
