//! Published benchmarks, judged by what was measured.
//!
//! A [`published`] table is a document's figures as data, and a [`document`] is all of its tables
//! in the form that an audit needs. The [`audit`] reports what in it cannot be true, [`claims`]
//! judges whether each of its sentences held, and [`pages`] shows its figures and ours side by
//! side. The [`site`] shows all records and claims to readers who do not come to the repository.
//! What came [`since`] a record was made, git knows; what a [`release_run`] has left to do, its
//! records say.
#![forbid(unsafe_code)]

pub mod audit;
pub mod claims;
pub mod document;
mod from_text;
pub mod kept_checks;
pub mod pages;
pub mod power;
pub mod published;
pub mod release_run;
mod shortened;
pub mod since;
pub mod site;
