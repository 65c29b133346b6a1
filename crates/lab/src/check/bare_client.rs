//! A client that does no more than it takes to make a call: canned bytes, and a socket that is read
//! again and again. It shares no code with our generator.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// No calls of a calibration take as long.
const TIMEOUT: Duration = Duration::from_secs(30);

const HEADER_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// `:method: POST` and `:scheme: http` of the static table, then literals without indexing (RFC
/// 7541, section 6.2.2): `:path`, `:authority`, `te` and `content-type`.
const REQUEST_BLOCK: &[u8] = b"\x83\x86\
    \x04\x1b/clockwork.Clockwork/Answer\
    \x01\x09localhost\
    \x00\x02te\x08trailers\
    \x0f\x10\x10application/grpc";

/// When calls are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Each when the one before it has been answered.
    Closed,
    /// The same, and each on a connection of its own, from when that is established.
    ConnectionEach,
    /// Evenly, however long they take.
    Open(Duration),
}

/// How long each of `count` calls takes, in the order of their answers.
///
/// # Errors
/// There is no connection, or no answer.
pub fn call(
    target: SocketAddr,
    message: &[u8],
    pace: Pace,
    count: usize,
) -> io::Result<Vec<Duration>> {
    let begun = Instant::now();
    let mut taken = Vec::with_capacity(count);
    let mut connection = Connection::to(target, message)?;
    let mut made = 0;
    while taken.len() < count {
        let due = match pace {
            Pace::Open(interval) => begun + interval * made as u32,
            Pace::Closed | Pace::ConnectionEach if made > taken.len() => begun + 2 * TIMEOUT,
            Pace::Closed | Pace::ConnectionEach => Instant::now(),
        };
        if made < count && due <= Instant::now() {
            if pace == Pace::ConnectionEach && made > 0 {
                connection = Connection::to(target, message)?;
            }
            connection.begin(due)?;
            made += 1;
        }
        connection.look(&mut taken)?;
        if begun.elapsed() > TIMEOUT {
            return Err(io::Error::new(ErrorKind::TimedOut, "calls are not answered"));
        }
    }
    Ok(taken)
}

struct Connection {
    socket: TcpStream,
    /// What is written next: the preface with the first request.
    output: Vec<u8>,
    /// What was read and is no whole frame yet.
    input: Vec<u8>,
    body: Vec<u8>,
    /// When the call of each stream began, by half of its number.
    begun: Vec<Instant>,
}

impl Connection {
    fn to(target: SocketAddr, message: &[u8]) -> io::Result<Connection> {
        let socket = TcpStream::connect(target)?;
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        let body = [&[0][..], &(message.len() as u32).to_be_bytes(), message].concat();
        let output = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
        Ok(Connection { socket, output, input: Vec::new(), body, begun: Vec::new() })
    }

    /// Makes a call that was due then.
    fn begin(&mut self, due: Instant) -> io::Result<()> {
        let id = 2 * self.begun.len() as u32 + 1;
        self.begun.push(due);
        self.output.extend(frame(HEADERS, END_HEADERS, id, REQUEST_BLOCK));
        self.output.extend(frame(DATA, END_STREAM, id, &self.body));
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let mut written = 0;
        while written < self.output.len() {
            match self.socket.write(&self.output[written..]) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
                result => written += result?,
            }
        }
        self.output.clear();
        Ok(())
    }

    /// Reads what is there, if anything is, and adds what was answered in it.
    fn look(&mut self, taken: &mut Vec<Duration>) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let count = match self.socket.read(&mut buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let now = Instant::now();
        self.input.extend_from_slice(&buffer[..count]);
        let input = std::mem::take(&mut self.input);
        let mut rest = &input[..];
        while let Some((frame, after)) = first_frame(rest) {
            self.take(frame, now, taken)?;
            rest = after;
        }
        self.input = rest.to_vec();
        Ok(())
    }

    fn take(&mut self, frame: &[u8], now: Instant, taken: &mut Vec<Duration>) -> io::Result<()> {
        let (kind, flags) = (frame[3], frame[4]);
        let id = u32::from_be_bytes([frame[5], frame[6], frame[7], frame[8]]);
        match kind {
            HEADERS if flags & END_STREAM != 0 => {
                let begun = self
                    .begun
                    .get(id as usize / 2)
                    .ok_or_else(|| io::Error::other("an answer to no call"))?;
                taken.push(now.saturating_duration_since(*begun));
            }
            SETTINGS if flags & END_STREAM == 0 => {
                // Its bit 1 is ACK.
                self.output.extend(self::frame(SETTINGS, 1, 0, &[]));
                self.write()?;
            }
            RST_STREAM | GOAWAY => return Err(io::Error::other("a call was refused")),
            _ => {}
        }
        Ok(())
    }
}

/// The first whole frame, and what comes after it.
fn first_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let &[a, b, c, ..] = bytes.get(..HEADER_BYTES)? else { return None };
    let length = u32::from_be_bytes([0, a, b, c]) as usize;
    bytes.split_at_checked(HEADER_BYTES + length)
}

fn frame(kind: u8, flags: u8, stream_id: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    let mut bytes = vec![a, b, c, kind, flags];
    bytes.extend(stream_id.to_be_bytes());
    bytes.extend(payload);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// Answers each request after 5 ms, one after the other, on connection after connection.
    fn server() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = listener.local_addr().unwrap();
        thread::spawn(move || {
            for socket in listener.incoming() {
                // Its client has gone.
                let _ = answer(socket.unwrap());
            }
        });
        target
    }

    fn answer(mut socket: TcpStream) -> io::Result<()> {
        let mut preface = [0; PREFACE.len()];
        socket.read_exact(&mut preface)?;
        assert_eq!(preface, PREFACE);
        socket.write_all(&frame(SETTINGS, 0, 0, &[]))?;
        loop {
            let mut header = [0; HEADER_BYTES];
            socket.read_exact(&mut header)?;
            let mut payload = vec![0; usize::from(header[2])];
            socket.read_exact(&mut payload)?;
            if header[3] == DATA {
                assert_eq!(payload, b"\0\0\0\0\x02\x08\x07");
                thread::sleep(Duration::from_millis(5));
                let id = u32::from(header[8]);
                let reply = [
                    frame(HEADERS, END_HEADERS, id, &[0x88]),
                    frame(DATA, 0, id, b"\0\0\0\0\0"),
                    frame(HEADERS, END_HEADERS | END_STREAM, id, &[]),
                ];
                socket.write_all(&reply.concat())?;
            }
        }
    }

    #[test]
    fn every_call_is_answered_and_takes_what_its_server_takes() {
        for pace in [Pace::Closed, Pace::ConnectionEach, Pace::Open(Duration::from_millis(6))] {
            let taken = call(server(), b"\x08\x07", pace, 8).unwrap();
            assert_eq!(taken.len(), 8, "{pace:?}");
            assert!(taken.iter().all(|one| *one >= Duration::from_millis(5)), "{taken:?}");
        }
    }

    #[test]
    fn the_wait_for_others_belongs_to_a_call_that_was_due() {
        let taken = call(server(), b"\x08\x07", Pace::Open(Duration::from_millis(1)), 8).unwrap();
        assert!(taken[7] >= Duration::from_millis(8 * 5 - 7), "{taken:?}");
    }

    #[test]
    fn a_server_that_closes_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = listener.local_addr().unwrap();
        thread::spawn(move || drop(listener.accept()));
        assert!(call(target, &[], Pace::Closed, 1).is_err());
    }
}
