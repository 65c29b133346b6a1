use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::counts::{Counts, SharedCounts};
use crate::handshake_limits::HandshakeLimits;
use crate::interceptor::Interceptor;
use crate::limits::Limits;
use crate::memory::MemoryBudget;
use crate::metrics::Metrics;
use crate::peer_addresses::PeerAddresses;
use crate::pool::PoolJob;
use crate::pool::threads::{PoolLimits, Threads};
use crate::preparation::PreparationThreads;
use crate::router::Router;

/// Services and limits, ready to be served by any number of threads.
///
/// Made by [`crate::ServerBuilder::build`], for programs that drive shards with their own loops.
#[derive(Clone)]
pub struct Services {
    pub(crate) router: Arc<Router>,
    pub(crate) limits: Limits,
    pub(crate) pool: Arc<Threads<PoolJob>>,
    pub(crate) preparation: Arc<PreparationThreads>,
    pub(crate) memory: Arc<MemoryBudget>,
    pub(crate) addresses: Arc<PeerAddresses>,
    pub(crate) interceptors: Arc<[Box<dyn Interceptor>]>,
    pub(crate) counts: SharedCounts,
    /// Whether somebody looks at the counts while shards go on.
    pub(crate) publishes: bool,
    /// How many shards were made so far.
    pub(crate) shards: Arc<AtomicU64>,
}

impl Services {
    pub(crate) fn new(
        router: Router,
        interceptors: Vec<Box<dyn Interceptor>>,
        limits: Limits,
        pool: PoolLimits,
        metrics: Option<Metrics>,
    ) -> Self {
        Services {
            router: Arc::new(router),
            memory: Arc::new(MemoryBudget::new(limits.max_held_bytes)),
            addresses: Arc::new(PeerAddresses::new(limits.max_address_connections)),
            limits,
            pool: Arc::new(Threads::new(pool, "bookend-pool")),
            preparation: Arc::new(PreparationThreads::for_this_machine()),
            interceptors: interceptors.into(),
            publishes: metrics.is_some(),
            counts: metrics.unwrap_or_default().counts,
            shards: Arc::default(),
        }
    }

    /// What all connections hold now, bytes: what
    /// [`Limits::max_held_bytes`](crate::Limits::max_held_bytes) limits.
    pub fn held_bytes(&self) -> usize {
        self.memory.held_bytes()
    }

    /// What TLS takes part in.
    pub(crate) fn handshake_limits(&self) -> HandshakeLimits {
        let (memory, addresses) = (self.memory.clone(), self.addresses.clone());
        HandshakeLimits { memory, addresses }
    }

    /// What all shards that have ended did together.
    pub fn counts(&self) -> Counts {
        self.counts.total()
    }
}
