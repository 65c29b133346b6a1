//! A call that waits for a thread of the pool, or has one.

use std::sync::Arc;
use std::time::Duration;

use super::PoolChannel;
use super::call::PoolCall;
use super::threads::Job;
use crate::service::Service;

/// A call, and the method that handles it.
pub(crate) struct PoolJob {
    pub service: Arc<dyn Service>,
    pub method: usize,
    pub call: PoolCall,
}

impl Job for PoolJob {
    type Ticket = Arc<PoolChannel>;

    fn ticket(&self) -> Arc<PoolChannel> {
        Arc::clone(self.call.channel())
    }

    fn is_over(&self) -> bool {
        self.call.is_over()
    }

    fn run(self) {
        let PoolJob { service, method, call } = self;
        service.work(method, call.begin());
    }

    fn withdraw(self) {
        self.call.withdraw();
    }

    fn is_of_same_connection(&self, other: &Arc<PoolChannel>) -> bool {
        self.call.channel().is_of_same_connection(other)
    }

    fn waited(channel: &Arc<PoolChannel>) -> Duration {
        channel.waited()
    }

    fn recall(channel: &Arc<PoolChannel>) {
        channel.recall();
    }
}
