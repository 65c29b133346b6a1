//! A text some of whose pieces differ from call to call.

use super::variables::{CallFacts, Variable};

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The same in every call.
    Text(String),
    /// Made for each call.
    Variable(Variable),
}

/// Whether all pieces are the same in every call.
pub(crate) fn are_constant(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| matches!(piece, Piece::Text(_)))
}

/// Appends the text of one call.
#[inline]
pub(crate) fn write(pieces: &[Piece], facts: &CallFacts<'_>, text: &mut Vec<u8>) {
    for piece in pieces {
        match piece {
            Piece::Text(constant) => text.extend_from_slice(constant.as_bytes()),
            Piece::Variable(variable) => variable.write(facts, text),
        }
    }
}
