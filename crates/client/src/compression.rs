//! Compressed messages, on their way out and on their way in.

use bookend_wire::HeaderList;
use bookend_wire::grpc::gzip::{self, GzipError};
use bookend_wire::grpc::message::Message;
use bookend_wire::grpc::response::quoted;
use bookend_wire::grpc::{Code, Encoding, Status};

/// Appends a message with its prefix. One that this encoding would make longer than a prefix can
/// say goes out as it is.
pub(crate) fn append_message(message: &[u8], encoding: Encoding, output: &mut Vec<u8>) {
    if encoding == Encoding::Gzip {
        let mut compressed = Vec::new();
        gzip::compress(message, &mut compressed);
        if fits_in_prefix(&compressed) {
            return append_prefixed(true, &compressed, output);
        }
    }
    append_prefixed(false, message, output);
}

/// A message with its prefix, as [`append_message`] writes it.
pub(crate) fn framed(message: &[u8], encoding: Encoding) -> Vec<u8> {
    let mut framed = Vec::new();
    append_message(message, encoding, &mut framed);
    framed
}

/// Whether the four bytes of length in a prefix are enough.
pub(crate) fn fits_in_prefix(message: &[u8]) -> bool {
    u32::try_from(message.len()).is_ok()
}

fn append_prefixed(compressed: bool, bytes: &[u8], output: &mut Vec<u8>) {
    output.push(u8::from(compressed));
    output.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    output.extend_from_slice(bytes);
}

/// How the head of a response says that its messages are compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResponseEncoding {
    /// By an encoding that was offered.
    Known(Encoding),
    /// By one that was not offered, quoted. It does no harm before a message uses it.
    Unknown(String),
}

impl ResponseEncoding {
    pub const IDENTITY: Self = Self::Known(Encoding::Identity);

    pub fn of_head(fields: &HeaderList) -> Self {
        let Some(name) = fields.find(b"grpc-encoding") else {
            return Self::IDENTITY;
        };
        let unknown = || Self::Unknown(quoted(name));
        Encoding::parse(name).map_or_else(unknown, Self::Known)
    }

    /// The message as it was before it was compressed, if it was.
    ///
    /// # Errors
    /// The status that the gRPC document on compression prescribes for clients.
    #[inline]
    pub fn open(&self, message: Message<'_>, limit_bytes: usize) -> Result<Vec<u8>, Status> {
        if message.compressed {
            self.inflate(message.bytes, limit_bytes)
        } else {
            Ok(message.bytes.to_vec())
        }
    }

    #[cold]
    fn inflate(&self, compressed: &[u8], limit_bytes: usize) -> Result<Vec<u8>, Status> {
        match self {
            Self::Known(Encoding::Gzip) => {}
            Self::Known(Encoding::Identity) => {
                return Err(internal("a compressed message, and named no encoding"));
            }
            Self::Unknown(name) => {
                let text = format!("a message compressed by {name}, which was not offered");
                return Err(internal(&text));
            }
        }
        let mut inflated = Vec::new();
        match gzip::decompress(compressed, limit_bytes, &mut inflated) {
            Ok(()) => Ok(inflated),
            Err(error @ (GzipError::TooLarge { .. } | GzipError::TooMuchWork)) => {
                let text = format!("the server sent {error}");
                Err(Status::new(Code::ResourceExhausted, text))
            }
            Err(error @ GzipError::Corrupt(_)) => Err(internal(&error.to_string())),
        }
    }
}

impl Default for ResponseEncoding {
    fn default() -> Self {
        Self::IDENTITY
    }
}

fn internal(what: &str) -> Status {
    Status::new(Code::Internal, format!("the server sent {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_wire::grpc::message::split_first;

    fn opened(
        framed: &[u8],
        encoding: &ResponseEncoding,
        limit_bytes: usize,
    ) -> Result<Vec<u8>, Code> {
        let (message, rest) = split_first(framed, usize::MAX).unwrap().unwrap();
        assert!(rest.is_empty());
        encoding.open(message, limit_bytes).map_err(|status| status.code)
    }

    #[test]
    fn what_was_compressed_comes_out_as_it_was() {
        for message in [&b""[..], b"x", &[7; 100_000]] {
            let plain = framed(message, Encoding::Identity);
            assert_eq!((plain[0], plain.len()), (0, message.len() + 5));
            assert_eq!(
                opened(&plain, &ResponseEncoding::Known(Encoding::Gzip), 0),
                Ok(message.to_vec())
            );
            let compressed = framed(message, Encoding::Gzip);
            assert_eq!(compressed[0], 1);
            let back = opened(&compressed, &ResponseEncoding::Known(Encoding::Gzip), message.len());
            assert_eq!(back, Ok(message.to_vec()));
        }
    }

    #[test]
    fn what_inflates_to_more_than_the_limit_is_refused() {
        let bomb = framed(&[0; 100_000], Encoding::Gzip);
        assert!(bomb.len() < 1_000);
        let refused = opened(&bomb, &ResponseEncoding::Known(Encoding::Gzip), 99_999);
        assert_eq!(refused, Err(Code::ResourceExhausted));
    }

    #[test]
    fn a_flag_without_an_encoding_that_was_offered_is_the_servers_fault() {
        let compressed = framed(b"x", Encoding::Gzip);
        let unknown = ResponseEncoding::Unknown("zstd".to_owned());
        for encoding in [ResponseEncoding::IDENTITY, unknown] {
            assert_eq!(opened(&compressed, &encoding, 100), Err(Code::Internal));
        }
        let damaged = [&[1, 0, 0, 0, 3][..], b"abc"].concat();
        assert_eq!(
            opened(&damaged, &ResponseEncoding::Known(Encoding::Gzip), 100),
            Err(Code::Internal)
        );
    }
}
