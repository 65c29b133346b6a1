//! A gRPC server library on bookend-wire.
#![forbid(unsafe_code)]
