//! The load generator as a library.
#![forbid(unsafe_code)]
