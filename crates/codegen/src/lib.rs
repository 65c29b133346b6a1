//! From .proto to Rust service traits, in a build.rs.
#![forbid(unsafe_code)]
