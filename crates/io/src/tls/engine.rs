//! One connection's TLS, without a socket: bytes in, bytes out.

use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{Error, HandshakeKind};

/// Bytes that a handshake message may take until it is whole. rustls takes messages of up to 64
/// KiB, which stand in records of 16 KiB that are each a little longer than what they hold.
const HANDSHAKE_BYTES_MAX: usize = 128 << 10;

/// What a record may be longer than what it holds: the header of 5 bytes, and up to 8 + 16 for
/// nonce and tag in the cipher suites that there are.
const RECORD_OVERHEAD_BYTES: usize = 32;

/// What a record holds at most (RFC 8446, section 5.1).
const RECORD_BYTES: usize = 16 << 10;

/// The protocol of one connection, at either end.
pub(crate) struct Engine {
    end: RustlsConnection,
    /// Bytes of a handshake message that is not whole yet. rustls decrypts them where they stand.
    kept: Vec<u8>,
    ended: bool,
    /// Nothing can be sent or received any more.
    failed: bool,
    /// We have said that we send no more: what comes now is of no interest.
    sent_close_notify: bool,
}

/// Either end. Both are some hundred bytes, and there is one a connection.
#[allow(clippy::large_enum_variant)]
enum RustlsConnection {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

impl Engine {
    pub fn client(connection: UnbufferedClientConnection) -> Self {
        Self::new(RustlsConnection::Client(connection))
    }

    pub fn server(connection: UnbufferedServerConnection) -> Self {
        Self::new(RustlsConnection::Server(connection))
    }

    fn new(end: RustlsConnection) -> Self {
        Self {
            end,
            kept: Vec::new(),
            ended: false,
            failed: false,
            sent_close_notify: false,
        }
    }

    /// Whether no application data can be sent or received yet.
    pub fn is_handshaking(&self) -> bool {
        match &self.end {
            RustlsConnection::Client(connection) => connection.is_handshaking(),
            RustlsConnection::Server(connection) => connection.is_handshaking(),
        }
    }

    /// What the handshake was: whole, or resumed.
    pub fn handshake_kind(&self) -> Option<HandshakeKind> {
        match &self.end {
            RustlsConnection::Client(connection) => connection.handshake_kind(),
            RustlsConnection::Server(connection) => connection.handshake_kind(),
        }
    }

    /// What the ends have agreed on by ALPN.
    pub fn protocol(&self) -> Option<&[u8]> {
        match &self.end {
            RustlsConnection::Client(connection) => connection.alpn_protocol(),
            RustlsConnection::Server(connection) => connection.alpn_protocol(),
        }
    }

    /// The peer has said that it sends no more.
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

    /// Takes whole records. What they hold is appended to `plaintext`, and what is to be sent for
    /// them to `output`, alerts for an error included.
    ///
    /// # Errors
    /// The connection is of no use any more.
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
        let (used, result) = self.process(&mut incoming, output, plaintext);
        if let Err(error) = result {
            self.failed = true;
            self.encode_alert(&mut incoming[used..], output);
            return Err(error);
        }
        incoming.drain(..used);
        if incoming.len() > HANDSHAKE_BYTES_MAX {
            self.failed = true;
            return Err(Error::General("a handshake message without an end".into()));
        }
        if !incoming.is_empty() {
            self.kept = incoming;
        }
        Ok(())
    }

    /// What is left to do after an error is to encode the alert that tells the peer: one step,
    /// since another one would run into the error again. The bytes are those that rustls has seen:
    /// it knows places in them.
    fn encode_alert(&mut self, incoming: &mut [u8], output: &mut Vec<u8>) {
        let _ = match &mut self.end {
            RustlsConnection::Client(connection) => act(
                connection.process_tls_records(incoming),
                output,
                &mut Vec::new(),
            ),
            RustlsConnection::Server(connection) => act(
                connection.process_tls_records(incoming),
                output,
                &mut Vec::new(),
            ),
        };
    }

    fn process(
        &mut self,
        incoming: &mut [u8],
        output: &mut Vec<u8>,
        plaintext: &mut Vec<u8>,
    ) -> (usize, Result<(), Error>) {
        let mut used = 0;
        loop {
            let (discard, step) = match &mut self.end {
                RustlsConnection::Client(connection) => {
                    let status = connection.process_tls_records(&mut incoming[used..]);
                    act(status, output, plaintext)
                }
                RustlsConnection::Server(connection) => {
                    let status = connection.process_tls_records(&mut incoming[used..]);
                    act(status, output, plaintext)
                }
            };
            used += discard;
            match step {
                Ok(Step::GoOn) => {}
                Ok(Step::PeerEnded) => self.ended = true,
                Ok(Step::Wait) => return (used, Ok(())),
                Err(error) => return (used, Err(error)),
            }
        }
    }

    /// Encrypts application data behind what stands in `output`, in records as long as it is.
    ///
    /// # Errors
    /// The keys are worn out, or the handshake is not over.
    pub fn seal(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), Error> {
        let records = plaintext.len().div_ceil(RECORD_BYTES);
        let room_bytes = plaintext.len() + records * RECORD_OVERHEAD_BYTES;
        self.append(Outgoing::Data(plaintext), room_bytes, output)
    }

    /// Says that nothing more is sent. In the middle of a handshake there is nobody to say it to,
    /// and the peer sees the end anyway.
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
            // Something of the protocol's own goes out before it.
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
        match &mut self.end {
            RustlsConnection::Client(connection) => write(
                connection.process_tls_records(&mut self.kept),
                outgoing,
                room,
            ),
            RustlsConnection::Server(connection) => write(
                connection.process_tls_records(&mut self.kept),
                outgoing,
                room,
            ),
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
    /// Nothing: so many bytes are needed.
    TooLittleRoom(usize),
}

/// Where a turn of the protocol has got to.
enum Step {
    GoOn,
    /// The peer sends no more.
    PeerEnded,
    /// It needs more bytes, or has something to say.
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

/// Does what one state asks for. Returns the bytes that are used up.
fn act<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    output: &mut Vec<u8>,
    plaintext: &mut Vec<u8>,
) -> (usize, Result<Step, Error>) {
    let mut used = status.discard;
    let step = match status.state {
        Ok(ConnectionState::ReadTraffic(mut traffic)) => {
            while let Some(record) = traffic.next_record() {
                match record {
                    Ok(record) => {
                        plaintext.extend_from_slice(record.payload);
                        used += record.discard;
                    }
                    Err(error) => return (used, Err(error)),
                }
            }
            Ok(Step::GoOn)
        }
        Ok(ConnectionState::EncodeTlsData(mut data)) => {
            let start = output.len();
            // What it needs is told by an attempt that gives it no room.
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
