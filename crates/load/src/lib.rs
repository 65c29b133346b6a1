//! The load generator as a library.
#![forbid(unsafe_code)]

mod call;
pub mod duration;
pub mod gate;
mod link;
pub mod metadata;
pub mod nearest;
pub mod options;
pub mod payload;
mod phase;
pub mod plan;
pub mod recorder;
mod redial;
pub mod run;
pub mod schema;
pub mod shard;
