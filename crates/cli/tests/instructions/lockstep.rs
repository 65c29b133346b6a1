//! A client that sends requests in writes of a certain size, and the next write only once what the
//! last one has completed is answered. So a server reads the same bytes at once and does the same
//! work each time, however busy the machine is.

use bookend_testing::{Frame, PREFACE, ScriptedPeer, flag, frame, kind, message, setting};
use bookend_testing::{settings, take_frames, window_update};

/// No write is longer. On loopback that is one segment even before the windows of TCP have grown,
/// so a server reads it at once, with what is left of the write before. pajamax, whose buffer has
/// 16 KiB, hangs up where the two fill it and end within a frame. The answers to one write are less
/// than TCP's first window: a server never waits until they are read.
const WRITE_BYTES_MAX: usize = 15 << 10;

/// Bytes that the server may send beyond the first 65,535: no window is ever shut, and updates
/// still fit.
const WINDOW_BYTES: u32 = 1 << 30;

/// In which order a client sends the frames of several requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOrder {
    /// Each request's HEADERS and its DATA, which ends the stream: grpc-go.
    Whole,
    /// All HEADERS, then all DATA: h2load.
    HeadsFirst,
    /// Each request's HEADERS, its DATA, and an empty DATA that ends the stream: tonic with one
    /// call in flight.
    EndedApart,
    /// All HEADERS in a write of their own; then each request's DATA and an empty one that ends
    /// the stream: tonic with several.
    HeadsApart,
    /// All HEADERS, then all DATA, then all empty DATA that end the streams: tonic with several, as
    /// often.
    EndsLast,
    /// Each request's HEADERS, a WINDOW_UPDATE of its stream, its DATA, and a WINDOW_UPDATE of the
    /// connection: the core of gRPC in C.
    WindowUpdates,
}

pub struct Lockstep {
    peer: ScriptedPeer,
    message: Vec<u8>,
    path: String,
    order: FrameOrder,
    next_id: u32,
}

/// Which end of a connection sends its SETTINGS first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstSettings {
    /// The server, as soon as it has accepted. It acknowledges those of the client.
    OfServer,
    /// The client.
    OfClient,
}

impl Lockstep {
    /// A client of `package.Greeter/SayHello`.
    pub fn connect(port: u16, package: &str, order: FrameOrder, first: FirstSettings) -> Self {
        let peer = ScriptedPeer::connect(("127.0.0.1", port));
        let message = if package == "helloworld" { message(HELLO) } else { message(&complex()) };
        let path = format!("/{package}.Greeter/SayHello");
        let mut client = Self { peer, message, path, order, next_id: 1 };
        client.shake_hands(first);
        client
    }

    /// A server that sends SETTINGS before it reads would find the preface in its first read or in
    /// its second: it gets it when it has looked for it in vain.
    fn shake_hands(&mut self, first: FirstSettings) {
        // Which an update may still enlarge.
        let window = settings(&[(setting::INITIAL_WINDOW_SIZE, 4 << 20)]);
        let preface = [&PREFACE[..], &window, &window_update(0, WINDOW_BYTES)];
        let mut is_answer: fn(&Frame) -> bool = |frame| frame.kind == kind::SETTINGS;
        if first == FirstSettings::OfServer {
            self.peer.wait_for(is_answer);
            is_answer = |frame| frame.kind == kind::SETTINGS && frame.has(flag::ACK);
        }
        self.send(&preface.concat());
        self.peer.wait_for(is_answer);
    }

    /// Makes `calls` calls, in as few writes as they fit in, and waits until all are answered.
    pub fn make_calls(&mut self, calls: u32) {
        let bytes = self.requests(calls);
        let mut answered = 0;
        for start in (0..bytes.len()).step_by(WRITE_BYTES_MAX) {
            let end = bytes.len().min(start + WRITE_BYTES_MAX);
            self.send(&bytes[start..end]);
            let sent = requests_in(&bytes[..end]);
            assert!(sent > answered, "a write that is not answered may not have been read");
            for _ in answered..sent {
                self.peer
                    .wait_for(|frame| frame.kind == kind::HEADERS && frame.has(flag::END_STREAM));
            }
            answered = sent;
        }
    }

    /// Hangs up, and waits until the server has done so too.
    pub fn end(self) {
        self.peer.end();
    }

    fn requests(&mut self, calls: u32) -> Vec<u8> {
        let first_id = self.next_id;
        let ids = (0..calls).map(|call| first_id + 2 * call);
        let frames: Vec<Vec<u8>> = match self.order {
            FrameOrder::Whole => ids.flat_map(|id| [self.head(id), self.body(id)]).collect(),
            FrameOrder::HeadsFirst => {
                let heads = ids.clone().map(|id| self.head(id));
                heads.chain(ids.map(|id| self.body(id))).collect()
            }
            FrameOrder::EndedApart => ids
                .flat_map(|id| [vec![self.head(id)], self.body_ended_apart(id)].concat())
                .collect(),
            FrameOrder::HeadsApart => {
                let heads: Vec<_> = ids.clone().map(|id| self.head(id)).collect();
                self.send_and_see_it_read(&heads.concat());
                ids.flat_map(|id| self.body_ended_apart(id)).collect()
            }
            FrameOrder::EndsLast => {
                let heads = ids.clone().map(|id| self.head(id));
                let bodies = ids.clone().map(|id| self.body_ended_apart(id).swap_remove(0));
                let ends = ids.map(|id| self.body_ended_apart(id).swap_remove(1));
                heads.chain(bodies).chain(ends).collect()
            }
            FrameOrder::WindowUpdates => {
                let update = |id| window_update(id, 5);
                ids.flat_map(|id| [self.head(id), update(id), self.body(id), update(0)]).collect()
            }
        };
        self.next_id += 2 * calls;
        frames.concat()
    }

    fn head(&self, id: u32) -> Vec<u8> {
        let block = match id {
            1 => first_block(&self.path),
            // POST, http, and the four fields that the first block has put into the table.
            _ => vec![0x83, 0x86, 0xc1, 0xc0, 0xbf, 0xbe],
        };
        frame(kind::HEADERS, flag::END_HEADERS, id, &block)
    }

    fn body(&self, id: u32) -> Vec<u8> {
        frame(kind::DATA, flag::END_STREAM, id, &self.message)
    }

    fn body_ended_apart(&self, id: u32) -> Vec<Vec<u8>> {
        let data = |flags, bytes| frame(kind::DATA, flags, id, bytes);
        vec![data(0, &self.message), data(flag::END_STREAM, &[])]
    }

    /// Sends a write of its own: the server has read it once it acknowledges the PING at its end.
    fn send_and_see_it_read(&mut self, bytes: &[u8]) {
        self.send(&[bytes, &frame(kind::PING, 0, 0, b"are read")].concat());
        self.peer.wait_for(|frame| frame.kind == kind::PING && frame.has(flag::ACK));
    }

    fn send(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= WRITE_BYTES_MAX, "the server may read it in parts");
        self.peer.send(bytes).expect("the server reads");
    }
}

/// How many requests end in these bytes.
fn requests_in(bytes: &[u8]) -> u32 {
    let ends = |frame: &Frame| frame.kind == kind::DATA && frame.has(flag::END_STREAM);
    take_frames(&mut bytes.to_vec()).iter().map(|frame| u32::from(ends(frame))).sum()
}

/// POST, http, and four literals with incremental indexing (RFC 7541 section 6.2.1).
fn first_block(path: &str) -> Vec<u8> {
    let mut block = vec![0x83, 0x86];
    let literals: [(u8, &str, &str); 4] = [
        (0x44, "", path),
        (0x41, "", "127.0.0.1"),
        (0x40, "te", "trailers"),
        (0x5f, "", "application/grpc"),
    ];
    for (first, name, value) in literals {
        block.push(first);
        for text in [name, value].into_iter().filter(|text| !text.is_empty()) {
            block.push(text.len() as u8);
            block.extend(text.as_bytes());
        }
    }
    block
}

/// `proto/helloworld.json`.
const HELLO: &[u8] = b"\x0a\x05world";

/// `proto/complex_proto.json`.
fn complex() -> Vec<u8> {
    let pet = |name: &[u8], colour: u8| [field(1, name), vec![0x10, colour]].concat();
    let hello = [
        field(1, b"a name"),
        [&[0x11][..], &4.55332_f64.to_le_bytes()].concat(),
        [&[0x1d][..], &232.3_f32.to_le_bytes()].concat(),
        vec![0x20, 1, 0x28, 32, 0x30],
        base_128(444_325_235_223),
        field(7, b"ofcouse"),
        field(9, &pet(b"Bof the dog", 2)),
        field(9, &pet(b"Kim the cat", 3)),
    ];
    field(1, &hello.concat())
}

fn base_128(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field of bytes, fewer than 128.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8][..], bytes].concat()
}
