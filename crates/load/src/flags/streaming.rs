//! The flags about streaming calls, as they are typed.

use super::number::whole;
use bookend_contract::duration;
use clap::Args;
use std::time::Duration;

/// When messages of streaming calls are sent, and when such calls end.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct StreamingFlags {
    /// Time between request messages; 0 leaves no pause
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "0",
        help_heading = "Streams", hide_short_help = true
    )]
    pub stream_interval: Duration,
    /// End each call's request after this time, or the call if its request is one message; 0 never
    /// does
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "0",
        help_heading = "Streams", hide_short_help = true
    )]
    pub stream_call_duration: Duration,
    /// End each call's request after this many messages, or the call after this many responses if
    /// its request is one message; 0 never does
    #[arg(
        long, value_name = "N", value_parser = whole::<u64>, default_value_t = 0,
        allow_negative_numbers = true, help_heading = "Streams", hide_short_help = true
    )]
    pub stream_call_count: u64,
    /// Render templates for each message instead of once per call
    #[arg(long, help_heading = "Streams", hide_short_help = true)]
    pub stream_dynamic_messages: bool,
}
