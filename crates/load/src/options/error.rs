//! What can be wrong with the flags as a whole, each in one line that names the flag to change.

use crate::plan::pacing::PacingError;
use bookend_client::targets::TargetError;
use bookend_io::tls::ConfigError;
use bookend_payload::error_text::Unreadable;
use bookend_payload::metadata::{CallMetadataError, NotStrings};
use bookend_payload::thrift::ThriftError;

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
    #[error("{0} is of no use without {1}: give both")]
    HalfIdentity(&'static str, &'static str),
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
    #[error("{}", tls_text(.0))]
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
    /// More generators than connections.
    #[error(
        "{generators} agents have {connections} connections to share, and each needs one: give \
         --connections {generators} or more"
    )]
    GeneratorsIdle {
        /// `--agents`
        generators: u32,
        /// `--connections`
        connections: u32,
    },
    /// A zero where nothing could be done with it.
    #[error("{0} 0 does nothing: it is at least 1")]
    Zero(&'static str),
    /// No fewer calls are left out than there are.
    #[error("--skipFirst {skipped} leaves none of the {calls} calls of --total: give fewer")]
    AllSkipped {
        /// `--skipFirst`
        skipped: u64,
        /// `--total`
        calls: u64,
    },
    /// Several messages for one call of a method that takes one.
    #[error(
        "{0} takes one message a call, and there are {1}: bookend load sends them in turn, \
         bookend probe makes one call"
    )]
    ProbeMessages(String, usize),
    /// A connection for each call of a method with streams.
    #[error("--one-shot is for unary methods, and {0} is a streaming one")]
    OneShotStreaming(String),
    /// A request message that is larger than the user allows.
    #[error("a request message has {bytes} bytes: --max-send-message-size allows {limit_bytes}")]
    MessageTooLarge {
        /// Its size.
        bytes: usize,
        /// `--max-send-message-size`
        limit_bytes: u64,
    },
    /// Two flags of which only one can be meant.
    #[error("{0} and {1} exclude each other: give one of them")]
    Conflict(&'static str, &'static str),
    /// The name of a file where what is in it belongs.
    #[error("{flag} {file} is the name of a file: {file_flag} {file} reads it")]
    FileAsText {
        /// The flag that takes text.
        flag: &'static str,
        /// The flag that takes a file.
        file_flag: &'static str,
        /// The file.
        file: String,
    },
    /// `--first-stream-id` is not the id of a client's stream.
    #[error("--first-stream-id {0} is no stream of a client: it takes odd numbers below 2^31")]
    FirstStreamId(u32),
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
    /// More threads than calls in flight while a rate says when calls are due.
    #[error(
        "--concurrency-schedule goes down to {calls} and there are {threads} threads, each with \
         its share of the rate: some could make no call; add --io epoll, or fewer --threads"
    )]
    ThreadsIdle {
        /// The worker threads.
        threads: u32,
        /// The fewest calls that may be in flight.
        calls: u32,
    },
    /// The flags that say when calls are made mean nothing.
    #[error(transparent)]
    Pacing(#[from] PacingError),
    /// The flags mean nothing to Thrift.
    #[error(transparent)]
    Thrift(#[from] ThriftError),
    /// A file that cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The metadata cannot be sent.
    #[error(transparent)]
    Metadata(#[from] CallMetadataError),
    /// `--tags` is not a JSON object of strings.
    #[error(transparent)]
    Tags(#[from] NotStrings),
}

/// What is wrong, by the flag that mends it.
fn tls_text(error: &ConfigError) -> String {
    match error {
        ConfigError::NoSystemAuthorities(why) => format!(
            "this machine has no trusted authorities ({why}): name the server's CA with --cacert \
             FILE"
        ),
        error => error.to_string(),
    }
}
