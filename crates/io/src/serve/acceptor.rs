//! The thread that accepts for others.

use crate::clock::{clock_ns, timespec};
use crate::listener::{ACCEPT_BACK_OFF_NS, Accept, Listener};
use crate::socket;
use crate::waker::Waker;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use std::io;

/// A listener, and the waker that interrupts it.
#[derive(Debug)]
pub(crate) struct Acceptor {
    pub listener: Listener,
    pub waker: Waker,
    /// Set while the listener is left alone because of a lack of descriptors or threads.
    resume_at_ns: Option<u64>,
    pub accept_errors: u64,
}

impl Acceptor {
    pub fn new(listener: Listener, waker: Waker) -> Self {
        Self { listener, waker, resume_at_ns: None, accept_errors: 0 }
    }

    /// The next connection. `None`: the waker was called, to stop or because there is room again;
    /// or there was no room, and a time was to be waited for some.
    pub fn next(&mut self, room: bool) -> io::Result<Option<OwnedFd>> {
        loop {
            if self.waker.is_stopping() {
                return Ok(None);
            }
            if room && self.resume_at_ns.is_none() {
                match self.listener.accept() {
                    Accept::Connection(socket) => return Ok(Some(socket)),
                    Accept::Lost => continue,
                    Accept::Nobody => {}
                    Accept::Exhausted => self.back_off(),
                }
            }
            if self.wait(room)? {
                return Ok(None);
            }
        }
    }

    /// Leaves the listener alone for a while, for lack of something.
    pub fn back_off(&mut self) {
        self.accept_errors += 1;
        self.resume_at_ns = Some(clock_ns() + ACCEPT_BACK_OFF_NS);
    }

    /// Waits for a connection or a call. True: a call, or the end of a time without room.
    fn wait(&mut self, room: bool) -> io::Result<bool> {
        let timeout = self.resume_at_ns.map(|at_ns| at_ns.saturating_sub(clock_ns())).map(timespec);
        if self.waker.fall_asleep() {
            self.ask(room && timeout.is_none(), timeout.as_ref())?;
        }
        let resumes = self.resume_at_ns.is_some_and(|at_ns| at_ns <= clock_ns());
        if resumes {
            self.resume_at_ns = None;
        }
        Ok(self.waker.wake_up() || (resumes && !room))
    }

    fn ask(&self, listens: bool, timeout: Option<&rustix::event::Timespec>) -> io::Result<()> {
        let event = self.waker.event();
        let interest = if listens { PollFlags::IN } else { PollFlags::empty() };
        let mut polled =
            [PollFd::new(&event, PollFlags::IN), PollFd::new(&self.listener, interest)];
        socket::wait(&mut polled, timeout)?;
        if !polled[0].revents().is_empty() {
            self.waker.clear();
        }
        Ok(())
    }
}
