//! Outside suites, run against both of Bookend's ends.
//!
//! The tests of this package start programs that others wrote, count the cases that these say they
//! have checked, and fail where one is missing. `scripts/conformance` builds what they need.
#![forbid(unsafe_code)]

pub mod connect;
pub mod interop;
mod program;
mod serving;

pub use program::{Ended, bookend, outside, run};
pub use serving::{ClosedPort, Serving};
