//! The load generator as a library.
#![forbid(unsafe_code)]

mod call;
mod course;
pub mod descriptors;
mod dials;
pub mod gate;
mod given_up;
mod link;
mod measured;
pub mod metadata;
mod one_shot;
pub mod options;
pub mod output;
pub mod payload;
mod phase;
pub mod plan;
pub mod prepare;
pub mod probe;
pub mod recorder;
pub mod reflect;
mod roster;
pub mod run;
pub mod schema;
pub mod setup;
pub mod shard;
mod sources;
pub mod suggestion;
pub mod summary;
pub mod system;
mod timeline;
mod worker;

/// Whom a run connects to.
pub use bookend_client::targets;
/// The words that reports and exit statuses are made of.
pub use bookend_contract as contract;
