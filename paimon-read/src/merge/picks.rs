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
