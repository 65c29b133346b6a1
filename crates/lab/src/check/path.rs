//! What the path between both ends takes by itself, by a client that does as little as one can. The
//! witness begins when it has read a request and ends before it writes its answer, so what comes
//! before and after is in every latency and not in its record: the kernel's part, and how soon a
//! server on h2 looks at a socket.

use super::bare_client::{self, Pace};
use super::bench::Bench;
use super::clockwork::Clockwork;
use super::stop::CheckStop;
use bookend_results::statistics::nearest_rank;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::time::Duration;

/// Enough for a p99, of which ten are above.
const CALLS: usize = 1000;

/// Slow calls where one in 99 is slow: half a call more than one in a hundred, so that the p99 is
/// one of them.
const TAIL_CALLS: usize = 51;

/// What calls are ordered to take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delay {
    /// Each, microseconds.
    pub delay_us: u32,
    /// Instead of it in one call of `tail_every`, microseconds.
    pub tail_delay_us: u32,
    /// One call in this many is slow.
    pub tail_every: u32,
}

/// How much longer the bare client's calls take than the witness's record says.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// By their p50, nanoseconds.
    pub p50_ns: f64,
    /// By their p99, nanoseconds.
    pub p99_ns: f64,
}

impl Delay {
    /// As JSON, for our generator.
    pub fn order(self) -> Value {
        let Delay { delay_us, tail_delay_us, tail_every } = self;
        json!({ "delayUs": delay_us, "tailDelayUs": tail_delay_us, "tailEvery": tail_every })
    }

    /// As a message, whose fields have the numbers 1 to 3. A number in base 128 may be longer than
    /// it needs to be.
    fn message(self) -> Vec<u8> {
        let fields = [self.delay_us, self.tail_delay_us, self.tail_every];
        let field = |(number, value): (u8, u32)| {
            [number << 3, value as u8 | 0x80, (value >> 7) as u8 | 0x80, (value >> 14) as u8]
        };
        (1..).zip(fields).flat_map(field).collect()
    }
}

impl Path {
    /// Nothing, where it is not asked for.
    pub const NONE: Path = Path { p50_ns: 0.0, p99_ns: 0.0 };

    /// Has the witness called like this.
    ///
    /// # Errors
    /// See [`CheckStop`].
    pub fn measure(bench: &Bench, delay: Delay, pace: Pace) -> Result<Path, CheckStop> {
        let server = Clockwork::start(bench, "spin")?;
        let target = (Ipv4Addr::LOCALHOST, server.port()).into();
        let count = CALLS.max(TAIL_CALLS * delay.tail_every as usize);
        let taken =
            bare_client::call(target, &delay.message(), pace, count).map_err(CheckStop::because)?;
        let witness = server.end()?;
        Ok(Path {
            p50_ns: (at(50.0, &taken) - witness.figure("service_p50_ns")).max(0.0),
            p99_ns: (at(99.0, &taken) - witness.figure("service_p99_ns")).max(0.0),
        })
    }
}

/// What this percentage of them took at most, nanoseconds.
fn at(percent: f64, taken: &[Duration]) -> f64 {
    nearest_rank(percent, taken).map_or(f64::NAN, |one| one.as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_taken() {
        let taken: Vec<_> = (1..=100).map(Duration::from_nanos).collect();
        assert_eq!([50.0, 99.0].map(|percent| at(percent, &taken)), [50.0, 99.0]);
    }

    /// 1000 is 7 * 128 + 104, and 50,000 is (3 * 128 + 6) * 128 + 80.
    #[test]
    fn an_order_is_a_message_of_three_fields() {
        let delay = Delay { delay_us: 1000, tail_delay_us: 50_000, tail_every: 99 };
        let expected = [0x08, 0xe8, 0x87, 0, 0x10, 0xd0, 0x86, 3, 0x18, 0xe3, 0x80, 0];
        assert_eq!(delay.message(), expected);
    }
}
