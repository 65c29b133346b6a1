//! A driver of any number of connections, whichever it is.

use super::{Driver, ShardPlace};
use crate::epoll::Epoll;
use crate::listener::Listener;
use crate::mailbox::Mailbox;
use crate::options::Options;
use crate::shard::Shard;
use crate::statistics::Statistics;
use crate::uring::Uring;
use rustix::fd::OwnedFd;
use std::io;

/// One of the drivers that serve any number of connections.
pub(crate) enum EventLoop {
    Epoll(Epoll),
    Uring(Box<Uring>),
}

impl EventLoop {
    /// The driver of that place.
    pub fn new(place: &ShardPlace, options: Options) -> io::Result<Self> {
        let waker = place.waker.clone();
        match place.driver {
            Driver::Uring => Ok(Self::Uring(Box::new(Uring::new(waker, options)?))),
            Driver::Epoll | Driver::Blocking => Ok(Self::Epoll(Epoll::new(waker, options)?)),
        }
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

    pub fn run<S: Shard>(self, shard: S) -> io::Result<Statistics> {
        match self {
            Self::Epoll(driver) => Ok(driver.run(shard)?.1),
            Self::Uring(driver) => Ok(driver.run(shard)?.1),
        }
    }
}
