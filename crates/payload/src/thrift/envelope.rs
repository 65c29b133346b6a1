//! The bytes that tell messages from each other, and from anything else.

/// Stands before every message of the binary protocol.
pub(super) const BINARY_VERSION: [u8; 2] = [0x80, 0x01];
/// Stands before every message of the compact protocol.
pub(super) const COMPACT_ID: u8 = 0x82;
/// The version of the compact protocol.
pub(super) const COMPACT_VERSION: u8 = 1;

/// The numbers of messages.
pub(super) mod message_kind {
    pub const CALL: u8 = 1;
    pub const REPLY: u8 = 2;
    pub const EXCEPTION: u8 = 3;
    pub const ONEWAY: u8 = 4;
}
