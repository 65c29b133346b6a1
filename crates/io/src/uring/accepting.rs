//! How the io_uring driver gets the connections that others make.

use super::Driver;
use crate::listener::{ACCEPT_BACK_OFF_NS, Accept, Listener};
use crate::ring::Operation;
use crate::shard::{Opened, Shard};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::mem;

/// A listener and how far it is.
pub(super) struct Acceptor {
    listener: Listener,
    /// The kernel accepts of itself.
    is_accepting: bool,
    /// The listener is to be closed.
    is_stopping: bool,
    /// Set while it is left alone because of a lack of descriptors.
    pub resume_at_ns: Option<u64>,
}

impl Acceptor {
    pub fn new(listener: Listener) -> Self {
        Self {
            listener,
            is_accepting: false,
            is_stopping: false,
            resume_at_ns: None,
        }
    }
}

impl<S: Shard> Driver<S> {
    pub(super) fn on_accepted(&mut self, result: Result<OwnedFd, Errno>, goes_on: bool) {
        let Some(acceptor) = &mut self.acceptor else {
            return;
        };
        acceptor.is_accepting = goes_on;
        let is_stopping = acceptor.is_stopping;
        match Accept::from(result) {
            Accept::Connection(socket) => self.open_accepted(socket),
            Accept::Exhausted if !is_stopping => return self.back_off(),
            Accept::Lost | Accept::Nobody | Accept::Exhausted => {}
        }
        self.accept();
    }

    /// Accepts, if nothing speaks against it.
    pub(super) fn accept(&mut self) {
        if let Some(acceptor) = &mut self.acceptor
            && !acceptor.is_accepting
            && !acceptor.is_stopping
        {
            acceptor.is_accepting = true;
            acceptor.resume_at_ns = None;
            self.ring.accept(&acceptor.listener);
        }
    }

    /// Leaves the listener alone for a while.
    fn back_off(&mut self) {
        self.worker.turn.statistics.accept_errors += 1;
        let resume_at_ns = self.worker.turn.now_ns() + ACCEPT_BACK_OFF_NS;
        if let Some(acceptor) = &mut self.acceptor {
            acceptor.resume_at_ns = Some(resume_at_ns);
        }
    }

    fn open_accepted(&mut self, socket: OwnedFd) {
        let Some(session) = self.worker.admit() else {
            return;
        };
        if self.register(socket, session, None).is_err() {
            return self.worker.turn_away(session);
        }
        self.open(session, Opened::Accepted);
    }

    /// Asks the listener again that has been left alone for long enough.
    pub(super) fn resume_accepting(&mut self, now_ns: u64) {
        let is_due = |acceptor: &Acceptor| acceptor.resume_at_ns.is_some_and(|at| at <= now_ns);
        if self.acceptor.as_ref().is_some_and(is_due) {
            self.accept();
        }
    }

    pub(super) fn take_arrivals(&mut self) {
        let Some(arrivals) = &self.arrivals else {
            return;
        };
        let mut arrived = mem::take(&mut self.arrived);
        arrivals.drain_into(&mut arrived);
        for socket in arrived.drain(..) {
            self.open_accepted(socket);
        }
        self.arrived = arrived;
    }

    /// Has the kernel accept no more of itself, then takes the connections that have come and
    /// closes the listener.
    #[cold]
    pub(super) fn stop_accepting(&mut self) {
        if let Some(acceptor) = &mut self.acceptor
            && acceptor.is_accepting
        {
            if !mem::replace(&mut acceptor.is_stopping, true) {
                self.ring.cancel(Operation::Accept);
            }
            return;
        }
        let Some(acceptor) = self.acceptor.take() else {
            return;
        };
        let errors = acceptor.listener.accept_waiting(|socket| {
            self.open_accepted(socket);
            self.attend();
        });
        self.worker.turn.statistics.accept_errors += errors;
    }
}
