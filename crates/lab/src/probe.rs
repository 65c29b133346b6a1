//! One verified call to a server before it is measured, and the semantics check: both made by
//! another program, because the lab knows no protocol.

use crate::cell_error::CellError;
use crate::launch::Launcher;
use crate::process::command_output::KillReason;
use crate::process::interrupt::Interrupt;
use crate::process::{Process, ProcessSpec};
use crate::subject::{CommandTemplate, Placeholders};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long the probe may take. The semantics check waits for answers that never come, but each
/// of its checks gives up by itself.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(30);

/// The probe's JSON is a page; more is not the probe's.
const TEXT_LIMIT_BYTES: usize = 1 << 20;

/// The command of a verified call to a server. Its words are those of instruments.
pub const CALL: [&str; 8] = [
    "{bookend}",
    "probe",
    "{target}",
    "--insecure{if_plaintext}",
    "--cacert={tls_ca}",
    "--call={method}",
    "--proto={proto}",
    "--binary-file={request_file}",
];

/// Probing with one command.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The command with words in braces, such as [`CALL`].
    pub command: CommandTemplate,
    /// How it is started.
    pub launcher: Launcher,
    /// CPUs that it may use: not those of the server.
    pub cpus: Vec<usize>,
}

/// What a probe found.
#[derive(Clone, Debug, PartialEq)]
pub struct Probed {
    /// Calls that it made which the server has answered, and counts as served.
    pub calls: u64,
    /// Everything that it printed.
    pub findings: serde_json::Value,
}

impl Probe {
    /// Probes the server that `words` name.
    ///
    /// # Errors
    /// The probe cannot be started, does not end, or says that the server answers wrongly.
    pub fn run(&self, words: &Placeholders, interrupt: &Interrupt) -> Result<Probed, CellError> {
        let command = words.fill(&self.command).map_err(failed)?;
        let plan = ProcessSpec {
            command: command.into_iter().map(OsString::from).collect(),
            folder: PathBuf::from("."),
            cpus: self.cpus.clone(),
            ..ProcessSpec::default()
        };
        let process = Process::start(&self.launcher, &plan, None).map_err(failed)?;
        let deadline = Instant::now() + PROBE_TIMEOUT;
        let found = process.collect(deadline, TEXT_LIMIT_BYTES, interrupt);
        if found.cut_short == Some(KillReason::Interrupted) {
            return Err(CellError::Interrupted);
        }
        if !found.succeeded() {
            return Err(failed(found.describe()));
        }
        Ok(Probed::read(&found.text))
    }
}

impl Probed {
    /// A probe that does not say how many calls it made has made one.
    fn read(text: &str) -> Probed {
        let findings: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let calls = findings
            .pointer("/call/calls_made")
            .and_then(serde_json::Value::as_u64);
        Probed {
            calls: calls.unwrap_or(1),
            findings,
        }
    }
}

fn failed(reason: impl fmt::Display) -> CellError {
    CellError::failed(format!("the verified call failed: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_counts_its_calls_or_has_made_one() {
        assert_eq!(
            Probed::read("{\"call\": {\"calls_made\": 3, \"ok\": true}}").calls,
            3
        );
        assert_eq!(Probed::read("{}").calls, 1);
        assert_eq!(Probed::read("").calls, 1);
        assert_eq!(Probed::read("hello").findings, serde_json::Value::Null);
    }

    #[test]
    fn a_call_names_only_the_files_that_there_are() {
        let words = Placeholders {
            bookend: Some("/bin/bookend".to_owned()),
            target: Some("127.0.0.1:9".to_owned()),
            method: Some("a.B/C".to_owned()),
            request_file: Some("/d.bin".to_owned()),
            ..Placeholders::default()
        };
        let filled = words.fill(&CALL.map(str::to_owned)).unwrap();
        let expected = [
            "/bin/bookend",
            "probe",
            "127.0.0.1:9",
            "--insecure",
            "--call=a.B/C",
            "--binary-file=/d.bin",
        ];
        assert_eq!(filled, expected);
    }
}
