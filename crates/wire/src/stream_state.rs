//! The state of one stream.
//!
//! RFC 9113 figure 2, with the fields that express each state, and a state that is not in it, on
//! the left. A stream that is open or half-closed has an entry in the table of streams; in the
//! other states it has none. The reserved states do not occur, since there are no pushes here.
//!
//! ```text
//!                                         idle
//!    HEADERS of a request that            (no entry; above all ids that were opened)
//!    may lie whole in this read             |
//!               +---------------------------+
//!               |              Sender::open | the peer's HEADERS
//!               v                           v
//!     +-------------------+        +------------------+
//!     |     unlisted      |   1    |       open       |
//!     | (no entry)        | -----> | !local_closed    |
//!     | of servers alone  |        | remote != Closed |
//!     +-------------------+        +------------------+
//!       |               |  END_STREAM |            |  END_STREAM
//!       |             2 |    received v            v  sent
//!       |               |  +----------------------+     +---------------------+
//!       |               +> | half-closed (remote) |     | half-closed (local) |
//!       |                  | !local_closed        |     | local_closed        |
//!     3 |                  | remote == Closed     |     | remote != Closed    |
//!       |                  +----------------------+     +---------------------+
//!       |                 END_STREAM  |            |  END_STREAM
//!       |                        sent v            v  received
//!       |                          +------------------+
//!       +------------------------> |      closed      | <-- from every state: RST_STREAM, sent or
//!                                  | (no entry)       |     received, and a GOAWAY of the peer
//!                                  +------------------+     that leaves the stream out
//! ```
//!
//! *Unlisted* is the shortcut of `receiver/whole_request.rs`. To the client the stream is open, and
//! half-closed once it has sent END_STREAM. No stream stays there beyond the read that its head
//! came in, and it leaves in one of three ways:
//!
//! 1. `Receiver::enlist`, before its END_STREAM is handled, for what needs an entry: SETTINGS, the
//!    end of the read, a part of its body whose end has not come, any other frame of this stream
//!    but a valid WINDOW_UPDATE and the last one of a request that the visitor takes whole.
//!    RST_STREAM then resets an open stream.
//! 2. `Sender::enlist`, once the request is whole: the answer comes later, or the windows of the
//!    client hold it back.
//! 3. `Sender::reply`, once the request is whole: the whole answer is in the output.
//!
//! Before the peer's head has come, `remote` is `AwaitingHead`: a client's stream begins that way,
//! and DATA is then an error. END_STREAM counts as sent when it is in the output. Until then it
//! waits in `cold.blocked`, behind the data, and `local_closed` stays false.

use crate::flow::{Credit, Window};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// How far the peer's direction of a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoteState {
    /// No head has come yet.
    AwaitingHead,
    /// The head is there: a body and trailers may follow.
    Open,
    /// The peer has ended its direction.
    Closed,
}

/// One live stream.
#[derive(Debug)]
pub(crate) struct StreamState {
    /// 0 while the entry is free.
    pub id: u32,
    pub send_window: Window,
    pub credit: Credit,
    /// Body bytes that have been received and not released yet.
    pub unreleased_bytes: u32,
    pub remote: RemoteState,
    pub local_closed: bool,
    /// Whether `cold` has a remainder of content-length.
    pub has_content_length: bool,
    /// State that most streams do not need.
    pub cold: Option<Box<ColdState>>,
}

/// State that most streams do not need, kept apart so that the rest fits in half a cache line.
#[derive(Debug, Default)]
pub(crate) struct ColdState {
    /// Body bytes still to come according to content-length, if there was one.
    pub remaining_content_bytes: Option<u64>,
    /// The data that flow control blocks.
    pub blocked: Option<BlockedData>,
}

impl StreamState {
    /// The data that flow control blocks.
    #[inline]
    pub fn blocked(&mut self) -> Option<&mut BlockedData> {
        self.cold.as_mut()?.blocked.as_mut()
    }

    /// Number of bytes that flow control blocks.
    pub fn blocked_bytes(&self) -> usize {
        let blocked = self.cold.as_ref().and_then(|cold| cold.blocked.as_ref());
        blocked.map_or(0, |blocked| blocked.bytes.len() - blocked.sent_bytes)
    }

    /// Memory held for the data that flow control blocks.
    pub fn blocked_held_bytes(&self) -> usize {
        let blocked = self.cold.as_ref().and_then(|cold| cold.blocked.as_ref());
        blocked.map_or(0, BlockedData::held_bytes)
    }

    /// Whether content-length promises more bytes.
    #[inline]
    pub fn awaits_content(&self) -> bool {
        self.has_content_length
            && self.cold.as_ref().and_then(|cold| cold.remaining_content_bytes) > Some(0)
    }

    /// Stores the value of content-length.
    pub fn set_content_length(&mut self, bytes: Option<u64>) {
        self.has_content_length = bytes.is_some();
        if bytes.is_some() {
            self.cold.get_or_insert_default().remaining_content_bytes = bytes;
        }
    }

    /// Counts a body against its content-length, RFC 9113 section 8.1.1.
    #[inline]
    pub fn matches_content_length(&mut self, bytes: usize, end_stream: bool) -> bool {
        !self.has_content_length || self.count_content(bytes as u64, end_stream)
    }

    fn count_content(&mut self, bytes: u64, end_stream: bool) -> bool {
        let Some(cold) = &mut self.cold else {
            return true;
        };
        let left = cold.remaining_content_bytes.and_then(|remaining| remaining.checked_sub(bytes));
        cold.remaining_content_bytes = left;
        left == Some(0) || (left.is_some() && !end_stream)
    }
}

/// Data of one stream that waits for the peer's window.
#[derive(Debug, Default)]
pub(crate) struct BlockedData {
    pub bytes: Vec<u8>,
    pub sent_bytes: usize,
    /// A header block that follows the bytes. It is encoded without the dynamic table, because it
    /// goes out later than blocks that are encoded after it.
    pub trailers: Option<Vec<u8>>,
    pub end_stream: bool,
}

impl BlockedData {
    /// Drops the bytes that were sent once they are more than half. So a stream to which more is
    /// added before everything has gone out does not keep what it has sent, and each byte is moved
    /// once on average.
    pub fn compact(&mut self) {
        if self.sent_bytes > self.bytes.len() / 2 {
            self.bytes.drain(..self.sent_bytes);
            self.sent_bytes = 0;
            self.bytes.shrink_to(2 * self.bytes.len());
        }
    }

    /// Memory held for it, bytes.
    pub fn held_bytes(&self) -> usize {
        self.bytes.capacity() + self.trailers.as_ref().map_or(0, Vec::capacity)
    }
}
