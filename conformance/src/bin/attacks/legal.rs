//! Somebody who makes one call after the other while others attack.

use std::time::{Duration, Instant};

use bookend_client::{Channel, ChannelOptions, Code, UnaryCall};

/// What a call may take: it then counts as failed.
const DEADLINE: Duration = Duration::from_secs(10);

/// What became of the calls.
#[derive(Debug, Default)]
pub struct Calls {
    /// Of those that were answered.
    latencies: Vec<Duration>,
    pub failed: u64,
}

impl Calls {
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or_default()
    }

    pub fn answered(&self) -> usize {
        self.latencies.len()
    }
}

/// Calls that port for as long as that `goes_on`.
pub fn call_while(port: u16, goes_on: impl Fn() -> bool) -> Calls {
    let mut calls = Calls::default();
    let target = format!("127.0.0.1:{port}");
    let Ok(channel) = Channel::connect(&target, ChannelOptions::default()) else {
        return calls;
    };
    while goes_on() {
        let mut call = UnaryCall::new("/helloworld.Greeter/SayHello", b"\x0a\x05legal".to_vec());
        call.timeout = Some(DEADLINE);
        let start = Instant::now();
        if channel.unary(call).status.code == Code::Ok {
            calls.latencies.push(start.elapsed());
        } else {
            calls.failed += 1;
        }
    }
    calls
}
