//! A run from an agent's side.

use crate::coordinator::TICK_NS;
use crate::message::{FromAgent, ToAgent};
use serde_json::value::RawValue;

/// A coordinator that has said nothing for this long is gone, nanoseconds: the load ends within
/// 5 s of its last word.
pub const COORDINATOR_SILENCE_NS: u64 = 4_000_000_000;

/// What an agent has to do.
#[derive(Debug)]
pub enum AgentEvent {
    /// This is to be sent.
    Send(FromAgent),
    /// Make ready for this.
    Prepare(Box<RawValue>),
    /// Begin at that time, nanoseconds of the own clock.
    Start(u64),
    /// Do this.
    Command(Box<RawValue>),
    /// End what runs, and report.
    Stop,
    /// The coordinator is gone, for that reason: end what runs, and keep what was measured.
    Abandoned(String),
    /// There is nothing more to do.
    End,
}

/// A run from an agent's side: what it hears, and what follows.
#[derive(Debug)]
pub struct AgentRun {
    heard_ns: u64,
    ticked_ns: u64,
    seconds: u32,
    is_over: bool,
    events: Vec<AgentEvent>,
}

impl AgentRun {
    /// The coordinator has just welcomed the agent.
    pub fn new(now_ns: u64) -> Self {
        let (seconds, is_over) = (0, false);
        Self { heard_ns: now_ns, ticked_ns: now_ns, seconds, is_over, events: Vec::new() }
    }

    /// What has happened since the last time.
    pub fn take_events(&mut self) -> Vec<AgentEvent> {
        std::mem::take(&mut self.events)
    }

    /// When [`AgentRun::tick`] is to be called at the latest.
    pub fn next_tick_ns(&self) -> u64 {
        self.ticked_ns + TICK_NS
    }

    /// Time has passed.
    pub fn tick(&mut self, now_ns: u64) {
        if self.is_over {
            return;
        }
        if now_ns >= self.next_tick_ns() {
            self.ticked_ns = now_ns;
            self.send(FromAgent::Tick);
        }
        let silent_ns = now_ns.saturating_sub(self.heard_ns);
        if silent_ns >= COORDINATOR_SILENCE_NS {
            let seconds = silent_ns as f64 / 1e9;
            self.abandon(format!("the coordinator has said nothing for {seconds:.1} s"));
        }
    }

    /// The connection has ended.
    pub fn disconnected(&mut self, reason: String) {
        if !self.is_over {
            self.abandon(reason);
        }
    }

    /// The coordinator has said something; `clock_ns` is what the own clock says now.
    pub fn receive(&mut self, message: ToAgent, clock_ns: u64) {
        if self.is_over {
            return;
        }
        self.heard_ns = clock_ns;
        match message {
            ToAgent::Tick => {}
            ToAgent::Ping { number } => self.send(FromAgent::Pong { number, clock_ns }),
            ToAgent::Prepare { task } => {
                self.seconds = 0;
                self.events.push(AgentEvent::Prepare(task));
            }
            ToAgent::Arm { start_ns } => {
                self.events.push(AgentEvent::Start(start_ns));
                self.send(FromAgent::Armed);
            }
            ToAgent::Command { command } => self.events.push(AgentEvent::Command(command)),
            ToAgent::Stop => self.events.push(AgentEvent::Stop),
            ToAgent::End => {
                self.is_over = true;
                self.events.push(AgentEvent::End);
            }
        }
    }

    /// What was done in the next second of the window.
    pub fn second(&mut self, content: Box<RawValue>) {
        let index = self.seconds;
        self.seconds += 1;
        self.send(FromAgent::Second { index, content });
    }

    /// Says something else.
    pub fn say(&mut self, message: FromAgent) {
        self.send(message);
    }

    fn abandon(&mut self, reason: String) {
        self.is_over = true;
        self.events.push(AgentEvent::Abandoned(reason));
    }

    fn send(&mut self, message: FromAgent) {
        if !self.is_over {
            self.events.push(AgentEvent::Send(message));
        }
    }
}
