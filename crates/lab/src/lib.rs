//! Suites, subjects, measuring, statistics, storing, reporting.
#![forbid(unsafe_code)]

pub mod audit;
pub mod build;
pub mod compare;
pub mod control_group;
pub mod cpu;
pub mod declaration;
pub mod export;
pub mod launch;
pub mod machine;
pub mod measurement;
pub mod memory;
pub mod probe;
pub mod process;
pub mod progress;
pub mod round;
pub mod run;
pub mod sampler;
pub mod statistics;
pub mod stop;
pub mod store;
pub mod subject;
pub mod suite;
pub mod table;
