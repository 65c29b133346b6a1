//! The check that answers wait for no acknowledgement.
//!
//! A server that makes several writes of a batch of answers, without TCP_NODELAY, leaves the second
//! write with its kernel until the first is acknowledged (Nagle's algorithm, RFC 9293, section
//! 3.7.4), and the other end's kernel delays that by 40 ms. Seen from outside, that is a pause of
//! 40 ms, which a handler that sleeps makes as well. So the same calls are made with delayed
//! acknowledgements and without: the pause of a handler stays, the pause of a write goes.

use super::check::CheckError;
use super::check_context::CheckContext;
use std::time::Duration;

/// Calls that are sent at once: more than a server answers by one write for their size alone.
const CALLS: usize = 128;

/// Batches of calls with each kind of acknowledgement, by turns: what disturbs one kind disturbs
/// the other as well.
const BATCHES: usize = 3;

/// Below what Linux delays an acknowledgement by, 40 ms at least (`TCP_DELACK_MIN`), by as much as
/// a busy machine may be late to notice that the first part has come.
const DELAY: Duration = Duration::from_millis(30);

/// A silence that no delayed acknowledgement explains: longer than a server on the same machine
/// needs for what it writes next.
const PROMPT: Duration = Duration::from_millis(10);

/// Bytes of replies in a batch, within the window that a connection begins with.
const REPLY_BYTES: usize = 60_000;

pub(super) fn no_ack_waits(context: &CheckContext<'_>) -> Result<(), CheckError> {
    let request = context.plain();
    let (mut delayed, mut quick) = (Vec::new(), Vec::new());
    context.on_connection(&[], |waiting| {
        let reply = waiting.call_and_wait(&request)?;
        reply.check()?;
        let calls = CALLS.min(REPLY_BYTES / reply.body_bytes.max(1));
        context.on_connection(&[], |prompt| {
            while delayed.len() < BATCHES {
                let silence = waiting.call_at_once(&request, calls, false).map_err(too_long)?;
                if silence < DELAY {
                    // Whatever was slow in other batches, it was no acknowledgement.
                    break;
                }
                delayed.push(silence);
                quick.push(prompt.call_at_once(&request, calls, true).map_err(too_long)?);
            }
            Ok(())
        })
    })?;
    delayed.sort_unstable();
    quick.sort_unstable();
    let middle = BATCHES / 2;
    if delayed.len() < BATCHES || quick[middle] > PROMPT {
        return Ok(());
    }
    let [late_ms, soon_ms] = [delayed[middle], quick[middle]].map(|time| time.as_secs_f64() * 1e3);
    Err(CheckError::Unsupported(format!(
        "a part of the answers came {late_ms:.0} ms late while ACKs were delayed, and \
         {soon_ms:.1} ms with TCP_QUICKACK"
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
