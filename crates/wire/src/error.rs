//! Whose fault an error was, and the code that reports it on the wire.

use core::fmt;

/// An HTTP/2 error code, RFC 9113 section 7. Unknown codes are kept as received.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub u32);

macro_rules! error_codes {
    ($($constant:ident($code:literal) $text:literal;)*) => {
        impl ErrorCode {
            $(#[doc = $text] pub const $constant: Self = Self($code);)*

            /// The name in RFC 9113, or `UNKNOWN`.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($code => stringify!($constant),)*
                    _ => "UNKNOWN",
                }
            }
        }
    };
}

error_codes! {
    NO_ERROR(0x0) "Nothing went wrong: a shutdown, or a stream that is no longer needed.";
    PROTOCOL_ERROR(0x1) "A rule of the protocol was broken, and no closer code exists.";
    INTERNAL_ERROR(0x2) "The endpoint itself failed.";
    FLOW_CONTROL_ERROR(0x3) "More was sent than the window allowed, or a window overflowed.";
    SETTINGS_TIMEOUT(0x4) "SETTINGS were not acknowledged in time.";
    STREAM_CLOSED(0x5) "A frame came for a stream whose sender had ended it.";
    FRAME_SIZE_ERROR(0x6) "A frame's length is not what its type allows.";
    REFUSED_STREAM(0x7) "The stream was not looked at: it is safe to try again.";
    CANCEL(0x8) "The stream is no longer wanted.";
    COMPRESSION_ERROR(0x9) "The header compression state is lost.";
    CONNECT_ERROR(0xa) "The connection behind a CONNECT failed.";
    ENHANCE_YOUR_CALM(0xb) "The peer asks for too much.";
    INADEQUATE_SECURITY(0xc) "The transport is not secure enough.";
    HTTP_1_1_REQUIRED(0xd) "HTTP/1.1 is wanted instead.";
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:#x})", self.name(), self.0)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            "UNKNOWN" => fmt::Debug::fmt(self, f),
            name => f.write_str(name),
        }
    }
}

/// What ended a stream before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initiator {
    /// The peer: RST_STREAM.
    Peer,
    /// The peer's GOAWAY excluded the stream: it was not processed and is safe to try again.
    PeerGoAway,
    /// This library: the peer broke a rule on the stream, and we reset it.
    Library,
}

/// The peer broke a rule that the connection cannot survive. A GOAWAY with `code` is in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the peer broke HTTP/2: {reason} ({code})")]
pub struct ConnectionError {
    /// The code of the GOAWAY.
    pub code: ErrorCode,
    /// The rule, in a few words.
    pub reason: &'static str,
}

impl ConnectionError {
    pub(crate) fn new(code: ErrorCode, reason: &'static str) -> Self {
        Self { code, reason }
    }

    pub(crate) fn protocol(reason: &'static str) -> Self {
        Self::new(ErrorCode::PROTOCOL_ERROR, reason)
    }

    pub(crate) fn frame_size(reason: &'static str) -> Self {
        Self::new(ErrorCode::FRAME_SIZE_ERROR, reason)
    }

    pub(crate) fn flow_control(reason: &'static str) -> Self {
        Self::new(ErrorCode::FLOW_CONTROL_ERROR, reason)
    }
}

/// Why no stream can be opened now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotOpen {
    /// The peer's SETTINGS_MAX_CONCURRENT_STREAMS is reached: wait until a stream ends.
    #[error("the peer's limit of concurrent streams is reached")]
    Concurrency,
    /// A GOAWAY was received or sent: open a new connection.
    #[error("the connection is going away")]
    GoingAway,
    /// All 2^30 ids of this side are used up (RFC 9113 section 5.1.1): open a new connection.
    #[error("the stream ids of this connection are used up")]
    IdsUsedUp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn codes_carry_the_names_of_the_rfc() {
        assert_eq!(ErrorCode(0xb), ErrorCode::ENHANCE_YOUR_CALM);
        assert_eq!(ErrorCode(3).name(), "FLOW_CONTROL_ERROR");
        assert_eq!(format!("{}", ErrorCode(0xb)), "ENHANCE_YOUR_CALM");
        for told in [format!("{:?}", ErrorCode(0xff)), format!("{}", ErrorCode(0xff))] {
            assert_eq!(told, "UNKNOWN(0xff)");
        }
    }
}
