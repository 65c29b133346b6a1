//! What was measured, and what it says.
//!
//! A [`suite`] is a question: which call, under which limits, by whom. Its plan has cells; each
//! window of a cell yields a [`measurement`], which the [`store`] keeps round by round and a
//! [`record`] keeps as a file to be committed. [`table`], [`compare`], [`chart`] and [`export`]
//! read them back with [`statistics`] and the [`audit`].
//!
//! Nothing here starts a process or reads `/proc`: a result can be read anywhere.
#![forbid(unsafe_code)]

pub mod audit;
pub mod chart;
pub mod compare;
pub mod declaration;
pub mod export;
pub mod layout;
pub mod machine;
pub mod mark;
pub mod measurement;
pub mod metric;
pub mod profile;
pub mod random;
pub mod ratio;
pub mod record;
pub mod round;
pub mod statistics;
pub mod steady;
pub mod store;
pub mod suite;
pub mod table;
pub mod text;

pub use bookend_contract::{latency, verdict};
