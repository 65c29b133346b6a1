//! One connection's TLS, without a socket: bytes in, bytes out.

use super::records;
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{CommonState, Error, HandshakeKind};
use std::sync::Arc;

/// Bytes that a handshake message may take until it is whole. rustls takes messages of up to 64
/// KiB, which stand in records of 16 KiB that are each a little longer than what they hold.
const HANDSHAKE_BYTES_MAX: usize = 128 << 10;

/// Records without data among those that are decrypted together. A handshake has a dozen, and keys
/// are changed once in 2^24 records (RFC 8446, section 5.5). rustls ends a connection behind 32 of
/// them in a row, as BoringSSL does (kMaxKeyUpdates, kMaxEmptyRecords), but a byte of data lets it
/// begin anew, and parts of a handshake message it does not count. A thousand ClientHellos in
/// records of one byte made others wait for half a second.
const RECORDS_WITHOUT_DATA_MAX: usize = 64;

/// What a record may be longer than what it holds: the header of 5 bytes, and up to 8 + 16 for
/// nonce and tag in the cipher suites that there are.
const RECORD_OVERHEAD_BYTES: usize = 32;

/// What a record holds at most (RFC 8446, section 5.1).
const RECORD_BYTES: usize = 16 << 10;

/// The protocol of one connection, at either end.
pub(crate) struct Engine {
    connection: RustlsConnection,
    /// What both ends have to agree on by ALPN; `None` for nothing.
    expected: Option<&'static [u8]>,
    /// Bytes of a handshake message that is not whole yet. rustls decrypts them where they stand.
    kept: Vec<u8>,
    ended: bool,
    /// An error has ended it in both directions.
    failed: bool,
    /// We have sent close_notify: what arrives now is dropped.
    sent_close_notify: bool,
}

/// Either end. Both are some hundred bytes, and there is one a connection.
#[allow(clippy::large_enum_variant)]
pub(crate) enum RustlsConnection {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

impl Engine {
    /// For connections on which both ends have to agree on `expected` by ALPN; `None` for nothing.
    pub fn new(connection: RustlsConnection, expected: Option<&'static [u8]>) -> Self {
        Self {
            connection,
            expected,
            kept: Vec::new(),
            ended: false,
            failed: false,
            sent_close_notify: false,
        }
    }

    /// What rustls knows of either end.
    fn common(&self) -> &CommonState {
        match &self.connection {
            RustlsConnection::Client(connection) => connection,
            RustlsConnection::Server(connection) => connection,
        }
    }

    /// Whether no application data can be sent or received yet.
    pub fn is_handshaking(&self) -> bool {
        self.common().is_handshaking()
    }

    /// Whether the handshake has resumed a session.
    pub fn is_resumed(&self) -> bool {
        self.common().handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Whether both ends have agreed on the protocol that they have to speak.
    /// RFC 9113, section 3.3.
    pub fn has_agreed(&self) -> bool {
        self.expected.is_none() || self.common().alpn_protocol() == self.expected
    }

    /// What the peer has shown, in DER, its own certificate first.
    pub fn peer_certificates(&self) -> Arc<[Box<[u8]>]> {
        self.common()
            .peer_certificates()
            .unwrap_or_default()
            .iter()
            .map(|certificate| certificate.as_ref().into())
            .collect()
    }

    /// Memory held for messages that are not whole, bytes.
    pub fn held_bytes(&self) -> usize {
        self.kept.capacity()
    }

    /// It goes on in neither direction, and keeps nothing.
    pub fn abandon(&mut self) {
        self.failed = true;
        self.kept = Vec::new();
    }

    /// Whether the peer has sent close_notify.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Begins: a client has something to send before it receives anything.
    ///
    /// # Errors
    /// Where this machine has no randomness or no clock.
    pub fn begin(&mut self, output: &mut Vec<u8>) -> Result<(), Error> {
        self.receive(&[], output, &mut Vec::new())
    }

    /// Takes whole records. Their content is appended to `plaintext`, and what has to be sent in
    /// reply to `output`, including the alert for an error.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn receive(
        &mut self,
        records: &[u8],
        output: &mut Vec<u8>,
        plaintext: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if self.failed {
            return Err(Error::HandshakeNotComplete);
        }
        if self.sent_close_notify {
            return Ok(());
        }
        self.kept.extend_from_slice(records);
        let mut incoming = std::mem::take(&mut self.kept);
        let (used, with_data, result) = self.process(&mut incoming, output, plaintext);
        if let Err(error) = result {
            self.failed = true;
            // Only the alert for the peer is left to encode: one step, since another one would meet
            // the error again. `incoming` is what rustls saw before the error, because it remembers
            // positions in it.
            let _ = self.step(&mut incoming[used..], output, &mut Vec::new());
            return Err(error);
        }
        incoming.drain(..used);
        if incoming.len() > HANDSHAKE_BYTES_MAX {
            self.failed = true;
            return Err(Error::General("a handshake message without an end".into()));
        }
        if records::are_more_than(records, with_data + RECORDS_WITHOUT_DATA_MAX) {
            self.failed = true;
            return Err(Error::General("too many records without data".into()));
        }
        if !incoming.is_empty() {
            self.kept = incoming;
        }
        Ok(())
    }

    /// Returns how many bytes of `incoming` are used up, and how many records had data.
    fn process(
        &mut self,
        incoming: &mut [u8],
        output: &mut Vec<u8>,
        plaintext: &mut Vec<u8>,
    ) -> (usize, usize, Result<(), Error>) {
        let (mut used, mut with_data) = (0, 0);
        loop {
            let (discard, step) = self.step(&mut incoming[used..], output, plaintext);
            used += discard;
            match step {
                Ok(Step::GoOn) => {}
                Ok(Step::Data(records)) => with_data += records,
                Ok(Step::PeerEnded) => self.ended = true,
                Ok(Step::Wait) => return (used, with_data, Ok(())),
                Err(error) => return (used, with_data, Err(error)),
            }
        }
    }

    /// One state of rustls' machine. Returns how many bytes of `incoming` it used up.
    fn step(
        &mut self,
        incoming: &mut [u8],
        output: &mut Vec<u8>,
        plaintext: &mut Vec<u8>,
    ) -> (usize, Result<Step, Error>) {
        match &mut self.connection {
            RustlsConnection::Client(connection) => {
                act(connection.process_tls_records(incoming), output, plaintext)
            }
            RustlsConnection::Server(connection) => {
                act(connection.process_tls_records(incoming), output, plaintext)
            }
        }
    }

    /// Encrypts application data and appends the records to `output`.
    ///
    /// # Errors
    /// The keys are worn out, or the handshake is not over.
    pub fn seal(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), Error> {
        let records = plaintext.len().div_ceil(RECORD_BYTES);
        let room_bytes = plaintext.len() + records * RECORD_OVERHEAD_BYTES;
        self.append(Outgoing::Data(plaintext), room_bytes, output)
    }

    /// Sends close_notify. In the middle of a handshake that is not possible, and the peer sees the
    /// end of the transport anyway.
    pub fn close(&mut self, output: &mut Vec<u8>) {
        self.sent_close_notify = true;
        let _ = self.append(Outgoing::CloseNotify, 2 * RECORD_OVERHEAD_BYTES, output);
    }

    fn append(
        &mut self,
        outgoing: Outgoing<'_>,
        room_bytes: usize,
        output: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let start = output.len();
        output.resize(start + room_bytes, 0);
        let mut written = self.write(outgoing, &mut output[start..]);
        if let Ok(Written::TooLittleRoom(required_bytes)) = written {
            // Messages of the protocol (a key update, say) go out before it.
            output.resize(start + required_bytes, 0);
            written = self.write(outgoing, &mut output[start..]);
        }
        let (bytes, result) = match written {
            Ok(Written::Bytes(bytes)) => (bytes, Ok(())),
            Ok(Written::TooLittleRoom(_)) => (0, Err(Error::EncryptError)),
            Err(error) => (0, Err(error)),
        };
        output.truncate(start + bytes);
        result
    }

    fn write(&mut self, outgoing: Outgoing<'_>, room: &mut [u8]) -> Result<Written, Error> {
        if self.failed {
            return Err(Error::HandshakeNotComplete);
        }
        match &mut self.connection {
            RustlsConnection::Client(connection) => {
                write(connection.process_tls_records(&mut self.kept), outgoing, room)
            }
            RustlsConnection::Server(connection) => {
                write(connection.process_tls_records(&mut self.kept), outgoing, room)
            }
        }
    }
}

/// What is to be encrypted.
#[derive(Clone, Copy)]
enum Outgoing<'a> {
    Data(&'a [u8]),
    CloseNotify,
}

/// How much was written.
enum Written {
    Bytes(usize),
    /// Nothing: this number of bytes is needed.
    TooLittleRoom(usize),
}

/// What one step of the protocol leads to.
enum Step {
    GoOn,
    /// This number of records with data.
    Data(usize),
    /// The peer sends no more.
    PeerEnded,
    /// It needs more bytes, or waits for data to send.
    Wait,
}

fn write<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    outgoing: Outgoing<'_>,
    room: &mut [u8],
) -> Result<Written, Error> {
    let ConnectionState::WriteTraffic(mut traffic) = status.state? else {
        return Err(Error::HandshakeNotComplete);
    };
    let written = match outgoing {
        Outgoing::Data(plaintext) => traffic.encrypt(plaintext, room),
        Outgoing::CloseNotify => traffic.queue_close_notify(room),
    };
    match written {
        Ok(bytes) => Ok(Written::Bytes(bytes)),
        Err(EncryptError::InsufficientSize(error)) => {
            Ok(Written::TooLittleRoom(error.required_size))
        }
        Err(EncryptError::EncryptExhausted) => Err(Error::EncryptError),
    }
}

/// Does what rustls' state asks for. Returns how many bytes are used up.
fn act<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    output: &mut Vec<u8>,
    plaintext: &mut Vec<u8>,
) -> (usize, Result<Step, Error>) {
    let mut used = status.discard;
    let step = match status.state {
        Ok(ConnectionState::ReadTraffic(mut traffic)) => {
            let mut records = 0;
            while let Some(record) = traffic.next_record() {
                match record {
                    Ok(record) => {
                        plaintext.extend_from_slice(record.payload);
                        used += record.discard;
                        records += usize::from(!record.payload.is_empty());
                    }
                    Err(error) => return (used, Err(error)),
                }
            }
            Ok(Step::Data(records))
        }
        Ok(ConnectionState::EncodeTlsData(mut data)) => {
            let start = output.len();
            // An attempt without room returns the size that it needs.
            if let Err(EncodeError::InsufficientSize(error)) = data.encode(&mut []) {
                output.resize(start + error.required_size, 0);
                let _ = data.encode(&mut output[start..]);
            }
            Ok(Step::GoOn)
        }
        Ok(ConnectionState::TransmitTlsData(data)) => {
            data.done();
            Ok(Step::GoOn)
        }
        Ok(ConnectionState::PeerClosed) => Ok(Step::PeerEnded),
        Ok(_) => Ok(Step::Wait),
        Err(error) => Err(error),
    };
    (used, step)
}
