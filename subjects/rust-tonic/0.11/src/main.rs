//! tonic 0.11 on the system's allocator, as in the published flame graphs.

#![forbid(unsafe_code)]

use std::{error::Error, process::ExitCode};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    rust_tonic_0_11::run("0.11", "")
}
