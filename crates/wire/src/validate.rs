//! What makes a header list malformed, RFC 9113 section 8.

use crate::hpack::{Field, HeaderList};

/// What a well-formed head states about its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub content_length: Option<u64>,
    /// A 1xx response: the final head is still to come.
    pub informational: bool,
}

/// The rule that was broken.
pub(crate) type Malformed = &'static str;

/// Checks a request's head, RFC 9113 section 8.3.1.
/// RFC 9113, sections 8.3 and 8.5.
pub(crate) fn request(list: &HeaderList) -> Result<Head, Malformed> {
    let (mut method, mut scheme, mut path, mut authority) = (None, None, None, None);
    let head = check(list, |name, value| {
        let slot = match name {
            b":method" => &mut method,
            b":scheme" => &mut scheme,
            b":path" => &mut path,
            b":authority" => &mut authority,
            _ => return Err("an unknown pseudo-header in a request"),
        };
        once(slot, value)
    })?;
    if names_another_host(list, authority) {
        return Err("host disagrees with :authority");
    }
    if method == Some(b"CONNECT") {
        let only_authority = scheme.is_none() && path.is_none() && authority.is_some();
        return only_authority.then_some(head).ok_or("CONNECT with :scheme or :path");
    }
    match (method, scheme, path) {
        (Some([_, ..]), Some([_, ..]), Some([_, ..])) => Ok(head),
        (Some(_), Some(_), Some(_)) => Err("an empty :method, :scheme or :path"),
        _ => Err("a request without :method, :scheme or :path"),
    }
}

/// Whether a `host` field differs from `:authority`. RFC 9113 section 8.3.1 has a server treat such
/// a request as malformed, since a proxy in front of it may have looked at the other one.
fn names_another_host(list: &HeaderList, authority: Option<&[u8]>) -> bool {
    let Some(authority) = authority else {
        return false;
    };
    let is_another = |field: &Field<'_>| !field.value.eq_ignore_ascii_case(authority);
    list.iter().filter(|field| field.name == b"host").any(|field| is_another(&field))
}

/// Checks a response's head, RFC 9113 section 8.3.2.
/// RFC 9113, section 8.3.
pub(crate) fn response(list: &HeaderList) -> Result<Head, Malformed> {
    let mut status = None;
    let head = check(list, |name, value| match name {
        b":status" => once(&mut status, value),
        _ => Err("an unknown pseudo-header in a response"),
    })?;
    match status {
        Some([b'1', b'0'..=b'9', b'0'..=b'9']) => Ok(Head { informational: true, ..head }),
        Some([b'2'..=b'9', b'0'..=b'9', b'0'..=b'9']) => Ok(head),
        _ => Err("a response without a :status of three digits"),
    }
}

/// Checks trailers, RFC 9113 section 8.1.
/// RFC 9113, section 8.3.
pub(crate) fn trailers(list: &HeaderList) -> Result<Head, Malformed> {
    check(list, |_, _| Err("a pseudo-header in trailers"))
}

/// RFC 9113, section 8.3.
fn once<'a>(slot: &mut Option<&'a [u8]>, value: &'a [u8]) -> Result<(), Malformed> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err("a pseudo-header stands twice"),
    }
}

/// RFC 9113, sections 8.2.1 and 8.3.
fn check<'a>(
    list: &'a HeaderList,
    mut pseudo: impl FnMut(&'a [u8], &'a [u8]) -> Result<(), Malformed>,
) -> Result<Head, Malformed> {
    let mut head = Head::default();
    let mut regular_seen = false;
    for field in list.iter() {
        if field.name.first() == Some(&b':') {
            if regular_seen {
                return Err("a pseudo-header stands behind a regular field");
            }
            check_value(field.value)?;
            pseudo(field.name, field.value)?;
        } else {
            regular_seen = true;
            check_regular(&field, &mut head)?;
        }
    }
    Ok(head)
}

/// RFC 9113, sections 8.2.1 and 8.2.2.
fn check_regular(field: &Field<'_>, head: &mut Head) -> Result<(), Malformed> {
    if field.name.is_empty() || !field.name.iter().all(|&byte| may_stand_in_name(byte)) {
        return Err("a field name that is empty or has a forbidden byte");
    }
    check_value(field.value)?;
    match field.name {
        b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => {
            Err("a field that belongs to HTTP/1.1 connections")
        }
        b"te" if field.value != b"trailers" => Err("te says something else than trailers"),
        b"content-length" => note_length(field.value, head),
        _ => Ok(()),
    }
}

fn note_length(value: &[u8], head: &mut Head) -> Result<(), Malformed> {
    let text = core::str::from_utf8(value).map_err(|_| "content-length is no number")?;
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let bytes = text.parse().ok().filter(|_| is_number).ok_or("content-length is no number")?;
    match head.content_length.replace(bytes) {
        Some(other) if other != bytes => Err("two values of content-length"),
        _ => Ok(()),
    }
}

/// RFC 9113 section 8.2.1: no control characters, space, upper case, DEL or above, and no further
/// colon. One look in a table: every byte of every name of an unknown head is asked for.
fn may_stand_in_name(byte: u8) -> bool {
    const IN_NAMES: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0x21;
        while byte < 0x7f {
            table[byte] = !matches!(byte, 0x3a | 0x41..=0x5a);
            byte += 1;
        }
        table
    };
    IN_NAMES[usize::from(byte)]
}

/// RFC 9113, section 8.2.1.
fn check_value(value: &[u8]) -> Result<(), Malformed> {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if is_blank(value.first()) || is_blank(value.last()) {
        return Err("a field value begins or ends with a blank");
    }
    // Without an early end the compiler compares sixteen bytes at once.
    if value.iter().fold(false, |found, byte| found | matches!(byte, 0 | b'\r' | b'\n')) {
        Err("a field value has NUL, CR or LF")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    type Fields = [(&'static str, &'static str)];

    fn list(fields: &Fields) -> HeaderList {
        let mut list = HeaderList::new(1 << 16, 100);
        for (name, value) in fields {
            list.push(name.as_bytes(), value.as_bytes(), false);
        }
        list
    }

    const REQUEST: &Fields = &[(":method", "POST"), (":scheme", "http"), (":path", "/a/b")];

    fn request_with(more: &Fields) -> Result<Head, Malformed> {
        let all: Vec<_> = REQUEST.iter().chain(more).copied().collect();
        request(&list(&all))
    }

    #[test]
    fn a_request_needs_each_pseudo_header_once_and_in_front() {
        assert!(request(&list(REQUEST)).is_ok());
        for left_out in 0..3 {
            let mut fields = REQUEST.to_vec();
            fields.remove(left_out);
            assert!(request(&list(&fields)).is_err());
        }
        assert!(request_with(&[(":path", "/c")]).is_err());
        assert!(request_with(&[("a", "b"), (":authority", "x")]).is_err());
        assert!(request_with(&[(":status", "200")]).is_err());
        for (method, scheme, path) in [("", "b", "/c"), ("A", "", "/c"), ("A", "b", "")] {
            let fields = [(":method", method), (":scheme", scheme), (":path", path)];
            assert!(request(&list(&fields)).is_err(), "{fields:?}");
        }
    }

    #[test]
    fn host_and_authority_agree_where_both_are_there() {
        let both = |host| request_with_authority(&[("host", host)]);
        assert!(both("Example:80").is_ok() && both("example:81").is_err());
        assert!(request_with_authority(&[]).is_ok());
        assert!(request_with(&[("host", "example")]).is_ok());
        let twice: &Fields = &[("host", "example:80"), ("host", "other")];
        assert!(request_with_authority(twice).is_err());
    }

    fn request_with_authority(more: &Fields) -> Result<Head, Malformed> {
        let authority = [(":authority", "example:80")];
        let all: Vec<_> = authority.iter().chain(more).copied().collect();
        request_with(&all)
    }

    #[test]
    fn connect_has_an_authority_and_nothing_else() {
        assert!(request(&list(&[(":method", "CONNECT"), (":authority", "a:1")])).is_ok());
        assert!(request(&list(&[(":method", "CONNECT")])).is_err());
        assert!(request_with(&[]).is_ok());
    }

    #[test]
    fn fields_of_http_1_1_and_bad_bytes_are_malformed() {
        for (name, value) in [
            ("connection", "close"),
            ("te", "gzip"),
            ("Upper", "x"),
            ("", "x"),
            ("a b", "x"),
            ("a:b", "x"),
            ("a", "x\r"),
            ("a", " x"),
            ("a", "x\t"),
            ("content-length", "1x"),
            ("content-length", "+1"),
            ("content-length", ""),
        ] {
            let mut fields = HeaderList::new(1 << 16, 100);
            for (name, value) in REQUEST {
                fields.push(name.as_bytes(), value.as_bytes(), false);
            }
            fields.push(name.as_bytes(), value.as_bytes(), false);
            assert!(request(&fields).is_err(), "{name}: {value}");
        }
        assert!(request_with(&[("te", "trailers"), ("content-length", "7")]).is_ok());
        let twice: &Fields = &[("content-length", "7"), ("content-length", "8")];
        assert!(request_with(twice).is_err());
    }

    #[test]
    fn a_response_has_one_status_of_three_digits() {
        assert!(!response(&list(&[(":status", "200")])).unwrap().informational);
        assert!(response(&list(&[(":status", "100")])).unwrap().informational);
        for bad in ["", "20", "2000", "abc", "2xx", "10 "] {
            let mut fields = HeaderList::new(1 << 16, 100);
            fields.push(b":status", bad.as_bytes(), false);
            assert!(response(&fields).is_err());
        }
    }

    #[test]
    fn trailers_have_no_pseudo_headers() {
        assert!(trailers(&list(&[("grpc-status", "0")])).is_ok());
        assert!(trailers(&list(&[(":status", "200")])).is_err());
    }
}
