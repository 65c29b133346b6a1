//! One process that is to be started: its command line, its variables, and where it runs.
//!
//! A value reaches a process in two ways: a subject by the contract's variables, any program by the
//! words in braces of its command line. Both are taken from one [`Environment`].

use bookend_contract::environment::{Environment, Role, WindowLength};
use bookend_contract::lines::LINE_LIMIT_BYTES;
use bookend_contract::transport::{TlsFiles, TransportConfig};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A process that is to be started.
#[derive(Clone, Debug)]
pub struct Invocation<'a> {
    /// The program and its arguments. Words in braces stand for values of this run.
    pub command: &'a [String],
    /// The working directory.
    pub folder: &'a Path,
    /// CPUs to be pinned to; empty: those of the lab.
    pub cpus: Vec<usize>,
    /// What variables and words say alike.
    pub environment: Environment,
    /// Variables in addition, of which the contract knows nothing.
    pub more_variables: Vec<(OsString, OsString)>,
    /// What only words name: `host:port` for a URI, whatever carries the connection.
    pub authority: Option<String>,
    /// What only words name: the request in the forms that instruments take.
    pub request: RequestFiles,
    /// A longer line of standard output is cut off.
    pub line_limit_bytes: usize,
}

/// The request of every call, in the forms that instruments take. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFiles {
    /// The service definition.
    pub proto: Option<PathBuf>,
    /// The message as protobuf JSON.
    pub json: Option<PathBuf>,
    /// The message's bytes.
    pub bytes: Option<PathBuf>,
    /// The same with the five bytes of a gRPC message before it.
    pub framed: Option<PathBuf>,
}

/// What a word in braces stands for in an invocation.
type WordValue = fn(&Invocation<'_>) -> Option<String>;

/// The words that may stand in braces, and what each stands for.
pub const WORDS: [(&str, WordValue); 25] = [
    // The same for all processes: the spawner knows it.
    ("bookend", |_| None),
    ("target", |run| run.environment.target.clone()),
    ("method", |run| run.environment.method.clone()),
    ("proto", |run| path(run.request.proto.as_ref())),
    ("data_file", |run| path(run.request.json.as_ref())),
    ("request_file", |run| path(run.request.bytes.as_ref())),
    ("framed_request_file", |run| path(run.request.framed.as_ref())),
    ("connections", |run| text(run.environment.connections)),
    ("concurrency", |run| text(run.environment.concurrency)),
    ("streams_per_connection", |run| text(run.streams_per_connection())),
    ("cpus", |run| text(run.environment.cpus)),
    ("warmup_ms", |run| text(run.environment.warmup_ms)),
    ("measure_ms", |run| text(run.measure_ms())),
    ("total_ms", |run| text(run.total_ms())),
    ("calls", |run| text(run.calls())),
    ("deadline_ms", |run| text(run.environment.deadline_ms)),
    ("authority", |run| run.authority.clone()),
    ("scheme", |run| Some(if run.tls().is_some() { "https" } else { "http" }.to_owned())),
    ("tls_ca", |run| path(run.tls().map(|files| &files.ca))),
    ("tls_certificate", |run| path(run.tls().map(|files| &files.certificate))),
    ("tls_key", |run| path(run.tls().map(|files| &files.key))),
    ("unix_socket", |run| path(run.socket())),
    ("if_plaintext", |run| condition(run.tls().is_none())),
    ("if_tcp", |run| condition(run.socket().is_none())),
    ("if_per_call", |run| condition(run.environment.connection_per_call)),
];

impl<'a> Invocation<'a> {
    /// A subject, which gets the contract's variables.
    pub fn of_subject(command: &'a [String], folder: &'a Path, environment: Environment) -> Self {
        Invocation {
            command,
            folder,
            cpus: Vec::new(),
            environment,
            more_variables: Vec::new(),
            authority: None,
            request: RequestFiles::default(),
            line_limit_bytes: LINE_LIMIT_BYTES,
        }
    }

    /// A tool of the lab, which has nothing but its command line.
    pub fn of_tool(command: &'a [String], folder: &'a Path) -> Self {
        let environment = Environment { contract: false, ..Environment::of(Role::Client) };
        Invocation::of_subject(command, folder, environment)
    }

    /// The variables that are set for it. A process that is not under the contract gets none of
    /// the contract's.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let more = self.more_variables.iter().cloned();
        if !self.environment.contract {
            return more.collect();
        }
        let own = self.environment.to_variables();
        own.into_iter().map(|(name, value)| (name.into(), value)).chain(more).collect()
    }

    /// What a word in braces stands for; `None` where it has no value in this run.
    pub fn value(&self, word: &str) -> Option<String> {
        let (_, value) = WORDS.iter().find(|(known, _)| *known == word)?;
        value(self)
    }

    /// What h2load counts.
    fn streams_per_connection(&self) -> Option<u32> {
        let streams = self.environment.concurrency?;
        Some(streams.div_ceil(self.environment.connections?.max(1)))
    }

    fn measure_ms(&self) -> Option<u64> {
        match self.environment.window_length? {
            WindowLength::Milliseconds(length) => Some(length),
            WindowLength::Calls(_) | WindowLength::Laps => None,
        }
    }

    fn calls(&self) -> Option<u64> {
        match self.environment.window_length? {
            WindowLength::Calls(count) => Some(count),
            WindowLength::Milliseconds(_) | WindowLength::Laps => None,
        }
    }

    /// Warm-up and window together, for instruments that have no warm-up.
    fn total_ms(&self) -> Option<u64> {
        let warmup = self.environment.warmup_ms?;
        Some(self.measure_ms()?.saturating_add(warmup))
    }

    fn tls(&self) -> Option<&TlsFiles> {
        match &self.environment.transport {
            TransportConfig::Tls(files) => Some(files),
            TransportConfig::H2c | TransportConfig::Unix(_) => None,
        }
    }

    fn socket(&self) -> Option<&PathBuf> {
        match &self.environment.transport {
            TransportConfig::Unix(socket) => Some(socket),
            TransportConfig::H2c | TransportConfig::Tls(_) => None,
        }
    }
}

fn text(value: Option<impl ToString>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn path(path: Option<&PathBuf>) -> Option<String> {
    text(path.map(|path| path.display()))
}

/// A word that stands for nothing: its argument is there where the condition holds.
fn condition(holds: bool) -> Option<String> {
    holds.then(String::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::template::fill;

    fn words(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|&word| word.to_owned()).collect()
    }

    fn tls() -> TransportConfig {
        TransportConfig::Tls(TlsFiles {
            ca: "/ca.pem".into(),
            certificate: "/own.pem".into(),
            key: "/own.key".into(),
        })
    }

    fn over(transport: TransportConfig) -> Invocation<'static> {
        let environment = Environment { transport, ..Environment::of(Role::Instrument) };
        Invocation {
            authority: Some("localhost".to_owned()),
            ..Invocation::of_subject(&[], Path::new("."), environment)
        }
    }

    #[test]
    fn an_argument_can_depend_on_what_carries_the_connection() {
        let template = words(&[
            "load",
            "--insecure{if_plaintext}",
            "--cacert={tls_ca}",
            "--base-uri=unix:{unix_socket}",
            "--port=0{if_tcp}",
            "--one-shot{if_per_call}",
            "{scheme}://{authority}/",
        ]);
        let filled = |transport, connection_per_call| {
            let mut run = over(transport);
            run.environment.connection_per_call = connection_per_call;
            fill(&template, |word| run.value(word)).expect("every word exists")[1..].to_vec()
        };
        let plain = ["--insecure", "--port=0", "http://localhost/"];
        assert_eq!(filled(TransportConfig::H2c, false), words(&plain));
        let secured = ["--cacert=/ca.pem", "--port=0", "--one-shot", "https://localhost/"];
        assert_eq!(filled(tls(), true), words(&secured));
        let local = ["--insecure", "--base-uri=unix:/s.sock", "http://localhost/"];
        let unix = TransportConfig::Unix("/s.sock".into());
        assert_eq!(filled(unix, false), words(&local));
    }

    #[test]
    fn every_word_can_be_filled() {
        let told = |transport, window_length| {
            let mut run = over(transport);
            run.environment = Environment {
                cpus: Some(1),
                method: Some("a.B/C".to_owned()),
                target: Some("127.0.0.1:9".to_owned()),
                connections: Some(2),
                concurrency: Some(5),
                connection_per_call: true,
                warmup_ms: Some(10),
                window_length: Some(window_length),
                deadline_ms: Some(7),
                ..run.environment
            };
            let file = || Some(PathBuf::from("/file"));
            run.request =
                RequestFiles { proto: file(), json: file(), bytes: file(), framed: file() };
            run
        };
        let unix = TransportConfig::Unix("/s.sock".into());
        let runs =
            [told(tls(), WindowLength::Milliseconds(2000)), told(unix, WindowLength::Calls(30))];
        let [timed, counted] = &runs;
        for (word, _) in WORDS.iter().filter(|(word, _)| *word != "bookend") {
            let is_filled = runs.iter().any(|run| run.value(word).is_some());
            assert!(is_filled, "{word}");
        }
        let value = |run: &Invocation<'_>, word| run.value(word);
        assert_eq!(value(timed, "streams_per_connection").as_deref(), Some("3"));
        assert_eq!(value(timed, "total_ms").as_deref(), Some("2010"));
        assert_eq!(value(timed, "calls"), None);
        assert_eq!(value(counted, "calls").as_deref(), Some("30"));
        assert_eq!(value(counted, "total_ms"), None);
    }

    #[test]
    fn a_tool_gets_no_variables_and_a_subject_all() {
        let tool = Invocation::of_tool(&[], Path::new("."));
        assert_eq!(tool.variables(), []);
        let names: Vec<OsString> =
            over(tls()).variables().into_iter().map(|(name, _)| name).collect();
        assert!(names.contains(&OsString::from("BOOKEND_TLS_KEY")));
    }
}
