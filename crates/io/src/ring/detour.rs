//! Has what a ring has done fail after all, for tests.
//!
//! A call that a test lets fail is not made. The ring has accepted and read already by the time
//! that it can be asked, so a connection is withheld until the listener is asked again, bytes are
//! handed out, and then the operation ends as the test wants, as it would have if the kernel had
//! met the failure at its next try.

use super::{Answer, Operation};
use crate::kernel::{self, Call};
use rustix::io::Errno;
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct Detour {
    /// Answers that are not the kernel's.
    ready: VecDeque<Answer>,
    /// Operations that end with an error when the kernel has ended them.
    ends: Vec<(Operation, Errno)>,
    /// Descriptors of connections that have not been accepted yet as far as the driver knows.
    withheld: Vec<i32>,
}

impl Detour {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    pub fn pop(&mut self) -> Option<Answer> {
        self.ready.pop_front()
    }

    /// An operation that is not made.
    pub fn fail(&mut self, operation: Operation, error: Errno) {
        self.ready.push_back(ended(operation, error));
    }

    /// The listener is asked again.
    pub fn accept(&mut self) {
        for descriptor in self.withheld.drain(..) {
            self.ready.push_back(Answer {
                operation: Operation::Accept,
                result: descriptor,
                flags: super::FLAG_MORE,
            });
        }
    }

    /// What the driver sees of an answer, and whether the operation is to be ended.
    pub fn divert(&mut self, answer: Answer) -> (Option<Answer>, bool) {
        let Answer { operation, .. } = answer;
        if let Some(place) = self.ends.iter().position(|(ends, _)| *ends == operation) {
            let error = self.ends[place].1;
            if !answer.goes_on() {
                self.ends.swap_remove(place);
                self.ready.push_back(ended(operation, error));
            }
            return (self.keep(answer), false);
        }
        let call = match operation {
            Operation::Accept if answer.result >= 0 => Call::Accept,
            Operation::Receive(_) if answer.result > 0 => Call::Receive,
            _ => return (Some(answer), false),
        };
        let Err(error) = kernel::complete(call) else {
            return (Some(answer), false);
        };
        match answer.goes_on() {
            true => self.ends.push((operation, error)),
            false => self.ready.push_back(ended(operation, error)),
        }
        (self.keep(answer), answer.goes_on())
    }

    /// Bytes are not lost, connections are put off, and the end is not the kernel's to tell.
    fn keep(&mut self, mut answer: Answer) -> Option<Answer> {
        match answer.operation {
            Operation::Accept if answer.result >= 0 => {
                self.withheld.push(answer.result);
                None
            }
            Operation::Receive(_) if answer.result > 0 => {
                answer.flags |= super::FLAG_MORE;
                Some(answer)
            }
            _ => None,
        }
    }
}

impl Drop for Detour {
    fn drop(&mut self) {
        self.accept();
        for answer in self.ready.drain(..) {
            drop(answer.into_descriptor());
        }
    }
}

fn ended(operation: Operation, error: Errno) -> Answer {
    Answer {
        operation,
        result: -error.raw_os_error(),
        flags: 0,
    }
}
