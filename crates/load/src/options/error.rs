//! What can be wrong with the flags as a whole, each in one line that names the flag to change.

use crate::metadata::MetadataError;
use crate::targets::TargetError;
use bookend_io::tls::ConfigError;
use std::fmt;
use std::path::PathBuf;

/// Why the flags mean nothing. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionsError {
    /// The positional argument is missing, or no target.
    Target(TargetError),
    /// No `--call`.
    CallMissing,
    /// A certificate without its key, or a key without its certificate.
    HalfIdentity {
        /// The flag that was given.
        given: &'static str,
        /// The one that belongs to it.
        missing: &'static str,
    },
    /// `--authority` and `--cname`, which are one name.
    TwoNames {
        /// `--authority`
        authority: String,
        /// `--cname`
        cname: String,
    },
    /// TLS cannot be set up.
    Tls(ConfigError),
    /// More connections than calls in flight.
    ConnectionsIdle {
        /// `--connections`
        connections: u32,
        /// `--concurrency`
        concurrency: u32,
    },
    /// Another number of connections than of calls in flight, where each call has its own.
    OneShotConnections {
        /// `--connections`
        connections: u32,
        /// `--concurrency`
        concurrency: u32,
    },
    /// More addresses than calls in flight.
    TargetsIdle {
        /// Addresses of all targets.
        targets: u32,
        /// `--concurrency`
        concurrency: u32,
    },
    /// A zero where nothing could be done with it.
    Zero {
        /// The flag.
        flag: &'static str,
    },
    /// Two flags of which only one can be meant.
    Conflict {
        /// The first.
        one: &'static str,
        /// The second.
        other: &'static str,
    },
    /// `--first-stream-id` is no id of a client's stream.
    FirstStreamId {
        /// What was given.
        id: u32,
    },
    /// Fewer threads than the blocking driver needs.
    ThreadsMissing {
        /// `--threads`
        threads: u32,
        /// `--connections`
        connections: u32,
    },
    /// A file that cannot be read.
    Unreadable {
        /// The file as it was given.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The metadata cannot be sent.
    Metadata(MetadataError),
    /// `--tags` is not a JSON object of strings.
    Tags {
        /// What is wrong with it.
        reason: String,
    },
}

impl fmt::Display for OptionsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(error) => write!(formatter, "{error}"),
            Self::CallMissing => {
                write!(
                    formatter,
                    "the method is missing: add --call pkg.Service/Method"
                )
            }
            Self::HalfIdentity { given, missing } => {
                write!(
                    formatter,
                    "{given} is of no use without {missing}: give both"
                )
            }
            Self::TwoNames { authority, cname } => write!(
                formatter,
                "--authority {authority} and --cname {cname} differ: the server's certificate is for \
                 the name that requests ask for, so give one of them"
            ),
            Self::Tls(error) => write!(formatter, "{error}"),
            Self::ConnectionsIdle { .. }
            | Self::OneShotConnections { .. }
            | Self::TargetsIdle { .. } => self.fmt_counts(formatter),
            Self::Zero { flag } => write!(formatter, "{flag} 0 does nothing: it is at least 1"),
            Self::Conflict { one, other } => {
                write!(
                    formatter,
                    "{one} and {other} exclude each other: give one of them"
                )
            }
            Self::FirstStreamId { id } => write!(
                formatter,
                "--first-stream-id {id} is no stream of a client: it takes odd numbers below 2^31"
            ),
            Self::ThreadsMissing {
                threads,
                connections,
            } => write!(
                formatter,
                "--io blocking takes a thread for each of --connections {connections}, and \
                 --threads is {threads}"
            ),
            Self::Unreadable { file, reason } => {
                write!(formatter, "cannot read {}: {reason}", file.display())
            }
            Self::Metadata(error) => write!(formatter, "{error}"),
            Self::Tags { reason } => {
                write!(
                    formatter,
                    "--tags is not a JSON object of strings: {reason}"
                )
            }
        }
    }
}

impl OptionsError {
    /// Numbers of connections and calls that do not go together.
    fn fmt_counts(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectionsIdle {
                connections,
                concurrency,
            } => write!(
                formatter,
                "--connections {connections} is more than --concurrency {concurrency}: some would \
                 never carry a call"
            ),
            Self::OneShotConnections {
                connections,
                concurrency,
            } => write!(
                formatter,
                "--connections {connections} and --one-shot contradict each other: every call has \
                 a connection of its own, and --concurrency {concurrency} says how many at a time"
            ),
            Self::TargetsIdle {
                targets,
                concurrency,
            } => write!(
                formatter,
                "{targets} addresses take a connection each, and --concurrency {concurrency} is \
                 fewer: some would never get a call"
            ),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for OptionsError {}
