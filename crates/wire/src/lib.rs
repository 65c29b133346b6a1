//! HTTP/2, HPACK and gRPC as bytes and events: no socket, no clock.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod hpack;
