//! Fail points: making the n-th system call of a kind fail, for tests. The feature `faults`.
//!
//! The drivers of a process all see the [`FailPoint`]s that are armed. Each picks its threads by
//! the beginnings of their names, so a test can have the server fail and leave its clients alone.

mod epoll_pwait2;

pub use crate::kernel::SystemCall;
pub use epoll_pwait2::{ask_epoll_pwait2, refuse_epoll_pwait2};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedFault {
    /// It is not made, and ends with this error.
    Error(Errno),
    /// It is made, with one byte.
    Short,
}

/// Which calls fail, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailPoint {
    /// Only those of threads whose names begin with one of these.
    pub threads: &'static [&'static str],
    /// Only those of this kind.
    pub call: SystemCall,
    /// The first that fails, counted from 1 since the point was armed; 0: none does.
    pub first: u64,
    /// How many fail in a row.
    pub times: u64,
    /// How they fail.
    pub fault: InjectedFault,
}

/// Points that are armed, and the count of what the threads do that they choose. Disarmed when it
/// is dropped; another test that arms fail points waits for that.
#[derive(Debug)]
pub struct Armed {
    _alone: MutexGuard<'static, ()>,
}

struct State {
    points: Vec<FailPoint>,
    calls: BTreeMap<SystemCall, u64>,
    hits: u64,
}

static ALONE: Mutex<()> = Mutex::new(());
static IS_ARMED: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<Option<State>> = Mutex::new(None);

impl Armed {
    /// Arms these points.
    pub fn new(points: &[FailPoint]) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        *state() = Some(State { points: points.to_vec(), calls: BTreeMap::new(), hits: 0 });
        IS_ARMED.store(true, Ordering::Release);
        Self { _alone: alone }
    }

    /// How many calls of this kind the chosen threads have made.
    pub fn calls(&self, call: SystemCall) -> u64 {
        self.all_calls().get(&call).copied().unwrap_or(0)
    }

    /// How many calls of each kind the chosen threads have made.
    pub fn all_calls(&self) -> BTreeMap<SystemCall, u64> {
        state().as_ref().map(|state| state.calls.clone()).unwrap_or_default()
    }

    /// How many calls have failed.
    pub fn hits(&self) -> u64 {
        state().as_ref().map_or(0, |state| state.hits)
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        IS_ARMED.store(false, Ordering::Release);
        *state() = None;
    }
}

/// Whether a call is to go ahead.
pub(crate) fn fail_point(call: SystemCall) -> Result<(), Errno> {
    fail_point_bytes(call, 0).map(drop)
}

/// Whether a call is to go ahead, and with how many bytes.
pub(crate) fn fail_point_bytes(call: SystemCall, bytes: usize) -> Result<usize, Errno> {
    match next_fault(call) {
        Some(InjectedFault::Error(error)) => Err(error),
        Some(InjectedFault::Short) => Ok(bytes.min(1)),
        None => Ok(bytes),
    }
}

fn next_fault(call: SystemCall) -> Option<InjectedFault> {
    if !IS_ARMED.load(Ordering::Acquire) {
        return None;
    }
    let mut guard = state();
    let state = guard.as_mut()?;
    let chosen = |point: &&FailPoint| is_chosen(point.threads);
    state.points.iter().find(chosen)?;
    let number = state.calls.entry(call).or_default();
    *number += 1;
    let strikes = |point: &&FailPoint| point.call == call && point.fails(*number);
    let struck = state.points.iter().filter(chosen).find(strikes)?;
    state.hits += 1;
    Some(struck.fault)
}

impl FailPoint {
    /// Whether the call of that number fails.
    fn fails(&self, number: u64) -> bool {
        self.first > 0 && number >= self.first && number - self.first < self.times
    }
}

fn is_chosen(threads: &[&str]) -> bool {
    let thread = thread::current();
    let name = thread.name().unwrap_or_default();
    threads.iter().any(|beginning| name.starts_with(beginning))
}

/// A test that failed while it held the lock left a count behind, and nothing broken.
fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
