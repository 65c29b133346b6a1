//! One attack on one server, and what came of it.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::attacker::{Ends, attack_until};
use crate::attacks::Attack;
use crate::legal::{Calls, call_while, has_method};
use crate::record::Row;
use crate::victim::Victim;

/// Attackers at a time, each on a thread.
const ATTACKERS: usize = 4;
/// Time between two readings of the memory.
const SAMPLE: Duration = Duration::from_millis(50);

/// Starts a server, attacks it for a time, and waits as long again before the last look.
///
/// # Errors
/// When the server does not start, or has not the methods that the row needs.
pub fn measure(command: &str, threads: u32, attack: &Attack, seconds: Duration) -> io::Result<Row> {
    let victim = Victim::start(command, threads, attack.legal.is_inside_tls())?;
    for path in [attack.path, attack.legal.path()] {
        if !has_method(&victim.channel()?, path) {
            return Err(io::Error::other(format!("it has no {path}")));
        }
    }
    let start = Instant::now();
    // What the first calls take once is not the attack's.
    let _ = call_while(&victim.channel()?, attack.legal, || Instant::now() < start + seconds / 5);
    let before = victim.memory_bytes();
    let (peak, calls, ends) = attacked(&victim, attack, seconds)?;
    thread::sleep(seconds);
    let mebibytes = [before, before.max(peak), victim.memory_bytes()].map(|bytes| bytes >> 20);
    let milliseconds = |percent| calls.percentile(percent).as_secs_f64() * 1e3;
    let ended = ends.iter().map(|(end, count)| format!("{} {count}", end.name()));
    Ok(Row {
        mebibytes: mebibytes.map(|count| count as f64),
        rate: calls.answered() as f64 / seconds.as_secs_f64(),
        failed: calls.failed as f64,
        p99_ms: milliseconds(99),
        max_ms: milliseconds(100),
        ended: ended.collect::<Vec<_>>().join(", "),
    })
}

/// The highest memory, what became of the calls of somebody else, and of the attackers'
/// connections.
fn attacked(victim: &Victim, attack: &Attack, seconds: Duration) -> io::Result<(u64, Calls, Ends)> {
    let (channel, until) = (victim.channel()?, Instant::now() + seconds);
    let (act, legal) = (attack.act, attack.legal);
    let goes_on = move || Instant::now() < until;
    thread::scope(|scope| {
        let legal = scope.spawn(move || call_while(&channel, legal, goes_on));
        let attackers =
            [(); ATTACKERS].map(|()| scope.spawn(move || attack_until(&victim.end, act, until)));
        let mut peak = 0;
        while goes_on() {
            thread::sleep(SAMPLE);
            peak = peak.max(victim.memory_bytes());
        }
        let mut ends = Ends::new();
        for attacker in attackers {
            for (end, count) in attacker.join().unwrap_or_default() {
                *ends.entry(end).or_default() += count;
            }
        }
        Ok((peak, legal.join().unwrap_or_default(), ends))
    })
}
