//! The load generator as a library.
#![forbid(unsafe_code)]

mod call;
pub mod duration;
pub mod gate;
mod given_up;
mod link;
pub mod metadata;
pub mod nearest;
pub mod options;
pub mod output;
pub mod payload;
mod phase;
pub mod plan;
pub mod prepare;
pub mod probe;
pub mod recorder;
mod redial;
pub mod reflect;
pub mod run;
pub mod schema;
pub mod shard;
pub mod summary;
pub mod system;
mod timeline;

/// Whom a run connects to.
pub use bookend_client::targets;
/// The words that reports and exit statuses are made of.
pub use bookend_contract as contract;
