//! A server of several threads that accept for themselves: the kernel spreads the connections.

use super::event_loop::EventLoop;
use super::options::{ServeOptions, ShardPlace};
use super::threads::{self, ShardThread, ThreadEnd};
use crate::listener::Listener;
use crate::shard::Shard;
use crate::statistics::IoStatistics;
use std::io;
use std::thread;

/// Gives every thread a listener of its own, and waits for the threads.
pub(crate) fn serve<S: Shard, F: Fn(ShardPlace) -> S + Sync>(
    listener: Listener,
    options: &ServeOptions,
    make_shard: &F,
) -> io::Result<IoStatistics> {
    let listeners = listener.share_port(options.threads)?;
    thread::scope(|scope| {
        let mut started: Vec<ShardThread<'_>> = Vec::new();
        let mut start = |(thread, listener)| {
            let mut place = ShardPlace {
                thread,
                driver: options.event_loop(),
                waker: options.shutdown.waker()?,
            };
            let driver = EventLoop::new(&mut place, options.driver)?.accept_from(listener)?;
            let drive = move |shard| Ok(ThreadEnd::Stopped(driver.run(shard)?));
            started.push(threads::spawn(scope, options, make_shard, place, drive)?);
            Ok(())
        };
        let all_started = listeners.into_iter().enumerate().try_for_each(&mut start);
        if all_started.is_err() {
            options.shutdown.stop();
        }
        let statistics = threads::join_all(started);
        all_started.and(statistics)
    })
}
