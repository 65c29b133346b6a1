//! Subjects and instruments: `subjects/NAME/subject.toml` as checked values.

mod declared;
pub mod template;

pub use template::TemplateError;

use bookend_contract::environment::Role;
use bookend_contract::transport::Transport;
use bookend_results::declaration::nearest_word;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// The file in a subject's folder that declares it.
pub const SUBJECT_FILE: &str = "subject.toml";

/// How long a server may take to say `ready`: ten seconds is what process supervisors commonly
/// grant, and no compiled server here needs one.
pub const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// The same on a Java virtual machine, which loads and compiles its classes first.
pub const READY_TIMEOUT_JVM: Duration = Duration::from_secs(30);

/// Languages that run on a Java virtual machine, in lower case.
const JVM_LANGUAGES: [&str; 4] = ["java", "kotlin", "scala", "clojure"];

/// A program, or an array of strings that starts one: the program and its arguments.
pub type CommandTemplate = Vec<String>;

/// A system under test or an instrument: one folder, any language.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name of the subject, which is the name of its folder: `rust-tonic`.
    pub name: String,
    /// Programming language, as its community writes it: `Rust`, `C++`.
    pub language: String,
    /// One line on what it is.
    pub description: String,
    /// The folder, to which all relative paths refer.
    pub folder: PathBuf,
    /// At least one; the first is the default.
    pub variants: Vec<Variant>,
    /// Programs that must be installed before it can be built or run.
    pub dependencies: Vec<Dependency>,
    /// Files and folders outside the subject's own that its build reads.
    pub inputs: Vec<PathBuf>,
}

/// One way to build and start a subject: an executor, an event loop, a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name, given to the process in `BOOKEND_VARIANT`.
    pub name: String,
    /// Prints library and version on one line; the report's receipt.
    pub version: CommandTemplate,
    /// Commands that build it, in order. Empty where nothing is built.
    pub build: Vec<CommandTemplate>,
    /// Starts it. For an instrument a template; see [`template`].
    pub run: CommandTemplate,
    /// Starts an instrument for a fixed number of calls, where `run` cannot: a template too.
    pub run_calls: Option<CommandTemplate>,
    /// How an instrument says what it measured.
    pub output: InstrumentOutput,
    /// Whether it makes calls in laps, when it is told to.
    pub laps: bool,
    /// What it can be started as.
    pub roles: Vec<Role>,
    /// What it serves or calls, as `pkg.Service/Method`. Empty: whatever the suite asks for.
    pub methods: Vec<String>,
    /// What it speaks.
    pub protocol: Protocol,
    /// The backend that it calls, where the suite does not name another.
    pub needs_backend: Option<String>,
    /// What may carry its connections. Never empty.
    pub transports: Vec<Transport>,
    /// What it does while there is nothing to do.
    pub idle: IdleStrategy,
    /// Notes that the lab makes of its standard error: name, and text of the lines that count.
    pub log_notes: BTreeMap<String, String>,
}

/// What a process does while there is nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdleStrategy {
    /// The kernel wakes it up.
    #[default]
    Sleep,
    /// It looks again and again. Then its CPU time says nothing, and the wake-ups that it saves
    /// are not its peer's merit.
    Spin,
}

/// What a server and its callers speak with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// gRPC over HTTP/2, whatever carries it: the lab can make a call itself.
    #[default]
    Grpc,
    /// Thrift. The lab makes no call of its own: the caller has to check every reply.
    Thrift,
    /// HTTP/2 without gRPC's status. The lab makes no call of its own, and the caller reads none.
    Http2,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Grpc => "gRPC",
            Self::Thrift => "Thrift",
            Self::Http2 => "HTTP/2 without gRPC",
        })
    }
}

impl Variant {
    /// Whether it can be started as `role`.
    pub fn has_role(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// The command that makes `calls` calls, or as many as a window takes. `None`: it lacks one,
    /// because its `run` says on its command line how long the window is.
    pub fn run_command(&self, calls: Option<u64>) -> Option<&CommandTemplate> {
        let is_told = |word| template::has_word(&self.run, word);
        let is_told_a_length = is_told("measure_ms") || is_told("total_ms");
        match (calls, &self.run_calls) {
            (Some(_), Some(command)) => Some(command),
            (Some(_), None) if is_told_a_length => None,
            _ => Some(&self.run),
        }
    }

    /// Whether it can make a connection for each call. A program that takes the number of
    /// connections from its command line does not read variables, so its command line must ask for
    /// that too.
    pub fn can_connect_per_call(&self) -> bool {
        let is_told = |word| template::has_word(&self.run, word);
        !is_told("connections") || is_told("if_per_call")
    }

    /// Whether `transport` can carry its connections.
    pub fn supports_transport(&self, transport: Transport) -> bool {
        self.transports.contains(&transport)
    }

    /// Whether it can call `server`. h2load reads no status, so it misses none either.
    pub fn understands(&self, server: &Variant) -> bool {
        let reads_status = self.output != InstrumentOutput::H2loadText;
        self.protocol == server.protocol || (server.protocol == Protocol::Http2 && !reads_status)
    }

    /// Whether it serves or calls `method`. Methods of another protocol than gRPC have names of
    /// their own, which the suite does not know.
    pub fn supports_method(&self, method: &str) -> bool {
        let names_any = self.methods.is_empty() || self.protocol != Protocol::Grpc;
        names_any || self.methods.iter().any(|known| known == method)
    }
}

/// How an instrument says what it measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstrumentOutput {
    /// The lines of the contract, `report JSON` among them where it has one.
    #[default]
    Lines,
    /// One JSON document in the shape of ghz on standard output.
    GhzJson,
    /// The text of h2load on standard output. It has no percentiles.
    H2loadText,
}

/// A program that must be installed.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// Prints its version; run to see whether it is there.
    pub command: CommandTemplate,
    /// What its output must contain to be new enough. `None`: anything will do.
    pub pattern: Option<Regex>,
    /// The command or address that installs it, printed when it is missing.
    pub install: String,
}

impl Dependency {
    /// Whether the command's output says that the right version is there.
    pub fn accepts(&self, output: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(output))
    }
}

impl Subject {
    /// The variant that runs when none is named.
    pub fn default_variant(&self) -> &Variant {
        // Parsing refuses a subject that cannot be run, so there is always a first.
        &self.variants[0]
    }

    /// The variant of that name; the default one for `None`.
    ///
    /// # Errors
    /// A sentence that names the nearest variant and all others.
    pub fn variant(&self, name: Option<&str>) -> Result<&Variant, UnknownVariant> {
        let Some(name) = name else {
            return Ok(self.default_variant());
        };
        self.variants.iter().find(|variant| variant.name == name).ok_or_else(|| UnknownVariant {
            subject: self.name.clone(),
            variant: name.to_owned(),
            known: self.variants.iter().map(|v| v.name.clone()).collect(),
        })
    }

    /// What a row calls this subject with that variant: the bare name for the default.
    pub fn row_name(&self, variant: &Variant) -> String {
        if variant.name == self.default_variant().name {
            self.name.clone()
        } else {
            format!("{}/{}", self.name, variant.name)
        }
    }

    /// Whether some variant can be started as `role`.
    pub fn has_role(&self, role: Role) -> bool {
        self.variants.iter().any(|variant| variant.has_role(role))
    }

    /// How long the lab waits for `ready`.
    pub fn ready_timeout(&self) -> Duration {
        let language = self.language.to_lowercase();
        if JVM_LANGUAGES.contains(&language.as_str()) { READY_TIMEOUT_JVM } else { READY_TIMEOUT }
    }

    /// The program that `command` names: a path is taken from the subject's folder, a bare word
    /// is left for the search path.
    pub fn program(&self, command: &[String]) -> PathBuf {
        let program = command.first().map_or("", String::as_str);
        if program.contains('/') { self.folder.join(program) } else { PathBuf::from(program) }
    }
}

/// A variant was asked for that the subject does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{subject} has no variant `{variant}`{}", suggestion(variant, known))]
pub struct UnknownVariant {
    /// Of which subject.
    pub subject: String,
    /// What was asked for.
    pub variant: String,
    /// What there is.
    pub known: Vec<String>,
}

fn suggestion(variant: &str, known: &[String]) -> String {
    match nearest_word(variant, known.iter().map(String::as_str)) {
        Some(word) => format!(", did you mean `{word}`?"),
        None => format!(", only: {}", known.join(", ")),
    }
}
