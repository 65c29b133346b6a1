use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::counts::{Counts, SharedCounts};
use crate::limits::Limits;
use crate::pool::threads::{HandlerPool, PoolLimits};
use crate::router::{DuplicateService, Router};
use crate::service::Service;

/// Services and limits, ready to be served by any number of threads.
///
/// Made by [`crate::ServerBuilder::build`], for programs that drive shards with their own loops.
#[derive(Clone)]
pub struct Services {
    pub(crate) router: Arc<Router>,
    pub(crate) limits: Limits,
    pub(crate) pool: Arc<HandlerPool>,
    pub(crate) counts: SharedCounts,
    /// How many shards were made so far.
    pub(crate) shards: Arc<AtomicU64>,
}

impl Services {
    pub(crate) fn new(
        services: &[Arc<dyn Service>],
        limits: Limits,
        pool: PoolLimits,
        fallback_page: Option<String>,
    ) -> Result<Self, DuplicateService> {
        Ok(Services {
            router: Arc::new(Router::new(services, fallback_page)?),
            limits,
            pool: Arc::new(HandlerPool::new(pool)),
            counts: SharedCounts::default(),
            shards: Arc::default(),
        })
    }

    /// What all shards that have ended did together.
    pub fn counts(&self) -> Counts {
        self.counts.total()
    }
}
