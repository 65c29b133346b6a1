//! Requests: encoded once, with a sequence id that is written anew for each call.

use super::envelope::{BINARY_VERSION, COMPACT_ID, COMPACT_VERSION, message_kind};
use super::spoken::{ThriftProtocol, ThriftTransport};
use super::value::ThriftValue;
use super::writer;

/// A call as it goes over the wire, but for its sequence id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EncodedRequest {
    bytes: Vec<u8>,
    /// Where the sequence id stands.
    sequence_at: usize,
    protocol: ThriftProtocol,
}

/// The sequence ids of a connection, one after the other. All of them have three bytes in the
/// compact protocol, so that they can be written over each other.
#[derive(Clone, Debug)]
pub struct SequenceIds {
    next: u32,
}

impl SequenceIds {
    /// The first number of three bytes.
    const FIRST: u32 = 1 << 14;
    /// The last number of three bytes. No connection has that number of calls in flight.
    const LAST: u32 = (1 << 21) - 1;

    /// The next one.
    #[inline]
    pub fn take(&mut self) -> u32 {
        let id = self.next;
        self.next = if id == Self::LAST { Self::FIRST } else { id + 1 };
        id
    }
}

impl Default for SequenceIds {
    fn default() -> Self {
        Self { next: Self::FIRST }
    }
}

impl EncodedRequest {
    /// The call of a method with these arguments.
    pub fn new(
        method: &str,
        is_oneway: bool,
        arguments: &ThriftValue,
        protocol: ThriftProtocol,
        transport: ThriftTransport,
    ) -> Self {
        let kind = if is_oneway { message_kind::ONEWAY } else { message_kind::CALL };
        let mut bytes = match transport {
            ThriftTransport::Framed => vec![0; 4],
            ThriftTransport::Buffered => Vec::new(),
        };
        let sequence_at = match protocol {
            ThriftProtocol::Binary => {
                bytes.extend(BINARY_VERSION);
                bytes.extend([0, kind]);
                writer::write_binary(method.as_bytes(), protocol, &mut bytes);
                bytes.extend([0; 4]);
                bytes.len() - 4
            }
            ThriftProtocol::Compact => {
                bytes.extend([COMPACT_ID, kind << 5 | COMPACT_VERSION]);
                let sequence_at = bytes.len();
                writer::varint(u64::from(SequenceIds::FIRST), &mut bytes);
                writer::write_binary(method.as_bytes(), protocol, &mut bytes);
                sequence_at
            }
        };
        writer::write(arguments, protocol, &mut bytes);
        if transport == ThriftTransport::Framed {
            let frame_bytes = (bytes.len() - 4) as u32;
            bytes[..4].copy_from_slice(&frame_bytes.to_be_bytes());
        }
        Self { bytes, sequence_at, protocol }
    }

    /// Appends the call with that sequence id, one of [`SequenceIds`].
    #[inline]
    pub fn write(&self, sequence_id: u32, output: &mut Vec<u8>) {
        let at = output.len() + self.sequence_at;
        output.extend_from_slice(&self.bytes);
        match self.protocol {
            ThriftProtocol::Binary => {
                output[at..at + 4].copy_from_slice(&sequence_id.to_be_bytes());
            }
            ThriftProtocol::Compact => {
                let varint = [
                    sequence_id as u8 | 0x80,
                    (sequence_id >> 7) as u8 | 0x80,
                    (sequence_id >> 14) as u8,
                ];
                output[at..at + 3].copy_from_slice(&varint);
            }
        }
    }

    /// Bytes of the call.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::Reader;
    use super::*;

    #[test]
    fn every_sequence_id_is_read_as_it_was_written() {
        let arguments = ThriftValue::Struct(Vec::new());
        for protocol in [ThriftProtocol::Binary, ThriftProtocol::Compact] {
            let request =
                EncodedRequest::new("ping", false, &arguments, protocol, ThriftTransport::Buffered);
            for sequence_id in [SequenceIds::FIRST, 16_511, 16_512, 2_000_000, SequenceIds::LAST] {
                let mut bytes = b"before".to_vec();
                request.write(sequence_id, &mut bytes);
                let head = Reader::new(&bytes[6..], protocol).message_head().unwrap();
                assert_eq!((head.sequence_id, head.name), (sequence_id, &b"ping"[..]));
                assert_eq!(head.kind, message_kind::CALL);
            }
        }
    }

    #[test]
    fn sequence_ids_begin_again_behind_the_last() {
        let mut ids = SequenceIds { next: SequenceIds::LAST };
        assert_eq!((ids.take(), ids.take()), (SequenceIds::LAST, SequenceIds::FIRST));
    }

    #[test]
    fn a_frame_has_its_length_before_it() {
        let arguments = ThriftValue::Struct(vec![(1, ThriftValue::I8(7))]);
        let framed = |transport| {
            let mut bytes = Vec::new();
            EncodedRequest::new("a", true, &arguments, ThriftProtocol::Binary, transport)
                .write(16_384, &mut bytes);
            bytes
        };
        let buffered = framed(ThriftTransport::Buffered);
        assert_eq!(buffered, b"\x80\x01\0\x04\0\0\0\x01a\0\0\x40\0\x03\0\x01\x07\0");
        assert_eq!(framed(ThriftTransport::Framed), [&[0, 0, 0, 18], &buffered[..]].concat());
    }
}
