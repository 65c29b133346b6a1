//! Status codes and their names.

use crate::error::ErrorCode;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

macro_rules! codes {
    ($($variant:ident = $number:literal, $capitals:literal, $doc:literal;)*) => {
        /// A gRPC status code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Code {
            $(#[doc = $doc] $variant = $number,)*
        }

        impl Code {
            /// All codes, by number.
            pub const ALL: [Self; 17] = [$(Self::$variant),*];

            /// The name in the specification: `UNAVAILABLE`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $capitals,)*
                }
            }

            fn variant_name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($variant),)*
                }
            }

            /// The value of `grpc-status`.
            pub fn digits(self) -> &'static [u8] {
                const DIGITS: [&[u8]; 17] = [$(stringify!($number).as_bytes()),*];
                DIGITS[self as usize]
            }
        }
    };
}

codes! {
    Ok = 0, "OK", "The call succeeded.";
    Cancelled = 1, "CANCELLED", "The caller gave up.";
    Unknown = 2, "UNKNOWN", "A fault that carries no code of ours.";
    InvalidArgument = 3, "INVALID_ARGUMENT", "The request makes no sense.";
    DeadlineExceeded = 4, "DEADLINE_EXCEEDED", "The deadline passed first.";
    NotFound = 5, "NOT_FOUND", "What was asked for does not exist.";
    AlreadyExists = 6, "ALREADY_EXISTS", "What was to be made is there already.";
    PermissionDenied = 7, "PERMISSION_DENIED", "The caller may not do this.";
    ResourceExhausted = 8, "RESOURCE_EXHAUSTED", "A limit was reached.";
    FailedPrecondition = 9, "FAILED_PRECONDITION", "The system is not in a state for this.";
    Aborted = 10, "ABORTED", "A conflict broke the operation off.";
    OutOfRange = 11, "OUT_OF_RANGE", "A position past the end.";
    Unimplemented = 12, "UNIMPLEMENTED", "The method does not exist here.";
    Internal = 13, "INTERNAL", "The server or the protocol failed.";
    Unavailable = 14, "UNAVAILABLE", "The server cannot be reached now.";
    DataLoss = 15, "DATA_LOSS", "Data is lost for good.";
    Unauthenticated = 16, "UNAUTHENTICATED", "The caller is not known.";
}

impl Code {
    /// Reads the value of `grpc-status`; a number outside the table is [`Code::Unknown`], as the
    /// specification requires.
    pub fn parse(value: &[u8]) -> Self {
        Self::of_digits(value).unwrap_or(Self::Unknown)
    }

    /// The code with that value of `grpc-status`; `None` where the table has none.
    pub fn of_digits(value: &[u8]) -> Option<Self> {
        let number = match *value {
            [ones @ b'0'..=b'9'] => ones - b'0',
            [b'1', ones @ b'0'..=b'6'] => 10 + ones - b'0',
            _ => return None,
        };
        Some(Self::ALL[usize::from(number)])
    }

    /// The code for a response without `grpc-status` and with an HTTP status other than 200: "HTTP
    /// to gRPC Status Code Mapping".
    pub fn of_http_status(status: &[u8]) -> Self {
        match status {
            b"400" => Self::Internal,
            b"401" => Self::Unauthenticated,
            b"403" => Self::PermissionDenied,
            b"404" => Self::Unimplemented,
            b"429" | b"502" | b"503" | b"504" => Self::Unavailable,
            _ => Self::Unknown,
        }
    }

    /// The code for a stream that was reset with `code`: PROTOCOL-HTTP2.md, "Errors".
    pub fn of_reset(code: ErrorCode) -> Self {
        match code {
            ErrorCode::REFUSED_STREAM => Self::Unavailable,
            ErrorCode::CANCEL => Self::Cancelled,
            ErrorCode::ENHANCE_YOUR_CALM => Self::ResourceExhausted,
            ErrorCode::INADEQUATE_SECURITY => Self::PermissionDenied,
            _ => Self::Internal,
        }
    }

    /// The name as grpc-go and ghz print it: `Unavailable`, but `Canceled`.
    pub fn name_in_go(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Cancelled => "Canceled",
            other => other.variant_name(),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Status {
    /// The code.
    pub code: Code,
    /// A text for people; may be empty.
    pub message: String,
    details: Box<[u8]>,
}

impl Status {
    /// A status with a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self::with_details(code, message, [])
    }

    /// A status with details for programs: an encoded `google.rpc.Status`, which goes with the
    /// trailers as `grpc-status-details-bin`.
    pub fn with_details(
        code: Code,
        message: impl Into<String>,
        details: impl Into<Box<[u8]>>,
    ) -> Self {
        Self { code, message: message.into(), details: details.into() }
    }

    /// The details, as [`Status::with_details`] takes them; empty by default.
    pub fn details(&self) -> &[u8] {
        &self.details
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_reads_back_from_its_digits() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.digits()), code);
        }
    }

    #[test]
    fn what_is_no_code_is_unknown() {
        for value in [&b""[..], b"17", b"-1", b"00", b"1x", b"999"] {
            assert_eq!((Code::parse(value), Code::of_digits(value)), (Code::Unknown, None));
        }
    }
}
