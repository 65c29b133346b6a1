//! IDL files: read with all that they include.
//!
//! `lexer` and `parser` make a `document` of each of the `files`; `resolve` finds what its names
//! stand for, with the values of `constant`s.

mod constant;
mod document;
mod files;
mod lexer;
mod parser;
mod resolve;
#[cfg(test)]
mod tests;

pub(super) use resolve::ResolvedIdl;
pub use resolve::check_idl;
