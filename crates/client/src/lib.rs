//! A gRPC client library on bookend-wire.
#![forbid(unsafe_code)]
