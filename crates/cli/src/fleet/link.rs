//! Messages over a connection: a JSON object a line.

use bookend_fleet::message::MESSAGE_MAX_BYTES;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
    ReadHalf, WriteHalf,
};

/// A connection, with TLS or without.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Its end from which messages come.
pub struct Receiving {
    reader: BufReader<ReadHalf<Box<dyn Stream>>>,
    line: Vec<u8>,
}

/// Its end to which they go.
pub struct Sending(WriteHalf<Box<dyn Stream>>);

/// The two ends of a connection.
pub fn ends(stream: Box<dyn Stream>) -> (Receiving, Sending) {
    let (reader, writer) = tokio::io::split(stream);
    (Receiving { reader: BufReader::new(reader), line: Vec::new() }, Sending(writer))
}

impl Receiving {
    /// The next message, of no more than `max_bytes`; `None` where the other end has hung up. Where
    /// this is dropped before it is done, what has come of a message is kept for the next time.
    ///
    /// # Errors
    /// The connection broke, or what came is no message.
    pub async fn receive<M: DeserializeOwned>(
        &mut self,
        max_bytes: usize,
    ) -> io::Result<Option<M>> {
        let left = (max_bytes + 1).saturating_sub(self.line.len());
        let mut limited = (&mut self.reader).take(left as u64);
        limited.read_until(b'\n', &mut self.line).await?;
        if self.line.is_empty() {
            return Ok(None);
        }
        let line = std::mem::take(&mut self.line);
        if !line.ends_with(b"\n") {
            let reason = if line.len() > max_bytes { "it is too long" } else { "it is cut off" };
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message: {reason}")));
        }
        let message = serde_json::from_slice(&line);
        message.map(Some).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("a message of no meaning: {error}"))
        })
    }

    /// The next message of any length that is allowed.
    ///
    /// # Errors
    /// As [`Receiving::receive`].
    pub async fn next<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        self.receive(MESSAGE_MAX_BYTES).await
    }
}

impl Sending {
    /// Sends a message.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message).map_err(io::Error::other)?;
        line.push(b'\n');
        self.0.write_all(&line).await?;
        self.0.flush().await
    }

    /// Says that nothing more will come.
    pub async fn close(&mut self) {
        // Whoever does not hear it notices the end of the connection.
        let _ = self.0.shutdown().await;
    }
}
