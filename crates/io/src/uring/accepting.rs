//! How the io_uring driver accepts connections.

use super::UringDriver;
use crate::listener::{ACCEPT_BACK_OFF_NS, Accept};
use crate::ring::Operation;
use crate::shard::{Opened, Shard};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::mem;

impl<S: Shard> UringDriver<S> {
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

    /// Starts a multishot accept unless one is in flight or the driver is stopping.
    pub(super) fn accept(&mut self) {
        if let Some(acceptor) = &mut self.acceptor
            && !acceptor.is_accepting
            && !acceptor.is_stopping
        {
            acceptor.is_accepting = true;
            self.timeouts.accept_at_ns = None;
            self.ring.accept(&acceptor.listener);
        }
    }

    /// Leaves the listener alone for a while.
    fn back_off(&mut self) {
        self.worker.io.statistics.accept_errors += 1;
        self.timeouts.accept_at_ns = Some(self.worker.io.now_ns() + ACCEPT_BACK_OFF_NS);
    }

    fn open_accepted(&mut self, socket: OwnedFd) {
        let Some(id) = self.worker.admit(&socket) else {
            return;
        };
        if self.register(socket, id, None).is_err() {
            return self.worker.reject_accepted(id);
        }
        self.open(id, Opened::Accepted);
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
        self.timeouts.accept_at_ns = None;
        let errors = acceptor.listener.accept_waiting(|socket| {
            self.open_accepted(socket);
            self.apply_requests();
        });
        self.worker.io.statistics.accept_errors += errors;
    }
}
