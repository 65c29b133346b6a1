//! The flags about calls by Thrift, as they are typed.

use crate::error_text::choice;
use crate::thrift::{ThriftProtocol, ThriftTransport};
use clap::Args;
use std::path::PathBuf;

/// Which IDL calls by Thrift are made by, and how they go over the wire.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct ThriftFlags {
    /// Thrift: the IDL file; --call is Service.method, and -d has the arguments by their names
    #[arg(long = "thrift", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Thrift: framed or buffered [default: framed]
    #[arg(long = "thrift-transport", value_name = "NAME", value_parser = choice::<ThriftTransport>)]
    pub transport: Option<ThriftTransport>,
    /// Thrift: binary or compact [default: binary]
    #[arg(long = "thrift-protocol", value_name = "NAME", value_parser = choice::<ThriftProtocol>)]
    pub protocol: Option<ThriftProtocol>,
    /// Thrift: send calls behind each other on a connection, as many as --concurrency says, over
    /// --connections
    #[arg(long = "thrift-pipelining")]
    pub is_pipelined: bool,
}
