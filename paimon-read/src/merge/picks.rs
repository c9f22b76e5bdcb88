//! Picks: the hand-over between order and meaning.
//!
//! The key pass says which rows make the result, in key order, without touching a value. A *piece* is one opened row
//! group of one sorted run; rows count from the start of their piece.

/// Rows of one piece that follow each other in the result: their keys have one version each, or they won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The piece, counted over the section in the order in which pieces were opened.
    pub piece: u32,
    /// First row, from the start of the piece.
    pub row: u32,
    /// Number of rows, at least 1.
    pub length: u32,
}

/// Keys with several versions, for engines whose result is made of more than one of them.
///
/// The versions of key `i` are `members[offsets[i]..offsets[i + 1]]`, oldest first (ME 1.3), each with its kind byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Where each key's versions start in `members`, then where the last ones end.
    pub offsets: Vec<u32>,
    /// Piece and row of each version.
    pub members: Vec<(u32, u32)>,
    /// Kind byte of each version (RP-003).
    pub kinds: Vec<i8>,
}
