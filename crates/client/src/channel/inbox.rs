//! What a reader has fetched of an answer's body, and what the server may be told of it.

use crate::encoding::AnswerEncoding;
use crate::response::unreadable;
use bookend_wire::grpc::Status;
use bookend_wire::grpc::message::{PREFIX_BYTES, split_first};

/// Room that an inbox keeps when it is empty: a stream that has been busy once is not to hold for
/// ever what that took.
const KEPT_BYTES: usize = 64 << 10;

/// One message of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// The message, without its prefix and as it was before compression.
    pub octets: Vec<u8>,
    /// Whether it came compressed.
    pub was_compressed: bool,
}

/// Octets of the body that the reader has fetched, and how far it has read them.
///
/// The server may send a stream's window ahead of what was read; this keeps count of that. A
/// message that has not come whole counts as read where the reader waits for the rest of it, or one
/// larger than the window would never come.
#[derive(Debug)]
pub(crate) struct Inbox {
    octets: Vec<u8>,
    read_to: usize,
    max_message_bytes: usize,
    /// What is told to the server at a time.
    notice_bytes: usize,
    /// All that was fetched, all that was read of it, and all that was told: octets of the body.
    fetched_to: u64,
    told_to: u64,
}

impl Inbox {
    /// For messages of at most `max_message_bytes` under a window of `window_bytes`.
    pub fn new(max_message_bytes: usize, window_bytes: u32) -> Self {
        Self {
            octets: Vec::new(),
            read_to: 0,
            max_message_bytes,
            // A quarter that is kept back here and a half that is kept back on the connection leave
            // the server a quarter: it never stands still for what has been read.
            notice_bytes: (window_bytes / 4).max(1) as usize,
            fetched_to: 0,
            told_to: 0,
        }
    }

    /// The next message, if it is there.
    ///
    /// # Errors
    /// What the call ends with: the body is no sequence of messages, or one of them is too large.
    pub fn next(&mut self, encoding: &AnswerEncoding) -> Result<Option<ReceivedMessage>, Status> {
        let rest = &self.octets[self.read_to..];
        let split = split_first(rest, self.max_message_bytes);
        let Some((message, behind)) = split.map_err(|error| unreadable(&error))? else {
            return Ok(None);
        };
        let octets = encoding.open(message, self.max_message_bytes)?;
        let was_compressed = message.compressed;
        self.read_to = self.octets.len() - behind.len();
        Ok(Some(ReceivedMessage {
            octets,
            was_compressed,
        }))
    }

    /// How much is worth fetching: the rest of the message, but no more than the server can be sure
    /// to be allowed to send.
    pub fn wanted_bytes(&self) -> usize {
        let partial = &self.octets[self.read_to..];
        let whole_bytes = match partial.first_chunk::<PREFIX_BYTES>() {
            Some([_, length @ ..]) => PREFIX_BYTES + u32::from_be_bytes(*length) as usize,
            None => PREFIX_BYTES,
        };
        let missing_bytes = whole_bytes.saturating_sub(partial.len());
        missing_bytes.clamp(1, self.notice_bytes)
    }

    /// Has `fetch` append more of the body.
    pub fn fetch<R>(&mut self, fetch: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.make_room();
        let before = self.octets.len();
        let fetched = fetch(&mut self.octets);
        self.fetched_to += (self.octets.len() - before) as u64;
        fetched
    }

    fn make_room(&mut self) {
        self.octets.drain(..self.read_to);
        self.read_to = 0;
        if self.octets.is_empty() && self.octets.capacity() > KEPT_BYTES {
            self.octets = Vec::new();
        }
    }

    /// What the server is to be told was read, if that is worth it. `waits` for the rest of a
    /// message.
    pub fn take_notice(&mut self, waits: bool) -> Option<usize> {
        let unread_bytes = match waits {
            true => 0,
            false => self.octets.len() - self.read_to,
        };
        let read_to = self.fetched_to - unread_bytes as u64;
        let untold_bytes = read_to.saturating_sub(self.told_to) as usize;
        if untold_bytes < self.notice_bytes {
            return None;
        }
        self.told_to = read_to;
        Some(untold_bytes)
    }

    /// Forgets what has come and was not read.
    pub fn clear(&mut self) {
        self.octets = Vec::new();
        self.read_to = 0;
    }

    /// Whether the body stops within a message.
    pub fn is_cut_off(&self) -> bool {
        self.read_to < self.octets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::{Encoding, append_message};
    use bookend_wire::grpc::Code;

    fn body(messages: &[&[u8]]) -> Vec<u8> {
        let mut body = Vec::new();
        for message in messages {
            append_message(message, Encoding::Identity, &mut body);
        }
        body
    }

    fn read_all(inbox: &mut Inbox) -> Vec<Vec<u8>> {
        let next = || inbox.next(&AnswerEncoding::Identity).unwrap();
        std::iter::from_fn(next)
            .map(|message| message.octets)
            .collect()
    }

    #[test]
    fn messages_are_the_same_however_the_body_is_cut() {
        let messages: [&[u8]; 3] = [b"first", b"", b"the last"];
        let body = body(&messages);
        for piece_bytes in 1..=body.len() {
            let mut inbox = Inbox::new(100, 65_535);
            let mut read = Vec::new();
            for piece in body.chunks(piece_bytes) {
                assert!(inbox.wanted_bytes() > 0);
                inbox.fetch(|octets| octets.extend_from_slice(piece));
                read.extend(read_all(&mut inbox));
            }
            assert_eq!(read, messages);
            assert!(!inbox.is_cut_off());
        }
    }

    #[test]
    fn what_is_missing_is_what_is_wanted() {
        let mut inbox = Inbox::new(1_000, 400);
        assert_eq!(inbox.wanted_bytes(), 5);
        inbox.fetch(|octets| octets.extend_from_slice(&[0, 0, 0]));
        assert_eq!(inbox.wanted_bytes(), 2);
        inbox.fetch(|octets| octets.extend_from_slice(&[0, 20, 7]));
        assert_eq!(inbox.wanted_bytes(), 19);
        let mut inbox = Inbox::new(1_000, 400);
        inbox.fetch(|octets| octets.extend_from_slice(&[0, 0, 0, 3, 0]));
        assert_eq!(inbox.wanted_bytes(), 100, "more may not be allowed");
        assert!(inbox.is_cut_off());
    }

    #[test]
    fn what_nobody_has_read_is_not_told_to_the_server() {
        let mut inbox = Inbox::new(1_000, 400);
        let body = body(&[&[1; 95], &[2; 95], &[3; 95]]);
        inbox.fetch(|octets| octets.extend_from_slice(&body[..250]));
        assert_eq!(inbox.take_notice(false), None);
        inbox.next(&AnswerEncoding::Identity).unwrap();
        assert_eq!(inbox.take_notice(false), Some(100));
        inbox.next(&AnswerEncoding::Identity).unwrap();
        assert_eq!(inbox.take_notice(false), Some(100));
        assert_eq!(inbox.take_notice(true), None, "fifty are not worth it");
        inbox.fetch(|octets| octets.extend_from_slice(&body[250..]));
        assert_eq!(read_all(&mut inbox), [[3; 95]]);
        assert_eq!(
            inbox.take_notice(true),
            Some(100),
            "each octet is told once"
        );
    }

    #[test]
    fn half_a_message_that_is_waited_for_counts_as_read() {
        let mut inbox = Inbox::new(1_000, 400);
        inbox.fetch(|octets| octets.extend_from_slice(&body(&[&[1; 900]])[..400]));
        assert_eq!(inbox.next(&AnswerEncoding::Identity), Ok(None));
        assert_eq!(inbox.take_notice(false), None);
        assert_eq!(inbox.take_notice(true), Some(400));
    }

    #[test]
    fn a_message_above_the_limit_is_told_by_its_prefix() {
        let mut inbox = Inbox::new(100, 400);
        inbox.fetch(|octets| octets.extend_from_slice(&[0, 0, 0, 0, 101]));
        let refused = inbox.next(&AnswerEncoding::Identity).unwrap_err();
        assert_eq!(refused.code, Code::ResourceExhausted);
    }

    #[test]
    fn a_burst_is_not_paid_for_ever() {
        let mut inbox = Inbox::new(1 << 20, 1 << 20);
        inbox.fetch(|octets| octets.extend_from_slice(&body(&[&[1; 1 << 20]])));
        read_all(&mut inbox);
        inbox.fetch(|_| {});
        assert!(inbox.octets.capacity() <= KEPT_BYTES);
    }
}
