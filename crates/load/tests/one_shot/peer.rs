//! A server of bytes: it hears what a client says before and after its answer.

use bookend_testing::{Frame, answer_ok, flag, frame, kind, setting, settings, window_update};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// What the server does once a whole request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Answers with an empty message.
    Good,
    /// As [`Answer::Good`], with windows opened before anything has come.
    GoodAfterGreeting,
    /// As [`Answer::Good`], once this number of connections have been open at a time.
    WhenThereAre(usize),
    /// Answers with that status.
    Status(u8),
    /// Nothing.
    Never,
    /// Ends the connection.
    Close,
    /// Sends what is no HTTP/2.
    Garbage,
    /// Resets the stream.
    Reset,
    /// Says that it has not looked at the call.
    Goaway,
}

/// Sent in place of the preface, and as long, by whoever asks for all connections before its own.
const LAST: &[u8; 24] = b"no connection after this";

/// What one connection has heard.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    pub before_answer: Vec<String>,
    pub after_answer: Vec<String>,
    pub data_bytes: usize,
    /// It ended cleanly, and this side was still there.
    pub ended_by_client: bool,
}

#[derive(Default)]
struct Seen {
    heard: Vec<Heard>,
    open: usize,
    most_open: usize,
    /// Calls that have been let go together.
    released: usize,
}

/// A server, a thread a connection.
pub struct Peer {
    pub address: SocketAddr,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    connections: Arc<Mutex<Vec<thread::JoinHandle<()>>>>,
}

impl Peer {
    pub fn serve(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new((Mutex::default(), Condvar::new()));
        let connections = Arc::new(Mutex::new(Vec::new()));
        let (for_thread, handles) = (Arc::clone(&seen), Arc::clone(&connections));
        thread::spawn(move || {
            for socket in listener.incoming() {
                let (seen, socket) = (Arc::clone(&for_thread), socket.unwrap());
                let handle = thread::spawn(move || converse(socket, answer, &seen));
                // Before the next one is accepted.
                handles.lock().unwrap().push(handle);
            }
        });
        Self { address, seen, connections }
    }

    /// What all connections so far have heard, after their ends.
    pub fn heard(&self) -> Vec<Heard> {
        let mut last = TcpStream::connect(self.address).unwrap();
        last.write_all(LAST).unwrap();
        assert_eq!(last.read(&mut [0]).unwrap(), 0);
        let connections = std::mem::take(&mut *self.connections.lock().unwrap());
        for connection in connections {
            connection.join().unwrap();
        }
        self.seen.0.lock().unwrap().heard.clone()
    }

    /// Connections with a call that were there at a time, at most.
    pub fn most_at_once(&self) -> usize {
        self.seen.0.lock().unwrap().most_open
    }
}

fn converse(mut socket: TcpStream, answer: Answer, seen: &(Mutex<Seen>, Condvar)) {
    let mut heard = Heard::default();
    let mut reader = Frames::of(&socket);
    let mut preface = [0; 24];
    if reader.socket.read_exact(&mut preface).is_ok() {
        if preface == *LAST {
            return;
        }
        if answer == Answer::GoodAfterGreeting {
            socket.write_all(&greeting()).unwrap();
        }
        while let Ok(Some(name)) = reader.next() {
            let is_last = name.ends_with("END_STREAM");
            heard.before_answer.push(name);
            if is_last {
                break;
            }
        }
        heard.data_bytes = reader.data_bytes;
        wait_for_others(answer, seen);
        // With the answer the next call may begin.
        seen.0.lock().unwrap().open -= 1;
        // The client may be gone already.
        let _ = socket.write_all(&bytes_of(answer));
        if answer != Answer::Close {
            heard.ended_by_client = loop {
                match reader.next() {
                    Ok(Some(name)) => heard.after_answer.push(name),
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
        }
    }
    seen.0.lock().unwrap().heard.push(heard);
}

/// Counts a connection; holds its answer back until enough are there.
fn wait_for_others(answer: Answer, (seen, changed): &(Mutex<Seen>, Condvar)) {
    let mut state = seen.lock().unwrap();
    state.open += 1;
    state.most_open = state.most_open.max(state.open);
    let Answer::WhenThereAre(together) = answer else {
        return;
    };
    state.released += 1;
    changed.notify_all();
    // The n-th call goes when its whole group is there.
    let group_end = state.released.div_ceil(together) * together;
    while state.released < group_end {
        state = changed.wait(state).unwrap();
    }
}

struct Frames {
    socket: TcpStream,
    data_bytes: usize,
}

impl Frames {
    fn of(socket: &TcpStream) -> Self {
        Self { socket: socket.try_clone().unwrap(), data_bytes: 0 }
    }

    /// The next frame's name and flags; `None` at the end.
    fn next(&mut self) -> std::io::Result<Option<String>> {
        let Some(frame) = Frame::read(&mut self.socket)? else { return Ok(None) };
        let name = match frame.kind {
            kind::DATA => "DATA",
            kind::HEADERS => "HEADERS",
            kind::RST_STREAM => "RST_STREAM",
            kind::SETTINGS => "SETTINGS",
            kind::GOAWAY => "GOAWAY",
            kind::WINDOW_UPDATE => "WINDOW_UPDATE",
            _ => "another",
        };
        if frame.kind == kind::DATA {
            self.data_bytes += frame.payload.len();
        }
        let flag = match frame.kind {
            kind::DATA | kind::HEADERS if frame.has(flag::END_STREAM) => " END_STREAM",
            kind::SETTINGS if frame.has(flag::ACK) => " ACK",
            _ => "",
        };
        Ok(Some(format!("{name}{flag}")))
    }
}

/// SETTINGS and a window as wide as large messages need, for each stream and for the connection.
fn greeting() -> Vec<u8> {
    let parameters = settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 20)]);
    [parameters, window_update(0, 1 << 20)].concat()
}

fn bytes_of(answer: Answer) -> Vec<u8> {
    let settings = match answer {
        Answer::GoodAfterGreeting => Vec::new(),
        _ => greeting(),
    };
    let good = || answer_ok(1, b"");
    let more = match answer {
        Answer::Good | Answer::GoodAfterGreeting | Answer::WhenThereAre(_) => good(),
        Answer::Status(code) => {
            // The last byte is the status.
            let mut answer = good();
            *answer.last_mut().expect("trailers") = b'0' + code;
            answer
        }
        Answer::Never => Vec::new(),
        Answer::Close => return Vec::new(),
        Answer::Garbage => return b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        Answer::Reset => frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 2]),
        Answer::Goaway => frame(kind::GOAWAY, 0, 0, &[0; 8]),
    };
    [settings, more].concat()
}
