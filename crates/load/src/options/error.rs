//! What can be wrong with the flags as a whole, each in one line that names the flag to change.

use crate::metadata::CallMetadataError;
use crate::targets::TargetError;
use bookend_io::tls::ConfigError;
use std::path::PathBuf;

/// Why the flags mean nothing. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagsError {
    /// The positional argument is missing, or not a target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// No `--call`.
    #[error("the method is missing: add --call pkg.Service/Method")]
    CallMissing,
    /// A certificate without its key, or a key without its certificate.
    #[error("{given} is of no use without {missing}: give both")]
    HalfIdentity {
        /// The flag that was given.
        given: &'static str,
        /// The one that belongs to it.
        missing: &'static str,
    },
    /// `--authority` and `--cname`, which are one name.
    #[error(
        "--authority {authority} and --cname {cname} differ: the server's certificate is for the \
         name that requests ask for, so give one of them"
    )]
    TwoNames {
        /// `--authority`
        authority: String,
        /// `--cname`
        cname: String,
    },
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] ConfigError),
    /// More connections than calls in flight.
    #[error(
        "--connections {connections} is more than --concurrency {concurrency}: some would never \
         carry a call"
    )]
    ConnectionsIdle {
        /// `--connections`
        connections: u32,
        /// `--concurrency`
        concurrency: u32,
    },
    /// Another number of connections than of calls in flight, where each call has its own.
    #[error(
        "--connections {connections} and --one-shot contradict each other: every call has a \
         connection of its own, and --concurrency {concurrency} says how many at a time"
    )]
    OneShotConnections {
        /// `--connections`
        connections: u32,
        /// `--concurrency`
        concurrency: u32,
    },
    /// More addresses than calls in flight.
    #[error(
        "{targets} addresses take a connection each, and --concurrency {concurrency} is fewer: \
         some would never get a call"
    )]
    TargetsIdle {
        /// Addresses of all targets.
        targets: u32,
        /// `--concurrency`
        concurrency: u32,
    },
    /// A zero where nothing could be done with it.
    #[error("{flag} 0 does nothing: it is at least 1")]
    Zero {
        /// The flag.
        flag: &'static str,
    },
    /// Two flags of which only one can be meant.
    #[error("{one} and {other} exclude each other: give one of them")]
    Conflict {
        /// The first.
        one: &'static str,
        /// The second.
        other: &'static str,
    },
    /// `--first-stream-id` is not the id of a client's stream.
    #[error("--first-stream-id {id} is no stream of a client: it takes odd numbers below 2^31")]
    FirstStreamId {
        /// What was given.
        id: u32,
    },
    /// Fewer threads than the blocking driver needs.
    #[error(
        "--io blocking takes a thread for each of --connections {connections}, and --threads is \
         {threads}"
    )]
    ThreadsMissing {
        /// `--threads`
        threads: u32,
        /// `--connections`
        connections: u32,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {reason}", .file.display())]
    Unreadable {
        /// The file as it was given.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The metadata cannot be sent.
    #[error(transparent)]
    Metadata(#[from] CallMetadataError),
    /// `--tags` is not a JSON object of strings.
    #[error("--tags is not a JSON object of strings: {reason}")]
    Tags {
        /// What is wrong with it.
        reason: String,
    },
}

impl FlagsError {
    pub(super) fn half_identity(given: &'static str, missing: &'static str) -> Self {
        Self::HalfIdentity { given, missing }
    }
}
