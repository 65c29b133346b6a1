//! One worker whose calls have a connection each: made, used for one call and closed inside the
//! call's clock. Driven by `bookend-io`.
//!
//! The client closes first. So it is this machine that keeps each connection's port for a minute
//! (TIME_WAIT): see `sources`.

mod attempt;

use crate::call::Fault;
use crate::course::Course;
use crate::dials::{Dials, End};
use crate::gate::Gate;
use crate::link::Farewell;
use crate::measured::Measured;
use crate::plan::Plan;
use crate::sources::Token;
use crate::worker::Worker;
use attempt::{Attempt, Script};
use bookend_io::{Closed, Opened, Received, Session, Shard, Then, Turn};
use bookend_wire::grpc::Code;
use std::io;
use std::sync::Arc;

/// The connection with which a worker finds out whether there is a server. No call is made on it.
const TRIAL: u32 = u32::MAX;

/// One worker of a run in which every call has a connection of its own.
#[derive(Debug)]
pub(crate) struct OneShotShard {
    course: Course,
    /// By the name of the target.
    scripts: Vec<Script>,
    /// As many as there may be calls in flight.
    attempts: Vec<Attempt>,
    /// When each of them is made again.
    dials: Dials,
    /// The attempt, by session index.
    by_session: Vec<u32>,
    trial: Option<Session>,
    /// When the next call is to be made.
    call_deadline_ns: u64,
}

impl OneShotShard {
    /// Worker `worker` of a run.
    pub fn new(plan: Arc<Plan>, gate: Arc<Gate>, worker: u32) -> Self {
        let share = plan.share(worker);
        let attempts = share.streams.len();
        Self {
            scripts: Vec::new(),
            attempts: (0..attempts).map(|_| Attempt::new(&plan)).collect(),
            dials: Dials::new(attempts, attempts),
            by_session: Vec::new(),
            trial: None,
            call_deadline_ns: u64::MAX,
            course: Course::new(plan, gate, worker, &share),
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> Measured {
        self.course.into_measured()
    }

    /// Which of the targets' names a connection is for.
    pub fn name_of(&self, token: u64) -> usize {
        let number = Token::of(token).number;
        self.course.measured.roster.name(of_worker(number))
    }

    fn connect(&mut self, number: u32, turn: &mut Turn) -> Session {
        self.course.dial(of_worker(number), number, turn)
    }

    /// The attempt that a connection belongs to.
    #[inline]
    fn number_of(&self, session: Session) -> Option<u32> {
        let number = *self.by_session.get(session.index as usize)?;
        let attempt = self.attempts.get(number as usize)?;
        (attempt.session == Some(session)).then_some(number)
    }

    fn connected(&mut self, number: u32, session: Session, turn: &mut Turn) {
        let index = session.index as usize;
        if index >= self.by_session.len() {
            self.by_session.resize(index + 1, TRIAL);
        }
        self.by_session[index] = number;
        self.course.measured.connections_opened += 1;
        let place = self.course.measured.roster.opened(number as usize);
        while self.scripts.len() <= place.name {
            let script = Script::new(&self.course.plan, self.scripts.len());
            self.scripts.push(script);
        }
        let script = &mut self.scripts[place.name];
        let attempt = &mut self.attempts[number as usize];
        attempt.write_request(script, &mut self.course, session, turn);
    }

    fn not_connected(&mut self, token: u64, error: &io::Error, turn: &mut Turn) {
        let token = Token::of(token);
        let number = token.number;
        let connection = of_worker(number);
        let again = self
            .course
            .dial_from_elsewhere(connection, token, error, turn);
        if again.is_some() {
            match self.attempts.get_mut(number as usize) {
                Some(attempt) => attempt.session = again,
                None => self.trial = again,
            }
            return;
        }
        let text = self.course.sources.explain(error);
        if number != TRIAL {
            return self.end_call(number, &text, End::Useless, turn);
        }
        let text = self.course.explain(connection, &text);
        self.course.measured.note_failure(&text);
        self.end_trial(false, turn);
    }

    fn disconnected(&mut self, session: Session, why: Closed, turn: &mut Turn) {
        let Some(number) = self.number_of(session) else {
            return;
        };
        let end = self.attempts[number as usize].end();
        match why {
            Closed::Failed(error) => {
                self.end_call(number, &format!("connection error: {error}"), end, turn);
            }
            Closed::Us => self.end_call(number, "the client closed the connection", end, turn),
            _ => self.end_call(number, "the server closed the connection", end, turn),
        }
    }

    /// A call is over, and its connection gone. `text` says why where nothing else does.
    fn end_call(&mut self, number: u32, text: &str, end: End, turn: &mut Turn) {
        let end_ns = turn.clock_ns();
        self.course.tick(end_ns);
        let attempt = &mut self.attempts[number as usize];
        if attempt.session.take().is_none() {
            return;
        }
        let farewell = attempt.farewell.take();
        let connection = number as usize;
        let outcome = attempt.outcome.take().unwrap_or_else(|| {
            let said = farewell.as_ref().map(Farewell::to_string);
            let text = said.unwrap_or_else(|| text.to_owned());
            let text = self.course.explain(connection, &text);
            self.course.measured.note_failure(&text);
            self.course.lose_target(connection);
            Err(Fault::new(Code::Unavailable, text))
        });
        let mut ledger = self.course.ledger_of(connection, end_ns);
        match &outcome {
            Ok(()) => ledger.ok_with(&attempt.call, attempt.parts()),
            Err(fault) => ledger.failed(&attempt.call, fault),
        }
        if let Some(said) = farewell {
            self.course.measured.note_goaway(said.text);
        }
        self.dials.lost(number, end_ns, end);
    }

    fn expire(&mut self, turn: &mut Turn) {
        let Some(limit_ns) = self.course.expiry_limit_ns(turn.now_ns()) else {
            return;
        };
        for attempt in &mut self.attempts {
            attempt.expire(limit_ns, turn);
        }
    }

    fn end_trial(&mut self, answered: bool, turn: &mut Turn) {
        if let Some(session) = self.trial.take() {
            turn.close(session);
        }
        self.course.arrive(u32::from(answered), turn.now_ns());
    }
}

/// Which of the worker's targets that connection has.
fn of_worker(number: u32) -> usize {
    if number == TRIAL { 0 } else { number as usize }
}

impl Worker for OneShotShard {
    fn course(&mut self) -> &mut Course {
        &mut self.course
    }

    /// It waits until it knows whether there is a server.
    fn try_to_arrive(&mut self, turn: &mut Turn) {
        if self.trial.is_none() && !self.course.has_arrived() {
            self.trial = Some(self.connect(TRIAL, turn));
        }
    }

    /// They start now.
    fn make_calls(&mut self, turn: &mut Turn) {
        if !self.course.makes_calls() {
            return;
        }
        let start_ns = turn.clock_ns();
        while self.course.budget(start_ns) > 0
            && let Some(number) = self.dials.next(start_ns)
        {
            self.attempts[number as usize].begin(start_ns, self.course.by_number());
            self.course.made(1);
            let session = self.connect(number, turn);
            self.attempts[number as usize].session = Some(session);
        }
        self.call_deadline_ns = match self.course.budget(start_ns) {
            0 => u64::MAX,
            _ => self.dials.due_at_ns(),
        };
    }

    /// Their connections are closed as well.
    fn fail_everything(&mut self, turn: &mut Turn) {
        let fault = Fault::new(Code::Unavailable, "the client connection is closing");
        let now_ns = turn.now_ns();
        for (number, attempt) in self.attempts.iter_mut().enumerate() {
            if let Some(session) = attempt.session.take() {
                let mut ledger = self.course.ledger_of(number, now_ns);
                ledger.failed(&attempt.call, &fault);
                turn.close(session);
            }
        }
    }

    fn close_everything(&mut self, turn: &mut Turn) {
        let open = self
            .attempts
            .iter_mut()
            .filter_map(|attempt| attempt.session.take());
        open.chain(self.trial.take())
            .for_each(|session| turn.close(session));
    }
}

impl Shard for OneShotShard {
    fn opened(&mut self, session: Session, how: Opened, turn: &mut Turn) {
        let Opened::Connected(token) = how else {
            return;
        };
        self.course.sources.opened();
        match Token::of(token).number {
            TRIAL => self.end_trial(true, turn),
            number => self.connected(number, session, turn),
        }
    }

    fn received(&mut self, session: Session, bytes: &[u8], turn: &mut Turn) -> Received {
        if self.course.tick(turn.now_ns()) {
            self.advance(turn);
        }
        let Some(number) = self.number_of(session) else {
            return Received {
                consumed: bytes.len(),
                then: Then::Close,
            };
        };
        self.attempts[number as usize].hear(session, bytes, turn)
    }

    fn writable(&mut self, _: Session, _: &mut Turn) {}

    fn closed(&mut self, session: Session, why: Closed, turn: &mut Turn) {
        match why {
            Closed::NotConnected(token, error) => self.not_connected(token, &error, turn),
            why => self.disconnected(session, why, turn),
        }
        self.advance(turn);
        self.make_calls(turn);
    }

    fn woken(&mut self, turn: &mut Turn) {
        self.expire(turn);
        self.advance(turn);
        self.make_calls(turn);
        self.leave_if_stopping(turn);
    }

    fn next_deadline(&self) -> Option<u64> {
        let deadline_ns = self.course.next_deadline_ns().min(self.call_deadline_ns);
        Some(deadline_ns).filter(|deadline_ns| *deadline_ns != u64::MAX)
    }
}
