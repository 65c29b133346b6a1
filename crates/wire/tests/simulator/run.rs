//! A whole run: from a seed to a verdict.

use crate::app::{Act, Event, Outcome};
use crate::both::ROLES;
use crate::endpoint::Endpoint;
use crate::plan::Cut;
use crate::planted::Planted;
use crate::reached::Reached;
use crate::world::{Step, World};
use bookend_wire::{ErrorCode, Side};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What did not hold, and how to see it again.
#[derive(Debug)]
pub struct Violation {
    pub seed: u64,
    pub what: String,
    trace: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, what, trace } = self;
        write!(
            f,
            "seed {seed}: {what}\n\nthe last steps (time, step, bytes):\n{trace}\n\
             to see it again:\n  SIMULATOR_FIRST_SEED={seed} SIMULATOR_SEEDS=1 \
             cargo test -p bookend-wire --test simulator seeds\n"
        )
    }
}

/// What a run came to, and whether a planted fault had its occasion.
pub struct Ran {
    pub reached: Reached,
    pub was_sabotaged: bool,
}

/// Runs a seed to its end.
///
/// # Errors
/// The first thing that did not hold.
pub fn run(seed: u64, planted: Planted) -> Result<Ran, Violation> {
    let mut world = World::new(seed, planted);
    let verdict = catch_unwind(AssertUnwindSafe(|| world.run_to_the_end()))
        .unwrap_or_else(|panic| Err(format!("it panics: {}", text_of(&*panic))));
    match verdict {
        Ok(()) => Ok(Ran { was_sabotaged: world.saboteur.is_done(), reached: world.reached }),
        Err(what) => {
            let line = |(time, step, bytes): &(u64, Step, usize)| {
                format!("  {time:>6}  {step:?}  {bytes}\n")
            };
            let trace = world.trace.iter().map(line).collect();
            Err(Violation { seed, what, trace })
        }
    }
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

type Verdict = Result<(), String>;

impl World {
    fn run_to_the_end(&mut self) -> Verdict {
        self.run_until_quiet()?;
        match self.plan.cut {
            Cut::Never => self.check_the_end()?,
            Cut::HalfClose { .. } => self.reached.half_closed_runs += 1,
            Cut::Abort { .. } => self.reached.aborted_runs += 1,
        }
        self.check_in_another_split()?;
        self.count();
        Ok(())
    }

    /// Nothing that can go on may be left when nothing more happens.
    fn check_the_end(&mut self) -> Verdict {
        if self.plan.may_wait_for_ever() {
            self.give_up()?;
        }
        if !self.is_all_delivered() {
            return Err("all is quiet, and bytes are left on their way".to_owned());
        }
        for side in ROLES {
            let app = &self.ends.of(side).app;
            if let Some(id) = app.exchanges.keys().next() {
                return Err(self.what_waits(side, *id));
            }
            if app.pings != app.pongs {
                return Err(format!("{side:?}: {} PINGs, {} answers", app.pings, app.pongs));
            }
        }
        let outcomes = self.ends.client.app.outcomes.clone();
        outcomes.iter().enumerate().try_for_each(|(call, outcome)| self.check_call(call, *outcome))
    }

    fn what_waits(&self, side: Side, id: u32) -> String {
        let seen_by = |side: Side| {
            let exchange = self.ends.of(side).app.exchanges.get(&id);
            format!("\n  {side:?}: {exchange:?}; {}", self.audit.windows(side, id))
        };
        let seen: String = ROLES.map(seen_by).concat();
        format!("{side:?}: all is quiet, and stream {id} is open:{seen}")
    }

    /// Windows of nothing and limits of no streams keep calls waiting: they are given up.
    fn give_up(&mut self) -> Verdict {
        while let Some(id) = self.ends.client.app.exchanges.keys().next().copied() {
            self.take(Step::Act(Side::Client, Act::GiveUp(id)))?;
            self.run_until_quiet()?;
        }
        Ok(())
    }

    /// Whether a call ended as it may have ended.
    fn check_call(&self, number: usize, outcome: Outcome) -> Verdict {
        let call = &self.plan.calls[number];
        let is_oversize = call.is_oversize(&self.plan.ends.server.config);
        let cancel_by = call.cancel.map(|cancel| cancel.by);
        let waits = self.plan.may_wait_for_ever() || self.plan.goaway.is_some();
        let ids_are_few = self.plan.ends.client.config.first_stream_id != 1;
        let is_allowed = match outcome {
            Outcome::Completed => !is_oversize,
            Outcome::Cancelled => cancel_by == Some(Side::Client),
            Outcome::Expired => call.timeout_ticks.is_some(),
            Outcome::Waiting => waits || ids_are_few,
            Outcome::GivenUp => self.plan.may_wait_for_ever(),
            Outcome::Open => false,
            Outcome::Reset(ErrorCode::CANCEL) => cancel_by == Some(Side::Server),
            Outcome::Reset(ErrorCode::REFUSED_STREAM) => waits,
            Outcome::Reset(ErrorCode::ENHANCE_YOUR_CALM) => is_oversize,
            Outcome::Reset(_) => false,
        };
        match is_allowed {
            true => Ok(()),
            false => Err(format!("call {number} ended as {outcome:?}: {:?}", summary(call))),
        }
    }

    /// The same bytes, cut in another way, tell the same and are answered the same. To a server
    /// they tell the same of each stream: heads may wait, and an empty end may come with its body.
    fn check_in_another_split(&mut self) -> Verdict {
        for side in ROLES {
            let twin = Endpoint::new(side, &self.plan, &self.routes, self.planted);
            let end = self.ends.of(side);
            let misled = self.planted == Planted::ReplayChanged;
            let (log, written) = end.told_again(twin, &mut self.random, misled);
            let [log, first_log] = [log, end.app.log.clone()].map(|log| match side {
                Side::Client => log,
                Side::Server => stream_by_stream(log),
            });
            let same = log.iter().zip(&first_log).take_while(|(one, other)| one == other);
            let place = same.count();
            if log != first_log {
                let (now, before) = (log.get(place), first_log.get(place));
                return Err(format!(
                    "{side:?}: cut in another way, event {place} is {now:?} and was {before:?}"
                ));
            }
            if written != end.written {
                return Err(format!("{side:?}: cut in another way, the answers differ"));
            }
            self.reached.split_again += 1;
        }
        Ok(())
    }

    fn count(&mut self) {
        let Reached {
            calls_completed,
            calls_cancelled,
            calls_expired,
            calls_refused,
            calls_reset,
            calls_given_up,
            calls_oversize,
            ..
        } = &mut self.reached;
        for outcome in &self.ends.client.app.outcomes {
            *match outcome {
                Outcome::Completed => &mut *calls_completed,
                Outcome::Cancelled => calls_cancelled,
                Outcome::Expired => calls_expired,
                Outcome::Reset(ErrorCode::ENHANCE_YOUR_CALM) => calls_oversize,
                Outcome::Reset(_) => calls_reset,
                Outcome::GivenUp => calls_given_up,
                Outcome::Waiting | Outcome::Open => continue,
            } += 1;
        }
        *calls_refused += self.ends.client.app.refusals;
        let ends = [&self.ends.client, &self.ends.server];
        self.reached.calm_runs += usize::from(self.plan.is_calm());
        self.reached.goaways += usize::from(self.plan.goaway.is_some());
        self.reached.pieces_held_back += ends.map(|end| end.app.held_pieces).iter().sum::<usize>();
        self.reached.blocks_recalled += ends.map(|end| end.app.recalled).iter().sum::<usize>();
        self.reached.whole_requests += ends.map(|end| end.app.whole_requests).iter().sum::<usize>();
        self.reached.whole_answers += ends.map(|end| end.app.whole_answers).iter().sum::<usize>();
        self.reached.late_heads += ends.map(|end| end.app.late_heads).iter().sum::<usize>();
        self.reached.pongs += ends.map(|end| end.app.pongs).iter().sum::<usize>();
        self.reached.continuations += self.audit.continuations();
        let sender = &self.ends.client.connection.sender;
        let is_at_the_end = !sender.is_going_away() && sender.may_open() == 0;
        let ids_are_few = self.plan.ends.client.config.first_stream_id != 1;
        self.reached.ids_used_up += usize::from(is_at_the_end && ids_are_few);
    }
}

/// The part of a plan that says why a call may end otherwise than well.
fn summary(call: &crate::speech::CallPlan) -> impl fmt::Debug {
    (call.answer, call.leftover, call.cancel, call.timeout_ticks)
}

/// The events of each stream in their order, with an empty end of a body told with the body.
fn stream_by_stream(mut log: Vec<Event>) -> Vec<Event> {
    log.sort_by_key(Event::stream_id);
    let mut joined: Vec<Event> = Vec::new();
    for event in log {
        if let Event::Data { id: ended, bytes: none, end_stream: true } = &event
            && none.is_empty()
            && let Some(Event::Data { id, end_stream, .. }) = joined.last_mut()
            && id == ended
        {
            *end_stream = true;
        } else {
            joined.push(event);
        }
    }
    joined
}
