//! A run from the coordinator's side.

use crate::clock::{ClockOffset, ClockProbe};
use crate::message::{FromAgent, ToAgent};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// An agent that has said nothing for this long is lost: ten of its ticks, nanoseconds.
pub const AGENT_SILENCE_NS: u64 = 2 * SECOND_NS;

/// Between two ticks of the coordinator, and of each agent, nanoseconds.
pub(crate) const TICK_NS: u64 = 200 * MS_NS;

/// How long agents may take to make their connections and one call, beyond the time that the
/// flags of the run give to that, nanoseconds.
const PREPARE_GRACE_NS: u64 = 60 * SECOND_NS;

/// How long 32 round trips and the way of an order may take, nanoseconds.
const CLOCK_TIMEOUT_NS: u64 = 20 * SECOND_NS;

/// How long agents may take to report what they have measured so far, nanoseconds: calls in flight
/// have 1.5 s to end.
const REPORT_TIMEOUT_NS: u64 = 10 * SECOND_NS;

/// A run begins no sooner than this after the coordinator says when, nanoseconds.
const LEAD_MIN_NS: u64 = 500 * MS_NS;

/// Or this number of the longest round trips.
const LEAD_ROUND_TRIPS: u64 = 20;

const SECOND_NS: u64 = 1_000_000_000;
const MS_NS: u64 = 1_000_000;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunState {
    /// Agents make their connections.
    Preparing,
    /// The coordinator asks what their clocks say.
    Synchronizing,
    /// They were told when to begin, and have not all confirmed it.
    Arming,
    /// Calls are made, or are about to be.
    Running,
    /// The run is to end, and agents have not all reported.
    Ending,
    /// The coordinator asks again what their clocks say.
    Checking,
    /// It is over.
    Over,
}

/// What happens when an agent is lost in the course of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossRule {
    /// The run ends, and what all agents had told counts.
    #[default]
    Fail,
    /// The others go on.
    Continue,
}

/// An agent that was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its number.
    pub agent: usize,
    /// Since the start of the run, nanoseconds; `None`: the run had not begun.
    pub at_ns: Option<u64>,
    /// Seconds of the window that it had told.
    pub seconds: u32,
    /// Why, as a clause.
    pub reason: String,
}

/// How a run has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Every agent that was not lost has reported.
    Whole,
    /// It never began.
    NotBegun {
        /// The agent on which that lies.
        agent: usize,
        /// Why, in one sentence.
        reason: String,
        /// The exit status that the same has on one machine, where the agent has said so.
        status: Option<u8>,
    },
    /// An agent was lost, and the run with it.
    Lost,
    /// The user ended it before it had begun.
    Interrupted,
}

/// What happens in a run.
#[derive(Debug)]
pub enum RunEvent {
    /// This is to be sent to the agent of that number.
    Send(usize, ToAgent),
    /// Every agent is prepared. What each has said of itself, by number.
    Prepared(Vec<Box<RawValue>>),
    /// The start is known: nanoseconds of this clock.
    Starting(u64),
    /// All agents that are there have told what they did in that second, or have reported before
    /// it. Those that did, by number.
    Second(u32, Vec<(usize, Box<RawValue>)>),
    /// An agent was lost.
    Lost(Loss),
    /// An answer to a command.
    Answer(usize, Box<RawValue>),
    /// An agent has reported.
    Reported(usize, Box<RawValue>),
    /// The run is over.
    Over(RunEnd),
}

/// What an agent is to prepare for.
#[derive(Debug)]
pub struct AgentTask {
    /// In the run's own terms.
    pub task: Box<RawValue>,
    /// Whether the others prepare once this one has: a server runs before it is called.
    pub goes_first: bool,
    /// Whether it tells what it has done in each second. The others are not waited for there.
    pub tells_seconds: bool,
}

#[derive(Debug)]
struct AgentState {
    /// What it is to prepare for, until that is sent.
    task: Option<AgentTask>,
    /// When it last said something.
    heard_ns: u64,
    prepared: Option<Box<RawValue>>,
    probe: ClockProbe,
    offset: Option<ClockOffset>,
    offset_after: Option<ClockOffset>,
    armed: bool,
    tells_seconds: bool,
    /// Seconds that it has told.
    seconds: u32,
    /// Those that not all have told.
    early: BTreeMap<u32, Box<RawValue>>,
    reported: bool,
    lost: bool,
}

/// A run from the coordinator's side: what it hears, and what follows.
#[derive(Debug)]
pub struct CoordinatedRun {
    agents: Vec<AgentState>,
    rule: LossRule,
    /// Whether it has no start and no end of its own: commands say when calls are made.
    is_commanded: bool,
    state: RunState,
    /// When the state ends by itself.
    deadline_ns: u64,
    ticked_ns: u64,
    start_ns: u64,
    /// Seconds that all have told.
    complete: u32,
    /// No second from this one on is whole: a loss has ended the run in it.
    complete_max: u32,
    losses: Vec<Loss>,
    events: Vec<RunEvent>,
}

impl CoordinatedRun {
    /// A run of agents that are to prepare for a task each. `connect_ns`: how long the run's flags
    /// let connections take.
    pub fn new(tasks: Vec<AgentTask>, rule: LossRule, connect_ns: u64, now_ns: u64) -> Self {
        let state = |task: AgentTask| AgentState {
            tells_seconds: task.tells_seconds,
            task: Some(task),
            heard_ns: now_ns,
            prepared: None,
            probe: ClockProbe::default(),
            offset: None,
            offset_after: None,
            armed: false,
            seconds: 0,
            early: BTreeMap::new(),
            reported: false,
            lost: false,
        };
        let mut run = Self {
            agents: tasks.into_iter().map(state).collect(),
            rule,
            is_commanded: false,
            state: RunState::Preparing,
            deadline_ns: now_ns.saturating_add(connect_ns).saturating_add(PREPARE_GRACE_NS),
            ticked_ns: now_ns,
            start_ns: 0,
            complete: 0,
            complete_max: u32::MAX,
            losses: Vec::new(),
            events: Vec::new(),
        };
        run.hand_out_tasks();
        run
    }

    /// The same run with no start of its own: once the clocks are known it runs, and
    /// [`CoordinatedRun::command`] says when calls are made.
    pub fn commanded(self) -> Self {
        Self { is_commanded: true, ..self }
    }

    /// Where it is.
    pub fn state(&self) -> RunState {
        self.state
    }

    /// When it begins or has begun, nanoseconds of this clock; 0 before that is known.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// The clock of an agent against this one, once it is known.
    pub fn offset(&self, agent: usize) -> Option<&ClockOffset> {
        self.agents[agent].offset.as_ref()
    }

    /// By how much the clock of an agent has jumped in the course of the run, nanoseconds.
    pub fn clock_jump_ns(&self, agent: usize) -> Option<u64> {
        let state = &self.agents[agent];
        state.offset?.jump_ns(&state.offset_after?)
    }

    /// Agents that were lost.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Seconds of the window that all have told.
    pub fn complete_seconds(&self) -> u32 {
        self.complete
    }

    /// What has happened since the last time.
    pub fn take_events(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.events)
    }

    /// When [`CoordinatedRun::tick`] is to be called at the latest.
    pub fn next_tick_ns(&self) -> u64 {
        self.ticked_ns + TICK_NS
    }

    /// The user wants the run to end: what was measured is reported.
    pub fn stop(&mut self, now_ns: u64) {
        match self.state {
            RunState::Running => self.end(now_ns),
            RunState::Ending | RunState::Checking | RunState::Over => {}
            _ => {
                self.broadcast(|| ToAgent::Stop);
                self.over(RunEnd::Interrupted);
            }
        }
    }

    /// These agents have nothing more to wait for: they report what they have.
    pub fn stop_agents(&mut self, agents: impl Iterator<Item = usize>) {
        for agent in agents {
            if !self.agents[agent].lost && !self.agents[agent].reported {
                self.send(agent, ToAgent::Stop);
            }
        }
    }

    /// Passes a command of the run's own kind to an agent.
    pub fn command(&mut self, agent: usize, command: Box<RawValue>) {
        self.send(agent, ToAgent::Command { command });
    }

    /// Time has passed.
    pub fn tick(&mut self, now_ns: u64) {
        if self.state == RunState::Over {
            return;
        }
        if now_ns >= self.next_tick_ns() {
            self.ticked_ns = now_ns;
            self.broadcast(|| ToAgent::Tick);
        }
        for agent in self.present() {
            let silent_ns = now_ns.saturating_sub(self.agents[agent].heard_ns);
            if silent_ns >= AGENT_SILENCE_NS {
                let seconds = silent_ns as f64 / 1e9;
                self.lose(agent, format!("it has said nothing for {seconds:.1} s"), now_ns);
            }
        }
        if self.state != RunState::Over && now_ns >= self.deadline_ns {
            self.time_out(now_ns);
        }
    }

    /// The connection of an agent has ended.
    pub fn disconnected(&mut self, agent: usize, reason: &str, now_ns: u64) {
        let state = &self.agents[agent];
        if !state.lost && self.state != RunState::Over {
            self.lose(agent, reason.to_owned(), now_ns);
        }
    }

    /// An agent has said something.
    pub fn receive(&mut self, agent: usize, message: FromAgent, now_ns: u64) {
        let state = &mut self.agents[agent];
        if state.lost || self.state == RunState::Over {
            return;
        }
        state.heard_ns = now_ns;
        match message {
            FromAgent::Tick => {}
            FromAgent::Prepared { facts } => {
                if self.state == RunState::Preparing {
                    state.prepared = Some(facts);
                    self.hand_out_tasks();
                    self.try_to_synchronize(now_ns);
                }
            }
            FromAgent::Pong { number, clock_ns } => self.pong(agent, number, clock_ns, now_ns),
            FromAgent::Armed => {
                state.armed = true;
                if self.state == RunState::Arming && self.all(|agent| agent.armed) {
                    self.enter(RunState::Running, u64::MAX);
                }
            }
            FromAgent::Second { index, content } => self.second(agent, index, content),
            FromAgent::Answer { answer } => self.events.push(RunEvent::Answer(agent, answer)),
            FromAgent::Failed { reason, status } => self.failed(agent, reason, status, now_ns),
            FromAgent::Reported { result } => {
                if !std::mem::replace(&mut state.reported, true) {
                    self.events.push(RunEvent::Reported(agent, result));
                    self.complete_seconds_told();
                    self.try_to_check(now_ns);
                }
            }
        }
    }

    /// Tells agents what to prepare for: those that go first, and once they are ready the others.
    fn hand_out_tasks(&mut self) {
        let is_awaited = |agent: &AgentState| {
            agent.prepared.is_none() && agent.task.as_ref().is_none_or(|task| task.goes_first)
        };
        let awaits_first = self.agents.iter().any(is_awaited);
        for agent in 0..self.agents.len() {
            let task = &mut self.agents[agent].task;
            if let Some(task) = task.take_if(|task| task.goes_first || !awaits_first) {
                self.send(agent, ToAgent::Prepare { task: task.task });
            }
        }
    }

    fn second(&mut self, agent: usize, index: u32, content: Box<RawValue>) {
        let state = &mut self.agents[agent];
        // No agent tells a second twice. One that did must not have it counted twice.
        if index == state.seconds && !state.reported {
            state.seconds += 1;
            state.early.insert(index, content);
            self.complete_seconds_told();
        }
    }

    /// Passes on the seconds that all have told. Of those after a loss, the lost agent has told
    /// nothing: they count only where the others go on.
    fn complete_seconds_told(&mut self) {
        let goes_on = self.rule == LossRule::Continue;
        loop {
            let index = self.complete;
            let has_told = |agent: &AgentState| {
                agent.seconds > index
                    || agent.reported
                    || (agent.lost && goes_on)
                    || !agent.tells_seconds
            };
            let told_by_some = self.agents.iter().any(|agent| agent.early.contains_key(&index));
            let may_be = index < self.complete_max && told_by_some;
            if !may_be || !self.agents.iter().all(has_told) {
                return;
            }
            let agents = self.agents.iter_mut().enumerate();
            let told =
                agents.filter_map(|(number, agent)| Some((number, agent.early.remove(&index)?)));
            let told = told.collect();
            self.events.push(RunEvent::Second(index, told));
            self.complete += 1;
        }
    }

    fn failed(&mut self, agent: usize, reason: String, status: u8, now_ns: u64) {
        if self.state < RunState::Running {
            self.broadcast(|| ToAgent::Stop);
            self.over(RunEnd::NotBegun { agent, reason, status: Some(status) });
        } else {
            self.lose(agent, reason, now_ns);
        }
    }

    fn try_to_synchronize(&mut self, now_ns: u64) {
        if !self.all(|agent| agent.prepared.is_some()) {
            return;
        }
        let prepared = self.agents.iter_mut().filter_map(|agent| agent.prepared.take()).collect();
        self.events.push(RunEvent::Prepared(prepared));
        self.enter(RunState::Synchronizing, now_ns.saturating_add(CLOCK_TIMEOUT_NS));
        self.ping_all(now_ns);
    }

    fn ping_all(&mut self, now_ns: u64) {
        for agent in self.present() {
            self.agents[agent].probe = ClockProbe::default();
            self.ping(agent, now_ns);
        }
    }

    fn ping(&mut self, agent: usize, now_ns: u64) {
        let number = self.agents[agent].probe.send(now_ns);
        self.send(agent, ToAgent::Ping { number });
    }

    fn pong(&mut self, agent: usize, number: u32, clock_ns: u64, now_ns: u64) {
        let is_after = self.state == RunState::Checking;
        if !is_after && self.state != RunState::Synchronizing {
            return;
        }
        let state = &mut self.agents[agent];
        state.probe.receive(number, clock_ns, now_ns);
        let offset = state.probe.offset();
        match (offset, is_after) {
            (None, _) => self.ping(agent, now_ns),
            (Some(_), false) => {
                state.offset = offset;
                self.try_to_arm(now_ns);
            }
            (Some(_), true) => {
                state.offset_after = offset;
                if self.all(|agent| agent.offset_after.is_some()) {
                    self.over_after_reports();
                }
            }
        }
    }

    fn try_to_arm(&mut self, now_ns: u64) {
        if !self.all(|agent| agent.offset.is_some()) {
            return;
        }
        if self.is_commanded {
            self.start_ns = now_ns;
            self.events.push(RunEvent::Starting(now_ns));
            return self.enter(RunState::Running, u64::MAX);
        }
        let offsets = || self.agents.iter().filter_map(|agent| agent.offset);
        let slowest_ns = offsets().map(|offset| offset.round_trip_median_ns).max().unwrap_or(0);
        let lead_ns = LEAD_MIN_NS.max(slowest_ns.saturating_mul(LEAD_ROUND_TRIPS));
        self.start_ns = now_ns + lead_ns;
        self.events.push(RunEvent::Starting(self.start_ns));
        // An agent that has not confirmed it by then has not begun.
        self.enter(RunState::Arming, self.start_ns);
        for agent in self.present() {
            if let Some(offset) = self.agents[agent].offset {
                let start_ns = offset.of_other(self.start_ns);
                self.send(agent, ToAgent::Arm { start_ns });
            }
        }
    }

    /// Every agent has reported: one more look at their clocks.
    fn try_to_check(&mut self, now_ns: u64) {
        let is_under_way = matches!(self.state, RunState::Running | RunState::Ending);
        if !is_under_way || !self.all(|agent| agent.reported) {
            return;
        }
        if self.present().is_empty() {
            return self.over_after_reports();
        }
        self.enter(RunState::Checking, now_ns.saturating_add(CLOCK_TIMEOUT_NS));
        self.ping_all(now_ns);
    }

    fn over_after_reports(&mut self) {
        let is_whole = self.losses.is_empty() || self.rule == LossRule::Continue;
        self.over(if is_whole { RunEnd::Whole } else { RunEnd::Lost });
    }

    fn lose(&mut self, agent: usize, reason: String, now_ns: u64) {
        let begun = self.state >= RunState::Running && now_ns >= self.start_ns;
        let state = &mut self.agents[agent];
        if state.reported {
            // Nothing of it is missing.
            state.lost = true;
            if self.state == RunState::Checking && self.all(|agent| agent.offset_after.is_some()) {
                self.over_after_reports();
            }
            return;
        }
        state.lost = true;
        let at_ns = begun.then(|| now_ns.saturating_sub(self.start_ns));
        let loss = Loss { agent, at_ns, seconds: state.seconds, reason };
        self.losses.push(loss.clone());
        if !begun {
            self.broadcast(|| ToAgent::Stop);
            let reason = format!("it was lost before the run began: {}", loss.reason);
            self.events.push(RunEvent::Lost(loss));
            return self.over(RunEnd::NotBegun { agent, reason, status: None });
        }
        self.events.push(RunEvent::Lost(loss));
        if self.rule == LossRule::Fail && !self.agents[agent].tells_seconds {
            let told = self.agents.iter().map(|agent| agent.seconds).max();
            self.complete_max = self.complete_max.min(told.unwrap_or(0));
        }
        self.complete_seconds_told();
        let goes_on = self.rule == LossRule::Continue && !self.present().is_empty();
        match goes_on || self.state != RunState::Running {
            true => self.try_to_check(now_ns),
            false => self.end(now_ns),
        }
    }

    /// Has all agents report what they have.
    fn end(&mut self, now_ns: u64) {
        self.enter(RunState::Ending, now_ns.saturating_add(REPORT_TIMEOUT_NS));
        self.broadcast(|| ToAgent::Stop);
        self.try_to_check(now_ns);
    }

    /// The time for the state is over.
    fn time_out(&mut self, now_ns: u64) {
        let late = |agent: &AgentState| match self.state {
            RunState::Preparing => agent.prepared.is_none(),
            RunState::Synchronizing => agent.offset.is_none(),
            RunState::Arming => !agent.armed,
            RunState::Ending => !agent.reported,
            RunState::Checking => agent.offset_after.is_none(),
            RunState::Running | RunState::Over => false,
        };
        let late: Vec<usize> =
            self.present().into_iter().filter(|at| late(&self.agents[*at])).collect();
        match self.state {
            RunState::Checking => self.over_after_reports(),
            RunState::Ending => {
                for agent in late {
                    self.lose(agent, "it has not reported in time".to_owned(), now_ns);
                }
            }
            _ => {
                let did = match self.state {
                    RunState::Preparing => "was not ready in time",
                    RunState::Synchronizing => "did not answer fast enough to know its clock",
                    _ => "was told too late when the run begins: the way to it is too slow",
                };
                let agent = late.first().copied().unwrap_or(0);
                self.broadcast(|| ToAgent::Stop);
                self.over(RunEnd::NotBegun { agent, reason: format!("it {did}"), status: None });
            }
        }
    }

    fn over(&mut self, end: RunEnd) {
        self.enter(RunState::Over, u64::MAX);
        self.events.push(RunEvent::Over(end));
    }

    fn enter(&mut self, state: RunState, deadline_ns: u64) {
        (self.state, self.deadline_ns) = (state, deadline_ns);
    }

    /// Whether that is so of every agent that is there.
    fn all(&self, is_so: impl Fn(&AgentState) -> bool) -> bool {
        self.agents.iter().filter(|agent| !agent.lost).all(is_so)
    }

    /// The numbers of those that are there.
    fn present(&self) -> Vec<usize> {
        (0..self.agents.len()).filter(|agent| !self.agents[*agent].lost).collect()
    }

    fn send(&mut self, agent: usize, message: ToAgent) {
        self.events.push(RunEvent::Send(agent, message));
    }

    fn broadcast(&mut self, message: impl Fn() -> ToAgent) {
        for agent in self.present() {
            self.send(agent, message());
        }
    }
}
