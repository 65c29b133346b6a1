//! A call that waits for a thread of the pool, or has one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::PoolChannel;
use super::call::PoolCall;
use super::clients::Job;
use crate::call_event::ReplyTo;
use crate::service::Service;
use crate::status;

/// A call, and the method that handles it.
pub(crate) struct PoolJob {
    pub service: Arc<dyn Service>,
    pub method: usize,
    pub call: PoolCall,
}

impl Job for PoolJob {
    type Connection = ReplyTo;
    type Ticket = Arc<PoolChannel>;

    fn connection(&self) -> &ReplyTo {
        self.call.channel().connection()
    }

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

    fn refuse(self) {
        if !self.is_over() {
            self.call.finish(Err(status::pool_full()));
        }
    }

    fn waited(channel: &Arc<PoolChannel>, now: Instant) -> Option<Duration> {
        channel.waited(now)
    }

    fn recall(channel: &Arc<PoolChannel>) {
        channel.recall();
    }
}
