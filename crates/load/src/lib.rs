//! The load generator as a library.
//!
//! A run goes one way, and each step is a module:
//! - [`flags`], as typed, become [`options`] and a [`plan`], as meant.
//! - [`prepare`] finds the method ([`schema`], [`reflect`]) and its messages ([`payload`]), with
//!   templates where they differ from call to call. [`thrift`] does the same for calls by Thrift.
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
pub mod error_text;
pub mod flags;
pub mod given_file;
pub mod hdr_log;
pub mod live;
pub mod metadata;
pub mod objective;
pub mod options;
pub mod output;
pub mod pace;
pub mod payload;
pub mod plan;
pub mod prepare;
pub mod probe;
pub mod record;
pub mod reflect;
pub mod report;
pub mod run;
pub mod schema;
pub mod summary;
mod template;
pub mod thrift;
mod worker;

/// Whom a run connects to.
pub use bookend_client::targets;
/// Values of a run that differ from call to call.
pub use template::{CallFacts, CallTemplateError, MetadataTemplate};
/// How long calls in flight may take to end after the window.
pub use worker::DRAIN_NS;
