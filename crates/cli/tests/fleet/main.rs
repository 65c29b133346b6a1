//! Load tests over several machines, each a network namespace of its own, whose clocks are hours
//! apart. No time is asserted here: those of the protocol are, in its simulation.

#![forbid(unsafe_code)]

mod bad_input;
mod carrying;
mod harness;
mod link;
mod losses;
mod machines;
mod namespace;
mod network;
mod peer;
mod processes;
mod program;
mod relay;
mod relay_process;
mod whole_runs;
