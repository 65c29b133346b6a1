//! One verified call to a server before it is measured, and the semantics check: both made by
//! another program, because the lab knows no protocol.

use crate::cell_error::CellError;
use crate::invocation::Invocation;
use crate::spawner::Spawner;
use std::fmt;
use std::time::Duration;

/// How long the probe may take. The semantics check waits for answers that never come, but each
/// of its checks gives up by itself.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(30);

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

/// What a probe found.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeOutput {
    /// Calls that it made which the server has answered, and counts as served.
    pub calls: u64,
    /// Everything that it printed.
    pub findings: serde_json::Value,
}

/// Probes the server that `invocation` names.
///
/// # Errors
/// The probe cannot be started, does not end, or says that the server answers wrongly.
pub fn run(spawner: &Spawner, invocation: &Invocation<'_>) -> Result<ProbeOutput, CellError> {
    let output =
        spawner.output(invocation, PROBE_TIMEOUT).map_err(|error| error.into_cell_error(failed))?;
    if output.succeeded() {
        Ok(ProbeOutput::read(&output.text))
    } else {
        Err(failed(output.describe()))
    }
}

impl ProbeOutput {
    /// A probe that does not say how many calls it made has made one.
    fn read(text: &str) -> ProbeOutput {
        let findings: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let calls = findings.pointer("/call/calls_made").and_then(serde_json::Value::as_u64);
        ProbeOutput { calls: calls.unwrap_or(1), findings }
    }
}

fn failed(reason: impl fmt::Display) -> CellError {
    CellError::failed(format!("the verified call failed: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::RequestFiles;
    use crate::launch::Launcher;
    use crate::process::interrupt::Interrupt;
    use std::path::Path;

    #[test]
    fn a_probe_counts_its_calls_or_has_made_one() {
        assert_eq!(ProbeOutput::read("{\"call\": {\"calls_made\": 3, \"ok\": true}}").calls, 3);
        assert_eq!(ProbeOutput::read("{}").calls, 1);
        assert_eq!(ProbeOutput::read("").calls, 1);
        assert_eq!(ProbeOutput::read("hello").findings, serde_json::Value::Null);
    }

    #[test]
    fn a_call_names_only_the_files_that_there_are() {
        let call = CALL.map(str::to_owned);
        let mut invocation = Invocation::of_tool(&call, Path::new("."));
        invocation.environment.target = Some("127.0.0.1:9".to_owned());
        invocation.environment.method = Some("a.B/C".to_owned());
        invocation.request =
            RequestFiles { bytes: Some("/d.bin".into()), ..RequestFiles::default() };
        let spawner = Spawner {
            launcher: Launcher::new("launcher".into(), vec![]),
            bookend: "/bin/bookend".into(),
            interrupt: Interrupt::new(),
        };
        let expected = [
            "/bin/bookend",
            "probe",
            "127.0.0.1:9",
            "--insecure",
            "--call=a.B/C",
            "--binary-file=/d.bin",
        ];
        assert_eq!(spawner.command_line(&invocation).unwrap(), expected);
    }
}
