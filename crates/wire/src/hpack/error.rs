//! What can be wrong with a header block.

macro_rules! hpack_errors {
    ($($(#[doc = $doc:literal])* $variant:ident $rule:literal;)*) => {
        /// Why a header block could not be decoded.
        ///
        /// Always the peer's fault. Afterwards the dynamic table is out of step, so each of these
        /// ends the connection: with `ENHANCE_YOUR_CALM` for [`HpackError::TooLarge`], with
        /// `COMPRESSION_ERROR` for all others (RFC 9113, section 4.3).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
        #[error("peer broke HPACK, close the connection: {}", self.rule())]
        #[non_exhaustive]
        pub enum HpackError {
            $($(#[doc = $doc])* $variant,)*
        }

        impl HpackError {
            /// The rule that was broken, with its section.
            #[must_use]
            pub const fn rule(self) -> &'static str {
                match self {
                    $(Self::$variant => $rule,)*
                }
            }
        }
    };
}

hpack_errors! {
    /// The block ends inside a representation.
    Truncated "a header block ends with a whole field (RFC 7541, 3.1)";
    /// An integer has more than five bytes after its prefix, or exceeds 32 bits.
    IntegerTooLong "an integer has at most five bytes after its prefix and 32 bits (RFC 7541, 5.1)";
    /// An index is zero, or beyond the static and the dynamic table.
    InvalidIndex "an index names an entry of a table (RFC 7541, 2.3.3)";
    /// A Huffman-coded string contains EOS, or its padding is something other than at most seven
    /// one-bits.
    InvalidHuffman "a Huffman string has no EOS and ends in at most seven one-bits (RFC 7541, 5.2)";
    /// A dynamic table size update exceeds what SETTINGS allow.
    SizeUpdateTooLarge
        "a table size update stays within SETTINGS_HEADER_TABLE_SIZE (RFC 7541, 6.3)";
    /// A dynamic table size update follows a field.
    SizeUpdateMisplaced "table size updates stand at the start of a header block (RFC 7541, 4.2)";
    /// SETTINGS lowered the table size and the next block did not begin with a size update.
    SizeUpdateMissing
        "a lowered table size is answered by a size update at the start of the next header block \
         (RFC 7541, 4.2)";
    /// The decoded fields exceed four times the size limit of the list.
    TooLarge "a header list stays within SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113, 10.5.1)";
}
