//! Splits the body of a response into messages, and counts what the server may send in return.

use crate::compression::ResponseEncoding;
use crate::partial_message::unreadable;
use bookend_wire::grpc::Status;
use bookend_wire::grpc::message::{PREFIX_BYTES, split_first};

/// Room that an empty buffer keeps: a stream that was busy once should not hold for ever what that
/// took.
const KEPT_BYTES: usize = 64 << 10;

/// One message of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// The message, without its prefix and as it was before compression.
    pub bytes: Vec<u8>,
    /// Whether it came compressed.
    pub was_compressed: bool,
}

/// The part of a body that its reader has fetched, and how far it has read that.
///
/// The server may send a stream's window ahead of what was read; this keeps count of that. A
/// message that has not come whole counts as read where the reader waits for the rest of it, or one
/// larger than the window would never come.
#[derive(Debug)]
pub(crate) struct MessageReader {
    buffer: Vec<u8>,
    /// How much of the buffer was read.
    read_to: usize,
    max_message_bytes: usize,
    /// How much a WINDOW_UPDATE is worth sending for.
    credit_bytes_min: usize,
    /// Positions in the body: up to here it was fetched.
    fetched_to: u64,
    /// Up to here the server has credit for it again.
    credited_to: u64,
}

impl MessageReader {
    /// For messages of at most `max_message_bytes` under a window of `window_bytes`.
    pub fn new(max_message_bytes: usize, window_bytes: u32) -> Self {
        Self {
            buffer: Vec::new(),
            read_to: 0,
            max_message_bytes,
            // A quarter that is kept back here and a half that is kept back on the connection leave
            // the server a quarter: it never stands still for what has been read.
            credit_bytes_min: (window_bytes / 4).max(1) as usize,
            fetched_to: 0,
            credited_to: 0,
        }
    }

    /// The next message, if it is there.
    ///
    /// # Errors
    /// What the call ends with: the body is no sequence of messages, or one of them is too large.
    pub fn next(&mut self, encoding: &ResponseEncoding) -> Result<Option<ReceivedMessage>, Status> {
        let rest = &self.buffer[self.read_to..];
        let split = split_first(rest, self.max_message_bytes);
        let Some((message, behind)) = split.map_err(|error| unreadable(&error))? else {
            return Ok(None);
        };
        let bytes = encoding.open(message, self.max_message_bytes)?;
        let was_compressed = message.compressed;
        self.read_to = self.buffer.len() - behind.len();
        Ok(Some(ReceivedMessage { bytes, was_compressed }))
    }

    /// How much is worth fetching: the rest of the message, but no more than the server can be sure
    /// to be allowed to send.
    pub fn wanted_bytes(&self) -> usize {
        let partial = &self.buffer[self.read_to..];
        let whole_bytes = match partial.first_chunk::<PREFIX_BYTES>() {
            Some([_, length @ ..]) => PREFIX_BYTES + u32::from_be_bytes(*length) as usize,
            None => PREFIX_BYTES,
        };
        let missing_bytes = whole_bytes.saturating_sub(partial.len());
        missing_bytes.clamp(1, self.credit_bytes_min)
    }

    /// Has `fetch` append more of the body.
    pub fn fetch<R>(&mut self, fetch: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.make_room();
        let before = self.buffer.len();
        let fetched = fetch(&mut self.buffer);
        self.fetched_to += (self.buffer.len() - before) as u64;
        fetched
    }

    fn make_room(&mut self) {
        self.buffer.drain(..self.read_to);
        self.read_to = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT_BYTES {
            self.buffer = Vec::new();
        }
    }

    /// The bytes that were read and that no credit was given for, if they are worth it. `waits` for
    /// the rest of a message.
    pub fn take_credit(&mut self, waits: bool) -> Option<usize> {
        let unread_bytes = if waits { 0 } else { self.buffer.len() - self.read_to };
        let read_to = self.fetched_to - unread_bytes as u64;
        let owed_bytes = read_to.saturating_sub(self.credited_to) as usize;
        if owed_bytes < self.credit_bytes_min {
            return None;
        }
        self.credited_to = read_to;
        Some(owed_bytes)
    }

    /// Forgets what has come and was not read.
    pub fn clear(&mut self) {
        self.buffer = Vec::new();
        self.read_to = 0;
    }

    /// Whether the body stops within a message.
    pub fn is_cut_off(&self) -> bool {
        self.read_to < self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::append_message;
    use bookend_wire::grpc::{Code, Encoding};

    fn body(messages: &[&[u8]]) -> Vec<u8> {
        let mut body = Vec::new();
        for message in messages {
            append_message(message, Encoding::Identity, &mut body);
        }
        body
    }

    fn read_all(reader: &mut MessageReader) -> Vec<Vec<u8>> {
        let next = || reader.next(&ResponseEncoding::IDENTITY).unwrap();
        std::iter::from_fn(next).map(|message| message.bytes).collect()
    }

    #[test]
    fn messages_are_the_same_however_the_body_is_cut() {
        let messages: [&[u8]; 3] = [b"first", b"", b"the last"];
        let body = body(&messages);
        for piece_bytes in 1..=body.len() {
            let mut reader = MessageReader::new(100, 65_535);
            let mut read = Vec::new();
            for piece in body.chunks(piece_bytes) {
                assert!(reader.wanted_bytes() > 0);
                reader.fetch(|buffer| buffer.extend_from_slice(piece));
                read.extend(read_all(&mut reader));
            }
            assert_eq!(read, messages);
            assert!(!reader.is_cut_off());
        }
    }

    #[test]
    fn what_is_missing_is_what_is_wanted() {
        let mut reader = MessageReader::new(1_000, 400);
        assert_eq!(reader.wanted_bytes(), 5);
        reader.fetch(|buffer| buffer.extend_from_slice(&[0, 0, 0]));
        assert_eq!(reader.wanted_bytes(), 2);
        reader.fetch(|buffer| buffer.extend_from_slice(&[0, 20, 7]));
        assert_eq!(reader.wanted_bytes(), 19);
        let mut reader = MessageReader::new(1_000, 400);
        reader.fetch(|buffer| buffer.extend_from_slice(&[0, 0, 0, 3, 0]));
        assert_eq!(reader.wanted_bytes(), 100, "more may not be allowed");
        assert!(reader.is_cut_off());
    }

    #[test]
    fn what_was_not_read_gives_the_server_no_credit() {
        let mut reader = MessageReader::new(1_000, 400);
        let body = body(&[&[1; 95], &[2; 95], &[3; 95]]);
        reader.fetch(|buffer| buffer.extend_from_slice(&body[..250]));
        assert_eq!(reader.take_credit(false), None);
        reader.next(&ResponseEncoding::IDENTITY).unwrap();
        assert_eq!(reader.take_credit(false), Some(100));
        reader.next(&ResponseEncoding::IDENTITY).unwrap();
        assert_eq!(reader.take_credit(false), Some(100));
        assert_eq!(reader.take_credit(true), None, "fifty are not worth it");
        reader.fetch(|buffer| buffer.extend_from_slice(&body[250..]));
        assert_eq!(read_all(&mut reader), [[3; 95]]);
        assert_eq!(reader.take_credit(true), Some(100), "each byte is credited once");
    }

    #[test]
    fn half_a_message_that_is_waited_for_counts_as_read() {
        let mut reader = MessageReader::new(1_000, 400);
        reader.fetch(|buffer| buffer.extend_from_slice(&body(&[&[1; 900]])[..400]));
        assert_eq!(reader.next(&ResponseEncoding::IDENTITY), Ok(None));
        assert_eq!(reader.take_credit(false), None);
        assert_eq!(reader.take_credit(true), Some(400));
    }

    #[test]
    fn a_message_above_the_limit_is_told_by_its_prefix() {
        let mut reader = MessageReader::new(100, 400);
        reader.fetch(|buffer| buffer.extend_from_slice(&[0, 0, 0, 0, 101]));
        let refused = reader.next(&ResponseEncoding::IDENTITY).unwrap_err();
        assert_eq!(refused.code, Code::ResourceExhausted);
    }

    #[test]
    fn a_burst_is_not_paid_for_ever() {
        let mut reader = MessageReader::new(1 << 20, 1 << 20);
        reader.fetch(|buffer| buffer.extend_from_slice(&body(&[&[1; 1 << 20]])));
        read_all(&mut reader);
        reader.fetch(|_| {});
        assert!(reader.buffer.capacity() <= KEPT_BYTES);
    }
}
