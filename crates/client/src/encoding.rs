//! How messages are compressed, on their way out and on their way in.

use bookend_wire::HeaderList;
use bookend_wire::grpc::gzip::{self, GzipError};
use bookend_wire::grpc::message::Message;
use bookend_wire::grpc::{Code, Status};

/// How the messages of a request are compressed. Answers may always be compressed: every call says
/// `grpc-accept-encoding: identity,gzip`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Not at all.
    #[default]
    Identity,
    /// By gzip, each message by itself.
    Gzip,
}

/// The header field that names the encoding of the messages behind it.
pub(crate) const ENCODING: &[u8] = b"grpc-encoding";
/// The header field that tells the server what its messages may be compressed by.
pub(crate) const ACCEPT_ENCODING: &[u8] = b"grpc-accept-encoding";
/// The value of [`ACCEPT_ENCODING`].
pub(crate) const ACCEPTED: &[u8] = b"identity,gzip";

const GZIP: &[u8] = b"gzip";

impl Encoding {
    /// The value of [`ENCODING`]; messages that are not compressed need none.
    pub(crate) fn name(self) -> Option<&'static [u8]> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some(GZIP),
        }
    }
}

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

/// Whether the four octets of a prefix can say how long it is.
pub(crate) fn fits_in_prefix(message: &[u8]) -> bool {
    u32::try_from(message.len()).is_ok()
}

fn append_prefixed(compressed: bool, octets: &[u8], output: &mut Vec<u8>) {
    output.push(u8::from(compressed));
    output.extend_from_slice(&(octets.len() as u32).to_be_bytes());
    output.extend_from_slice(octets);
}

/// What the head of an answer says of the messages behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ResponseEncoding {
    /// None is compressed.
    #[default]
    Identity,
    /// Those whose flag says so are.
    Gzip,
    /// An encoding that was not offered. It does no harm before a message uses it.
    Unknown(String),
}

impl ResponseEncoding {
    pub fn of_head(fields: &HeaderList) -> Self {
        match fields.find(ENCODING) {
            None | Some(b"identity") => Self::Identity,
            Some(GZIP) => Self::Gzip,
            Some(other) => Self::Unknown(String::from_utf8_lossy(other).into_owned()),
        }
    }

    /// The message as it was before it was compressed, if it was.
    ///
    /// # Errors
    /// The status that the gRPC document on compression prescribes for clients.
    #[inline]
    pub fn open(&self, message: Message<'_>, limit_bytes: usize) -> Result<Vec<u8>, Status> {
        match message.compressed {
            false => Ok(message.octets.to_vec()),
            true => self.inflate(message.octets, limit_bytes),
        }
    }

    #[cold]
    fn inflate(&self, octets: &[u8], limit_bytes: usize) -> Result<Vec<u8>, Status> {
        match self {
            Self::Gzip => {}
            Self::Identity => return Err(internal("a compressed message, and named no encoding")),
            Self::Unknown(name) => {
                let text = format!("a message compressed by {name:?}, which was not offered");
                return Err(internal(&text));
            }
        }
        let mut inflated = Vec::new();
        match gzip::decompress(octets, limit_bytes, &mut inflated) {
            Ok(()) => Ok(inflated),
            Err(error @ GzipError::TooLarge { .. }) => {
                let text = format!("the server sent {error}");
                Err(Status::new(Code::ResourceExhausted, text))
            }
            Err(error @ GzipError::Corrupt(_)) => Err(internal(&error.to_string())),
        }
    }
}

fn internal(what: &str) -> Status {
    Status::new(Code::Internal, format!("the server sent {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_wire::grpc::message::split_first;

    fn framed(message: &[u8], encoding: Encoding) -> Vec<u8> {
        let mut output = Vec::new();
        append_message(message, encoding, &mut output);
        output
    }

    fn opened(
        framed: &[u8],
        encoding: &ResponseEncoding,
        limit_bytes: usize,
    ) -> Result<Vec<u8>, Code> {
        let (message, rest) = split_first(framed, usize::MAX).unwrap().unwrap();
        assert!(rest.is_empty());
        let opened = encoding.open(message, limit_bytes);
        opened.map_err(|status| status.code)
    }

    #[test]
    fn what_was_compressed_comes_out_as_it_was() {
        for message in [&b""[..], b"x", &[7; 100_000]] {
            let plain = framed(message, Encoding::Identity);
            assert_eq!((plain[0], plain.len()), (0, message.len() + 5));
            assert_eq!(
                opened(&plain, &ResponseEncoding::Gzip, 0),
                Ok(message.to_vec())
            );
            let compressed = framed(message, Encoding::Gzip);
            assert_eq!(compressed[0], 1);
            let back = opened(&compressed, &ResponseEncoding::Gzip, message.len());
            assert_eq!(back, Ok(message.to_vec()));
        }
    }

    #[test]
    fn what_inflates_to_more_than_the_limit_is_refused() {
        let bomb = framed(&[0; 100_000], Encoding::Gzip);
        assert!(bomb.len() < 1_000);
        let refused = opened(&bomb, &ResponseEncoding::Gzip, 99_999);
        assert_eq!(refused, Err(Code::ResourceExhausted));
    }

    #[test]
    fn a_flag_without_an_encoding_that_was_offered_is_the_servers_fault() {
        let compressed = framed(b"x", Encoding::Gzip);
        let unknown = ResponseEncoding::Unknown("zstd".to_owned());
        for encoding in [ResponseEncoding::Identity, unknown] {
            assert_eq!(opened(&compressed, &encoding, 100), Err(Code::Internal));
        }
        let damaged = [&[1, 0, 0, 0, 3][..], b"abc"].concat();
        assert_eq!(
            opened(&damaged, &ResponseEncoding::Gzip, 100),
            Err(Code::Internal)
        );
    }
}
