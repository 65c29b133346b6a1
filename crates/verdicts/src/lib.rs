//! Published benchmarks judged by what was measured.
//!
//! A [`published`] table is a document's figures as data. The [`document`] audit says what in it
//! cannot be true, [`claims`] says of each of its sentences whether it held, and [`pages`] puts
//! both figures beside each other.
#![forbid(unsafe_code)]

pub mod claims;
pub mod document;
pub mod pages;
mod printed;
pub mod published;

pub use printed::{Bucket, PrintedRow};
