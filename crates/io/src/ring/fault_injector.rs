//! Makes operations of a ring fail, for tests.
//!
//! A system call that is to fail is not made. A ring, though, has accepted or read by the time the
//! fail point is reached. So an accepted connection is withheld until the next accept, bytes that
//! were read are delivered, and then the operation ends with the error, as if the kernel had met it
//! at its next attempt.

use super::{Operation, RingCompletion};
use crate::kernel::{self, SystemCall};
use rustix::io::Errno;
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct FaultInjector {
    /// Completions that are not the kernel's.
    ready: VecDeque<RingCompletion>,
    /// Operations that are to end with an error once the kernel has completed them.
    ends: Vec<(Operation, Errno)>,
    /// Accepted connections that the driver does not know of yet.
    withheld: Vec<i32>,
}

impl FaultInjector {
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    pub fn pop(&mut self) -> Option<RingCompletion> {
        self.ready.pop_front()
    }

    /// Completes an operation that was not submitted.
    pub fn fail(&mut self, operation: Operation, error: Errno) {
        self.ready.push_back(ended(operation, error));
    }

    /// Releases the withheld connections: the driver accepts again.
    pub fn accept(&mut self) {
        for descriptor in self.withheld.drain(..) {
            self.ready.push_back(RingCompletion {
                operation: Operation::Accept,
                result: descriptor,
                flags: super::FLAG_MORE,
            });
        }
    }

    /// What the driver sees of a completion, and whether the operation is to be cancelled.
    pub fn divert(&mut self, completion: RingCompletion) -> (Option<RingCompletion>, bool) {
        let RingCompletion { operation, .. } = completion;
        if let Some(place) = self.ends.iter().position(|(ends, _)| *ends == operation) {
            let error = self.ends[place].1;
            if !completion.goes_on() {
                self.ends.swap_remove(place);
                self.ready.push_back(ended(operation, error));
            }
            return (self.keep(completion), false);
        }
        let call = match operation {
            Operation::Accept if completion.result >= 0 => SystemCall::Accept,
            Operation::Receive(_) if completion.result > 0 => SystemCall::Receive,
            _ => return (Some(completion), false),
        };
        let Err(error) = kernel::complete(call) else {
            return (Some(completion), false);
        };
        if completion.goes_on() {
            self.ends.push((operation, error));
        } else {
            self.ready.push_back(ended(operation, error));
        }
        (self.keep(completion), completion.goes_on())
    }

    /// Delivers bytes, withholds connections, and hides the kernel's own final completion.
    fn keep(&mut self, mut completion: RingCompletion) -> Option<RingCompletion> {
        match completion.operation {
            Operation::Accept if completion.result >= 0 => {
                self.withheld.push(completion.result);
                None
            }
            Operation::Receive(_) if completion.result > 0 => {
                completion.flags |= super::FLAG_MORE;
                Some(completion)
            }
            _ => None,
        }
    }
}

impl Drop for FaultInjector {
    fn drop(&mut self) {
        self.accept();
        for completion in self.ready.drain(..) {
            drop(completion.into_descriptor());
        }
    }
}

fn ended(operation: Operation, error: Errno) -> RingCompletion {
    RingCompletion { operation, result: -error.raw_os_error(), flags: 0 }
}
