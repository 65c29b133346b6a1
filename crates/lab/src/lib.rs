//! Suites, subjects, measuring, statistics, storing, reporting.
#![forbid(unsafe_code)]
pub mod control_group;
pub mod declaration;
pub mod launch;
pub mod measurement;
pub mod process;
pub mod subject;
pub mod suite;
