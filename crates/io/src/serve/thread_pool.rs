//! A server of several threads, and the hand-out of connections among them.

use super::acceptor::Acceptor;
use super::event_loop::EventLoop;
use super::options::{BLOCKING_CONNECTIONS_MAX, Driver, Io, ServeOptions, ShardPlace};
use super::threads::{self, ShardThread};
use crate::blocking;
use crate::listener::Listener;
use crate::mailbox::Mailbox;
use crate::shard::Shard;
use crate::shutdown::{ShutdownHandle, StopOnExit};
use crate::statistics::IoStatistics;
use crate::worker_slots::{WorkerSlot, WorkerSlots};
use rustix::fd::OwnedFd;
use std::io;
use std::sync::Arc;
use std::thread::{self, Scope};

/// Accepts on the calling thread and serves on others.
pub(crate) fn serve<S: Shard, F: Fn(ShardPlace) -> S + Sync>(
    listener: Listener,
    options: &ServeOptions,
    make_shard: &F,
) -> io::Result<IoStatistics> {
    thread::scope(|scope| {
        let mut acceptor = Acceptor::new(listener, options.shutdown.waker()?);
        let last = ShutdownHandle::new();
        let slots = Arc::new(WorkerSlots::new(acceptor.waker.clone()));
        let mut pool = ThreadPool {
            scope,
            options,
            last: last.clone(),
            make_shard,
            threads: Vec::new(),
            shards: Vec::new(),
            next_shard: 0,
            blocking: Vec::new(),
            slots,
            refused: 0,
        };
        // Whatever ends the accepting, the threads have to end before they can be joined.
        let exit = (StopOnExit(options.shutdown.clone()), StopOnExit(last));
        let accepted = pool.start().and_then(|()| pool.accept_all(&mut acceptor));
        drop(exit);
        let accept_errors = acceptor.accept_errors + pool.refused;
        let statistics = threads::join_all(pool.threads);
        accepted?;
        let mut statistics = statistics?;
        statistics.accept_errors += accept_errors;
        Ok(statistics)
    })
}

struct ThreadPool<'scope, 'env, F> {
    scope: &'scope Scope<'scope, 'env>,
    options: &'env ServeOptions,
    /// Stops the threads, once the last connection is accepted.
    last: ShutdownHandle,
    make_shard: &'env F,
    threads: Vec<ShardThread<'scope>>,
    /// Where the shards that take any number get their connections.
    shards: Vec<Mailbox<OwnedFd>>,
    next_shard: usize,
    /// Where the blocking threads get theirs, by slot.
    blocking: Vec<Mailbox<OwnedFd>>,
    slots: Arc<WorkerSlots>,
    /// Connections for which no thread could be had.
    refused: u64,
}

impl<'scope, 'env, S, F> ThreadPool<'scope, 'env, F>
where
    S: Shard,
    F: Fn(ShardPlace) -> S + Sync,
{
    fn start(&mut self) -> io::Result<()> {
        if self.options.io != Io::Blocking {
            for _ in 0..self.options.threads.get() {
                self.start_event_loop()?;
            }
        }
        Ok(())
    }

    fn accept_all(&mut self, acceptor: &mut Acceptor) -> io::Result<()> {
        while !acceptor.waker.is_stopping() {
            let room = self.has_room();
            if let Some(socket) = acceptor.next(room)? {
                self.place(socket);
            }
        }
        // The threads go on until they have these.
        acceptor.accept_errors += acceptor.listener.accept_waiting(|socket| self.place(socket));
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.options.io != Io::Blocking
            || self.blocking.len() < BLOCKING_CONNECTIONS_MAX
            || self.slots.is_free_or_await()
    }

    /// Gives a connection to the thread whose turn it is. Without any it is closed and counted.
    fn place(&mut self, socket: OwnedFd) {
        if let Some(slot) = self.free_slot() {
            self.blocking[slot].push(socket);
        } else if !self.shards.is_empty() {
            self.shards[self.next_shard].push(socket);
            self.next_shard = (self.next_shard + 1) % self.shards.len();
        } else {
            self.refused += 1;
        }
    }

    /// A blocking thread without a connection, started where there may be another and can be.
    fn free_slot(&mut self) -> Option<usize> {
        if let Some(slot) = self.slots.take() {
            return Some(slot);
        }
        let slots_max = match self.options.io {
            Io::Auto => self.options.threads.get(),
            Io::Blocking => BLOCKING_CONNECTIONS_MAX,
            Io::Epoll | Io::Uring => 0,
        };
        if self.blocking.len() >= slots_max {
            return None;
        }
        self.start_blocking().ok()
    }

    fn start_event_loop(&mut self) -> io::Result<()> {
        let mut place = self.place_for(self.options.event_loop(), self.shards.len())?;
        let arrivals = Mailbox::new(place.waker.clone());
        let driver = EventLoop::new(&mut place, self.options.driver)?.take_from(arrivals.clone());
        self.shards.push(arrivals);
        self.spawn(place, move |shard| driver.run(shard))
    }

    fn start_blocking(&mut self) -> io::Result<usize> {
        let number = self.blocking.len();
        let place = self.place_for(Driver::Blocking, number)?;
        let arrivals = Mailbox::new(place.waker.clone());
        let slot =
            WorkerSlot { number, arrivals: arrivals.clone(), slots: Arc::clone(&self.slots) };
        let (waker, options) = (place.waker.clone(), self.options.driver);
        self.spawn(place, move |shard| Ok(blocking::run_slot(slot, shard, waker, options)?.1))?;
        self.blocking.push(arrivals);
        Ok(number)
    }

    fn place_for(&self, driver: Driver, thread: usize) -> io::Result<ShardPlace> {
        let waker = self.last.waker()?;
        self.options.shutdown.stop_now_too(&waker);
        Ok(ShardPlace { thread, driver, waker })
    }

    fn spawn(
        &mut self,
        place: ShardPlace,
        drive: impl FnOnce(S) -> io::Result<IoStatistics> + Send + 'scope,
    ) -> io::Result<()> {
        let (options, make_shard) = (self.options, self.make_shard);
        let thread = threads::spawn(self.scope, options, make_shard, place, drive)?;
        self.threads.push(thread);
        Ok(())
    }
}
