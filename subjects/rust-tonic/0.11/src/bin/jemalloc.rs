//! tonic 0.11 on jemalloc, as grpc_bench had it.

#![forbid(unsafe_code)]

use std::{error::Error, process::ExitCode};

#[global_allocator]
static ALLOCATOR: jemallocator::Jemalloc = jemallocator::Jemalloc;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    rust_tonic_0_11::run("0.11-jemalloc", concat!(", jemallocator ", env!("ALLOCATOR_VERSION")))
}
