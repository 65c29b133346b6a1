//! Suites, subjects, measuring, statistics, storing, reporting.
#![forbid(unsafe_code)]
pub mod audit;
pub mod compare;
pub mod declaration;
pub mod export;
pub mod machine;
pub mod measurement;
pub mod statistics;
pub mod store;
pub mod subject;
pub mod suite;
pub mod table;
