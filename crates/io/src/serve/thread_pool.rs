//! A server of several threads, and the hand-out of connections among them.

use super::acceptor::Acceptor;
use super::event_loop::EventLoop;
use super::options::{BLOCKING_CONNECTIONS_MAX, Driver, Io, ServeOptions, ShardPlace};
use super::threads::{self, ShardThread, ThreadEnd};
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

/// Blocking threads without a connection that wait for one; others end. As many as clients of a
/// test in a row are likely to connect at once; each takes a few hundred kilobytes.
const FREE_THREADS_MAX: usize = 32;

/// Accepts on the calling thread and serves on others.
pub(crate) fn serve<S: Shard, F: Fn(ShardPlace) -> S + Sync>(
    listener: Listener,
    options: &ServeOptions,
    make_shard: &F,
) -> io::Result<IoStatistics> {
    thread::scope(|scope| {
        let mut acceptor = Acceptor::new(listener, options.shutdown.waker()?);
        let last = ShutdownHandle::new();
        let slots = Arc::new(WorkerSlots::new(acceptor.waker.clone(), FREE_THREADS_MAX));
        let mut pool = ThreadPool {
            scope,
            options,
            last: last.clone(),
            make_shard,
            threads: Vec::new(),
            shards: Vec::new(),
            next_shard: 0,
            blocking: Vec::new(),
            vacant: Vec::new(),
            slots,
            retired: IoStatistics::default(),
            refused: 0,
        };
        // Whatever ends the accepting, the threads have to end before they can be joined.
        let exit = (StopOnExit(options.shutdown.clone()), StopOnExit(last));
        let accepted = pool.start().and_then(|()| pool.accept_all(&mut acceptor));
        drop(exit);
        let accept_errors = acceptor.accept_errors + pool.refused;
        let retired = pool.retired;
        let blocking = pool.blocking.into_iter().flatten().map(|slot| slot.thread);
        let statistics = threads::join_all(pool.threads.into_iter().chain(blocking).collect());
        accepted?;
        let mut statistics = statistics?;
        statistics += retired;
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
    /// Of the shards that take any number of connections.
    threads: Vec<ShardThread<'scope>>,
    /// Where the shards that take any number get their connections.
    shards: Vec<Mailbox<OwnedFd>>,
    next_shard: usize,
    /// By slot.
    blocking: Vec<Option<BlockingThread<'scope>>>,
    /// Slots whose threads have ended.
    vacant: Vec<usize>,
    slots: Arc<WorkerSlots>,
    /// What the threads have done that have ended.
    retired: IoStatistics,
    /// Connections for which no thread could be had.
    refused: u64,
}

/// A thread that takes one connection at a time.
struct BlockingThread<'scope> {
    /// Where it gets them.
    arrivals: Mailbox<OwnedFd>,
    thread: ShardThread<'scope>,
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
            self.join_retired()?;
            let room = self.has_room(acceptor);
            if let Some(socket) = acceptor.next(room)? {
                self.place(socket);
            }
        }
        // The threads go on until they have these.
        acceptor.accept_errors += acceptor.listener.accept_waiting(|socket| self.place(socket));
        Ok(())
    }

    /// Whether another connection may be accepted. Where each has a thread of its own, that is
    /// there before: without one, connections wait in the listener's queue.
    fn has_room(&mut self, acceptor: &mut Acceptor) -> bool {
        if self.options.io != Io::Blocking || self.slots.is_free_or_await() {
            return true;
        }
        if self.blocking_threads() >= BLOCKING_CONNECTIONS_MAX {
            return false;
        }
        match self.start_blocking() {
            Ok(slot) => self.slots.add(slot),
            // The machine may have one a little later, without a connection that ends here.
            Err(_) => acceptor.back_off(),
        }
        self.slots.is_free_or_await()
    }

    fn blocking_threads(&self) -> usize {
        self.blocking.len() - self.vacant.len()
    }

    /// Gives back what threads had that have ended.
    fn join_retired(&mut self) -> io::Result<()> {
        for slot in self.slots.take_ended() {
            if let Some(blocking) = self.blocking[slot].take() {
                self.retired += threads::join_all(vec![blocking.thread])?;
                self.vacant.push(slot);
            }
        }
        Ok(())
    }

    /// Gives a connection to the thread whose turn it is. Without any it is closed and counted.
    fn place(&mut self, socket: OwnedFd) {
        let slot = self.free_slot();
        if let Some(blocking) = slot.and_then(|slot| self.blocking[slot].as_ref()) {
            blocking.arrivals.push(socket);
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
        if self.blocking_threads() >= slots_max {
            return None;
        }
        self.start_blocking().ok()
    }

    fn start_event_loop(&mut self) -> io::Result<()> {
        let mut place = self.place_for(self.options.event_loop(), self.shards.len())?;
        let arrivals = Mailbox::new(place.waker.clone());
        let driver = EventLoop::new(&mut place, self.options.driver)?.take_from(arrivals.clone());
        let thread = self.spawn(place, move |shard| Ok(ThreadEnd::Stopped(driver.run(shard)?)))?;
        self.shards.push(arrivals);
        self.threads.push(thread);
        Ok(())
    }

    /// Starts a thread and returns its slot, which is nobody else's to take yet.
    fn start_blocking(&mut self) -> io::Result<usize> {
        let number = self.vacant.last().copied().unwrap_or(self.blocking.len());
        let place = self.place_for(Driver::Blocking, number)?;
        let arrivals = Mailbox::new(place.waker.clone());
        let slots = Arc::clone(&self.slots);
        let slot = WorkerSlot { number, arrivals: arrivals.clone(), slots: Arc::clone(&slots) };
        let (waker, options) = (place.waker.clone(), self.options.driver);
        let thread = self.spawn(place, move |shard| {
            let (shard, statistics) = blocking::run_slot(slot, shard, waker, options)?;
            drop(shard);
            match slots.end(number) {
                true => Ok(ThreadEnd::Retired(statistics)),
                false => Ok(ThreadEnd::Stopped(statistics)),
            }
        })?;
        let blocking = Some(BlockingThread { arrivals, thread });
        match self.vacant.pop() {
            Some(vacant) => self.blocking[vacant] = blocking,
            None => self.blocking.push(blocking),
        }
        Ok(number)
    }

    fn place_for(&self, driver: Driver, thread: usize) -> io::Result<ShardPlace> {
        let waker = self.last.waker()?;
        self.options.shutdown.stop_now_too(&waker);
        Ok(ShardPlace { thread, driver, waker })
    }

    fn spawn(
        &self,
        place: ShardPlace,
        drive: impl FnOnce(S) -> io::Result<ThreadEnd> + Send + 'scope,
    ) -> io::Result<ShardThread<'scope>> {
        threads::spawn(self.scope, self.options, self.make_shard, place, drive)
    }
}
