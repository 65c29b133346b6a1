use std::sync::Arc;

use bookend_io::Waker;

use crate::limits::Limits;
use crate::router::{DuplicateService, Router};
use crate::service::Service;
use crate::shard::ServerShard;

/// Services and limits, ready to be served by any number of threads.
///
/// [`crate::Builder`] is the usual way; this is for who drives shards with loops of their own.
#[derive(Clone)]
pub struct Services {
    router: Arc<Router>,
    limits: Limits,
}

impl Services {
    /// Joins `services`.
    ///
    /// # Errors
    /// Where two have one name.
    pub fn new(services: &[Arc<dyn Service>], limits: Limits) -> Result<Self, DuplicateService> {
        Ok(Services {
            router: Arc::new(Router::new(services)?),
            limits,
        })
    }

    /// The shard of one thread, for the driver that `waker` calls.
    pub fn shard(&self, waker: Waker) -> ServerShard {
        ServerShard::new(Arc::clone(&self.router), self.limits.clone(), waker)
    }
}
