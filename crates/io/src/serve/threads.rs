//! The threads of a server: each runs a shard, and all are joined.

use super::options::{ServeOptions, ShardPlace};
use crate::kernel;
use crate::shutdown::StopOnExit;
use crate::statistics::IoStatistics;
use std::io;
use std::panic;
use std::thread::{self, Scope, ScopedJoinHandle};

/// A thread that runs a shard.
pub(crate) type ShardThread<'scope> = ScopedJoinHandle<'scope, io::Result<IoStatistics>>;

/// How a thread has ended.
pub(crate) enum ThreadEnd {
    /// The whole server ends.
    Stopped(IoStatistics),
    /// There were enough others.
    Retired(IoStatistics),
}

/// Makes a shard on a thread of its own and drives it there. However that ends, the others end too,
/// unless it has retired.
pub(crate) fn spawn<'scope, 'env, S, F: Fn(ShardPlace) -> S + Sync>(
    scope: &'scope Scope<'scope, 'env>,
    options: &'env ServeOptions,
    make_shard: &'env F,
    place: ShardPlace,
    drive: impl FnOnce(S) -> io::Result<ThreadEnd> + Send + 'scope,
) -> io::Result<ShardThread<'scope>> {
    let name = format!("{}-{}", place.driver, place.thread);
    kernel::may_spawn()?;
    thread::Builder::new().name(name).spawn_scoped(scope, move || {
        let mut exit = StopOnExit(options.shutdown.clone());
        options.pin(place.thread)?;
        match drive(make_shard(place))? {
            ThreadEnd::Stopped(statistics) => Ok(statistics),
            ThreadEnd::Retired(statistics) => {
                exit.disarm();
                Ok(statistics)
            }
        }
    })
}

/// Waits for every thread; the first failure is the server's.
pub(crate) fn join_all(threads: Vec<ShardThread<'_>>) -> io::Result<IoStatistics> {
    let mut total = Ok(IoStatistics::default());
    let mut panicked = None;
    for thread in threads {
        match (thread.join(), &mut total) {
            (Ok(Ok(statistics)), Ok(total)) => *total += statistics,
            (Ok(Err(error)), Ok(_)) => total = Err(error),
            (Err(payload), _) => panicked = Some(payload),
            (Ok(_), Err(_)) => {}
        }
    }
    if let Some(payload) = panicked {
        panic::resume_unwind(payload);
    }
    total
}
