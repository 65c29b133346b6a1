//! What every request begins with.

/// How requests name what sends them.
const USER_AGENT: &str = concat!("bookend/", env!("CARGO_PKG_VERSION"));

/// The fields that the head of every request begins with, pseudo-headers first.
/// RFC 9113, sections 8.3 and 8.3.1.
pub fn head<'a>(scheme: &'a str, path: &'a str, authority: &'a str) -> [(&'a [u8], &'a [u8]); 7] {
    [
        (b":method", b"POST"),
        (b":scheme", scheme.as_bytes()),
        (b":path", path.as_bytes()),
        (b":authority", authority.as_bytes()),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        (b"user-agent", USER_AGENT.as_bytes()),
    ]
}
