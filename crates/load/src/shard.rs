//! One worker: its connections, its phase, its counters. Driven by `bookend-io`.

mod connections;

use crate::call::Fault;
use crate::gate::{Gate, Start};
use crate::link::{Ledger, Link, Source, Stage, Stragglers};
use crate::phase::{Phase, Timetable};
use crate::plan::{AtEnd, Driver, Plan, Share};
use crate::recorder::{Recorder, count_text};
use crate::redial::{End, Redial};
use crate::roster::Roster;
use crate::timeline::Timeline;
use bookend_io::{Closed, Opened, Received, Session, Shard, Statistics, Then, Turn};
use bookend_wire::ConnectionError;
use bookend_wire::grpc::Code;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long calls in flight may take to end after the window. The lab kills a process two seconds
/// after it asked it to end.
pub const DRAIN_NS: u64 = 1_500_000_000;
/// A deadline of calls is looked at so often within its length: calls end at most 6 % late.
const LOOKS_PER_TIMEOUT: u64 = 16;
/// Answers that are handled before the calls in their place are made: about two hundred small ones.
/// The states of so few streams stay in the first-level cache.
const SLICE_BYTES: usize = 8 << 10;

/// The start of an alert of TLS, which is what a server with TLS answers to plain text.
const TLS_ALERT: &[u8] = &[0x15, 0x03];
const WANTS_TLS: &str = "the server wants TLS: leave --insecure out";

/// One worker of a run.
#[derive(Debug)]
pub struct LoadShard {
    plan: Arc<Plan>,
    gate: Arc<Gate>,
    share: Share,
    /// By session index.
    links: Vec<Option<Link>>,
    /// By connection of this worker.
    redials: Vec<Redial>,
    timetable: Timetable,
    phase: Phase,
    arrived: bool,
    /// Calls of the window that have been made, where those are counted.
    counted_made: u64,
    counted_done: u64,
    next_number: u64,
    next_expiry_ns: u64,
    /// When a connection is to be made, or a greeting is overdue.
    dial_deadline_ns: u64,
    /// What the driver had counted when the window began.
    window_began: Statistics,
    recorder: Recorder,
    /// What it measured.
    pub measured: Measured,
}

/// What one worker has measured.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Calls that ended in the window.
    pub window: Recorder,
    /// Calls that ended before it.
    pub warmup: Recorder,
    /// Calls that ended OK in each interval of warm-up and window, whenever they were made.
    pub(crate) timeline: Timeline,
    /// Calls that ended after it.
    pub drained: Recorder,
    /// Calls of the warm-up that ended in a window that is measured by number.
    pub stragglers: Stragglers,
    /// Calls that had neither been answered nor failed when the worker ended.
    pub unfinished: u64,
    /// Start of the window, nanoseconds of the drivers' clock.
    pub window_start_ns: u64,
    /// End of the window.
    pub window_end_ns: u64,
    /// What the driver did in the window.
    pub driver: Statistics,
    /// Connections made in the whole run.
    pub connections_opened: u64,
    /// Where they were made to.
    pub(crate) roster: Roster,
    /// Why a connection could not be made or was of no use, the first time that happened.
    pub first_failure: Option<String>,
    /// Connections that the server ended with GOAWAY, by its code and debug data.
    pub goaways: BTreeMap<String, u64>,
    /// The smallest limit of streams of a server that kept calls from being made.
    pub streams_allowed: Option<u32>,
    /// Whether the run ended before its time.
    pub cancelled: bool,
}

impl Measured {
    /// Calls that failed where failures are not told apart. Nobody knows which of them the server
    /// has answered.
    pub(crate) fn failed_outside_window(&self) -> u64 {
        self.warmup.errors.total() + self.drained.errors.total() + self.stragglers.failed
    }

    /// What a connection that has ended tells of its server.
    fn note_end_of(&mut self, link: &Link) {
        if let Some(farewell) = &link.farewell {
            count_text(&mut self.goaways, farewell.text.clone(), 1);
        }
        self.streams_allowed = smaller(self.streams_allowed, link.streams_allowed);
    }
}

impl LoadShard {
    /// Worker `worker` of a run.
    pub fn new(plan: Arc<Plan>, gate: Arc<Gate>, worker: u32) -> Self {
        let share = plan.share(worker);
        Self {
            redials: share.streams.iter().map(|_| Redial::default()).collect(),
            timetable: Timetable::of(&plan),
            plan,
            gate,
            share,
            links: Vec::new(),
            phase: Phase::Connecting,
            arrived: false,
            counted_made: 0,
            counted_done: 0,
            next_number: u64::from(worker) << 40,
            next_expiry_ns: u64::MAX,
            dial_deadline_ns: 0,
            window_began: Statistics::default(),
            recorder: Recorder::default(),
            measured: Measured::default(),
        }
    }

    fn in_flight(&self) -> u64 {
        self.links
            .iter()
            .flatten()
            .map(|link| u64::from(link.in_flight))
            .sum()
    }

    /// Moves to the phase that `now_ns` belongs to.
    fn advance(&mut self, turn: &mut Turn) {
        if self.phase == Phase::Connecting {
            self.try_to_begin(turn);
        }
        let now_ns = turn.now_ns();
        if self.phase == Phase::WarmUp && now_ns >= self.timetable.window_start_ns {
            self.measured.timeline.carry(self.recorder.ok);
            self.measured.warmup = std::mem::take(&mut self.recorder);
            self.measured.window_start_ns = self.timetable.window_start_ns;
            self.window_began = turn.statistics();
            self.phase = Phase::Window;
        }
        if self.phase == Phase::Window && self.window_is_over(now_ns) {
            self.end_window(turn);
        }
        if self.phase == Phase::Draining && self.may_leave(now_ns) {
            self.leave(turn);
        }
    }

    fn window_is_over(&self, now_ns: u64) -> bool {
        let all_made = self
            .share
            .calls
            .is_some_and(|calls| self.counted_done >= calls);
        let out_of_time = now_ns >= self.timetable.window_end_ns;
        let waits = self.plan.at_end == AtEnd::Wait && self.in_flight() > 0;
        all_made || (out_of_time && !waits) || self.gate.is_cancelled()
    }

    fn end_window(&mut self, turn: &mut Turn) {
        if self.plan.at_end == AtEnd::Close {
            let fault = Fault::new(Code::Unavailable, "the client connection is closing");
            self.fail_everything(&fault, turn.now_ns());
        }
        let now_ns = turn.now_ns();
        // By number, the window ends with its last call; by time, on time.
        let on_time = self.share.calls.is_none() && !self.gate.is_cancelled();
        self.measured.window_end_ns = match self.plan.at_end {
            AtEnd::Wait => now_ns,
            _ if on_time => self.timetable.window_end_ns,
            _ => now_ns,
        };
        let window_end_ns = self.measured.window_end_ns;
        let ended_ok = self.ended_ok();
        self.measured.timeline.tick(window_end_ns, ended_ok);
        self.measured.timeline.carry(ended_ok);
        self.measured.window = std::mem::take(&mut self.recorder);
        self.measured.driver = turn.statistics() - self.window_began;
        self.measured.cancelled = self.gate.is_cancelled();
        self.timetable.drain_end_ns = now_ns + DRAIN_NS;
        self.phase = Phase::Draining;
    }

    fn may_leave(&self, now_ns: u64) -> bool {
        self.in_flight() == 0 || now_ns >= self.timetable.drain_end_ns
    }

    fn leave(&mut self, turn: &mut Turn) {
        self.measured.unfinished = self.in_flight();
        self.measured.drained = std::mem::take(&mut self.recorder);
        self.phase = Phase::Over;
        for link in self.links.iter().flatten() {
            self.measured.note_end_of(link);
            turn.close(link.session);
        }
        turn.stop();
    }

    /// The run begins once every connection of every worker has greeted or failed.
    fn try_to_begin(&mut self, turn: &mut Turn) {
        let now_ns = turn.now_ns();
        if !self.arrived && self.redials.iter().all(Redial::is_settled) {
            self.arrived = true;
            self.gate.arrive(self.ready_links(), now_ns);
        }
        match self.gate.start() {
            Start::At(start_ns) => {
                self.timetable.begin(start_ns);
                let window_start_ns = self.timetable.window_start_ns;
                self.measured.timeline.begin(start_ns, window_start_ns);
                self.phase = Phase::WarmUp;
                self.next_expiry_ns = self.expiry_after(now_ns);
            }
            Start::Never => self.leave(turn),
            Start::NotYet if self.gate.is_cancelled() => self.leave(turn),
            Start::NotYet => {}
        }
    }

    fn ready_links(&self) -> u32 {
        let ready = |link: &&Link| link.stage == Stage::Ready;
        self.links.iter().flatten().filter(ready).count() as u32
    }

    fn ledger<'a>(
        plan: &Plan,
        recorder: &'a mut Recorder,
        counted_done: &'a mut u64,
        stragglers: &'a mut Stragglers,
        by_number: bool,
        now_ns: u64,
    ) -> Ledger<'a> {
        Ledger {
            recorder,
            now_ns,
            counted_done,
            stragglers,
            count_errors: plan.count_errors,
            by_number,
        }
    }

    /// Calls that ended OK since the recorder was new, whenever they were made.
    #[inline]
    fn ended_ok(&self) -> u64 {
        self.recorder.ok + self.measured.stragglers.ok
    }

    /// Whether calls count by when they were made: in a window that is measured by number.
    fn by_number(&self) -> bool {
        self.phase == Phase::Window && self.plan.calls.is_some()
    }

    /// Makes the calls that are missing on one connection.
    #[inline]
    fn fill(&mut self, index: usize, turn: &mut Turn) {
        if !matches!(self.phase, Phase::WarmUp | Phase::Window) {
            return;
        }
        let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        let counted = self.phase == Phase::Window && self.plan.calls.is_some();
        let most = match self.share.calls {
            Some(calls) if counted => calls - self.counted_made.min(calls),
            _ if turn.now_ns() >= self.timetable.window_end_ns => 0,
            _ => u64::MAX,
        };
        let next_number = &mut self.next_number;
        let made = link.issue(
            most,
            &mut Source {
                plan: &self.plan,
                next_number,
                counted,
            },
        );
        if counted {
            self.counted_made += made;
        }
    }

    /// The calls that were made start now: their octets are about to be written.
    #[inline]
    fn stamp(&mut self, index: usize, turn: &Turn) {
        if let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) {
            link.stamp(|| turn.clock_ns());
        }
    }

    /// Handles what has come on one connection, and makes calls in the place of those that ended.
    #[inline]
    fn converse(
        &mut self,
        index: usize,
        bytes: &[u8],
        turn: &mut Turn,
    ) -> Result<usize, ConnectionError> {
        let (now_ns, by_number) = (turn.now_ns(), self.by_number());
        let mut consumed = 0;
        let mut slice_bytes = SLICE_BYTES;
        loop {
            let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
                return Ok(bytes.len());
            };
            let rest = &bytes[consumed..];
            let slice = &rest[..rest.len().min(slice_bytes)];
            let ledger = Self::ledger(
                &self.plan,
                &mut self.recorder,
                &mut self.counted_done,
                &mut self.measured.stragglers,
                by_number,
                now_ns,
            );
            let used = link.receive(slice, ledger)?;
            consumed += used;
            self.fill(index, turn);
            if slice.len() == rest.len() {
                return Ok(consumed);
            }
            // A frame may be longer than a slice.
            slice_bytes = if used == 0 { rest.len() } else { SLICE_BYTES };
        }
    }

    fn fill_all(&mut self, turn: &mut Turn) {
        for index in 0..self.links.len() {
            let Some(link) = &mut self.links[index] else {
                continue;
            };
            link.swap_output(turn);
            self.fill(index, turn);
            self.stamp(index, turn);
            if let Some(link) = &mut self.links[index] {
                link.swap_output(turn);
            }
        }
    }

    fn expiry_after(&self, now_ns: u64) -> u64 {
        let look_ns = |timeout_ns: u64| now_ns + (timeout_ns / LOOKS_PER_TIMEOUT).max(1_000_000);
        self.plan.timeout_ns.map_or(u64::MAX, look_ns)
    }

    /// Gives up on calls whose deadline has passed.
    fn expire(&mut self, turn: &mut Turn) {
        let now_ns = turn.now_ns();
        let Some(timeout_ns) = self
            .plan
            .timeout_ns
            .filter(|_| now_ns >= self.next_expiry_ns)
        else {
            return;
        };
        self.next_expiry_ns = self.expiry_after(now_ns);
        let by_number = self.by_number();
        for link in self.links.iter_mut().flatten() {
            let ledger = Self::ledger(
                &self.plan,
                &mut self.recorder,
                &mut self.counted_done,
                &mut self.measured.stragglers,
                by_number,
                now_ns,
            );
            link.swap_output(turn);
            link.expire(now_ns.saturating_sub(timeout_ns), ledger);
            link.swap_output(turn);
        }
    }

    fn fail_everything(&mut self, fault: &Fault, now_ns: u64) {
        for index in 0..self.links.len() {
            self.fail_link(index, fault, now_ns);
        }
    }

    fn fail_link(&mut self, index: usize, fault: &Fault, now_ns: u64) {
        let by_number = self.by_number();
        let Some(link) = self.links[index].as_mut() else {
            return;
        };
        let ledger = Self::ledger(
            &self.plan,
            &mut self.recorder,
            &mut self.counted_done,
            &mut self.measured.stragglers,
            by_number,
            now_ns,
        );
        link.fail_all(fault, ledger);
    }
}

impl Shard for LoadShard {
    fn opened(&mut self, session: Session, how: Opened, turn: &mut Turn) {
        let Opened::Connected(token) = how else {
            return;
        };
        let connection = token as usize;
        let streams = self.share.streams[connection];
        let place = self.measured.roster.opened(connection);
        let mut link = Link::new(session, connection, place, &self.plan, streams);
        self.measured.connections_opened += 1;
        link.swap_output(turn);
        let index = session.index as usize;
        if index >= self.links.len() {
            self.links.resize_with(index + 1, || None);
        }
        self.links[index] = Some(link);
    }

    #[inline]
    fn received(&mut self, session: Session, bytes: &[u8], turn: &mut Turn) -> Received {
        let now_ns = turn.now_ns();
        if matches!(self.phase, Phase::WarmUp | Phase::Window) {
            let ended_ok = self.ended_ok();
            self.measured.timeline.tick(now_ns, ended_ok);
        }
        if self.phase != Phase::Window || now_ns >= self.timetable.window_end_ns {
            self.advance(turn);
        }
        let index = session.index as usize;
        let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
            return Received {
                consumed: bytes.len(),
                then: Then::Close,
            };
        };
        let greeting = link.stage == Stage::Greeting;
        // Shorter than a frame's header, so that HTTP/2 would wait for more of it.
        if greeting && bytes.starts_with(TLS_ALERT) {
            self.lost(session, WANTS_TLS, turn);
            return Received {
                consumed: bytes.len(),
                then: Then::Close,
            };
        }
        link.swap_output(turn);
        let consumed = self.converse(index, bytes, turn);
        self.stamp(index, turn);
        let mut is_done = false;
        if let Some(link) = &mut self.links[index] {
            link.swap_output(turn);
            is_done = link.is_done();
            if greeting && link.stage == Stage::Ready {
                self.redials[link.connection_number].greeted();
            }
        }
        if self.phase != Phase::Window || self.plan.calls.is_some() {
            self.advance(turn);
        }
        if greeting && matches!(self.phase, Phase::WarmUp | Phase::Window) {
            self.fill_all(turn);
        }
        match consumed {
            Ok(consumed) => {
                let then = if is_done { Then::Close } else { Then::Continue };
                Received { consumed, then }
            }
            Err(error) => {
                let text = error.to_string();
                self.lost(session, &text, turn);
                Received {
                    consumed: bytes.len(),
                    then: Then::Close,
                }
            }
        }
    }

    fn writable(&mut self, session: Session, turn: &mut Turn) {
        let index = session.index as usize;
        let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        link.swap_output(turn);
        self.fill(index, turn);
        self.stamp(index, turn);
        if let Some(link) = &mut self.links[index] {
            link.swap_output(turn);
        }
    }

    fn closed(&mut self, session: Session, why: Closed, turn: &mut Turn) {
        match why {
            Closed::NotConnected(token, error) => {
                let now_ns = turn.now_ns();
                let connection = token as usize;
                let text = self.explain(connection, &format!("connection error: {error}"));
                self.note_failure(&text);
                self.lose_target(connection);
                self.count_attempt(connection, &text);
                self.redials[connection].lost(now_ns, End::Useless);
                self.reckon_dial_deadline();
            }
            Closed::Peer => self.lost(session, "the server closed the connection", turn),
            Closed::Us => self.lost(session, "the client closed the connection", turn),
            Closed::Failed(error) => {
                self.lost(session, &format!("connection error: {error}"), turn);
            }
        }
        self.woken(turn);
    }

    fn woken(&mut self, turn: &mut Turn) {
        self.dial(turn);
        self.expire(turn);
        let before = self.phase;
        self.advance(turn);
        if before != self.phase || self.phase == Phase::Window {
            self.fill_all(turn);
        }
        self.close_done(turn);
        if turn.stopping() && self.phase != Phase::Over {
            self.leave(turn);
        }
    }

    fn next_deadline(&self) -> Option<u64> {
        let phase_ns = self.timetable.end_of(self.phase).unwrap_or(u64::MAX);
        let deadline_ns = phase_ns.min(self.next_expiry_ns).min(self.dial_deadline_ns);
        Some(deadline_ns).filter(|deadline_ns| *deadline_ns != u64::MAX)
    }
}

/// The smaller of two limits, either of which may not be there.
pub(crate) fn smaller(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}

/// The driver that fits `connections` on `threads`.
pub fn driver_for(connections: u32, threads: u32) -> Driver {
    if connections == threads {
        Driver::Blocking
    } else {
        Driver::Epoll
    }
}
