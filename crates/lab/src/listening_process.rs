//! A server's process: it has said on which port it listens, or that was found in the kernel's
//! table.

use crate::cell_error::CellError;
use crate::process::interrupt::Interrupt;
use crate::process::listening::listening_port;
use crate::process::{Process, ProcessEvent};
use crate::transport_files::ServerAddress;
use bookend_contract::lines::Line;
use bookend_contract::transport::TransportConfig;
use std::time::{Duration, Instant};

/// Between two looks into the kernel's table for the port of a server that has not printed it.
const PORT_INTERVAL: Duration = Duration::from_millis(100);

/// A server that has listened for this time without printing `ready` will not print it: its library
/// cannot tell the port.
const PORT_TIMEOUT: Duration = Duration::from_secs(1);

/// A process that listens.
#[derive(Debug)]
pub struct ListeningProcess {
    /// The process. Dropping it kills its whole tree.
    pub process: Process,
    /// Where it listens.
    pub address: ServerAddress,
    /// Whether it speaks the contract: its port was not read from the kernel.
    pub said_ready: bool,
}

impl ListeningProcess {
    /// Waits for up to `timeout` until `process`, which was given `transport`, listens.
    ///
    /// # Errors
    /// It has ended, says something else, or does not listen in time. It is killed then.
    pub fn wait(
        mut process: Process,
        transport: &TransportConfig,
        timeout: Duration,
        interrupt: &Interrupt,
    ) -> Result<ListeningProcess, CellError> {
        match wait_ready(&mut process, timeout, interrupt)? {
            Some((port, said_ready)) => {
                let address = ServerAddress::of_ready(port, transport)?;
                Ok(ListeningProcess { process, address, said_ready })
            }
            None => Err(CellError::from_exit(&process.end(Duration::ZERO, |_| {}))),
        }
    }
}

/// The number of its port, and whether it has said it itself; or nothing when the process has
/// ended.
fn wait_ready(
    process: &mut Process,
    timeout: Duration,
    interrupt: &Interrupt,
) -> Result<Option<(u16, bool)>, CellError> {
    let deadline = Instant::now() + timeout;
    let (mut listening_since, mut first_words) = (None, None);
    loop {
        let look = deadline.min(Instant::now() + PORT_INTERVAL);
        match process.next_event(look, interrupt) {
            ProcessEvent::Output(output) => match output.parse() {
                Ok(Line::Ready(port)) => return Ok(Some((port, true))),
                Ok(line) => {
                    let error = format!("the server said `{line}` before ready");
                    return Err(CellError::failed(error));
                }
                // It has ended, and a child of it prints on.
                Err(_) if Instant::now() >= deadline => return Ok(None),
                // A server that knows nothing of the contract says what it likes.
                Err(error) => first_words = first_words.or(Some(error)),
            },
            ProcessEvent::Exited => return Ok(None),
            ProcessEvent::Interrupted => return Err(CellError::Interrupted),
            ProcessEvent::TimedOut if Instant::now() >= deadline => {
                let junk = first_words.map_or(String::new(), |error| format!(", but {error}"));
                let error = format!("the server did not say ready within {timeout:?}{junk}");
                return Err(CellError::failed(process.with_last_error(error)));
            }
            ProcessEvent::TimedOut => {}
        }
        // One that prints without a pause is looked at, too.
        if let Some(port) = silent_port(process, &mut listening_since) {
            return Ok(Some((port, false)));
        }
    }
}

/// The port of a server that has listened for a while without printing it.
fn silent_port(process: &Process, listening_since: &mut Option<Instant>) -> Option<u16> {
    let port = listening_port(process.tree())?;
    let since = *listening_since.get_or_insert_with(Instant::now);
    (since.elapsed() >= PORT_TIMEOUT).then_some(port)
}
