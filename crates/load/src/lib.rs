//! The load generator as a library.
#![forbid(unsafe_code)]

pub mod duration;
pub mod metadata;
pub mod nearest;
pub mod options;
pub mod payload;
pub mod schema;
