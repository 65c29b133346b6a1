//! Requests that are too large for the thread that reads their connection.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use bookend_wire::grpc::Status;
use bookend_wire::grpc::message::Message;

use crate::compression::{DecompressionError, decompressed};
use crate::encoding::RequestEncoding;

/// Messages up to this size are decoded where they arrive: the worst takes three milliseconds.
pub(crate) const LARGE_MESSAGE_BYTES: usize = 128 << 10;

/// Compressed messages up to this size are inflated where they arrive, as far as that takes no
/// longer than inflating a quarter of a megabyte. Larger ones mostly would.
pub(crate) const LARGE_COMPRESSED_BYTES: usize = 32 << 10;

/// Decodes the message of a request on any thread: what [`crate::Service::decoder`] gives, and
/// [`crate::codec::decode`] is.
pub type RequestDecoder = fn(&[u8]) -> Result<DecodedRequest, Status>;

/// A request that was decoded ahead of its handler.
pub struct DecodedRequest(Box<dyn Any + Send>);

impl DecodedRequest {
    /// Holds a message, whatever its type.
    pub fn new(message: impl Any + Send) -> Self {
        DecodedRequest(Box::new(message))
    }

    /// The message, if it is of that type.
    pub(crate) fn take<Q: 'static>(self) -> Option<Q> {
        self.0.downcast().ok().map(|message| *message)
    }
}

impl fmt::Debug for DecodedRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DecodedRequest")
    }
}

/// A large request, ready for its handler.
#[derive(Debug)]
pub(crate) enum PreparedRequest {
    Message(Vec<u8>),
    Decoded(DecodedRequest),
}

/// What has become of a large request.
pub(crate) type PreparationResult = Result<PreparedRequest, DecompressionError>;

/// A large request whose message is whole.
pub(crate) struct LargeRequest {
    pub bytes: Vec<u8>,
    compressed: bool,
    encoding: RequestEncoding,
    limit_bytes: usize,
    decoder: Option<RequestDecoder>,
    /// Whether it came compressed, though it may be inflated already.
    pub was_compressed: bool,
}

impl LargeRequest {
    pub fn new(
        message: Message<'_>,
        encoding: RequestEncoding,
        limit_bytes: usize,
        decoder: Option<RequestDecoder>,
    ) -> Self {
        let Message { compressed, bytes } = message;
        let (bytes, was_compressed) = (bytes.to_vec(), compressed);
        LargeRequest { bytes, compressed, encoding, limit_bytes, decoder, was_compressed }
    }

    /// Inflates and decodes it, which may take long.
    pub fn prepared(self) -> PreparationResult {
        let LargeRequest { bytes, compressed, encoding, limit_bytes, decoder, .. } = self;
        let message = Message { compressed, bytes: &bytes };
        let inflated = match decompressed(message, encoding, limit_bytes, &mut 0)? {
            Cow::Owned(inflated) => inflated,
            Cow::Borrowed(_) => bytes,
        };
        match decoder {
            Some(decode) => Ok(PreparedRequest::Decoded(decode(&inflated)?)),
            None => Ok(PreparedRequest::Message(inflated)),
        }
    }
}

/// Whether a message is too large for the thread that reads its connection.
pub(crate) fn is_large(message: Message<'_>, decoder: Option<RequestDecoder>) -> bool {
    let bytes = message.bytes.len();
    match message.compressed {
        true => bytes > LARGE_COMPRESSED_BYTES,
        false => bytes > LARGE_MESSAGE_BYTES && decoder.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECODER: RequestDecoder = |bytes| Ok(DecodedRequest::new(bytes.len()));

    #[test]
    fn what_can_take_long_is_large() {
        let is_large = |compressed, bytes: usize, decoder| {
            is_large(Message { compressed, bytes: &vec![0; bytes] }, decoder)
        };
        assert!(!is_large(false, LARGE_MESSAGE_BYTES, Some(DECODER)));
        assert!(is_large(false, LARGE_MESSAGE_BYTES + 1, Some(DECODER)));
        assert!(!is_large(false, LARGE_MESSAGE_BYTES + 1, None), "there is nothing to decode");
        assert!(!is_large(true, LARGE_COMPRESSED_BYTES, None));
        assert!(is_large(true, LARGE_COMPRESSED_BYTES + 1, None));
    }

    #[test]
    fn a_message_is_prepared_as_it_is_or_decoded() {
        let message = Message { compressed: false, bytes: &[7; LARGE_MESSAGE_BYTES + 1] };
        let prepared = |decoder| {
            LargeRequest::new(message, RequestEncoding::Identity, usize::MAX, decoder).prepared()
        };
        let Ok(PreparedRequest::Decoded(decoded)) = prepared(Some(DECODER)) else { panic!() };
        assert_eq!(decoded.take(), Some(LARGE_MESSAGE_BYTES + 1));
        let Ok(PreparedRequest::Message(bytes)) = prepared(None) else { panic!() };
        assert_eq!(bytes, message.bytes);
    }
}
