//! How several machines make one load test: the protocol of a coordinator and its agents.
//!
//! Agents dial in. A run has five states: the agents have joined, they are prepared (the same
//! program, connections made, one verified call), armed, running, and they have reported.
//! [`CoordinatedRun`] is the coordinator's side of it and [`AgentRun`] an agent's; [`message`] is
//! what they say to each other, a JSON object a line.
//!
//! This crate has no socket and no clock: time is an argument, and what is to be sent is returned.
//! So a test runs it with a thousand agents, delays, losses and clocks that drift. What a run does
//! is not known here: its task, its seconds and its result are JSON that is passed on as it came.
//!
//! No time of one machine is ever compared with that of another, but for the start: [`ClockOffset`]
//! says at which time of its own clock each agent begins, and how well that is known.
#![forbid(unsafe_code)]

mod agent;
mod clock;
mod coordinator;
pub mod message;

pub use agent::{AgentEvent, AgentRun, COORDINATOR_SILENCE_NS};
pub use clock::{ClockOffset, ClockProbe};
pub use coordinator::{
    AGENT_SILENCE_NS, AgentTask, CoordinatedRun, Loss, LossRule, RunEnd, RunEvent, RunState,
};
