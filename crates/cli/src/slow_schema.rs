//! A server that takes long to describe itself: nobody should wonder what the command waits for.

use crate::terminal::print_error;
use bookend_load::flags::CallFlags;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How long a schema may take before something is said.
const PATIENCE: Duration = Duration::from_secs(2);

/// Does the work that begins with reading the schema. If the server has it and takes long, one line
/// on standard error says so.
pub fn read_schema<R>(command: &str, call: &CallFlags, work: impl FnOnce() -> R) -> R {
    let is_reflection = call.proto.is_none() && call.protoset.is_none();
    // Standard input is read with it, and may take as long as it likes.
    let reads_input = call.binary || call.data.as_deref() == Some("@");
    if !is_reflection || reads_input {
        return work();
    }
    let server = call.targets.join(",");
    let line = format!("bookend {command}: {server} is being asked for its schema, by reflection");
    saying_after(PATIENCE, || print_error(&line), work)
}

fn saying_after<R>(patience: Duration, say: impl FnOnce() + Send, work: impl FnOnce() -> R) -> R {
    let (done, waits) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if waits.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                say();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOR_EVER: Duration = Duration::from_secs(3600);

    #[test]
    fn only_slow_work_is_spoken_of() {
        let (say, said) = mpsc::channel();
        let work = || said.recv().expect("something is said while it works");
        saying_after(Duration::ZERO, move || say.send(()).unwrap(), work);
        assert_eq!(saying_after(FOR_EVER, || unreachable!("it is quick"), || 7), 7);
    }
}
