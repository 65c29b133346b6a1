//! The messages of calls: made before a run from what a user gives, and read when they come back.
//! It knows no connection.
//!
//! - [`schema`] finds a method and its types, in `.proto` files, in descriptor sets, and in what
//!   servers say of themselves.
//! - [`data`] makes request messages of JSON or of serialized bytes, and [`metadata`] what goes
//!   with them. With a [`template`] they differ from call to call.
//! - [`thrift`] does all of that for calls by Thrift, and checks their replies.
//! - [`given_file`] reads the files that users name, and [`error_text`] says what is wrong with
//!   them.
#![forbid(unsafe_code)]

pub mod data;
pub mod error_text;
pub mod given_file;
pub mod metadata;
pub mod schema;
pub mod template;
pub mod thrift;
