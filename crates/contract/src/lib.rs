//! What the lab and a measured process say to each other: variables, lines, the JSON of
//! `bookend load`, the verdict. Pure: no process is started and no file is opened here.
#![forbid(unsafe_code)]

pub mod environment;
pub mod lines;
pub mod report;
pub mod verdict;
