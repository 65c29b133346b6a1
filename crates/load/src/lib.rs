//! The load generator as a library.
#![forbid(unsafe_code)]

pub mod duration;
pub mod metadata;
pub mod nearest;
pub mod options;
pub mod output;
pub mod payload;
pub mod schema;
pub mod summary;
pub mod system;

/// The words that reports and exit statuses are made of.
pub use bookend_contract as contract;
