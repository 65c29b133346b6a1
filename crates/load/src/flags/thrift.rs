//! The flags about calls by Thrift, as they are typed.

use bookend_payload::error_text::choice;
use bookend_payload::thrift::{ThriftProtocol, ThriftTransport};
use clap::Args;
use std::path::PathBuf;

/// Which IDL calls by Thrift are made by, and how they go over the wire.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct ThriftFlags {
    /// Call by Thrift, with this IDL file: --call is Service.method, -d has the arguments by name
    #[arg(long = "thrift", value_name = "FILE", help_heading = "Thrift", hide_short_help = true)]
    pub file: Option<PathBuf>,
    /// Transport: framed or buffered [default: framed]
    #[arg(
        long = "thrift-transport", value_name = "NAME", value_parser = choice::<ThriftTransport>,
        help_heading = "Thrift", hide_short_help = true
    )]
    pub transport: Option<ThriftTransport>,
    /// Protocol: binary or compact [default: binary]
    #[arg(
        long = "thrift-protocol", value_name = "NAME", value_parser = choice::<ThriftProtocol>,
        help_heading = "Thrift", hide_short_help = true
    )]
    pub protocol: Option<ThriftProtocol>,
    /// Pipeline calls on each connection, --concurrency in all
    #[arg(long = "thrift-pipelining", help_heading = "Thrift", hide_short_help = true)]
    pub is_pipelined: bool,
}
