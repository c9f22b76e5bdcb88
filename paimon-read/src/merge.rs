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
//! | `kernel` | order: heads of runs in, stretches and equal keys out; `tree` for many runs, `dense` where they interleave |
//! | `text_keys` | texts that are merged together as integers |
//! | `keys` | keys in a form that compares fast |
//! | `layout` | key columns in the layout of the output |
//! | `versions` | which version of a key is newer |
//! | `picker` | picking rows of heads, for all engines |
//! | `deduplicate`, `first_row` | meaning: which row of a key is the result |
//! | `members` | engines that make a row of several: every version that takes part |
//! | `groups` | which picked rows are versions of one key |
//! | `picked_keys` | keys of picked rows, in the order of the picks |
//! | `needs` | what the key pass must decode of each file |
//! | `whole` | which row groups hold whole rows |
//! | `chunk` | windows of keys: what is decoded, what is kept |
//! | `key_file` | keys of one file, row group by row group |
//! | `run` | one sorted run as windows of keys |
//! | `key_pass` | the key pass of one section |
//! | `provider` | the provider of the chain |
//! | `section` | from the files of a section to its passes |
//! | `run_files` | the files of a section as its runs read them |
//! | `legs` | from the files of a split to its sections |
//! | `describe` | the same as a description |

mod chunk;
mod deduplicate;
mod describe;
mod estimate;
mod first_row;
mod groups;
mod kernel;
mod key_file;
mod key_pass;
mod keys;
mod layout;
mod legs;
mod members;
mod needs;
mod picked_keys;
mod picker;
mod picks;
mod provider;
mod run;
mod run_files;
mod section;
mod text_keys;
mod versions;
mod whole;

pub(crate) use groups::{Group, GroupMarks, KeyGroups};
pub(crate) use keys::{KeyEncoder, KeyWindow, one_nan};
pub(crate) use layout::relaid;
pub use picks::Stretch;
pub use provider::MergeProvider;
pub(crate) use provider::{parts_of_merge, span_of};
