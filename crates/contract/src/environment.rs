//! The variables with which the lab starts a process (docs/extend/subject-contract.md).

use crate::transport::{TlsFiles, Transport, TransportConfig};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

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
/// Deadline of one call, milliseconds.
pub const DEADLINE_MS: &str = "BOOKEND_DEADLINE_MS";
/// `1`: the process is recorded with a profiler.
pub const PROFILE: &str = "BOOKEND_PROFILE";
/// What carries the connections: a [`Transport`].
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
    /// What carries the connections.
    pub transport: TransportConfig,
}

/// A variable of the contract that is missing or makes no sense: the fault of the process that set
/// it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} {kind}")]
pub struct VariableError {
    /// The variable's name.
    pub variable: &'static str,
    /// What is wrong with it.
    pub kind: VariableErrorKind,
}

/// What is wrong with a variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableErrorKind {
    /// It is not set, and the contract needs it.
    #[error("is not set")]
    Missing,
    /// It is not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// It is set to a value that the contract does not allow.
    #[error("is {value:?}, but must be {expected}")]
    Unexpected {
        /// The value as found.
        value: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// It contradicts this other variable; only one of them may be set.
    #[error("and {0} are both set: set one of them")]
    Contradicts(&'static str),
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
            transport: TransportConfig::H2c,
        }
    }

    /// Reads the contract's variables from all variables, such as `std::env::vars_os()`. Others are
    /// ignored; an empty one counts as not set.
    ///
    /// # Errors
    /// `BOOKEND_ROLE` is missing, or a variable has a value that the contract does not allow.
    pub fn from_variables<Name, Value>(
        variables: impl IntoIterator<Item = (Name, Value)>,
    ) -> Result<Environment, VariableError>
    where
        Name: AsRef<OsStr>,
        Value: Into<OsString>,
    {
        let found = Found::among(variables);
        Ok(Environment {
            contract: found.flag(CONTRACT)?,
            role: found.role()?,
            variant: found.text(VARIANT)?,
            cpus: found.positive(CPUS)?,
            method: found.text(METHOD)?,
            request_file: found.value(REQUEST_FILE).map(PathBuf::from),
            target: found.text(TARGET)?,
            backend: found.text(BACKEND)?,
            connections: found.positive(CONNECTIONS)?,
            concurrency: found.positive(CONCURRENCY)?,
            connection_per_call: found.flag(CONNECTION_PER_CALL)?,
            warmup_ms: found.number(WARMUP_MS)?,
            window_length: found.window_length()?,
            deadline_ms: found.number(DEADLINE_MS)?,
            profile: found.flag(PROFILE)?,
            transport: found.transport()?,
        })
    }

    /// The variables for this environment, in the order of the contract's page.
    pub fn to_variables(&self) -> Vec<(&'static str, OsString)> {
        let flag = |set: bool| set.then(|| OsString::from("1"));
        let (measure_ms, calls) = match self.window_length {
            Some(WindowLength::Milliseconds(length)) => (Some(length), None),
            Some(WindowLength::Calls(count)) => (None, Some(count)),
            None => (None, None),
        };
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
            (DEADLINE_MS, text(self.deadline_ms)),
            (PROFILE, flag(self.profile)),
            (TRANSPORT, transport),
            (TLS_CA, ca),
            (TLS_CERTIFICATE, certificate),
            (TLS_KEY, key),
            (UNIX_SOCKET, socket),
        ];
        let set = all.into_iter();
        set.filter_map(|(name, value)| Some((name, value?))).collect()
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

/// The contract's variables, as they were found.
struct Found(Vec<(OsString, OsString)>);

impl Found {
    fn among<Name: AsRef<OsStr>, Value: Into<OsString>>(
        variables: impl IntoIterator<Item = (Name, Value)>,
    ) -> Found {
        let ours = variables
            .into_iter()
            .filter(|(name, _)| name.as_ref().as_encoded_bytes().starts_with(b"BOOKEND_"))
            .map(|(name, value)| (name.as_ref().to_owned(), value.into()))
            .filter(|(_, value)| !value.is_empty());
        Found(ours.collect())
    }

    fn value(&self, variable: &str) -> Option<&OsString> {
        let mut pairs = self.0.iter();
        pairs.find(|(name, _)| name == variable).map(|(_, value)| value)
    }

    fn text(&self, variable: &'static str) -> Result<Option<String>, VariableError> {
        let Some(value) = self.value(variable) else {
            return Ok(None);
        };
        match value.to_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err(VariableErrorKind::NotUtf8.of(variable)),
        }
    }

    fn parsed<T: FromStr>(
        &self,
        variable: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, VariableError> {
        let Some(value) = self.text(variable)? else {
            return Ok(None);
        };
        match value.parse() {
            Ok(parsed) => Ok(Some(parsed)),
            Err(_) => Err(VariableErrorKind::Unexpected { value, expected }.of(variable)),
        }
    }

    fn number(&self, variable: &'static str) -> Result<Option<u64>, VariableError> {
        self.parsed(variable, "a whole number")
    }

    fn positive(&self, variable: &'static str) -> Result<Option<u32>, VariableError> {
        let expected = "a whole number from 1";
        let number = self.parsed::<std::num::NonZeroU32>(variable, expected)?;
        Ok(number.map(std::num::NonZeroU32::get))
    }

    fn flag(&self, variable: &'static str) -> Result<bool, VariableError> {
        match self.text(variable)?.as_deref() {
            None | Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(value) => {
                Err(VariableErrorKind::Unexpected { value: value.to_owned(), expected: "0 or 1" }
                    .of(variable))
            }
        }
    }

    fn role(&self) -> Result<Role, VariableError> {
        let role = self.parsed(ROLE, "server, client, backend or instrument")?;
        role.ok_or(VariableErrorKind::Missing.of(ROLE))
    }

    fn transport(&self) -> Result<TransportConfig, VariableError> {
        let kind = self.parsed(TRANSPORT, "h2c, tls or unix")?;
        Ok(match kind.unwrap_or_default() {
            Transport::H2c => TransportConfig::H2c,
            Transport::Tls => TransportConfig::Tls(TlsFiles {
                ca: self.path(TLS_CA)?,
                certificate: self.path(TLS_CERTIFICATE)?,
                key: self.path(TLS_KEY)?,
            }),
            Transport::Unix => TransportConfig::Unix(self.path(UNIX_SOCKET)?),
        })
    }

    /// A path that the transport requires.
    fn path(&self, variable: &'static str) -> Result<PathBuf, VariableError> {
        let value = self.value(variable).map(PathBuf::from);
        value.ok_or(VariableErrorKind::Missing.of(variable))
    }

    fn window_length(&self) -> Result<Option<WindowLength>, VariableError> {
        match (self.number(MEASURE_MS)?, self.number(CALLS)?) {
            (Some(_), Some(_)) => Err(VariableErrorKind::Contradicts(MEASURE_MS).of(CALLS)),
            (Some(length), None) => Ok(Some(WindowLength::Milliseconds(length))),
            (None, Some(count)) => Ok(Some(WindowLength::Calls(count))),
            (None, None) => Ok(None),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Role::Server => "server",
            Role::Client => "client",
            Role::Backend => "backend",
            Role::Instrument => "instrument",
        })
    }
}

/// The word is not one of the four roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a role is server, client, backend or instrument")]
pub struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(word: &str) -> Result<Role, UnknownRole> {
        match word {
            "server" => Ok(Role::Server),
            "client" => Ok(Role::Client),
            "backend" => Ok(Role::Backend),
            "instrument" => Ok(Role::Instrument),
            _ => Err(UnknownRole),
        }
    }
}

impl VariableErrorKind {
    fn of(self, variable: &'static str) -> VariableError {
        VariableError { variable, kind: self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            ..Environment::of(Role::Client)
        }
    }

    fn error_of(variables: &[(&'static str, &str)]) -> VariableError {
        let role = [(ROLE, "server")];
        let all = role.iter().chain(variables).copied();
        Environment::from_variables(all).unwrap_err()
    }

    #[test]
    fn what_is_written_into_variables_is_read_back() {
        for role in [Role::Server, Role::Client, Role::Backend, Role::Instrument] {
            let sparse = Environment::of(role);
            assert_eq!(Environment::from_variables(sparse.to_variables()), Ok(sparse));
        }
        for window_length in [WindowLength::Milliseconds(2000), WindowLength::Calls(100_000)] {
            let full = full(window_length);
            assert_eq!(full.to_variables().len(), 15);
            assert_eq!(Environment::from_variables(full.to_variables()), Ok(full));
        }
    }

    #[test]
    fn a_transport_comes_with_the_files_that_it_needs() {
        let files = TlsFiles {
            ca: "/tmp/ca.pem".into(),
            certificate: "/tmp/server.pem".into(),
            key: "/tmp/server.key".into(),
        };
        let unix = TransportConfig::Unix("/tmp/server.sock".into());
        for (transport, variables) in
            [(TransportConfig::H2c, 2), (TransportConfig::Tls(files), 6), (unix, 4)]
        {
            let said = Environment { transport, ..Environment::of(Role::Server) };
            assert_eq!(said.to_variables().len(), variables);
            assert_eq!(Environment::from_variables(said.to_variables()), Ok(said));
        }
        let plain = [(ROLE, "server"), (TRANSPORT, "h2c"), (TLS_CA, "/tmp/ca.pem")];
        let read = Environment::from_variables(plain).unwrap();
        assert_eq!(read.transport, TransportConfig::H2c);
    }

    #[test]
    fn a_transport_without_its_files_names_the_first_that_is_missing() {
        assert_eq!(error_of(&[(TRANSPORT, "quic")]).variable, TRANSPORT);
        assert_eq!(error_of(&[(TRANSPORT, "tls")]).variable, TLS_CA);
        let without_key = [(TRANSPORT, "tls"), (TLS_CA, "/ca"), (TLS_CERTIFICATE, "/own")];
        assert_eq!(error_of(&without_key).variable, TLS_KEY);
        let error = error_of(&[(TRANSPORT, "unix")]);
        assert_eq!(error.to_string(), "BOOKEND_UNIX_SOCKET is not set");
    }

    #[test]
    fn other_variables_and_empty_ones_do_not_matter() {
        let variables = [("PATH", "/bin"), (ROLE, "server"), (CPUS, ""), ("BOOKEND_NEW", "1")];
        let read = Environment::from_variables(variables).unwrap();
        let expected = Environment { contract: false, ..Environment::of(Role::Server) };
        assert_eq!(read, expected);
    }

    #[test]
    fn an_error_names_its_variable() {
        let nothing: [(&str, &str); 0] = [];
        let error = Environment::from_variables(nothing).unwrap_err();
        assert_eq!(error.to_string(), "BOOKEND_ROLE is not set");
        assert_eq!(error_of(&[(CPUS, "0")]).variable, CPUS);
        assert_eq!(error_of(&[(CONNECTIONS, "many")]).variable, CONNECTIONS);
        assert_eq!(error_of(&[(WARMUP_MS, "-1")]).variable, WARMUP_MS);
        assert_eq!(error_of(&[(CONTRACT, "yes")]).variable, CONTRACT);
        let both = error_of(&[(MEASURE_MS, "1"), (CALLS, "1")]);
        assert_eq!(both.kind, VariableErrorKind::Contradicts(MEASURE_MS));
        let role = Environment::from_variables([(ROLE, "observer")]).unwrap_err();
        assert!(role.to_string().contains("\"observer\""), "{role}");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_an_error_but_for_a_path() {
        let junk = || OsString::from_vec(vec![0xff, 0xfe]);
        let variables = |name| [(ROLE, OsString::from("server")), (name, junk())];
        let read = Environment::from_variables(variables(REQUEST_FILE)).unwrap();
        assert_eq!(read.request_file, Some(PathBuf::from(junk())));
        let error = Environment::from_variables(variables(METHOD)).unwrap_err();
        assert_eq!(error.kind, VariableErrorKind::NotUtf8);
    }
}
