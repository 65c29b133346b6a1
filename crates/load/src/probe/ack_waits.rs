//! The check that answers wait for no acknowledgement.
//!
//! A server that makes several writes of a batch of answers, without TCP_NODELAY, leaves the second
//! write with its kernel until the first is acknowledged (Nagle's algorithm, RFC 9293, section
//! 3.7.4), and the other end's kernel delays that by 40 ms. Seen from outside, that is a pause of
//! 40 ms, which a handler that sleeps makes as well. So the same calls are made with delayed
//! acknowledgements and without: the pause of a handler stays, the pause of a write goes.

use super::check::CheckError;
use super::check_context::CheckContext;
use super::raw_connection::WindowRefill;
use std::time::Duration;

/// Calls that are sent at once: more than a server answers by one write for their size alone.
const CALLS: usize = 128;

/// Batches of calls with each kind of acknowledgement: a disturbance makes one of them slow, and
/// not all.
const BATCHES: usize = 3;

/// Below what Linux delays an acknowledgement by, 40 ms at least (`TCP_DELACK_MIN`).
const DELAY: Duration = Duration::from_millis(30);

pub(super) fn no_ack_waits(context: &CheckContext<'_>) -> Result<(), CheckError> {
    let delayed = waits(context, false)?;
    if delayed.iter().any(|wait| *wait < DELAY) {
        return Ok(());
    }
    let quick = waits(context, true)?;
    let middle = quick[BATCHES / 2];
    if middle > DELAY / 2 {
        return Ok(());
    }
    Err(CheckError::Unsupported(format!(
        "a part of the answers came {:.0} ms late while ACKs were delayed, and {:.1} ms with \
         TCP_QUICKACK",
        delayed[BATCHES / 2].as_secs_f64() * 1e3,
        middle.as_secs_f64() * 1e3
    )))
}

/// The longest silence while each batch of calls was answered, sorted.
fn waits(
    context: &CheckContext<'_>,
    acknowledges_at_once: bool,
) -> Result<[Duration; BATCHES], CheckError> {
    let request = context.plain();
    context.on_connection(&[], |connection| {
        connection.call_and_wait(&request)?.check()?;
        connection.refill = WindowRefill::Never;
        let mut waits = [Duration::ZERO; BATCHES];
        for wait in &mut waits {
            let silence = connection.call_at_once(&request, CALLS, acknowledges_at_once);
            *wait = silence.map_err(|error| match error {
                CheckError::TimedOut(_) => {
                    let why = format!("up to {CALLS} calls at once took longer than a check may");
                    CheckError::NotChecked(why)
                }
                error => error,
            })?;
        }
        waits.sort_unstable();
        Ok(waits)
    })
}
