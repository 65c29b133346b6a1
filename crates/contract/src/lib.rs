//! How the lab and a measured process talk to each other: variables, lines, the JSON of
//! `bookend load`, the verdict. Pure: no process is started and no file is opened here.
//!
//! docs/extend/subject-contract.md explains it, with example sessions.
#![forbid(unsafe_code)]

pub mod build_facts;
pub mod build_profile;
pub mod capacity;
pub mod code;
pub mod count;
pub mod csv;
pub mod duration;
pub mod environment;
pub mod exit;
pub mod fleet;
pub mod gate;
pub mod generator_stops;
pub mod in_flight;
pub mod input;
pub mod laps;
pub mod latency;
pub mod latency_intervals;
pub mod limit;
pub mod lines;
pub mod machine;
pub mod node_usage;
pub mod printable;
pub mod report;
pub mod secrets;
pub mod shell_words;
pub mod silence;
pub mod timestamp;
pub mod transport;
pub mod verdict;
