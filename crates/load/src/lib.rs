//! The load generator as a library.
#![forbid(unsafe_code)]

mod call;
mod channel;
pub mod descriptors;
mod echo;
pub mod error_text;
pub mod flags;
pub mod metadata;
pub mod options;
pub mod output;
mod pace;
pub mod payload;
pub mod plan;
pub mod prepare;
pub mod probe;
pub mod record;
pub mod reflect;
pub mod report;
pub mod run;
pub mod schema;
pub mod summary;
mod worker;

/// Whom a run connects to.
pub use bookend_client::targets;
/// The words that reports and exit statuses are made of.
pub use bookend_contract as contract;
/// How long calls in flight may take to end after the window.
pub use worker::DRAIN_NS;
