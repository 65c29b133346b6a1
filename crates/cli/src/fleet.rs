//! Several machines that make one load test: the coordinator's side, and what both sides share.
//!
//! The protocol and its states are those of `bookend-fleet`; here are its sockets.
//! - `flags` says where agents are awaited, and how many.
//! - `listener` takes their connections, `greeting` checks who they are, `link` carries messages.
//! - `gathered` are the agents of a command, which runs one load test after another with them.
//! - `order` says what each of them is to do in a run, `task` is how it is put.
//! - `merged` makes one result of what they tell, `ended` says what became of the machines.

mod ended;
pub mod flags;
mod gathered;
pub mod greeting;
pub mod laps;
pub mod link;
mod listener;
mod local;
mod merged;
mod order;
pub mod shared;
pub mod task;
pub mod token;

pub use flags::FleetFlags;
pub use gathered::Gathered;
pub use merged::{MergedRun, measure};
pub use order::FleetOrder;
