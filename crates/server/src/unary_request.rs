//! The one message of a unary request.

use bookend_wire::grpc::message::{Message, PREFIX_BYTES, split_first};
use bookend_wire::grpc::{MessageError, Status};

use crate::compression::check_flag;
use crate::encoding::RequestEncoding;
use crate::kept::Kept;
use crate::status;

/// The message, if `body` is exactly one, uncompressed and within the limit.
#[inline]
pub(crate) fn whole_message(body: &[u8], limit_bytes: usize) -> Option<&[u8]> {
    let (&[compressed, a, b, c, d], message) = body.split_first_chunk::<PREFIX_BYTES>()?;
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    let whole = length == message.len() && compressed == 0 && length <= limit_bytes;
    whole.then_some(message)
}

/// A request's body that did not come in one piece, or not with the end of its stream.
#[derive(Debug, Default)]
pub(crate) struct PartialRequest {
    body: Vec<u8>,
}

impl PartialRequest {
    /// Adds to the body.
    ///
    /// # Errors
    /// What the call is to end with, as soon as the body is known to be wrong.
    pub fn push(
        &mut self,
        data: &[u8],
        encoding: RequestEncoding,
        limit_bytes: usize,
    ) -> Result<(), Status> {
        // The client decides how much this grows: running out of memory must not end the process.
        if self.body.try_reserve(data.len()).is_err() {
            return Err(status::out_of_memory());
        }
        self.body.extend_from_slice(data);
        let Some((&[compressed, a, b, c, d], message)) = self.body.split_first_chunk() else {
            return Ok(());
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        match compressed {
            0 => {}
            1 => check_flag(encoding)?,
            flag => return Err(status::malformed_body(MessageError::BadFlag(flag))),
        }
        if length > limit_bytes {
            return Err(status::message_too_large(length, limit_bytes));
        }
        if message.len() > length {
            return Err(status::too_many_messages());
        }
        Ok(())
    }

    /// The message, once the client has ended its side.
    ///
    /// # Errors
    /// What the call is to end with if the body is not whole.
    pub fn message(&self) -> Result<Message<'_>, Status> {
        if self.body.is_empty() {
            return Err(status::no_message());
        }
        match split_first(&self.body, usize::MAX).map_err(status::malformed_body)? {
            Some((message, [])) => Ok(message),
            _ => Err(status::truncated_message()),
        }
    }

    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// What it keeps, bytes.
    pub fn kept(&self) -> Kept {
        Kept { unfinished_bytes: self.body.len(), held_bytes: self.body.capacity() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_wire::grpc::Code;

    fn framed(message: &[u8]) -> Vec<u8> {
        let mut body = vec![0];
        body.extend_from_slice(&(message.len() as u32).to_be_bytes());
        body.extend_from_slice(message);
        body
    }

    #[test]
    fn a_whole_message_is_seen_and_nothing_else() {
        let body = framed(b"hello");
        assert_eq!(whole_message(&body, 5), Some(&b"hello"[..]));
        assert_eq!(whole_message(&body, 4), None);
        assert_eq!(whole_message(&body[..9], 5), None);
        assert_eq!(whole_message(&[&body[..], b"!"].concat(), 5), None);
        assert_eq!(whole_message(&framed(b""), 5), Some(&b""[..]));
        assert_eq!(whole_message(&[1, 0, 0, 0, 0], 5), None);
        assert_eq!(whole_message(b"", 5), None);
    }

    #[test]
    fn a_message_may_come_in_any_pieces() {
        let body = framed(b"hello");
        for split in 0..=body.len() {
            let mut request = PartialRequest::default();
            request.push(&body[..split], RequestEncoding::Identity, 5).unwrap();
            request.push(&body[split..], RequestEncoding::Identity, 5).unwrap();
            assert_eq!(request.message().unwrap().bytes, b"hello");
        }
        let mut request = PartialRequest::default();
        for byte in &body {
            assert!(request.message().is_err());
            request.push(std::slice::from_ref(byte), RequestEncoding::Identity, 5).unwrap();
        }
        assert_eq!(request.message().unwrap().bytes, b"hello");
    }

    #[test]
    fn each_mistake_has_its_code() {
        let code = |body: &[u8]| {
            let mut request = PartialRequest::default();
            match request.push(body, RequestEncoding::Identity, 8) {
                Err(status) => status.code,
                Ok(()) => request.message().unwrap_err().code,
            }
        };
        assert_eq!(code(&framed(b"more than eight")), Code::ResourceExhausted);
        assert_eq!(code(&[0, 0xff, 0xff, 0xff, 0xff]), Code::ResourceExhausted);
        assert_eq!(code(&[framed(b"one"), framed(b"two")].concat()), Code::Unimplemented);
        assert_eq!(code(b""), Code::Unimplemented);
        assert_eq!(code(&[1, 0, 0, 0, 0]), Code::Internal);
        assert_eq!(code(&[2, 0, 0, 0, 0]), Code::Internal);
        assert_eq!(code(&[0, 0, 0, 0, 2, b'x']), Code::Internal);
    }
}
