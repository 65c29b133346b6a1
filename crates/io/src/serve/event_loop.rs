//! A driver of any number of connections, whichever it is.

use super::options::{Driver, ShardPlace};
use crate::epoll::Epoll;
use crate::listener::Listener;
use crate::mailbox::Mailbox;
use crate::options::IoOptions;
use crate::shard::Shard;
use crate::statistics::IoStatistics;
use crate::uring::Uring;
use crate::uring_refusal::UringRefusal;
use rustix::fd::OwnedFd;
use std::io;

/// One of the drivers that serve any number of connections.
pub(crate) enum EventLoop {
    Epoll(Epoll),
    Uring(Box<Uring>),
}

impl EventLoop {
    /// The driver for a shard. Where io_uring cannot be used it is epoll, and `place` says so.
    pub fn new(place: &mut ShardPlace, options: IoOptions) -> io::Result<Self> {
        if place.driver == Driver::Uring {
            match Uring::new(place.waker.clone(), options) {
                Err(error) if UringRefusal::of(&error).is_some() => {}
                made => return Ok(Self::Uring(Box::new(made?))),
            }
        }
        place.driver = Driver::Epoll;
        Ok(Self::Epoll(Epoll::new(place.waker.clone(), options)?))
    }

    pub fn accept_from(self, listener: Listener) -> io::Result<Self> {
        match self {
            Self::Epoll(driver) => Ok(Self::Epoll(driver.accept_from(listener)?)),
            Self::Uring(driver) => Ok(Self::Uring(Box::new(driver.accept_from(listener)))),
        }
    }

    pub fn take_from(self, arrivals: Mailbox<OwnedFd>) -> Self {
        match self {
            Self::Epoll(driver) => Self::Epoll(driver.take_from(arrivals)),
            Self::Uring(driver) => Self::Uring(Box::new(driver.take_from(arrivals))),
        }
    }

    pub fn run<S: Shard>(self, shard: S) -> io::Result<IoStatistics> {
        match self {
            Self::Epoll(driver) => Ok(driver.run(shard)?.1),
            Self::Uring(driver) => Ok(driver.run(shard)?.1),
        }
    }
}
