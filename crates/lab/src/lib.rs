//! The lab: a suite's question, put to subjects that it knows only as processes.
//!
//! The plan of a suite becomes rounds ([`round`]): each starts every [`subject`] afresh ([`process`],
//! [`launch`], [`control_group`]), verifies a call ([`probe`]) and measures every cell in random
//! order ([`sampler`], [`cpu`], [`memory`]). What comes of it is kept by `bookend_results`.
//!
//! Nothing here can name our own client or server: they are started as everybody else is.
#![forbid(unsafe_code)]

pub mod build;
pub mod cell_error;
pub mod certificates;
pub mod control_group;
pub mod cpu;
pub mod doctor;
pub mod launch;
pub mod machine;
pub mod memory;
pub mod perf;
pub mod probe;
pub mod process;
pub mod progress;
pub mod round;
pub mod run;
pub mod sampler;
pub mod subject;
