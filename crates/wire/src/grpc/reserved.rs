//! The header names that belong to HTTP/2 and gRPC, and therefore are not metadata.

/// Fields that HTTP/2 and gRPC use themselves. A content length would have to be right, and fields
/// of a connection (RFC 9113 section 8.2.2) make a message malformed.
const PROTOCOL_FIELDS: [&[u8]; 15] = [
    b"connection",
    b"content-length",
    b"content-type",
    b"grpc-accept-encoding",
    b"grpc-encoding",
    b"grpc-message",
    b"grpc-status",
    b"grpc-timeout",
    b"host",
    b"keep-alive",
    b"proxy-connection",
    b"te",
    b"transfer-encoding",
    b"upgrade",
    b"user-agent",
];

/// Those of them in which a client describes itself and the server that it wants to reach.
const REQUEST_FIELDS: [&[u8]; 2] = [b"host", b"user-agent"];

/// Details of a status: gRPC's by its name, but handlers may add it as metadata, too.
pub const STATUS_DETAILS: &[u8] = b"grpc-status-details-bin";

/// Whether HTTP/2 or gRPC itself reads a field with this name, so that applications do not see it.
pub fn is_protocol_field(name: &[u8]) -> bool {
    name.starts_with(b":") || PROTOCOL_FIELDS.contains(&name)
}

/// Whether applications may not send a field with this name in a request. PROTOCOL-HTTP2.md
/// reserves all names that begin with `grpc-`, including those without a meaning today.
/// RFC 9113, sections 8.2.2 and 8.3.1.
pub fn is_reserved(name: &[u8]) -> bool {
    is_protocol_field(name) || (name.starts_with(b"grpc-") && name != STATUS_DETAILS)
}

/// Whether applications may not send a field with this name in a response: these are fewer, since a
/// client's own fields mean nothing there. A handler that echoes what it received is not at fault.
pub fn is_reserved_in_response(name: &[u8]) -> bool {
    is_reserved(name) && !REQUEST_FIELDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_of_grpc_are_seen_and_not_sent() {
        for (name, is_seen, is_sent) in [
            (&b":path"[..], false, false),
            (b"te", false, false),
            (b"grpc-status", false, false),
            (b"grpc-retry-pushback-ms", true, false),
            (b"grpc-status-details-bin", true, true),
            (b"x-trace", true, true),
        ] {
            assert_eq!(!is_protocol_field(name), is_seen, "{name:?}");
            assert_eq!(!is_reserved(name), is_sent, "{name:?}");
        }
    }
    #[test]
    fn what_clients_say_of_themselves_may_be_sent_back() {
        for name in [&b"user-agent"[..], b"host"] {
            assert!(is_reserved(name) && !is_reserved_in_response(name));
        }
        assert!(is_reserved_in_response(b"grpc-status") && is_reserved_in_response(b"te"));
    }
}
