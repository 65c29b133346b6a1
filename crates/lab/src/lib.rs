//! Suites, subjects, measuring, statistics, storing, reporting.
#![forbid(unsafe_code)]
pub mod control_group;
pub mod cpu;
pub mod declaration;
pub mod launch;
pub mod machine;
pub mod measurement;
pub mod memory;
pub mod process;
pub mod sampler;
pub mod statistics;
pub mod store;
pub mod subject;
pub mod suite;
