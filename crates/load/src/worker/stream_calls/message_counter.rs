//! Finds the ends of messages in a body without keeping any of it.

use bookend_wire::grpc::message::PREFIX_BYTES;

/// How far a body has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MessageCounter {
    prefix: [u8; PREFIX_BYTES],
    prefix_bytes: u8,
    /// What is missing of the message whose prefix has come.
    rest_bytes: u32,
}

/// A prefix that gRPC does not know, or not behind such a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadFlag(pub u8);

impl MessageCounter {
    /// Takes a piece of the body. Returns how many messages end in it; `may_be_compressed`: the
    /// head named an encoding.
    ///
    /// # Errors
    /// When the body is not a sequence of messages.
    #[inline]
    pub fn count(&mut self, mut body: &[u8], may_be_compressed: bool) -> Result<u64, BadFlag> {
        let mut messages = 0;
        while !body.is_empty() {
            if self.rest_bytes > 0 {
                let part = body.len().min(self.rest_bytes as usize);
                self.rest_bytes -= part as u32;
                body = &body[part..];
                messages += u64::from(self.rest_bytes == 0);
                continue;
            }
            let missing = PREFIX_BYTES - usize::from(self.prefix_bytes);
            let part = body.len().min(missing);
            let start = usize::from(self.prefix_bytes);
            self.prefix[start..start + part].copy_from_slice(&body[..part]);
            body = &body[part..];
            self.prefix_bytes += part as u8;
            if part == missing {
                let [flag, a, b, c, d] = self.prefix;
                if flag > u8::from(may_be_compressed) {
                    return Err(BadFlag(flag));
                }
                self.prefix_bytes = 0;
                self.rest_bytes = u32::from_be_bytes([a, b, c, d]);
                messages += u64::from(self.rest_bytes == 0);
            }
        }
        Ok(messages)
    }

    /// Whether the body may end here.
    #[inline]
    pub fn is_between_messages(&self) -> bool {
        self.prefix_bytes == 0 && self.rest_bytes == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"\0\0\0\0\x03abc\0\0\0\0\0\x01\0\0\0\x01x";

    #[test]
    fn messages_are_counted_however_the_body_is_cut() {
        for length in 1..=BODY.len() {
            let mut counter = MessageCounter::default();
            let counted: u64 =
                BODY.chunks(length).map(|part| counter.count(part, true).unwrap()).sum();
            assert_eq!(counted, 3, "in pieces of {length}");
            assert!(counter.is_between_messages());
        }
    }

    #[test]
    fn a_body_that_ends_too_early_is_noticed_and_one_that_is_no_grpc_as_well() {
        for length in (1..BODY.len()).filter(|length| ![8, 13].contains(length)) {
            let mut counter = MessageCounter::default();
            counter.count(&BODY[..length], true).unwrap();
            assert!(!counter.is_between_messages(), "{length}");
        }
        assert_eq!(MessageCounter::default().count(b"HTTP/", true), Err(BadFlag(b'H')));
        assert_eq!(MessageCounter::default().count(BODY, false), Err(BadFlag(1)));
    }
}
