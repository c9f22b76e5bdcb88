//! The `paimon` command.

#[cfg_attr(not(test), expect(dead_code, reason = "wired in with the commands"))]
mod condition;

fn main() {}
