//! Two ends, two pipes, a clock that only this file moves, and what has to hold after every step.

use crate::app::{Act, App, Routes};
use crate::audit::Audit;
use crate::both::{Both, ROLES, other};
use crate::endpoint::Endpoint;
use crate::middlebox::Middlebox;
use crate::plan::{Cut, Pieces, Plan};
use crate::planted::Planted;
use crate::random::Random;
use crate::reached::Reached;
use crate::saboteur::Saboteur;
use bookend_wire::Side;
use std::collections::VecDeque;
use std::rc::Rc;

/// More steps than any sound run takes: what goes on and on is a fault too.
const STEPS_MAX: usize = 60_000;
/// Steps that are shown when something is wrong.
const SHOWN_STEPS: usize = 30;
/// A pipe that takes or gives a few bytes at a time does so this often: it teaches nothing more.
const SMALL_PIECES_MAX: usize = 250;
const SMALL_PIECE_BYTES: usize = 64;
const LARGER_PIECES: Pieces = Pieces::UpTo(3_000);

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A socket takes some of what this end has to write.
    Write(Side),
    /// Some of what this end has written arrives.
    Deliver(Side),
    Act(Side, Act),
    Wait(u64),
    Restore,
}

#[derive(Debug, Default)]
struct Pipe {
    bytes: Vec<u8>,
    delivered_bytes: usize,
    small_reads: usize,
    small_writes: usize,
    stalled_until: u64,
    is_shut: bool,
}

pub struct World {
    pub plan: Rc<Plan>,
    pub planted: Planted,
    pub random: Random,
    pub now: u64,
    pub ends: Both<Endpoint>,
    pub routes: Routes,
    pub audit: Audit,
    pub reached: Reached,
    pub saboteur: Saboteur,
    /// The last steps, for whoever has to understand a failure.
    pub trace: VecDeque<(u64, Step, usize)>,
    pipes: Both<Pipe>,
    middlebox: Middlebox,
    is_goaway_said: bool,
    is_aborted: bool,
}

type Verdict = Result<(), String>;

impl World {
    pub fn new(seed: u64, planted: Planted) -> Self {
        let mut random = Random::new(seed);
        let plan = Rc::new(Plan::draw(&mut random));
        let routes = Routes::default();
        let end = |side| Endpoint::new(side, &plan, &routes, planted);
        Self {
            ends: Both { client: end(Side::Client), server: end(Side::Server) },
            audit: Audit::new(),
            reached: Reached::default(),
            saboteur: Saboteur::new(planted),
            trace: VecDeque::new(),
            pipes: Both::default(),
            middlebox: Middlebox::new(&plan, random.fork()),
            is_goaway_said: false,
            is_aborted: false,
            now: 0,
            plan,
            planted,
            random,
            routes,
        }
    }

    /// Takes steps until nothing can happen any more.
    ///
    /// # Errors
    /// The first thing that did not hold.
    pub fn run_until_quiet(&mut self) -> Verdict {
        ROLES.into_iter().try_for_each(|side| self.check(side))?;
        let mut choices = Vec::new();
        while !self.is_aborted {
            choices.clear();
            self.choices(&mut choices);
            let step = match choices.is_empty() {
                false => self.random.pick(&choices),
                true => match self.next_timer() {
                    Some(time) => Step::Wait(time),
                    None if self.plan.cut == Cut::Never && self.is_lowered() => Step::Restore,
                    None => return Ok(()),
                },
            };
            self.take(step)?;
        }
        Ok(())
    }

    /// Takes one step.
    ///
    /// # Errors
    /// What does not hold behind it.
    pub fn take(&mut self, step: Step) -> Verdict {
        self.now += 1;
        self.reached.steps += 1;
        if self.reached.steps > STEPS_MAX {
            return Err("it does not come to rest".to_owned());
        }
        let bytes = match step {
            Step::Write(side) => self.write(side)?,
            Step::Deliver(side) => self.deliver(side)?,
            Step::Act(side, act) => {
                self.is_goaway_said |= act == Act::Goaway;
                self.ends.of_mut(side).act(self.now, act);
                0
            }
            Step::Wait(time) => {
                self.now = self.now.max(time);
                0
            }
            Step::Restore => self.restore(),
        };
        self.trace.push_back((self.now, step, bytes));
        if self.trace.len() > SHOWN_STEPS {
            self.trace.pop_front();
        }
        match step {
            Step::Deliver(writer) => self.check(other(writer)),
            Step::Write(side) | Step::Act(side, _) => self.check(side),
            Step::Wait(_) | Step::Restore => Ok(()),
        }
    }

    fn choices(&mut self, choices: &mut Vec<Step>) {
        let mut acts = Vec::new();
        for side in ROLES {
            let (pipe, end) = (self.pipes.of(side), self.ends.of_mut(side));
            if !pipe.is_shut && !end.connection.sender.output.is_empty() {
                choices.push(Step::Write(side));
            }
            if !pipe.is_shut && !pipe.bytes.is_empty() && pipe.stalled_until <= self.now {
                choices.push(Step::Deliver(side));
            }
            end.app.now = self.now;
            for exchange in end.app.exchanges.values() {
                let held_bytes = end.connection.sender.blocked_bytes(exchange.stream);
                end.app.choices(exchange, held_bytes, &mut acts);
            }
            if end.app.pings < self.plan.ends.of(side).pings {
                acts.push(Act::Ping);
            }
            if let Some((by, time)) = self.plan.goaway
                && by == side
                && time <= self.now
                && !self.is_goaway_said
            {
                acts.push(Act::Goaway);
            }
            choices.extend(acts.drain(..).map(|act| Step::Act(side, act)));
        }
        let client = &self.ends.client;
        if client.connection.sender.may_open() > 0 {
            let due = client
                .app
                .waiting_calls()
                .find(|call| self.plan.calls[*call].starts_at <= self.now);
            choices.extend(due.map(|call| Step::Act(Side::Client, Act::Open(call))));
        }
    }

    /// The next moment at which something can happen that cannot now.
    fn next_timer(&self) -> Option<u64> {
        let mut times = Vec::new();
        for side in ROLES {
            let (pipe, app) = (self.pipes.of(side), &self.ends.of(side).app);
            if !pipe.is_shut && !pipe.bytes.is_empty() {
                times.push(pipe.stalled_until);
            }
            for exchange in app.exchanges.values() {
                times.extend(app.cancels_at(exchange));
                times.extend(exchange.deadline);
            }
        }
        if let Some((_, time)) = self.plan.goaway {
            times.push(time);
        }
        let client = &self.ends.client;
        if client.connection.sender.may_open() > 0 {
            times.extend(client.app.waiting_calls().map(|call| self.plan.calls[call].starts_at));
        }
        times.into_iter().filter(|time| *time > self.now).min()
    }

    fn write(&mut self, side: Side) -> Result<usize, String> {
        let end = self.ends.of_mut(side);
        let length = end.connection.sender.output.len();
        let small_writes = &mut self.pipes.of_mut(side).small_writes;
        let pieces = match *small_writes {
            ..SMALL_PIECES_MAX => self.plan.pipes.of(side).writes,
            _ => LARGER_PIECES,
        };
        let piece_bytes = pieces.draw(length, &mut self.random);
        *small_writes += usize::from(piece_bytes < SMALL_PIECE_BYTES);
        self.reached.short_writes += usize::from(piece_bytes < length);
        let bytes = self.saboteur.pass(side, end.take_output(piece_bytes));
        let pipe = &mut self.pipes.of_mut(side).bytes;
        self.middlebox.pass(side, &bytes, pipe, &mut self.reached)?;
        Ok(piece_bytes)
    }

    fn deliver(&mut self, writer: Side) -> Result<usize, String> {
        let plan = self.plan.pipes.of(writer);
        let pipe = self.pipes.of_mut(writer);
        let pieces = match pipe.small_reads {
            ..SMALL_PIECES_MAX => plan.reads,
            _ => LARGER_PIECES,
        };
        let mut piece_bytes = pieces.draw(pipe.bytes.len(), &mut self.random);
        let stall = plan.stall_one_in > 0 && self.random.one_in(plan.stall_one_in);
        if stall {
            pipe.stalled_until = self.now + 1 + self.random.below(60) as u64;
        }
        if let Cut::HalfClose { writer: by, after_bytes } | Cut::Abort { writer: by, after_bytes } =
            self.plan.cut
            && by == writer
            && pipe.delivered_bytes + piece_bytes >= after_bytes
        {
            piece_bytes = after_bytes - pipe.delivered_bytes;
            pipe.is_shut = true;
            self.is_aborted = matches!(self.plan.cut, Cut::Abort { .. });
        }
        pipe.small_reads += usize::from(piece_bytes < SMALL_PIECE_BYTES);
        pipe.delivered_bytes += piece_bytes;
        let bytes: Vec<u8> = pipe.bytes.drain(..piece_bytes).collect();
        self.reached.stalls += usize::from(stall);
        self.reached.one_byte_reads += usize::from(piece_bytes == 1);
        self.reached.bytes += piece_bytes;
        let reader = other(writer);
        self.audit.heard(reader, &bytes)?;
        self.ends.of_mut(reader).hear(self.now, &bytes);
        Ok(piece_bytes)
    }

    fn is_lowered(&self) -> bool {
        ROLES.into_iter().any(|side| self.middlebox.is_lowered(side))
    }

    fn restore(&mut self) -> usize {
        for side in ROLES {
            let pipe = &mut self.pipes.of_mut(side).bytes;
            self.middlebox.restore(side, pipe, &mut self.reached);
        }
        0
    }

    /// What has to hold at an end after every step that it took part in.
    fn check(&mut self, side: Side) -> Verdict {
        let end = self.ends.of_mut(side);
        let written = end.newly_written();
        self.audit.wrote(side, &written)?;
        if let Some(fault) = &end.app.fault {
            return Err(fault.clone());
        }
        if let Some(error) = &end.error {
            return Err(format!("{side:?}: {error}"));
        }
        if !end.has_small_inbox() {
            return Err(format!("{side:?}: {} bytes are not handled", end.inbox.len()));
        }
        self.reached.negative_windows += usize::from(self.audit.has_negative_window(side));
        self.check_streams(side)
    }

    fn check_streams(&mut self, side: Side) -> Verdict {
        let end = self.ends.of_mut(side);
        let sender = &mut end.connection.sender;
        let mut held_streams = 0;
        let mut unreleased_bytes = 0;
        for exchange in end.app.exchanges.values() {
            let id = exchange.stream.id;
            let held_bytes = sender.blocked_bytes(exchange.stream);
            let written_bytes = self.audit.data_bytes(side, id);
            if exchange.said_bytes != written_bytes + held_bytes {
                let said_bytes = exchange.said_bytes;
                return Err(format!(
                    "{side:?}: stream {id}: {said_bytes} bytes said, {written_bytes} written, \
                     {held_bytes} held back"
                ));
            }
            if sender.is_open(exchange.stream) == exchange.is_over(sender) {
                return Err(format!("{side:?}: stream {id} is over and open, or neither"));
            }
            held_streams += usize::from(held_bytes > 0);
            unreleased_bytes += exchange.unreleased_bytes;
        }
        end.app.exchanges.retain(|_, exchange| !exchange.is_over(sender));
        let (live, known) = (sender.live_streams(), end.app.exchanges.len());
        if live != known {
            return Err(format!("{side:?}: {live} streams are alive, {known} are known"));
        }
        if sender.is_blocked() != (held_streams > 0) {
            return Err(format!("{side:?}: holds back: {held_streams} streams"));
        }
        let window_bytes = self.plan.ends.of(side).config.connection_window_bytes.max(65_535);
        if unreleased_bytes > window_bytes as usize {
            return Err(format!("{side:?}: {unreleased_bytes} bytes are not released"));
        }
        match App::why_it_cannot_open(sender) {
            None if side == Side::Client && sender.may_open() == 0 => {
                Err("a stream was opened that may not be".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Whether nothing is on its way, not even a part of a frame.
    pub fn is_all_delivered(&self) -> bool {
        ROLES.into_iter().all(|side| {
            let end = self.ends.of(side);
            end.connection.sender.output.is_empty()
                && end.inbox.is_empty()
                && self.pipes.of(side).bytes.is_empty()
                && self.audit.partial_bytes(side) == 0
        })
    }
}

impl Pieces {
    fn draw(self, bytes: usize, random: &mut Random) -> usize {
        match self {
            Self::All => bytes,
            Self::UpTo(most) => random.between(1, most.min(bytes)),
        }
    }
}
