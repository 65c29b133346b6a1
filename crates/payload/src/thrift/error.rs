//! What can be wrong with a call by Thrift before it is made, each in one line.

use crate::data::PayloadError;
use crate::error_text::Unreadable;

/// Why there is no call by Thrift. Always the user's fault or the file's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThriftError {
    /// An IDL file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// A file is not Thrift's IDL.
    #[error("{file} is not Thrift's IDL, {reason}")]
    Syntax {
        /// The file.
        file: String,
        /// Line, column, and what the parser says.
        reason: String,
    },
    /// An included file is nowhere.
    #[error("{file}, line {line}: it includes {include}, which is not next to it: add -i FOLDER")]
    Include {
        /// The file that includes.
        file: String,
        /// Where, from 1.
        line: u32,
        /// The path that it names.
        include: String,
    },
    /// Together with those before it, a file is more than is read.
    #[error("{file} is one too many: a file may include {what} in all")]
    TooMany {
        /// The file.
        file: String,
        /// How many files or bytes are read.
        what: &'static str,
    },
    /// A file contradicts itself, names what is not there, or has no end of it.
    #[error("{file}, line {line}: {what}")]
    Meaning {
        /// The file.
        file: String,
        /// Where, from 1.
        line: u32,
        /// What is wrong.
        what: String,
    },
    /// The value of `--call` is not of that form.
    #[error("--call {0} is no method of Thrift: give Service.method")]
    NotAMethod(String),
    /// The file has no such service, or the service no such method.
    #[error("{owner} has no {kind} {name}{suggestion}")]
    NotThere {
        /// The file or the service.
        owner: String,
        /// `service` or `method`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest names.
        suggestion: String,
    },
    /// A flag that means nothing to Thrift.
    #[error("{0} means nothing to Thrift: leave it out{1}")]
    Meaningless(&'static str, &'static str),
    /// A flag of Thrift without `--thrift`.
    #[error("{0} is for calls by Thrift: add --thrift FILE")]
    WithoutThrift(&'static str),
    /// Templates in the data.
    #[error(
        "data of Thrift has no templates: give the values themselves, or --disable-template-data \
         where the {{{{ is text"
    )]
    Template,
    /// More calls in flight than connections.
    #[error(
        "--connections {connections} with --concurrency {concurrency}: a Thrift connection carries \
         one call at a time; leave --connections out, or add --thrift-pipelining, which sends \
         calls behind each other"
    )]
    Pipelining {
        /// `--connections`
        connections: u32,
        /// `--concurrency`
        concurrency: u32,
    },
    /// An endless number of connections.
    #[error(
        "--async means no limit of calls in flight, and each takes a connection of its own: leave \
         it out, and say with --concurrency how many"
    )]
    Async,
}

/// Why there is no call by Thrift.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThriftCallError {
    /// The IDL or the flags.
    #[error(transparent)]
    Thrift(#[from] ThriftError),
    /// The data.
    #[error(transparent)]
    Payload(#[from] PayloadError),
}
