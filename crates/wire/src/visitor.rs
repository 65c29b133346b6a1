//! What a connection tells its owner.

use crate::error::{Blame, ErrorCode};
use crate::hpack::HeaderList;
use crate::sender::Sender;
use crate::streams::Stream;

/// What happens on a connection, as it happens. Every call is handed the writing half, so that an
/// answer can be written while bytes are still being read.
pub trait Visitor {
    /// A head or, on a stream whose head has come, trailers.
    ///
    /// What is returned is a memo: when the very same octets come again in the same place and
    /// nothing has changed their meaning since, [`Visitor::headers_again`] is called with it and
    /// nothing is decoded. Return `None` for what has to be looked at each time.
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: Stream,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32>;

    /// A head or trailers for which `memo` was returned before.
    fn headers_again(&mut self, sender: &mut Sender, stream: Stream, memo: u32, end_stream: bool);

    /// Part of the body, never empty unless it ends the stream. Its octets count against the
    /// windows until [`Sender::release`], or the end of the stream.
    fn data(&mut self, sender: &mut Sender, stream: Stream, data: &[u8], end_stream: bool);

    /// The stream is gone before its end. Its key may be used again afterwards.
    fn reset(&mut self, sender: &mut Sender, stream: Stream, code: ErrorCode, by: Blame);

    /// The peer looks at no stream above `last_stream_id`; those have been reported by `reset`.
    fn goaway(&mut self, sender: &mut Sender, last_stream_id: u32, code: ErrorCode, debug: &[u8]);

    /// The peer's settings were taken over: more streams may be possible than before.
    fn settings(&mut self, _sender: &mut Sender) {}

    /// The peer has acknowledged our settings.
    fn settings_acknowledged(&mut self) {}

    /// The answer to [`Sender::ping`].
    fn pong(&mut self, _payload: [u8; 8]) {}

    /// All that this stream held back has gone to the output.
    fn drained(&mut self, _sender: &mut Sender, _stream: Stream) {}
}
