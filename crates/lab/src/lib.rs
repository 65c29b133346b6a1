//! The lab: a suite's question, put to subjects that it knows only as processes.
//!
//! A [`run`] builds every program ([`build`]), then measures round after round ([`round`]): each
//! starts every server afresh, verifies a call ([`probe`]) and measures all cells in random order
//! ([`sampler`], [`cpu`], [`memory`]). One process to be started is an [`invocation`]; the
//! [`spawner`] starts it, through the [`launch`] step, as a [`process`] with all that it starts in
//! turn, in a [`control_group`] where there is one. What comes of it is kept by `bookend_results`.
//!
//! Nothing here can name our own client or server: they are started like all others.
#![forbid(unsafe_code)]

pub mod build;
pub mod cell_error;
pub mod certificates;
pub mod context;
pub mod control_group;
pub mod cpu;
pub mod doctor;
pub mod invocation;
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
pub mod spawner;
pub mod subject;
pub mod transport_files;
