use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bookend_io::Waker;

use crate::limits::Limits;
use crate::pool::{Pool, PoolLimits};
use crate::router::{DuplicateService, Router};
use crate::service::Service;
use crate::shard::{Counts, ServerShard};

/// Services and limits, ready to be served by any number of threads.
///
/// Made by [`crate::Builder::build`], for who drives shards with loops of their own.
#[derive(Clone)]
pub struct Services {
    pub(crate) router: Arc<Router>,
    pub(crate) limits: Limits,
    pub(crate) pool: Arc<Pool>,
    pub(crate) totals: Totals,
    /// How many shards there were so far.
    pub(crate) shards: Arc<AtomicU64>,
}

impl Services {
    pub(crate) fn new(
        services: &[Arc<dyn Service>],
        limits: Limits,
        pool: PoolLimits,
        page: Option<String>,
    ) -> Result<Self, DuplicateService> {
        let router = Arc::new(Router::new(services, page)?);
        Ok(Services {
            router,
            limits,
            pool: Arc::new(Pool::new(pool)),
            totals: Totals::default(),
            shards: Arc::default(),
        })
    }

    /// The shard of one thread, for the driver that `waker` calls.
    pub fn shard(&self, waker: Waker) -> ServerShard {
        ServerShard::new(self.clone(), waker)
    }

    /// What all shards that have ended did together.
    pub fn counts(&self) -> Counts {
        *self.totals.lock()
    }
}

/// Where a shard leaves its counts when it ends.
#[derive(Clone, Default)]
pub(crate) struct Totals(Arc<Mutex<Counts>>);

impl Totals {
    pub fn add(&self, counts: Counts) {
        *self.lock() += counts;
    }

    /// Nothing can panic between taking the lock and letting it go.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
