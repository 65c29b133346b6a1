//! The `bookend` command.
#![forbid(unsafe_code)]
fn main() {}
