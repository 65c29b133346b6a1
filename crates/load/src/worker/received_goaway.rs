//! What a server has said with GOAWAY.

use bookend_wire::ErrorCode;
use bookend_wire::grpc::{Code, Status};
use bookend_wire::keepalive::TOO_MANY_PINGS;
use std::fmt;

/// What a GOAWAY frame said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReceivedGoAway {
    /// Its code and its debug data.
    pub text: String,
    /// Whether the server says that we did wrong.
    pub is_error: bool,
    /// Whether that is that we sent too many PINGs.
    pub too_many_pings: bool,
}

impl ReceivedGoAway {
    pub fn new(code: ErrorCode, debug: &[u8]) -> Self {
        let too_many_pings =
            code == ErrorCode::ENHANCE_YOUR_CALM && debug == TOO_MANY_PINGS.as_bytes();
        let debug = String::from_utf8_lossy(debug);
        Self {
            text: format!("GOAWAY {code}, debug data: {debug:?}"),
            is_error: code != ErrorCode::NO_ERROR,
            too_many_pings,
        }
    }

    /// The status of a call that the server has not processed.
    pub fn unprocessed(&self) -> Status {
        let text = format!("{self}, and had not looked at the call");
        Status::new(Code::Unavailable, text)
    }
}

impl fmt::Display for ReceivedGoAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server sent {}", self.text)
    }
}
