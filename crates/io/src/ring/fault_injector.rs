//! Has what a ring has done fail after all, for tests.
//!
//! A call that a test lets fail is not made. The ring has accepted and read already by the time
//! that it can be asked, so a connection is withheld until the listener is asked again, bytes are
//! handed out, and then the operation ends as the test wants, as it would have if the kernel had
//! met the failure at its next try.

use super::{Operation, RingCompletion};
use crate::kernel::{self, SystemCall};
use rustix::io::Errno;
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct FaultInjector {
    /// Completions that are not the kernel's.
    ready: VecDeque<RingCompletion>,
    /// Operations that end with an error when the kernel has ended them.
    ends: Vec<(Operation, Errno)>,
    /// Descriptors of connections that have not been accepted yet as far as the driver knows.
    withheld: Vec<i32>,
}

impl FaultInjector {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    pub fn pop(&mut self) -> Option<RingCompletion> {
        self.ready.pop_front()
    }

    /// An operation that is not made.
    pub fn fail(&mut self, operation: Operation, error: Errno) {
        self.ready.push_back(ended(operation, error));
    }

    /// The listener is asked again.
    pub fn accept(&mut self) {
        for descriptor in self.withheld.drain(..) {
            self.ready.push_back(RingCompletion {
                operation: Operation::Accept,
                result: descriptor,
                flags: super::FLAG_MORE,
            });
        }
    }

    /// What the driver sees of an completion, and whether the operation is to be ended.
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

    /// Bytes are not lost, connections are put off, and the end is not the kernel's to tell.
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
    RingCompletion {
        operation,
        result: -error.raw_os_error(),
        flags: 0,
    }
}
