//! Frames to the server.

use super::{MAX_FRAME_BYTES, RawConnection};
use crate::probe::check::CheckError;
use crate::probe::check_reply::CheckReply;
use crate::probe::check_request::{BodyFraming, CheckRequest, HeadFraming};
use bookend_wire::Indexing;
use bookend_wire::flow::Window;
use bookend_wire::frame::{flag, kind, write_frame};

/// Bytes of padding, RFC 9113 section 6.1: any number up to 255.
const PAD_BYTES: u8 = 100;

impl RawConnection {
    /// Sends a whole request on a new stream, as fast as the windows allow. Returns the stream's
    /// id.
    pub fn call(&mut self, request: &CheckRequest) -> Result<u32, CheckError> {
        let (stream_id, head) = self.head(request);
        self.body(stream_id, head, request)?;
        Ok(stream_id)
    }

    /// As [`RawConnection::call`], and waits for the reply.
    pub fn call_and_wait(&mut self, request: &CheckRequest) -> Result<CheckReply, CheckError> {
        let stream_id = self.call(request)?;
        self.reply(stream_id)
    }

    /// Sends only the head of a request. Returns the stream's id.
    pub fn begin(&mut self, request: &CheckRequest) -> Result<u32, CheckError> {
        let (stream_id, head) = self.head(request);
        self.write(&head)?;
        Ok(stream_id)
    }

    /// Sends the body of a request whose head was sent.
    pub fn complete(&mut self, stream_id: u32, request: &CheckRequest) -> Result<(), CheckError> {
        self.body(stream_id, Vec::new(), request)
    }

    /// Sends one frame as it is.
    pub fn send(
        &mut self,
        kind: u8,
        flags: u8,
        stream_id: u32,
        payload: &[u8],
    ) -> Result<(), CheckError> {
        let mut output = Vec::new();
        write_frame(&mut output, kind, flags, stream_id, payload);
        self.write(&output)
    }

    fn head(&mut self, request: &CheckRequest) -> (u32, Vec<u8>) {
        let stream_id = self.next_stream_id;
        self.next_stream_id += 2;
        let window = Window::new(self.peer.initial_window_bytes);
        self.stream_send_windows.insert(stream_id, window);
        let mut block = Vec::new();
        self.encoder.begin_block(&mut block);
        for (name, value) in &request.fields {
            self.encoder.field(name, value, Indexing::Incremental, &mut block);
        }
        (stream_id, framed_head(stream_id, &block, request.head_framing))
    }

    fn body(
        &mut self,
        stream_id: u32,
        mut output: Vec<u8>,
        request: &CheckRequest,
    ) -> Result<(), CheckError> {
        /// The prefix of a message and its first bytes.
        const CUT_BYTES: usize = 8;
        let framing = request.body_framing;
        let mut rest = &request.body[..];
        let mut sent_bytes = 0;
        while !rest.is_empty() {
            let most_bytes = match framing {
                BodyFraming::Cut if sent_bytes < CUT_BYTES => 1,
                _ => MAX_FRAME_BYTES,
            };
            let window_bytes = self.window_bytes(stream_id);
            let is_padded = framing == BodyFraming::Padded;
            let padding_bytes = if is_padded { 1 + usize::from(PAD_BYTES) } else { 0 };
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
            let (piece, after) = rest.split_at(room_bytes.min(rest.len()));
            rest = after;
            sent_bytes += piece.len();
            self.take_windows(stream_id, piece.len() + padding_bytes);
            let ends = rest.is_empty() && framing != BodyFraming::Cut;
            write_data(&mut output, stream_id, piece, is_padded, ends);
        }
        if request.body.is_empty() || framing == BodyFraming::Cut {
            write_data(&mut output, stream_id, &[], false, true);
        }
        self.calls_sent += 1;
        self.write(&output)
    }

    fn window_bytes(&self, stream_id: u32) -> usize {
        let stream_bytes =
            self.stream_send_windows.get(&stream_id).map_or(0, |window| window.available_bytes());
        stream_bytes.min(self.send_window.available_bytes())
    }

    fn take_windows(&mut self, stream_id: u32, bytes: usize) {
        self.send_window.take(bytes);
        if let Some(window) = self.stream_send_windows.get_mut(&stream_id) {
            window.take(bytes);
        }
    }
}

fn framed_head(stream_id: u32, block: &[u8], framing: HeadFraming) -> Vec<u8> {
    let (first, rest) = block.split_at(block.len() / 3);
    let (second, third) = rest.split_at(rest.len() / 2);
    let frames = match framing {
        HeadFraming::Whole => vec![(kind::HEADERS, flag::END_HEADERS, block.to_vec())],
        HeadFraming::Padded => {
            vec![(kind::HEADERS, flag::END_HEADERS | flag::PADDED, padded(block))]
        }
        HeadFraming::Continued => vec![
            (kind::HEADERS, 0, first.to_vec()),
            (kind::CONTINUATION, 0, second.to_vec()),
            (kind::CONTINUATION, flag::END_HEADERS, third.to_vec()),
        ],
    };
    let mut output = Vec::new();
    for (kind, flags, payload) in frames {
        write_frame(&mut output, kind, flags, stream_id, &payload);
    }
    output
}

fn write_data(output: &mut Vec<u8>, stream_id: u32, piece: &[u8], pad: bool, ends: bool) {
    let end = if ends { flag::END_STREAM } else { 0 };
    if pad {
        let flags = end | flag::PADDED;
        write_frame(output, kind::DATA, flags, stream_id, &padded(piece));
    } else {
        write_frame(output, kind::DATA, end, stream_id, piece);
    }
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut payload = vec![PAD_BYTES];
    payload.extend_from_slice(bytes);
    payload.resize(payload.len() + usize::from(PAD_BYTES), 0);
    payload
}
