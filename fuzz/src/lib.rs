//! What a fuzzer runs: every public function takes bytes and panics if something does not hold.
//!
//! What holds is more than that nothing panics: memory and work are bounded by the length of the
//! input, the same bytes in another split tell the same, and what was written reads back.
//!
//! The mains in `fuzz_targets/` hand these functions to libFuzzer; `tests/smoke.rs` runs the same
//! functions a fixed number of times on stable Rust.
#![forbid(unsafe_code)]

mod bounds;
mod connection;
mod frame_sequences;
#[path = "../../crates/wire/tests/simulator/frames.rs"]
#[allow(dead_code, missing_docs, reason = "the simulator's parser, shared by both")]
mod frames;
mod hpack;
mod kept_results;
mod message_bodies;
pub mod mutation;
mod peculiarities;
mod schemas;
mod text_values;
#[path = "../../crates/server/src/zstd.rs"]
mod zstd;
mod zstd_messages;

pub use connection::{client_core, server_core};
pub use frame_sequences::{client_frames, server_frames};
pub use hpack::{hpack_decode, hpack_round_trip};
pub use kept_results::{histogram, load_report, record};
pub use message_bodies::{gzip, messages};
pub use schemas::{descriptors, json, templates, thrift_idl};
pub use text_values::{text, timeout};
pub use zstd_messages::zstd;

/// A target by its name.
pub type Target = (&'static str, fn(&[u8]));

/// All of them. The mains, the seeds and the smoke run have the same names.
pub const TARGETS: [Target; 18] = [
    ("server_core", server_core),
    ("client_core", client_core),
    ("server_frames", server_frames),
    ("client_frames", client_frames),
    ("hpack_decode", hpack_decode),
    ("hpack_round_trip", hpack_round_trip),
    ("messages", messages),
    ("gzip", gzip),
    ("text", text),
    ("timeout", timeout),
    ("zstd", zstd),
    ("descriptors", descriptors),
    ("thrift_idl", thrift_idl),
    ("json", json),
    ("templates", templates),
    ("histogram", histogram),
    ("load_report", load_report),
    ("record", record),
];
