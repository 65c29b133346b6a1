//! The events that a connection reports to its owner.

use crate::error::{ErrorCode, Initiator};
use crate::hpack::HeaderList;
use crate::sender::Sender;
use crate::streams::StreamKey;

/// Receives the events of a connection as they happen. Every call gets the writing half, so that an
/// answer can be written while bytes are still being read.
pub trait Visitor {
    /// A head, or trailers on a stream whose head has come.
    ///
    /// The return value is a token for the header-block cache: when the same bytes come again in
    /// the same position, and the HPACK table has not changed since, nothing is decoded and
    /// [`Visitor::cached_headers`] is called with the token instead. Return `None` for blocks that
    /// must be examined each time.
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32>;

    /// A head or trailers for which [`Visitor::headers`] returned `token` before.
    fn cached_headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        token: u32,
        end_stream: bool,
    );

    /// Part of the body, never empty unless it ends the stream. Its bytes count against the windows
    /// until [`Sender::release`] or the end of the stream.
    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool);

    /// The stream has ended before its time. Its index may be reused afterwards.
    fn reset(&mut self, sender: &mut Sender, stream: StreamKey, code: ErrorCode, by: Initiator);

    /// The peer processes no stream above `last_stream_id`. Our streams above it have ended, each
    /// with a call of `reset` before this one.
    fn goaway(&mut self, sender: &mut Sender, last_stream_id: u32, code: ErrorCode, debug: &[u8]);

    /// The peer's settings have been applied: more streams may be possible than before.
    fn settings(&mut self, _sender: &mut Sender) {}

    /// The peer has acknowledged our settings.
    fn settings_acknowledged(&mut self) {}

    /// The answer to [`Sender::ping`].
    fn pong(&mut self, _payload: [u8; 8]) {}

    /// The data of this stream that flow control held back is now all in the output.
    fn drained(&mut self, _sender: &mut Sender, _stream: StreamKey) {}
}
