//! What goes to the server: requests in every shape that HTTP/2 allows.

use super::{Broken, Conversation, MAX_FRAME_BYTES};
use bookend_wire::Indexing;
use bookend_wire::flow::Window;
use bookend_wire::frame::{flag, kind, write_frame};

/// Octets of padding, RFC 9113 section 6.1: any number up to 255.
const PAD_BYTES: u8 = 100;

/// How a request's head lies in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::probe) enum HeadShape {
    /// One HEADERS frame.
    #[default]
    Whole,
    /// HEADERS and two CONTINUATION frames.
    Continued,
    /// One HEADERS frame with padding.
    Padded,
}

/// How a request's body lies in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::probe) enum BodyShape {
    /// As few DATA frames as there can be.
    #[default]
    Whole,
    /// DATA frames with padding.
    Padded,
    /// The first octets, prefix and all, in DATA frames of one octet, and END_STREAM on an empty
    /// one.
    Cut,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(in crate::probe) struct Outgoing<'a> {
    /// The head, pseudo-headers first.
    pub fields: &'a [(Vec<u8>, Vec<u8>)],
    /// The body: messages with their prefixes.
    pub body: &'a [u8],
    /// How the head is sent.
    pub head_shape: HeadShape,
    /// How the body is sent.
    pub body_shape: BodyShape,
}

impl Conversation {
    /// Sends a whole request on a new stream, as fast as the windows allow. Gives the stream's id.
    pub fn call(&mut self, request: &Outgoing<'_>) -> Result<u32, Broken> {
        let (stream_id, head) = self.head(request.fields, request.head_shape);
        self.body(stream_id, head, request.body, request.body_shape)?;
        Ok(stream_id)
    }

    /// Sends only the head of a request. Gives the stream's id.
    pub fn begin(&mut self, request: &Outgoing<'_>) -> Result<u32, Broken> {
        let (stream_id, head) = self.head(request.fields, request.head_shape);
        self.write(&head)?;
        Ok(stream_id)
    }

    /// Sends the body of a request whose head was sent.
    pub fn complete(&mut self, stream_id: u32, request: &Outgoing<'_>) -> Result<(), Broken> {
        self.body(stream_id, Vec::new(), request.body, request.body_shape)
    }

    /// Sends one frame as it is.
    pub fn send(&mut self, kind: u8, stream_id: u32, payload: &[u8]) -> Result<(), Broken> {
        let mut output = Vec::new();
        write_frame(&mut output, kind, 0, stream_id, payload);
        self.write(&output)
    }

    fn head(&mut self, fields: &[(Vec<u8>, Vec<u8>)], shape: HeadShape) -> (u32, Vec<u8>) {
        let stream_id = self.next_stream_id;
        self.next_stream_id += 2;
        let window = Window::new(self.peer.initial_window_bytes);
        self.stream_send_windows.insert(stream_id, window);
        let mut block = Vec::new();
        self.encoder.begin_block(&mut block);
        for (name, value) in fields {
            self.encoder
                .field(name, value, Indexing::Incremental, &mut block);
        }
        (stream_id, framed_head(stream_id, &block, shape))
    }

    fn body(
        &mut self,
        stream_id: u32,
        mut output: Vec<u8>,
        body: &[u8],
        shape: BodyShape,
    ) -> Result<(), Broken> {
        /// The prefix of a message and its first octets.
        const CUT_BYTES: usize = 8;
        let mut rest = body;
        let mut sent_bytes = 0;
        while !rest.is_empty() {
            let most_bytes = match shape {
                BodyShape::Cut if sent_bytes < CUT_BYTES => 1,
                _ => MAX_FRAME_BYTES,
            };
            let window_bytes = self.window_bytes(stream_id);
            let is_padded = shape == BodyShape::Padded;
            let padding_bytes = if is_padded {
                1 + usize::from(PAD_BYTES)
            } else {
                0
            };
            let room_bytes = most_bytes.min(window_bytes).saturating_sub(padding_bytes);
            if room_bytes == 0 {
                self.write(&std::mem::take(&mut output))?;
                self.step()?;
                if self.has_ended(stream_id) {
                    self.calls_sent += 1;
                    return Ok(());
                }
                continue;
            }
            let (piece, behind) = rest.split_at(room_bytes.min(rest.len()));
            rest = behind;
            sent_bytes += piece.len();
            self.take_windows(stream_id, piece.len() + padding_bytes);
            let ends = rest.is_empty() && shape != BodyShape::Cut;
            write_data(&mut output, stream_id, piece, is_padded, ends);
        }
        if body.is_empty() || shape == BodyShape::Cut {
            write_data(&mut output, stream_id, &[], false, true);
        }
        self.calls_sent += 1;
        self.write(&output)
    }

    fn window_bytes(&self, stream_id: u32) -> usize {
        let of_stream = self.stream_send_windows.get(&stream_id);
        let stream_bytes = of_stream.map_or(0, |window| window.available_bytes());
        stream_bytes.min(self.send_window.available_bytes())
    }

    fn take_windows(&mut self, stream_id: u32, bytes: usize) {
        self.send_window.take(bytes);
        if let Some(window) = self.stream_send_windows.get_mut(&stream_id) {
            window.take(bytes);
        }
    }
}

fn framed_head(stream_id: u32, block: &[u8], shape: HeadShape) -> Vec<u8> {
    let mut output = Vec::new();
    match shape {
        HeadShape::Whole => {
            write_frame(
                &mut output,
                kind::HEADERS,
                flag::END_HEADERS,
                stream_id,
                block,
            );
        }
        HeadShape::Padded => {
            let flags = flag::END_HEADERS | flag::PADDED;
            let padded = padded(block);
            write_frame(&mut output, kind::HEADERS, flags, stream_id, &padded);
        }
        HeadShape::Continued => {
            let (first, rest) = block.split_at(block.len() / 3);
            let (second, third) = rest.split_at(rest.len() / 2);
            let last = flag::END_HEADERS;
            write_frame(&mut output, kind::HEADERS, 0, stream_id, first);
            write_frame(&mut output, kind::CONTINUATION, 0, stream_id, second);
            write_frame(&mut output, kind::CONTINUATION, last, stream_id, third);
        }
    }
    output
}

fn write_data(output: &mut Vec<u8>, stream_id: u32, piece: &[u8], pad: bool, ends: bool) {
    let end = if ends { flag::END_STREAM } else { 0 };
    match pad {
        false => write_frame(output, kind::DATA, end, stream_id, piece),
        true => {
            let flags = end | flag::PADDED;
            write_frame(output, kind::DATA, flags, stream_id, &padded(piece));
        }
    }
}

fn padded(octets: &[u8]) -> Vec<u8> {
    let mut payload = vec![PAD_BYTES];
    payload.extend_from_slice(octets);
    payload.resize(payload.len() + usize::from(PAD_BYTES), 0);
    payload
}
