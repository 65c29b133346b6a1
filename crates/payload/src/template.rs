//! Templates in data and metadata: ghz's variables and functions, in the language of Go's
//! `text/template`.
//!
//! A template is compiled once. Where all that it does is to put ghz's variables into the values of
//! fields, the serialized message is compiled with it: a call then writes those values between
//! bytes that are ready (`message_parts`). Any other template is rendered for each call by an
//! `engine`, and its JSON is read again. What does not depend on the call is rendered before the
//! run.

mod analysis;
mod blocks;
mod budget;
mod encoding;
mod engine;
mod error;
mod functions;
mod go_functions;
mod message_parts;
mod metadata;
pub(crate) mod pieces;
mod steps;
#[cfg(test)]
mod tests;
mod text;
mod variables;

pub(crate) use encoding::{with_length, write_varint};
pub(crate) use engine::{Compiled, Engine, Language};
pub use error::CallTemplateError;
pub(crate) use message_parts::{MARK, MessageParts};
pub use metadata::MetadataTemplate;
pub(crate) use metadata::{CompiledMetadata, compile_metadata};
pub(crate) use pieces::Piece;
pub use variables::CallFacts;
pub(crate) use variables::Variable;
