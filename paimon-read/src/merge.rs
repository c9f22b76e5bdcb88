//! Reading by merging: keys first, values last.
//!
//! ```text
//! section   run 0  ├──── file ────┤├── file ──┤        key pass: keys of every run ──▶ picks
//!           run 1        ├─────── file ──────┤         value pass: picked rows only ──▶ batches
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `picks` | the hand-over between order and meaning |
//! | `kernel` | order: heads of runs in, stretches and equal keys out |
//! | `keys` | keys in a form that compares fast |
//! | `layout` | key columns in the layout of the output |
//! | `versions` | which version of a key is newer |
//! | `deduplicate` | meaning: which row of a key is the result |
//! | `picked_keys` | keys of picked rows, in the order of the picks |
//! | `needs` | what the key pass must decode of each file |
//! | `chunk` | windows of keys: what is decoded, what is kept |
//! | `key_file` | keys of one file, row group by row group |
//! | `run` | one sorted run as windows of keys |
//! | `key_pass` | the key pass of one section |
//! | `provider` | the provider of the chain |
//! | `section` | from the files of a split to the passes of its sections |
//! | `describe` | the same as a description |

mod chunk;
mod deduplicate;
mod describe;
mod kernel;
mod key_file;
mod key_pass;
mod keys;
mod layout;
mod needs;
mod picked_keys;
mod picks;
mod provider;
mod run;
mod section;
mod versions;

pub use picks::{Groups, Stretch};
pub use provider::MergeProvider;
