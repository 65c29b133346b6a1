//! The load generator as a library.
//!
//! A run goes one way, and each step is a module:
//! - [`flags`], as typed, become [`options`] and a [`plan`], as meant.
//! - [`prepare`] finds the method, for which [`reflect`] may ask the server, and its messages,
//!   which `bookend-payload` makes.
//! - [`mod@run`] starts a worker for each thread. A worker makes calls when its pace allows, over
//!   connections that it checks the responses of, and counts them in its [`record`].
//! - [`report`] makes of the outcome what programs read, [`summary`] what people do.
//!
//! [`probe`] looks at a server before it is measured, with calls that are made one by one.
#![forbid(unsafe_code)]

mod call;
pub mod capacity;
mod channel;
pub mod descriptors;
mod echo;
pub mod flags;
pub mod hdr_log;
pub mod live;
pub mod objective;
pub mod options;
pub mod output;
pub mod pace;
pub mod plan;
pub mod prepare;
pub mod probe;
pub mod record;
pub mod reflect;
pub mod report;
pub mod run;
pub mod summary;
mod worker;

/// How long calls in flight may take to end after the window.
pub use worker::DRAIN_NS;
