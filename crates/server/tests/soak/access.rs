//! How clients reach the server: in plain text or inside TLS.

use std::env;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bookend_client::ChannelOptions;
use bookend_client::tls::{ClientConfig, TlsStream, Trust};

/// A server that does not read any more is as good as gone.
const PATIENCE: Duration = Duration::from_millis(500);

/// The address of the server, and what else it takes to be heard there.
#[derive(Clone)]
pub struct Access {
    pub address: SocketAddr,
    tls: Option<ClientConfig>,
}

impl Access {
    pub fn new(address: SocketAddr) -> Self {
        let config = || ClientConfig::new(Trust::Anyone, None).expect("no certificate of its own");
        Access { address, tls: is_encrypted().then(config) }
    }

    /// For channels.
    pub fn options(&self) -> ChannelOptions {
        ChannelOptions { tls: self.tls.clone(), ..ChannelOptions::default() }
    }

    /// A connection on which somebody writes what he likes.
    pub fn dial(&self) -> io::Result<Line> {
        let socket = TcpStream::connect(self.address)?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let Some(config) = &self.tls else {
            return Ok(Line::Plain(socket));
        };
        socket.set_read_timeout(Some(PATIENCE))?;
        let connector = config.connector("127.0.0.1").expect("a name");
        let stream = TlsStream::connect(socket, &connector, || false)?;
        Ok(Line::Encrypted(Box::new(stream)))
    }
}

/// Whether the soak is one inside TLS.
pub fn is_encrypted() -> bool {
    env::var("SOAK_TLS").is_ok_and(|value| value == "1")
}

/// One connection.
pub enum Line {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Line {
    pub fn socket(&self) -> &TcpStream {
        match self {
            Line::Plain(socket) => socket,
            Line::Encrypted(stream) => stream.transport(),
        }
    }
}

impl Read for Line {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self {
            Line::Plain(socket) => socket.read(space),
            Line::Encrypted(stream) => stream.read(space),
        }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Line::Plain(socket) => socket.write(bytes),
            Line::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Line::Plain(socket) => socket.flush(),
            Line::Encrypted(stream) => stream.flush(),
        }
    }
}
