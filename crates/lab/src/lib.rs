//! The lab: a suite's question, put to subjects that it knows only as processes.
//!
//! A [`run`] builds every program ([`build`]), then measures round after round. Each [`round`]
//! starts every server afresh, has one call to it verified ([`probe`]) and measures all cells in
//! random order ([`sampler`], [`cpu`], [`memory`]).
//!
//! An [`invocation`] says which process is to be started, and how. The [`spawner`] starts it; its
//! first step, [`launch`], pins it and puts it into a [`control_group`] where the machine has one.
//! A [`process`] is what runs then, with all its descendants; the [`guardian`] ends them should the
//! lab be killed. What was measured is kept by `bookend_results`. A [`race`] needs none of that but
//! processes: two servers by turns, no suite. A [`check`] holds what the load generator says
//! against what a server that follows orders has seen. A [`node`] is a whole machine, and what its
//! kernel counts.
//!
//! Nothing here can name our own client or server: they are started like all others.
#![forbid(unsafe_code)]

pub mod build;
pub mod cell_error;
pub mod certificates;
pub mod check;
pub mod context;
pub mod control_group;
pub mod cpu;
pub mod doctor;
pub mod guardian;
pub mod held_folder;
pub mod invocation;
mod key_values;
mod lap_process;
pub mod launch;
mod listening_process;
pub mod lock;
pub mod machine;
pub mod memory;
pub mod node;
pub mod perf;
pub mod probe;
pub mod process;
pub mod progress;
pub mod race;
pub mod replies;
pub mod round;
pub mod run;
pub mod sampler;
pub mod spawner;
pub mod subject;
pub mod transport_files;
mod work_tree;
