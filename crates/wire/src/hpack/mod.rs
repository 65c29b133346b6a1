//! HPACK, the header compression of HTTP/2 (RFC 7541).
//!
//! A [`Decoder`] turns a whole header block into a [`HeaderList`]; an [`Encoder`] writes a block
//! field by field. Both keep a dynamic table that must follow every block of a connection in order:
//! a block may be ignored, but never skipped. After an [`HpackError`] the table is out of step with
//! the peer's, and the connection can only be closed.
//!
//! Most blocks of an RPC connection repeat. [`Decoder::generation`] and [`Encoder::generation`]
//! tell whether a block seen or written before still means the same, so that it can be recognised
//! or copied byte by byte:
//!
//! ```
//! use bookend_wire::hpack::{Decoder, Encoder, HeaderList, Indexing, DEFAULT_TABLE_BYTES};
//!
//! let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
//! let mut block = Vec::new();
//! encoder.begin_block(&mut block);
//! encoder.field(b":method", b"POST", Indexing::Incremental, &mut block);
//! encoder.field(b"te", b"trailers", Indexing::Incremental, &mut block);
//!
//! let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
//! let mut list = HeaderList::new(16 * 1024, 100);
//! decoder.decode(&block, &mut list)?;
//! assert_eq!(list.find(b"te"), Some(&b"trailers"[..]));
//! # Ok::<(), bookend_wire::hpack::HpackError>(())
//! ```

mod decoder;
mod dynamic_table;
mod encoder;
mod error;
mod header_list;
mod huffman;
mod huffman_code;
mod integer;
mod lookup_hash;
mod reader;
mod static_table;

pub use decoder::Decoder;
pub(crate) use encoder::write_plain_string;
pub use encoder::{Encoder, Indexing};
pub use error::HpackError;
pub use header_list::{Field, HeaderList};

/// Size of the dynamic table, in bytes, that both ends assume until SETTINGS change it (RFC 9113,
/// section 6.5.2).
pub const DEFAULT_TABLE_BYTES: usize = 4096;

/// Bytes that a field counts in addition to its name and value, in a table (RFC 7541, section 4.1)
/// and in a list (RFC 9113, section 6.5.2).
pub const FIELD_OVERHEAD_BYTES: usize = 32;

/// The table size in use before any SETTINGS have arrived: the default, or our own limit if that is
/// lower.
const fn first_table_bytes(limit_bytes: usize) -> usize {
    if limit_bytes < DEFAULT_TABLE_BYTES { limit_bytes } else { DEFAULT_TABLE_BYTES }
}
