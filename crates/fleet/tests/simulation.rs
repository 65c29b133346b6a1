//! Whole runs without a machine: a seeded world of clocks that are hours apart and drift, of ways
//! that are slow in one direction, of agents that die and links that are cut. Only here are times
//! asserted.

use bookend_fleet::message::{FromAgent, ToAgent};
use bookend_fleet::{
    AGENT_SILENCE_NS, AgentEvent, AgentRun, AgentTask, COORDINATOR_SILENCE_NS, CoordinatedRun,
    LossRule, RunEnd, RunEvent, RunState,
};
use fastrand::Rng;
use serde_json::value::{RawValue, to_raw_value};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

const SECOND_NS: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
/// The coordinator dies then, and agents later than that; a test ends long before.
const NEVER: u64 = u64::MAX;

/// The true time, and what happens then.
type Event = (u64, u64, What);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    ToAgent(usize, String),
    FromAgent(usize, String),
    /// The agent looks at its clock, and at what is due.
    Agent(usize),
    Coordinator,
}

/// An agent's machine.
struct Machine {
    run: AgentRun,
    /// What its clock says at true time 0.
    clock_ns: u64,
    /// Its clock runs faster than true time by this share.
    drift: f64,
    /// Its clock says that much more from a true time on.
    jump: (u64, u64),
    /// Of the way to it and back, nanoseconds.
    delays_ns: (u64, u64),
    jitter_ns: u64,
    prepares_ns: u64,
    prepared_at_ns: Option<u64>,
    start_ns: Option<u64>,
    /// True time at which its run began.
    began_ns: Option<u64>,
    seconds: u32,
    reported: bool,
    dead_from_ns: u64,
    cut_from_ns: u64,
    abandoned_at_ns: Option<u64>,
    /// No message overtakes another.
    last_ns: (u64, u64),
}

impl Machine {
    fn clock(&self, now_ns: u64) -> u64 {
        let jump_ns = if now_ns >= self.jump.0 { self.jump.1 } else { 0 };
        self.clock_ns + now_ns + (now_ns as f64 * self.drift) as u64 + jump_ns
    }

    /// Calls that it makes in a second: another number in each.
    fn calls(agent: usize, second: u32) -> u64 {
        1_000 + agent as u64 * 7 + u64::from(second)
    }
}

struct World {
    random: Rng,
    now_ns: u64,
    order: u64,
    events: BinaryHeap<Reverse<Event>>,
    machines: Vec<Machine>,
    coordinator: CoordinatedRun,
    coordinator_dies_ns: u64,
    window_seconds: u32,
    /// Sums of the seconds that all told, by second; and what agents reported.
    told: BTreeMap<u32, Vec<(usize, u64)>>,
    reported: BTreeMap<usize, u64>,
    end: Option<RunEnd>,
    ended_ns: u64,
    messages: u64,
}

fn raw(number: u64) -> Box<RawValue> {
    to_raw_value(&number).expect("a number")
}

fn number(content: &RawValue) -> u64 {
    content.get().parse().expect("a number")
}

impl World {
    fn new(agents: usize, seed: u64, rule: LossRule, window_seconds: u32) -> Self {
        let mut random = Rng::with_seed(seed);
        let machine = |_| Machine {
            run: AgentRun::new(0),
            clock_ns: random.u64(..7_200 * SECOND_NS),
            drift: random.f64() * 100e-6,
            jump: (NEVER, 0),
            delays_ns: (random.u64(20_000..3 * MS), random.u64(20_000..3 * MS)),
            jitter_ns: random.u64(1..2 * MS),
            prepares_ns: random.u64(MS..300 * MS),
            prepared_at_ns: None,
            start_ns: None,
            began_ns: None,
            seconds: 0,
            reported: false,
            dead_from_ns: NEVER,
            cut_from_ns: NEVER,
            abandoned_at_ns: None,
            last_ns: (0, 0),
        };
        let mut machines: Vec<Machine> = (0..agents).map(machine).collect();
        for machine in &mut machines {
            machine.run = AgentRun::new(machine.clock_ns);
        }
        // The last one is a server, say, and the others prepare when it is there.
        let task = |agent| AgentTask {
            task: raw(agent as u64),
            goes_first: agent + 1 == agents,
            tells_seconds: true,
        };
        let tasks = (0..agents).map(task).collect();
        let mut world = Self {
            random,
            now_ns: 0,
            order: 0,
            events: BinaryHeap::new(),
            machines,
            coordinator: CoordinatedRun::new(tasks, rule, SECOND_NS, 0),
            coordinator_dies_ns: NEVER,
            window_seconds,
            told: BTreeMap::new(),
            reported: BTreeMap::new(),
            end: None,
            ended_ns: 0,
            messages: 0,
        };
        world.at(0, What::Coordinator);
        (0..agents).for_each(|agent| world.at(0, What::Agent(agent)));
        world
    }

    fn at(&mut self, time_ns: u64, what: What) {
        self.order += 1;
        self.events.push(Reverse((time_ns, self.order, what)));
    }

    /// A message goes its way: none overtakes another, and now and then one is sent again.
    fn send(&mut self, agent: usize, to_agent: bool, text: String) {
        self.messages += 1;
        let (machine, random) = (&mut self.machines[agent], &mut self.random);
        let retransmission_ns = if random.u8(..) == 0 { 200 * MS } else { 0 };
        let (there_ns, back_ns) = machine.delays_ns;
        let delay_ns = if to_agent { there_ns } else { back_ns };
        let arrives_ns =
            self.now_ns + delay_ns + random.u64(..machine.jitter_ns) + retransmission_ns;
        let last_ns = if to_agent { &mut machine.last_ns.0 } else { &mut machine.last_ns.1 };
        *last_ns = arrives_ns.max(*last_ns + 1);
        let (arrives_ns, is_cut) = (*last_ns, *last_ns >= machine.cut_from_ns);
        let what = if to_agent { What::ToAgent(agent, text) } else { What::FromAgent(agent, text) };
        if !is_cut {
            self.at(arrives_ns, what);
        }
    }

    /// Until it is over, or nothing can happen any more.
    fn run(&mut self) {
        while let Some(Reverse((time_ns, _, what))) = self.events.pop() {
            self.now_ns = time_ns;
            let coordinator_lives = time_ns < self.coordinator_dies_ns;
            match what {
                What::ToAgent(agent, text) if self.lives(agent) => {
                    let clock_ns = self.machines[agent].clock(time_ns);
                    let message: ToAgent = serde_json::from_str(&text).expect("a message");
                    self.machines[agent].run.receive(message, clock_ns);
                    self.agent(agent);
                }
                What::FromAgent(agent, text) if coordinator_lives => {
                    let message: FromAgent = serde_json::from_str(&text).expect("a message");
                    self.coordinator.receive(agent, message, time_ns);
                    self.coordinator();
                }
                What::Agent(agent) if self.lives(agent) => {
                    let clock_ns = self.machines[agent].clock(time_ns);
                    self.machines[agent].run.tick(clock_ns);
                    self.due(agent, clock_ns);
                    self.agent(agent);
                    self.at(time_ns + 20 * MS, What::Agent(agent));
                }
                What::Coordinator if coordinator_lives => {
                    self.coordinator.tick(time_ns);
                    self.coordinator();
                    self.at(time_ns + 20 * MS, What::Coordinator);
                }
                _ => {}
            }
            let has_settled = time_ns > self.ended_ns + 10 * SECOND_NS;
            if (self.end.is_some() && has_settled) || time_ns > 3_600 * SECOND_NS {
                break;
            }
        }
    }

    fn lives(&self, agent: usize) -> bool {
        self.now_ns < self.machines[agent].dead_from_ns
    }

    /// What an agent does by its own clock.
    fn due(&mut self, agent: usize, clock_ns: u64) {
        let (now_ns, window_seconds) = (self.now_ns, self.window_seconds);
        let machine = &mut self.machines[agent];
        if machine.prepared_at_ns.is_some_and(|at_ns| clock_ns >= at_ns) {
            machine.prepared_at_ns = None;
            machine.run.say(FromAgent::Prepared { facts: raw(agent as u64) });
        }
        let Some(start_ns) = machine.start_ns.filter(|start_ns| clock_ns >= *start_ns) else {
            return;
        };
        if machine.began_ns.is_none() {
            // It is looked at every 20 ms, and a machine has a timer.
            machine.began_ns = Some(now_ns - (clock_ns - start_ns));
        }
        while machine.seconds < window_seconds
            && clock_ns >= start_ns + u64::from(machine.seconds + 1) * SECOND_NS
        {
            machine.run.second(raw(Machine::calls(agent, machine.seconds)));
            machine.seconds += 1;
        }
        if machine.seconds == window_seconds {
            self.report(agent);
        }
    }

    fn report(&mut self, agent: usize) {
        let machine = &mut self.machines[agent];
        if !std::mem::replace(&mut machine.reported, true) {
            let calls = (0..machine.seconds).map(|second| Machine::calls(agent, second)).sum();
            machine.run.say(FromAgent::Reported { result: raw(calls) });
        }
    }

    fn agent(&mut self, agent: usize) {
        let mut events = self.machines[agent].run.take_events();
        while !events.is_empty() {
            for event in events {
                let machine = &mut self.machines[agent];
                match event {
                    AgentEvent::Send(message) => {
                        let text = serde_json::to_string(&message).expect("a message");
                        self.send(agent, false, text);
                    }
                    AgentEvent::Prepare(task) => {
                        assert_eq!(number(&task), agent as u64);
                        let clock_ns = machine.clock(self.now_ns);
                        machine.prepared_at_ns = Some(clock_ns + machine.prepares_ns);
                    }
                    AgentEvent::Start(start_ns) => machine.start_ns = Some(start_ns),
                    AgentEvent::Stop => self.report(agent),
                    AgentEvent::Abandoned(_) => machine.abandoned_at_ns = Some(self.now_ns),
                    AgentEvent::Command(_) | AgentEvent::End => {}
                }
            }
            events = self.machines[agent].run.take_events();
        }
    }

    fn coordinator(&mut self) {
        for event in self.coordinator.take_events() {
            match event {
                RunEvent::Send(agent, message) => {
                    self.send(agent, true, serde_json::to_string(&message).expect("a message"));
                }
                RunEvent::Second(index, told) => {
                    let told = told.iter().map(|(agent, content)| (*agent, number(content)));
                    let before = self.told.insert(index, told.collect());
                    assert!(before.is_none(), "second {index} was told twice");
                }
                RunEvent::Reported(agent, result) => {
                    let before = self.reported.insert(agent, number(&result));
                    assert!(before.is_none(), "agent {agent} has reported twice");
                }
                RunEvent::Over(end) => {
                    assert!(self.end.is_none(), "a run ends once");
                    (self.end, self.ended_ns) = (Some(end), self.now_ns);
                }
                _ => {}
            }
        }
    }

    /// Every second that was told has each call once.
    fn assert_counts(&self) {
        for (second, told) in &self.told {
            for (agent, calls) in told {
                assert_eq!(*calls, Machine::calls(*agent, *second));
            }
            let mut agents: Vec<usize> = told.iter().map(|(agent, _)| *agent).collect();
            agents.dedup();
            assert_eq!(agents.len(), told.len(), "an agent is counted twice in {second}");
        }
    }

    /// How far apart the agents began in truth, and how far the coordinator says they may have.
    fn skew_ns(&self) -> (u64, u64) {
        let began = || self.machines.iter().filter_map(|machine| machine.began_ns);
        let apart_ns = began().max().unwrap() - began().min().unwrap();
        let errors = (0..self.machines.len())
            .filter_map(|agent| self.coordinator.offset(agent))
            .map(|offset| offset.error_max_ns());
        (apart_ns, 2 * errors.max().unwrap())
    }
}

#[test]
fn a_thousand_agents_begin_together_and_every_call_counts_once() {
    let mut world = World::new(1_000, 1, LossRule::Fail, 5);
    world.run();
    assert_eq!(world.end, Some(RunEnd::Whole));
    world.assert_counts();
    assert_eq!(world.told.len(), 5);
    assert!(world.told.values().all(|told| told.len() == 1_000));
    let told: u64 = world.told.values().flatten().map(|(_, calls)| calls).sum();
    assert_eq!(told, world.reported.values().sum::<u64>());
    // Five ticks in a second in each direction, a second told, and twice 32 round trips.
    let an_agent = world.messages / 1_000;
    assert!(an_agent < 2 * 5 * 30 + 5 + 2 * 64 + 10, "{an_agent} messages an agent");
}

#[test]
fn the_start_is_as_near_to_the_same_time_as_it_is_said_to_be() {
    for seed in 0..40 {
        let mut world = World::new(20, seed, LossRule::Fail, 1);
        world.run();
        assert_eq!(world.end, Some(RunEnd::Whole), "seed {seed}");
        let (apart_ns, bound_ns) = world.skew_ns();
        // Between the round trips and the start clocks drift: 100 ppm of some seconds.
        assert!(apart_ns <= bound_ns + MS, "seed {seed}: {apart_ns} ns, said {bound_ns} ns");
        // Their clocks are hours apart: without the offsets none would begin in this hour.
        assert!(bound_ns < 10 * MS);
    }
}

#[test]
fn an_agent_that_dies_ends_the_run_with_the_seconds_that_all_told() {
    for seed in 0..20 {
        let mut world = World::new(5, seed, LossRule::Fail, 30);
        world.machines[3].dead_from_ns = 8 * SECOND_NS;
        world.run();
        assert_eq!(world.end, Some(RunEnd::Lost), "seed {seed}");
        world.assert_counts();
        let seconds = world.machines[3].seconds;
        assert_eq!(world.coordinator.complete_seconds(), seconds);
        assert!(world.told.values().all(|told| told.len() == 5), "whole seconds only");
        let loss = &world.coordinator.losses()[0];
        assert_eq!((loss.agent, loss.seconds), (3, seconds));
        let noticed_ns = world.coordinator.start_ns() + loss.at_ns.unwrap();
        let late_ns = noticed_ns - 8 * SECOND_NS;
        assert!(late_ns <= AGENT_SILENCE_NS + 300 * MS, "seed {seed}: {late_ns}");
        // The others have stopped and reported: one silence, a way there and back.
        assert!(world.ended_ns < 8 * SECOND_NS + AGENT_SILENCE_NS + 30 * SECOND_NS);
        assert_eq!(world.reported.len(), 4);
    }
}

#[test]
fn where_the_rule_says_so_the_others_go_on_and_the_lost_one_counts_as_far_as_it_told() {
    let mut world = World::new(4, 9, LossRule::Continue, 20);
    world.machines[0].dead_from_ns = 6 * SECOND_NS;
    world.run();
    assert_eq!(world.end, Some(RunEnd::Whole));
    world.assert_counts();
    let lost = world.machines[0].seconds as usize;
    assert_eq!(world.told.len(), 20);
    for (second, told) in &world.told {
        assert_eq!(told.len(), if (*second as usize) < lost { 4 } else { 3 });
    }
    assert_eq!(world.reported.len(), 3);
}

#[test]
fn a_cut_link_is_noticed_at_both_ends() {
    let mut world = World::new(3, 4, LossRule::Fail, 60);
    world.machines[1].cut_from_ns = 5 * SECOND_NS;
    world.run();
    assert_eq!(world.end, Some(RunEnd::Lost));
    let abandoned_ns = world.machines[1].abandoned_at_ns.expect("it has noticed");
    let silent_ns = abandoned_ns - 5 * SECOND_NS;
    assert!(silent_ns <= COORDINATOR_SILENCE_NS + 300 * MS, "{silent_ns}");
    assert!(silent_ns <= 5 * SECOND_NS);
}

#[test]
fn agents_of_a_dead_coordinator_stop_within_five_seconds() {
    let mut world = World::new(3, 5, LossRule::Fail, 60);
    world.coordinator_dies_ns = 6 * SECOND_NS;
    world.run();
    for machine in &world.machines {
        let after_ns = machine.abandoned_at_ns.expect("each has noticed") - 6 * SECOND_NS;
        assert!(after_ns <= 5 * SECOND_NS, "{after_ns}");
    }
}

#[test]
fn a_clock_that_jumps_is_found_out_and_others_are_not_accused() {
    let mut world = World::new(3, 6, LossRule::Fail, 8);
    world.machines[2].jump = (5 * SECOND_NS, 3 * SECOND_NS);
    world.run();
    let jumps: Vec<_> = (0..3).map(|agent| world.coordinator.clock_jump_ns(agent)).collect();
    assert_eq!(jumps[..2], [None, None]);
    assert!(jumps[2].is_some_and(|jump_ns| jump_ns.abs_diff(3 * SECOND_NS) < 50 * MS), "{jumps:?}");
}

#[test]
fn a_way_that_is_too_slow_does_not_begin() {
    let mut world = World::new(2, 7, LossRule::Fail, 2);
    // It confirms its start after the start.
    world.machines[0].delays_ns = (MS, MS);
    world.machines[1].delays_ns = (700 * MS, 900 * MS);
    world.run();
    // Either its clock is not known in time, or the start is far enough ahead of it.
    match world.end.as_ref().unwrap() {
        RunEnd::NotBegun { agent, .. } => assert_eq!(*agent, 1),
        end => assert_eq!((end, world.coordinator.state()), (&RunEnd::Whole, RunState::Over)),
    }
    world.assert_counts();
}

#[test]
fn an_agent_that_never_prepares_is_named() {
    let mut world = World::new(3, 8, LossRule::Fail, 2);
    world.machines[1].prepares_ns = 3_000 * SECOND_NS;
    world.run();
    let Some(RunEnd::NotBegun { agent, reason, status }) = &world.end else {
        panic!("it began: {:?}", world.end);
    };
    assert_eq!((*agent, reason.as_str(), *status), (1, "it was not ready in time", None));
}
