//! Suites, subjects, measuring, statistics, storing, reporting.
#![forbid(unsafe_code)]
pub mod declaration;
pub mod measurement;
pub mod subject;
pub mod suite;
