//! TLS of a client over a blocking transport, for callers with one connection and no driver.

use super::advice::TlsAdvice;
use super::config::Connector;
use super::engine::Engine;
use super::fault::{TlsFault, TlsFaultKind, is_reset};
use super::records;
use super::side::TlsSide;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// What is asked of the transport in one read.
const READ_BYTES: usize = 64 << 10;

/// Plaintext that one write takes: what a record holds.
const WRITE_BYTES: usize = 16 << 10;

/// A client's end of TLS over a transport that blocks, or that gives up after a time of its own.
///
/// A read or write that times out in the transport (`WouldBlock`, `TimedOut`) can be repeated.
/// Bytes that a write has taken may still wait here: [`TlsStream::wants_write`].
pub struct TlsStream<T: Read + Write> {
    transport: T,
    engine: Engine,
    advice: &'static TlsAdvice,
    /// Encrypted, and not with the transport.
    unwritten: Vec<u8>,
    /// Read, and no whole record yet.
    unread: Vec<u8>,
    /// Decrypted, and not asked for; the bytes before `taken_bytes` were.
    plaintext: Vec<u8>,
    taken_bytes: usize,
    buffer: Box<[u8]>,
}

impl<T: Read + Write> TlsStream<T> {
    /// Makes the handshake. `may_go_on` is asked each time that the transport gives up.
    ///
    /// # Errors
    /// A [`TlsFault`] inside of [`io::Error`] where the ends do not agree, else the transport's.
    pub fn connect(
        transport: T,
        connector: &Connector,
        may_go_on: impl FnMut() -> bool,
    ) -> io::Result<Self> {
        let advice = connector.handshake_policy().advice;
        let engine = connector.engine().map_err(|error| fault(error, advice))?;
        let mut stream = Self {
            transport,
            engine,
            advice,
            unwritten: Vec::new(),
            unread: Vec::new(),
            plaintext: Vec::new(),
            taken_bytes: 0,
            buffer: vec![0; READ_BYTES].into(),
        };
        let handshake_policy = connector.handshake_policy();
        match stream.shake_hands(handshake_policy.timeout_ns, may_go_on) {
            Ok(()) => {
                handshake_policy.counters.succeeded(stream.engine.is_resumed());
                Ok(stream)
            }
            Err(error) => {
                handshake_policy.counters.failed(&error);
                Err(error)
            }
        }
    }

    fn shake_hands(
        &mut self,
        timeout_ns: u64,
        mut may_go_on: impl FnMut() -> bool,
    ) -> io::Result<()> {
        self.engine.begin(&mut self.unwritten).map_err(|error| self.fault(error))?;
        while self.engine.is_handshaking() || self.wants_write() {
            let moved = match self.send() {
                Ok(()) if self.engine.is_handshaking() => self.receive(),
                moved => moved.map(|()| true),
            };
            match moved {
                Ok(true) => {}
                Ok(false) => return Err(self.given_up(TlsFaultKind::Closed)),
                Err(error) if gave_up(&error) && may_go_on() => {}
                Err(error) if gave_up(&error) => {
                    let timeout = Duration::from_nanos(timeout_ns);
                    return Err(self.given_up(TlsFaultKind::TimedOut(timeout)));
                }
                Err(error) if is_reset(&error) => {
                    return Err(self.given_up(TlsFaultKind::Closed));
                }
                Err(error) => return Err(error),
            }
        }
        match self.engine.has_agreed() {
            true => Ok(()),
            false => Err(self.given_up(TlsFaultKind::NoProtocol)),
        }
    }

    fn fault(&self, error: rustls::Error) -> io::Error {
        fault(error, self.advice)
    }

    fn given_up(&self, why: TlsFaultKind) -> io::Error {
        given_up(why, self.advice)
    }

    /// The transport.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// Whether something is encrypted that the transport has not taken.
    pub fn wants_write(&self) -> bool {
        !self.unwritten.is_empty()
    }

    fn send(&mut self) -> io::Result<()> {
        while !self.unwritten.is_empty() {
            match self.transport.write(&self.unwritten) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => drop(self.unwritten.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads once. False: the peer sends no more.
    fn receive(&mut self) -> io::Result<bool> {
        let read = self.transport.read(&mut self.buffer)?;
        self.unread.extend_from_slice(&self.buffer[..read]);
        let whole = records::whole_bytes(&self.unread, usize::MAX);
        let received =
            self.engine.receive(&self.unread[..whole], &mut self.unwritten, &mut self.plaintext);
        self.unread.drain(..whole);
        if let Err(error) = received {
            // The alert, as far as it is taken: nothing depends on it.
            let _ = self.send();
            return Err(self.fault(error));
        }
        Ok(read > 0 && !self.engine.has_ended())
    }
}

impl<T: Read + Write> Read for TlsStream<T> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        while self.taken_bytes == self.plaintext.len() {
            self.plaintext.clear();
            self.taken_bytes = 0;
            match self.send() {
                Ok(()) => {}
                // The peer may want to be read first.
                Err(error) if gave_up(&error) => {}
                Err(error) => return Err(error),
            }
            if !self.receive()? && self.plaintext.is_empty() {
                return Ok(0);
            }
        }
        let mut rest = &self.plaintext[self.taken_bytes..];
        let read = rest.read(space)?;
        self.taken_bytes += read;
        Ok(read)
    }
}

impl<T: Read + Write> Write for TlsStream<T> {
    /// Takes bytes only once what was taken before is with the transport.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send()?;
        let taken = &bytes[..bytes.len().min(WRITE_BYTES)];
        self.engine.seal(taken, &mut self.unwritten).map_err(|error| self.fault(error))?;
        match self.send() {
            Err(error) if !gave_up(&error) => Err(error),
            _ => Ok(taken.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()?;
        self.transport.flush()
    }
}

/// Sends close_notify, unless other bytes still wait to be sent.
impl<T: Read + Write> Drop for TlsStream<T> {
    fn drop(&mut self) {
        if !self.wants_write() {
            self.engine.close(&mut self.unwritten);
            let _ = self.transport.write(&self.unwritten);
        }
    }
}

impl<T: Read + Write> std::fmt::Debug for TlsStream<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("tls::TlsStream").finish_non_exhaustive()
    }
}

fn fault(error: rustls::Error, advice: &'static TlsAdvice) -> io::Error {
    given_up(TlsFaultKind::Tls(error), advice)
}

fn given_up(why: TlsFaultKind, advice: &'static TlsAdvice) -> io::Error {
    TlsFault::new(TlsSide::Client, why, advice).into()
}

fn gave_up(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
