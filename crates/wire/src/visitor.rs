//! The events that a connection reports to its owner.

use crate::error::{ErrorCode, Initiator};
use crate::hpack::HeaderList;
use crate::sender::Sender;
use crate::streams::StreamKey;

/// A request whose head has come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeRequest<'a> {
    /// Its stream, which the client has opened and ended. It has no index.
    pub stream: StreamKey,
    /// The token of its head.
    pub head: u32,
    /// All of its body.
    pub body: &'a [u8],
}

/// A response whose head and trailers have come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeResponse<'a> {
    /// The token of its head.
    pub head: u32,
    /// All of its body.
    pub body: &'a [u8],
    /// The token of its trailers.
    pub trailers: u32,
}

/// Receives the events of a connection as they happen. Every call gets the writing half, so that an
/// answer can be written while bytes are still being read.
pub trait Visitor {
    /// Whether [`Visitor::whole_request`] is called for requests that lie whole in what was read.
    const TAKES_WHOLE_REQUESTS: bool = false;

    /// Whether [`Visitor::whole_response`] is called for responses that lie whole in what was read.
    const TAKES_WHOLE_RESPONSES: bool = false;

    /// Whether to stop behind this frame, although more of them have come: those are presented
    /// again, as what is left over always is.
    #[inline]
    fn wants_a_break(&self) -> bool {
        false
    }

    /// A header block was decoded, whatever will come of it. `_list_bytes` is the size of its list,
    /// those over the limits included ([`HeaderList::size_bytes`]). Not called for blocks that are
    /// known from before.
    fn decoded(&mut self, _list_bytes: usize) {}

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

    /// Whether a head that has come before may be reported with its body, after what other streams
    /// have in the same read, because nothing would be done for it alone. A body that does not
    /// come, or that [`Visitor::takes_whole_request`] declines, has the head reported after all by
    /// [`Visitor::cached_headers`].
    #[inline]
    fn head_may_wait(&self, _stream: StreamKey, _head: u32) -> bool {
        false
    }

    /// Whether an empty DATA frame that ends this stream may be reported with the one before it,
    /// after what other streams have in the same read, because nothing would be done for that one
    /// alone. tonic ends each request so. The stream may be one that is not in the table.
    #[inline]
    fn end_may_join(&self, _stream: StreamKey) -> bool {
        false
    }

    /// Whether to call [`Visitor::whole_request`] for this request. Otherwise its frames are
    /// reported one by one.
    #[inline]
    fn takes_whole_request(&self, _request: WholeRequest<'_>) -> bool {
        false
    }

    /// A request that lies whole in what was read, perhaps with frames of others between its head
    /// and its body. Called instead of [`Visitor::cached_headers`]
    /// and [`Visitor::data`], where [`Visitor::TAKES_WHOLE_REQUESTS`] says so.
    ///
    /// Its stream is not in the table of streams. Before this returns it must be answered with
    /// [`Sender::reply`], or be entered with [`Sender::enlist`], whose key stands for it then.
    fn whole_request(&mut self, _sender: &mut Sender, _request: WholeRequest<'_>) {}

    /// A response that lies whole in what was read, to a request that was sent whole: its stream
    /// has ended. Called instead of [`Visitor::cached_headers`], [`Visitor::data`] and
    /// [`Visitor::cached_headers`], where [`Visitor::TAKES_WHOLE_RESPONSES`] says so.
    fn whole_response(
        &mut self,
        _sender: &mut Sender,
        _stream: StreamKey,
        _response: WholeResponse<'_>,
    ) {
    }

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
