//! The check that answers wait for no acknowledgement.
//!
//! A server that makes several writes of a batch of answers, without TCP_NODELAY, leaves the second
//! write with its kernel until the first is acknowledged (Nagle's algorithm, RFC 9293, section
//! 3.7.4), and the other end's kernel delays that by 40 ms. Seen from outside, a handler that
//! sleeps does the same. So the same calls are made with delayed acknowledgements and without: the
//! time of a handler stays, the time of a write that waits goes.

use super::check::CheckError;
use super::check_context::CheckContext;
use std::time::Duration;

/// Calls that are sent at once: more than a server answers by one write for their size alone.
const CALLS: usize = 128;

/// Batches of calls with each kind of acknowledgement, by turns: what disturbs one kind disturbs
/// the other as well, and a busy machine makes all of one kind slow less often than once.
const BATCHES: usize = 7;

/// Number of batches that are slow with prompt acknowledgements as well from which on the server is
/// slow by itself.
const SLOW_BATCHES: usize = 3;

/// As long as Linux delays an acknowledgement at least, 40 ms (`TCP_DELACK_MIN`), but for the
/// coarse ticks of its timers.
const DELAY: Duration = Duration::from_millis(36);

/// Bytes of replies in a batch, within the window that a connection begins with.
const REPLY_BYTES: usize = 60_000;

pub(super) fn no_ack_waits(context: &CheckContext<'_>) -> Result<(), CheckError> {
    let request = context.plain();
    let (mut delayed, mut quick) = (Vec::new(), Vec::new());
    context.on_connection(&[], |waiting| {
        waiting.allow(context.timeout);
        let reply = waiting.call_and_wait(&request)?;
        reply.check()?;
        let calls = CALLS.min(REPLY_BYTES / reply.body_bytes.max(1));
        context.on_connection(&[], |prompt| {
            prompt.allow(context.timeout);
            let is_slow = |quick: &[Duration]| {
                quick.iter().filter(|took| **took >= DELAY).count() >= SLOW_BATCHES
            };
            while delayed.len() < BATCHES && !is_slow(&quick) {
                let took = waiting.call_at_once(&request, calls, false).map_err(too_long)?;
                if took < DELAY {
                    // Whatever was slow in other batches, it was no acknowledgement.
                    break;
                }
                delayed.push(took);
                quick.push(prompt.call_at_once(&request, calls, true).map_err(too_long)?);
            }
            Ok(())
        })
    })?;
    // What a batch takes at least: a busy machine makes some slower, with either.
    let least = |times: Vec<Duration>| times.into_iter().min().unwrap_or_default();
    let is_whole = delayed.len() == BATCHES;
    let (late, soon) = (least(delayed), least(quick));
    if !is_whole || soon > late / 2 {
        return Ok(());
    }
    let [late_ms, soon_ms] = [late, soon].map(|time| time.as_secs_f64() * 1e3);
    Err(CheckError::Unsupported(format!(
        "all of up to {CALLS} calls at once were answered after {late_ms:.0} ms while ACKs were \
         delayed, and after {soon_ms:.1} ms with TCP_QUICKACK"
    )))
}

fn too_long(error: CheckError) -> CheckError {
    match error {
        CheckError::TimedOut(_) => {
            let why = format!("up to {CALLS} calls at once took longer than a check may");
            CheckError::NotChecked(why)
        }
        error => error,
    }
}
