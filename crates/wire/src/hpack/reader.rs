//! A position in a header block.

use super::{HpackError, integer};

/// What is left of a header block.
pub(super) struct Reader<'block> {
    rest: &'block [u8],
}

/// A string literal as it stands in the block (RFC 7541, section 5.2).
#[derive(Clone, Copy)]
pub(super) struct Literal<'block> {
    pub(super) bytes: &'block [u8],
    pub(super) is_huffman: bool,
}

impl<'block> Reader<'block> {
    #[inline]
    pub(super) fn new(block: &'block [u8]) -> Self {
        Self { rest: block }
    }

    /// The next byte, without taking it.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Takes the next byte.
    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// Takes the rest of the integer that begins in `first`.
    #[inline]
    pub(super) fn integer(&mut self, first: u8, prefix_bits: u32) -> Result<usize, HpackError> {
        integer::decode(first, prefix_bits, &mut self.rest)
    }

    /// Takes a string literal. Its length is known to be within the block.
    #[inline]
    pub(super) fn literal(&mut self) -> Result<Literal<'block>, HpackError> {
        let first = self.byte().ok_or(HpackError::Truncated)?;
        let length = self.integer(first, 7)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(HpackError::Truncated)?;
        self.rest = rest;
        Ok(Literal { bytes, is_huffman: first & 0x80 != 0 })
    }
}
