//! The variables with which the lab starts a process (docs/extend/subject-contract.md).

use crate::transport::TransportConfig;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

/// `1`: started by the lab; the process must end when its standard input closes.
pub const CONTRACT: &str = "BOOKEND_CONTRACT";
/// The process's [`Role`].
pub const ROLE: &str = "BOOKEND_ROLE";
/// Which variant of the subject: executor, event loop, driver.
pub const VARIANT: &str = "BOOKEND_VARIANT";
/// Worker threads to use.
pub const CPUS: &str = "BOOKEND_CPUS";
/// `pkg.Service/Method`.
pub const METHOD: &str = "BOOKEND_METHOD";
/// A file with the bytes of the request message, without gRPC's prefix.
pub const REQUEST_FILE: &str = "BOOKEND_REQUEST_FILE";
/// Where the server to call listens: `host:port`, or `unix:PATH`.
pub const TARGET: &str = "BOOKEND_TARGET";
/// `host:port` of the server behind the server under test.
pub const BACKEND: &str = "BOOKEND_BACKEND";
/// Connections.
pub const CONNECTIONS: &str = "BOOKEND_CONNECTIONS";
/// Calls in flight in all.
pub const CONCURRENCY: &str = "BOOKEND_CONCURRENCY";
/// `1`: every call makes and ends a connection of its own, within its latency.
pub const CONNECTION_PER_CALL: &str = "BOOKEND_CONNECTION_PER_CALL";
/// Milliseconds of calls before the window.
pub const WARMUP_MS: &str = "BOOKEND_WARMUP_MS";
/// Length of the window, milliseconds.
pub const MEASURE_MS: &str = "BOOKEND_MEASURE_MS";
/// Calls of the window, instead of its length.
pub const CALLS: &str = "BOOKEND_CALLS";
/// `1`: calls are made in laps, as commands on standard input say, instead of in a window.
pub const LAPS: &str = "BOOKEND_LAPS";
/// Deadline of one call, milliseconds.
pub const DEADLINE_MS: &str = "BOOKEND_DEADLINE_MS";
/// `1`: the process is recorded with a profiler.
pub const PROFILE: &str = "BOOKEND_PROFILE";
/// The address on which a server listens; without it the loopback of IPv4.
pub const LISTEN: &str = "BOOKEND_LISTEN";
/// What carries the connections: a [`Transport`](crate::transport::Transport).
pub const TRANSPORT: &str = "BOOKEND_TRANSPORT";
/// PEM: the authority that has signed the certificates of both ends.
pub const TLS_CA: &str = "BOOKEND_TLS_CA";
/// PEM: the certificate of the process itself.
pub const TLS_CERTIFICATE: &str = "BOOKEND_TLS_CERTIFICATE";
/// PEM: the private key of that certificate.
pub const TLS_KEY: &str = "BOOKEND_TLS_KEY";
/// Path of the Unix domain socket.
pub const UNIX_SOCKET: &str = "BOOKEND_UNIX_SOCKET";

/// What a measured process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Answers calls, and is measured.
    Server,
    /// Makes calls, and is measured.
    Client,
    /// Answers the calls of a server that is measured.
    Backend,
    /// Makes the load that measures a server.
    Instrument,
}

/// How long the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowLength {
    /// In milliseconds (`BOOKEND_MEASURE_MS`).
    Milliseconds(u64),
    /// Until that many calls have ended (`BOOKEND_CALLS`).
    Calls(u64),
    /// As long as its laps together, which a [`LapCommand`](crate::laps::LapCommand) each asks for
    /// (`BOOKEND_LAPS`).
    Laps,
}

/// All variables of the contract. `None` is a variable that is not set: the process uses its own
/// default, or does not need it in its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Started by the lab: end when standard input closes, and only then.
    pub contract: bool,
    /// What the process does.
    pub role: Role,
    /// Which variant of the subject.
    pub variant: Option<String>,
    /// Worker threads to use.
    pub cpus: Option<u32>,
    /// `pkg.Service/Method`.
    pub method: Option<String>,
    /// The file with the request message's bytes.
    pub request_file: Option<PathBuf>,
    /// Where the server to call listens: `host:port`, or `unix:PATH`.
    pub target: Option<String>,
    /// `host:port` of the server behind this one.
    pub backend: Option<String>,
    /// Connections.
    pub connections: Option<u32>,
    /// Calls in flight in all.
    pub concurrency: Option<u32>,
    /// Every call makes and ends a connection of its own, within its latency.
    pub connection_per_call: bool,
    /// Milliseconds of calls before the window.
    pub warmup_ms: Option<u64>,
    /// How long the window is.
    pub window_length: Option<WindowLength>,
    /// Deadline of one call, milliseconds.
    pub deadline_ms: Option<u64>,
    /// A profiler records the process: keep frame pointers, and write down the names of code that
    /// is compiled at run time, where the runtime has an option for that.
    pub profile: bool,
    /// The address on which a server listens; by default the loopback of IPv4, and another where
    /// calls come from other machines.
    pub listen: Option<IpAddr>,
    /// What carries the connections.
    pub transport: TransportConfig,
}

impl Environment {
    /// A process started by the lab in `role`, with everything else left open.
    pub fn of(role: Role) -> Environment {
        Environment {
            contract: true,
            role,
            variant: None,
            cpus: None,
            method: None,
            request_file: None,
            target: None,
            backend: None,
            connections: None,
            concurrency: None,
            connection_per_call: false,
            warmup_ms: None,
            window_length: None,
            deadline_ms: None,
            profile: false,
            listen: None,
            transport: TransportConfig::H2c,
        }
    }

    /// The variables for this environment, in the order of the contract's page.
    pub fn to_variables(&self) -> Vec<(&'static str, OsString)> {
        let flag = |set: bool| set.then(|| OsString::from("1"));
        let (measure_ms, calls) = match self.window_length {
            Some(WindowLength::Milliseconds(length)) => (Some(length), None),
            Some(WindowLength::Calls(count)) => (None, Some(count)),
            Some(WindowLength::Laps) | None => (None, None),
        };
        let has_laps = self.window_length == Some(WindowLength::Laps);
        let [transport, ca, certificate, key, socket] = transport_values(&self.transport);
        let all = [
            (CONTRACT, flag(self.contract)),
            (ROLE, text(Some(self.role))),
            (VARIANT, text(self.variant.as_ref())),
            (CPUS, text(self.cpus)),
            (METHOD, text(self.method.as_ref())),
            (REQUEST_FILE, self.request_file.clone().map(OsString::from)),
            (TARGET, text(self.target.as_ref())),
            (BACKEND, text(self.backend.as_ref())),
            (CONNECTIONS, text(self.connections)),
            (CONCURRENCY, text(self.concurrency)),
            (CONNECTION_PER_CALL, flag(self.connection_per_call)),
            (WARMUP_MS, text(self.warmup_ms)),
            (MEASURE_MS, text(measure_ms)),
            (CALLS, text(calls)),
            (LAPS, flag(has_laps)),
            (DEADLINE_MS, text(self.deadline_ms)),
            (PROFILE, flag(self.profile)),
            (LISTEN, text(self.listen)),
            (TRANSPORT, transport),
            (TLS_CA, ca),
            (TLS_CERTIFICATE, certificate),
            (TLS_KEY, key),
            (UNIX_SOCKET, socket),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

fn text(value: Option<impl ToString>) -> Option<OsString> {
    value.map(|value| OsString::from(value.to_string()))
}

/// The values of `BOOKEND_TRANSPORT` and of those that belong to it, in this order.
fn transport_values(transport: &TransportConfig) -> [Option<OsString>; 5] {
    let kind = text(Some(transport.kind()));
    let path = |path: &PathBuf| Some(path.clone().into_os_string());
    match transport {
        // The default, which goes without saying.
        TransportConfig::H2c => Default::default(),
        TransportConfig::Tls(files) => {
            [kind, path(&files.ca), path(&files.certificate), path(&files.key), None]
        }
        TransportConfig::Unix(socket) => [kind, None, None, None, path(socket)],
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::TlsFiles;
    use std::os::unix::ffi::OsStringExt;

    fn full(window_length: WindowLength) -> Environment {
        Environment {
            variant: Some("uvloop".to_owned()),
            cpus: Some(1),
            method: Some("helloworld.Greeter/SayHello".to_owned()),
            request_file: Some(PathBuf::from("/tmp/request.bin")),
            target: Some("127.0.0.1:43127".to_owned()),
            backend: Some("127.0.0.1:43128".to_owned()),
            connections: Some(10),
            concurrency: Some(1000),
            connection_per_call: true,
            warmup_ms: Some(0),
            window_length: Some(window_length),
            deadline_ms: Some(20_000),
            profile: true,
            listen: Some(IpAddr::from([0, 0, 0, 0])),
            ..Environment::of(Role::Client)
        }
    }

    /// What a process of that transport finds besides its role.
    fn variables_of(transport: TransportConfig) -> Vec<(&'static str, OsString)> {
        let mut variables =
            Environment { transport, ..Environment::of(Role::Server) }.to_variables();
        let common = [(CONTRACT, "1".into()), (ROLE, "server".into())];
        assert_eq!(variables.drain(..2).collect::<Vec<_>>(), common);
        variables
    }

    #[test]
    fn what_is_left_open_is_not_set() {
        let roles = [
            (Role::Server, "server"),
            (Role::Client, "client"),
            (Role::Backend, "backend"),
            (Role::Instrument, "instrument"),
        ];
        for (role, word) in roles {
            let expected = vec![(CONTRACT, OsString::from("1")), (ROLE, OsString::from(word))];
            assert_eq!(Environment::of(role).to_variables(), expected);
        }
    }

    #[test]
    fn every_variable_is_written_in_the_order_of_the_contracts_page() {
        let windows = [
            (WindowLength::Milliseconds(2000), (MEASURE_MS, "2000")),
            (WindowLength::Calls(100_000), (CALLS, "100000")),
            (WindowLength::Laps, (LAPS, "1")),
        ];
        for (window_length, window) in windows {
            let expected = [
                (CONTRACT, "1"),
                (ROLE, "client"),
                (VARIANT, "uvloop"),
                (CPUS, "1"),
                (METHOD, "helloworld.Greeter/SayHello"),
                (REQUEST_FILE, "/tmp/request.bin"),
                (TARGET, "127.0.0.1:43127"),
                (BACKEND, "127.0.0.1:43128"),
                (CONNECTIONS, "10"),
                (CONCURRENCY, "1000"),
                (CONNECTION_PER_CALL, "1"),
                (WARMUP_MS, "0"),
                window,
                (DEADLINE_MS, "20000"),
                (PROFILE, "1"),
                (LISTEN, "0.0.0.0"),
            ]
            .map(|(name, value)| (name, OsString::from(value)));
            assert_eq!(full(window_length).to_variables(), expected);
        }
    }

    #[test]
    fn a_transport_comes_with_the_files_that_it_needs() {
        let files = TlsFiles {
            ca: "/tmp/ca.pem".into(),
            certificate: "/tmp/server.pem".into(),
            key: "/tmp/server.key".into(),
        };
        assert_eq!(variables_of(TransportConfig::H2c), []);
        let tls = [
            (TRANSPORT, "tls".into()),
            (TLS_CA, "/tmp/ca.pem".into()),
            (TLS_CERTIFICATE, "/tmp/server.pem".into()),
            (TLS_KEY, "/tmp/server.key".into()),
        ];
        assert_eq!(variables_of(TransportConfig::Tls(files)), tls);
        let unix = [(TRANSPORT, "unix".into()), (UNIX_SOCKET, "/tmp/server.sock".into())];
        assert_eq!(variables_of(TransportConfig::Unix("/tmp/server.sock".into())), unix);
    }

    #[test]
    fn a_path_need_not_be_utf8() {
        let junk = || OsString::from_vec(vec![0xff, 0xfe]);
        let request_file = Some(PathBuf::from(junk()));
        let said = Environment { request_file, ..Environment::of(Role::Server) };
        assert_eq!(said.to_variables().pop(), Some((REQUEST_FILE, junk())));
    }
}
