//! The one message of a unary request.

use bookend_wire::grpc::message::{Message, split_first};
use bookend_wire::grpc::{Code, MessageError, Status};

use crate::compression::Encoding;
use crate::reply::internal;

/// A message is preceded by a flag octet and four octets of length.
const PREFIX_BYTES: usize = 5;

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
pub(crate) struct Gathered {
    body: Vec<u8>,
}

impl Gathered {
    /// Adds to the body.
    ///
    /// # Errors
    /// What the call is to end with, as soon as it is plain that the body will not do.
    pub fn push(
        &mut self,
        data: &[u8],
        encoding: Encoding,
        limit_bytes: usize,
    ) -> Result<(), Status> {
        // The client says how long its message is, and so how much this grows.
        if self.body.try_reserve(data.len()).is_err() {
            return Err(no_memory());
        }
        self.body.extend_from_slice(data);
        let Some((&[compressed, a, b, c, d], message)) = self.body.split_first_chunk() else {
            return Ok(());
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        match compressed {
            0 => {}
            1 => encoding.check_flag()?,
            flag => return Err(unreadable(MessageError::BadFlag(flag))),
        }
        if length > limit_bytes {
            return Err(too_large(length, limit_bytes));
        }
        if message.len() > length {
            return Err(too_many_messages());
        }
        Ok(())
    }

    /// The message, once the client has ended its side.
    ///
    /// # Errors
    /// What the call is to end with if the body is not whole.
    pub fn message(&self) -> Result<Message<'_>, Status> {
        if self.body.is_empty() {
            return Err(no_message());
        }
        match split_first(&self.body, usize::MAX).map_err(unreadable)? {
            Some((message, [])) => Ok(message),
            _ => Err(cut_off()),
        }
    }

    pub fn len(&self) -> usize {
        self.body.len()
    }
}

pub(crate) fn no_message() -> Status {
    cardinality("no message was sent to a method that takes one")
}

pub(crate) fn too_many_messages() -> Status {
    cardinality("more than one message was sent to a method that takes one")
}

/// The wrong number of messages, for which gRPC's tests want `UNIMPLEMENTED`.
fn cardinality(message: &str) -> Status {
    Status::new(Code::Unimplemented, message)
}

fn too_large(length: usize, limit_bytes: usize) -> Status {
    let message = format!("a message of {length} bytes is larger than the limit of {limit_bytes}");
    Status::new(Code::ResourceExhausted, message)
}

/// A body that is no sequence of messages.
pub(crate) fn unreadable(error: MessageError) -> Status {
    match error {
        MessageError::TooLarge {
            declared_bytes,
            limit_bytes,
        } => too_large(declared_bytes as usize, limit_bytes),
        MessageError::BadFlag(_) => internal(error.to_string()),
    }
}

pub(crate) fn no_room(limit_bytes: usize) -> Status {
    let message = format!("unfinished requests of the connection exceed {limit_bytes} bytes");
    Status::new(Code::ResourceExhausted, message)
}

fn no_memory() -> Status {
    Status::new(
        Code::ResourceExhausted,
        "there is no memory for the message",
    )
}

/// A flagged message without `grpc-encoding`, for which gRPC's compression document wants
/// `INTERNAL`.
pub(crate) fn unexpected_compression() -> Status {
    Status::new(
        Code::Internal,
        "a compressed message came without grpc-encoding",
    )
}

pub(crate) fn undecodable(why: &dyn std::fmt::Display) -> Status {
    internal(format!("the request cannot be decoded: {why}"))
}

pub(crate) fn cut_off() -> Status {
    Status::new(
        Code::Internal,
        "the request ended in the middle of a message",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_message_is_gathered_in_any_pieces() {
        let body = framed(b"hello");
        for split in 0..=body.len() {
            let mut gathered = Gathered::default();
            gathered
                .push(&body[..split], Encoding::Identity, 5)
                .unwrap();
            gathered
                .push(&body[split..], Encoding::Identity, 5)
                .unwrap();
            assert_eq!(gathered.message().unwrap().octets, b"hello");
        }
        let mut gathered = Gathered::default();
        for octet in &body {
            assert!(gathered.message().is_err());
            gathered
                .push(std::slice::from_ref(octet), Encoding::Identity, 5)
                .unwrap();
        }
        assert_eq!(gathered.message().unwrap().octets, b"hello");
    }

    #[test]
    fn each_mistake_has_its_code() {
        let code = |body: &[u8]| {
            let mut gathered = Gathered::default();
            match gathered.push(body, Encoding::Identity, 8) {
                Err(status) => status.code,
                Ok(()) => gathered.message().unwrap_err().code,
            }
        };
        assert_eq!(code(&framed(b"more than eight")), Code::ResourceExhausted);
        assert_eq!(code(&[0, 0xff, 0xff, 0xff, 0xff]), Code::ResourceExhausted);
        assert_eq!(
            code(&[framed(b"one"), framed(b"two")].concat()),
            Code::Unimplemented
        );
        assert_eq!(code(b""), Code::Unimplemented);
        assert_eq!(code(&[1, 0, 0, 0, 0]), Code::Internal);
        assert_eq!(code(&[2, 0, 0, 0, 0]), Code::Internal);
        assert_eq!(code(&[0, 0, 0, 0, 2, b'x']), Code::Internal);
    }
}
