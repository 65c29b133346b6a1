//! What the lab and a measured process say to each other: variables, lines, the JSON of
//! `bookend load`, the verdict. Pure: no process is started and no file is opened here.
//!
//! The prose of it, with example sessions, is docs/extend/subject-contract.md.
#![forbid(unsafe_code)]

pub mod code;
pub mod count;
pub mod duration;
pub mod environment;
pub mod exit;
pub mod latency;
pub mod lines;
pub mod report;
pub mod timestamp;
pub mod transport;
pub mod verdict;
