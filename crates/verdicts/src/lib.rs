//! Published benchmarks, judged by what was measured.
//!
//! A [`published`] table is a document's figures as data, and a [`document`] is all of its tables
//! as an auditor sees them. The [`audit`] says what in it cannot be true, [`claims`] says of each
//! of its sentences whether it held, and [`pages`] puts its figures and ours beside each other.
#![forbid(unsafe_code)]

pub mod audit;
pub mod claims;
pub mod document;
pub mod pages;
pub mod published;
