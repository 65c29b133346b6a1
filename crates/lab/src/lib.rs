//! The lab: a suite's question, put to subjects that it knows only as processes.
//!
//! A [`suite`] says which call is made, under which limits, by whom. Its plan becomes rounds
//! ([`round`]): each starts every [`subject`] afresh ([`process`], [`launch`], [`control_group`]),
//! verifies a call ([`probe`]) and measures every cell in random order ([`sampler`], [`cpu`],
//! [`memory`]). What a window yields is a [`measurement`]; the [`store`] keeps it round by round.
//! [`table`], [`compare`] and [`export`] read it back with [`statistics`] and the [`audit`]. A
//! [`record`] is a run as a file to be committed, from which [`results`] writes a suite's page and
//! [`claims`] judges what was published.
//!
//! Nothing here can name our own client or server: they are started as everybody else is.
#![forbid(unsafe_code)]

pub mod audit;
pub mod build;
pub mod certificates;
pub mod chart;
pub mod claims;
pub mod compare;
pub mod control_group;
pub mod cpu;
pub mod declaration;
pub mod doctor;
pub mod export;
pub mod launch;
pub mod machine;
pub mod measurement;
pub mod memory;
pub mod probe;
pub mod process;
pub mod profile;
pub mod progress;
pub mod random;
pub mod record;
pub mod results;
pub mod round;
pub mod run;
pub mod sampler;
pub mod statistics;
pub mod steady;
pub mod stop;
pub mod store;
pub mod subject;
pub mod suite;
pub mod table;
