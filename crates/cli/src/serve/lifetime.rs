//! The flags about how long connections last and how the server ends.

use std::time::Duration;

use bookend_contract::duration;
use bookend_server::io;
use bookend_server::limits::{DRAIN_NS, KEEPALIVE_TIMEOUT_NS};
use bookend_server::{BoundServer, ConnectionAge, Keepalive, Limits};
use clap::Args;

/// The flags about how long connections last and how the server ends.
#[derive(Args, Clone, Debug)]
pub struct LifetimeFlags {
    /// Time for calls to end once the server stops [default: 8s; 1s under the lab]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Limits")]
    drain: Option<Duration>,
    /// Send a PING to a client that has been silent this long; 0 never does [default: the preset's,
    /// 2h]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Limits")]
    keepalive: Option<Duration>,
    /// Close the connection if nothing arrives this long after that PING [default: 20s]
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, requires = "keepalive",
        help_heading = "Limits"
    )]
    keepalive_timeout: Option<Duration>,
    /// Ask clients to reconnect after this long, give or take a tenth [default: never]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Limits")]
    max_connection_age: Option<Duration>,
    /// End the calls left on such a connection after this much more time [default: never]
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, requires = "max_connection_age",
        help_heading = "Limits"
    )]
    max_connection_age_grace: Option<Duration>,
    /// Close connections without a call for this long; 0 never does [default: the preset's, 1h]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Limits")]
    max_connection_idle: Option<Duration>,
}

impl LifetimeFlags {
    /// The limits, changed as these flags say.
    pub fn apply(&self, mut limits: Limits) -> Limits {
        if let Some(time) = self.keepalive {
            let timeout_ns = self.keepalive_timeout.map_or(KEEPALIVE_TIMEOUT_NS, nanoseconds);
            limits.keepalive = unless_zero(time).map(|time_ns| Keepalive { time_ns, timeout_ns });
        }
        if let Some(time) = self.max_connection_age {
            limits.connection_age = Some(ConnectionAge {
                grace_ns: self.max_connection_age_grace.map(nanoseconds),
                ..ConnectionAge::new(time)
            });
        }
        if let Some(time) = self.max_connection_idle {
            limits.idle_timeout_ns = unless_zero(time);
        }
        limits
    }

    /// Sets the time for draining. The lab kills a process that has not ended after two seconds.
    pub fn drain(&self, server: BoundServer, is_under_the_lab: bool) -> BoundServer {
        let default_ns = if is_under_the_lab { io::DRAIN_NS } else { DRAIN_NS };
        server.drain(self.drain.unwrap_or(Duration::from_nanos(default_ns)))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn unless_zero(time: Duration) -> Option<u64> {
    (!time.is_zero()).then(|| nanoseconds(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        lifetime: LifetimeFlags,
    }

    fn changed(words: &[&str]) -> Limits {
        let line = Line::parse_from([&["serve"], words].concat());
        line.lifetime.apply(Limits::internet())
    }

    #[test]
    fn what_is_not_given_stays_as_the_preset_has_it() {
        let (changed, preset) = (changed(&[]), Limits::internet());
        assert_eq!(changed.keepalive, preset.keepalive);
        assert_eq!(changed.idle_timeout_ns, preset.idle_timeout_ns);
        assert!(changed.connection_age.is_none());
    }

    #[test]
    fn flags_change_the_times_of_connections() {
        let limits = changed(&[
            "--keepalive=30s",
            "--keepalive-timeout=5s",
            "--max-connection-age=1m",
            "--max-connection-age-grace=2s",
            "--max-connection-idle=0",
        ]);
        let keepalive = limits.keepalive.expect("it was asked for");
        assert_eq!((keepalive.time_ns, keepalive.timeout_ns), (30_000_000_000, 5_000_000_000));
        let age = limits.connection_age.expect("it was asked for");
        assert_eq!((age.max_ns, age.grace_ns), (60_000_000_000, Some(2_000_000_000)));
        assert_eq!(limits.idle_timeout_ns, None);
        assert_eq!(changed(&["--keepalive=0"]).keepalive, None);
    }

    #[test]
    fn a_grace_without_an_age_is_refused() {
        for lonely in ["--max-connection-age-grace=2s", "--keepalive-timeout=2s"] {
            assert!(Line::try_parse_from(["serve", lonely]).is_err(), "{lonely}");
        }
    }
}
