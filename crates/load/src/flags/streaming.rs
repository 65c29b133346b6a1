//! The flags about streaming calls, as they are typed.

use super::number::whole;
use bookend_contract::duration;
use clap::Args;
use std::time::Duration;

/// When messages of streaming calls are sent, and when such calls end.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct StreamingFlags {
    /// Streaming: time from one request message to the next, 0 is as fast as they go
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "0")]
    pub stream_interval: Duration,
    /// Streaming: end each call's request after this long; where that is one message, the call
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "0")]
    pub stream_call_duration: Duration,
    /// Streaming: end each call's request after so many messages; where that is one message, the
    /// call after so many answers
    #[arg(
        long, value_name = "N", value_parser = whole::<u64>, default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub stream_call_count: u64,
    /// Streaming: render templates for each message instead of each call
    #[arg(long)]
    pub stream_dynamic_messages: bool,
}
