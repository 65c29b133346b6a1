//! One call in flight, and whether its response is what gRPC promises.

use bookend_wire::grpc::message::PREFIX_BYTES;
use bookend_wire::grpc::response::{fault_of_head, final_status, quoted, stated_status};
use bookend_wire::grpc::{Code, Encoding, Status};
use bookend_wire::{ErrorCode, HeaderList, Initiator};

/// Bytes of a response after which the server's windows are opened again. What is less than that,
/// most responses, is given back when the stream ends. HTTP/2's default window is eight times as
/// large.
pub(crate) const RELEASE_BYTES: u32 = 8_192;

/// A call in flight. There is one for each stream, so it is small: forty bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadCall {
    /// Just before the write that carried the last byte of its request, nanoseconds.
    pub start_ns: u64,
    /// When it was due, in an open loop; 0 in a closed one.
    pub intended_ns: u64,
    /// 0 while the slot is not in use.
    pub stream_id: u32,
    /// Bytes of the body so far.
    body_bytes: u32,
    prefix: [u8; PREFIX_BYTES],
    head: ResponseHead,
    /// Whether it was made in a window that is measured by number, and counts there.
    pub counted: bool,
    /// Whether it found no room when it was due.
    pub has_waited: bool,
    /// What was wrong with the head of the response.
    fault: Option<Box<HeadFault>>,
}

/// What is wrong with the head of a response.
#[derive(Clone, Debug)]
enum HeadFault {
    /// It is not a status of gRPC.
    Status(Status),
    /// It names an encoding that was not offered, quoted: no harm before a message uses it.
    Encoding(String),
}

/// The head of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ResponseHead {
    /// It has not come.
    #[default]
    Awaited,
    /// It names no encoding: messages come as they are.
    Plain,
    /// It names an encoding: messages may be compressed.
    Encoded,
}

/// What the header blocks of every good response mean, by their token in the header-block cache.
pub(crate) mod token {
    /// A head with status 200 and a gRPC content type, which states no `grpc-status`.
    pub const HEAD: u32 = 1;
    /// Trailers with `grpc-status: 0`.
    pub const TRAILERS: u32 = 2;
    /// A head that names an encoding besides.
    pub const ENCODED_HEAD: u32 = 3;
}

impl ResponseHead {
    fn of(fields: &HeaderList) -> Self {
        match fields.find(b"grpc-encoding").and_then(Encoding::parse) {
            None | Some(Encoding::Identity) => ResponseHead::Plain,
            Some(Encoding::Gzip) => ResponseHead::Encoded,
        }
    }

    #[inline]
    fn of_token(head: u32) -> Self {
        match head {
            token::HEAD => ResponseHead::Plain,
            token::ENCODED_HEAD => ResponseHead::Encoded,
            _ => ResponseHead::Awaited,
        }
    }

    fn token(self) -> u32 {
        if self == ResponseHead::Encoded { token::ENCODED_HEAD } else { token::HEAD }
    }

    /// Whether messages behind it may have that compressed-flag.
    #[inline]
    fn allows(self, flag: u8) -> bool {
        flag == 0 || flag == 1 && self == ResponseHead::Encoded
    }
}

/// The encoding that a head names, if it cannot be offered.
fn unknown_encoding(fields: &HeaderList) -> Option<HeadFault> {
    let name = fields.find(b"grpc-encoding")?;
    let is_unknown = Encoding::parse(name).is_none();
    is_unknown.then(|| HeadFault::Encoding(quoted(name)))
}

impl LoadCall {
    /// A call on that stream. Its start is stamped when it goes out.
    #[inline]
    pub fn new(stream_id: u32, counted: bool) -> Self {
        Self { stream_id, counted, ..Self::default() }
    }

    /// It is a call of an open loop, which was due at `intended_ns`; `has_waited`: it found no room
    /// then.
    #[inline]
    pub fn set_due(&mut self, intended_ns: u64, has_waited: bool) {
        self.intended_ns = intended_ns;
        self.has_waited = has_waited;
    }

    /// From when its latency counts: in an open loop when it was due. 0 while it is about to be
    /// made.
    pub fn begin_ns(&self) -> u64 {
        if self.intended_ns == 0 { self.start_ns } else { self.intended_ns }
    }

    /// How long it has taken until `now_ns`.
    pub fn latency_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.begin_ns())
    }

    /// A header block has come. Returns its token, if it is one that every good response has, and
    /// the outcome of the call, if the block ends it.
    pub fn headers(
        &mut self,
        fields: &HeaderList,
        end_stream: bool,
    ) -> (Option<u32>, Option<Result<(), Status>>) {
        let is_head = self.head == ResponseHead::Awaited;
        if is_head {
            let is_usual = self.head(fields);
            if !end_stream {
                return (is_usual.then_some(self.head.token()), None);
            }
        }
        let outcome = self.trailers(fields);
        let is_usual = !is_head && outcome.is_ok();
        (is_usual.then_some(token::TRAILERS), Some(outcome))
    }

    /// As [`LoadCall::headers`], where the response is a stream of any number of messages.
    pub fn headers_of_stream(
        &mut self,
        fields: &HeaderList,
        end_stream: bool,
    ) -> (Option<u32>, Option<Result<(), Status>>) {
        let is_head = self.head == ResponseHead::Awaited;
        if is_head {
            let is_usual = self.head(fields);
            if !end_stream {
                return (is_usual.then_some(self.head.token()), None);
            }
        }
        let status = final_status(stated_status(fields), self.status_of_head());
        let outcome = if status.code == Code::Ok { Ok(()) } else { Err(status) };
        ((!is_head && outcome.is_ok()).then_some(token::TRAILERS), Some(outcome))
    }

    /// A response that is a stream ended with `grpc-status: 0`: was its head what gRPC promises?
    pub fn check_head(&self) -> Result<(), Status> {
        match self.status_of_head() {
            Some(fault) => Err(fault),
            None if self.head != ResponseHead::Awaited => Ok(()),
            None => Err(Status::new(Code::Internal, "the server sent trailers and no head")),
        }
    }

    /// A head has come from the cache.
    #[inline]
    pub fn cached_head(&mut self, token: u32) {
        self.head = ResponseHead::of_token(token);
    }

    /// Whether its messages may be compressed.
    #[inline]
    pub fn may_be_compressed(&self) -> bool {
        self.head == ResponseHead::Encoded
    }

    /// The head has come. True if it is the usual one, which says nothing but what its token does:
    /// with END_STREAM the same bytes are trailers, of which a status is what matters.
    fn head(&mut self, fields: &HeaderList) -> bool {
        self.head = ResponseHead::of(fields);
        let fault = fault_of_head(fields).map(HeadFault::Status);
        self.fault = fault.or_else(|| unknown_encoding(fields)).map(Box::new);
        self.fault.is_none() && fields.find(b"grpc-status").is_none()
    }

    /// Part of the body has come. True where the server's windows are to be opened again: once
    /// every [`RELEASE_BYTES`].
    #[inline]
    pub fn body(&mut self, data: &[u8]) -> bool {
        let before = self.body_bytes;
        let seen = self.body_bytes as usize;
        if seen < PREFIX_BYTES {
            let part = data.len().min(PREFIX_BYTES - seen);
            self.prefix[seen..seen + part].copy_from_slice(&data[..part]);
        }
        self.body_bytes = self.body_bytes.saturating_add(data.len() as u32);
        before / RELEASE_BYTES != self.body_bytes / RELEASE_BYTES
    }

    /// The call ended with `grpc-status: 0`: was there exactly one whole message?
    #[inline]
    pub fn check_body(&self) -> Result<(), Status> {
        let declared_bytes = self.declared_bytes();
        let whole = u64::from(self.body_bytes) == declared_bytes + PREFIX_BYTES as u64;
        let is_readable = self.head != ResponseHead::Awaited && self.head.allows(self.prefix[0]);
        if whole && self.fault.is_none() && is_readable {
            return Ok(());
        }
        self.body_outcome(declared_bytes, whole && is_readable)
    }

    /// A whole response has come at once, with a head of that token: is its body one message that
    /// is not compressed?
    #[inline]
    pub fn is_whole_body(&mut self, head: u32, body: &[u8]) -> bool {
        self.cached_head(head);
        let length = match body.first_chunk::<PREFIX_BYTES>() {
            Some([0, a, b, c, d]) => u32::from_be_bytes([*a, *b, *c, *d]) as usize,
            _ => return false,
        };
        length + PREFIX_BYTES == body.len() && self.head != ResponseHead::Awaited
    }

    /// What is wrong with such a body, if it is not that; it may be compressed.
    #[cold]
    pub fn check_whole_body(&mut self, body: &[u8]) -> Result<(), Status> {
        self.body(body);
        self.check_body()
    }

    /// The length of the message, as its prefix says.
    #[inline]
    pub fn declared_bytes(&self) -> u64 {
        let [_, a, b, c, d] = self.prefix;
        u64::from(u32::from_be_bytes([a, b, c, d]))
    }

    /// How far the response had come, in words that follow what broke it off.
    pub fn progress(&self) -> &'static str {
        let whole_bytes = self.declared_bytes() + PREFIX_BYTES as u64;
        match u64::from(self.body_bytes) {
            0 if self.head == ResponseHead::Awaited => "",
            0 => ", after the head of the response",
            bytes if bytes < whole_bytes => ", in the middle of the message",
            _ => ", after the message and before the trailers",
        }
    }

    /// The status of a call whose stream was reset; `None` where the GOAWAY that follows gives it.
    #[cold]
    pub fn fault_of_reset(&self, code: ErrorCode, by: Initiator) -> Option<Status> {
        let progress = self.progress();
        let text = match by {
            Initiator::Peer => {
                format!("stream terminated by RST_STREAM with error code: {code}{progress}")
            }
            Initiator::PeerGoAway => return None,
            Initiator::Library => format!("the server broke HTTP/2 on a stream: {code}"),
        };
        Some(Status::new(Code::of_reset(code), text))
    }

    /// The status of a call whose head is not gRPC's.
    #[inline]
    fn status_of_head(&self) -> Option<Status> {
        match self.fault.as_deref()? {
            HeadFault::Status(status) => Some(status.clone()),
            HeadFault::Encoding(_) => None,
        }
    }

    /// What is wrong with a message of that compressed-flag.
    #[cold]
    pub fn fault_of_flag(&self, flag: u8) -> String {
        match (flag, self.fault.as_deref()) {
            (1, Some(HeadFault::Encoding(name))) => {
                format!("the server compressed a message by {name}, which was not offered")
            }
            (1, _) => "the server compressed a message and named no grpc-encoding".to_owned(),
            _ => format!("the server's message has the compressed-flag {flag}, not 0 or 1"),
        }
    }

    /// The outcome of a call with a fault in its head or its body: an encoding that was not offered
    /// is no fault if no message uses it.
    #[cold]
    fn body_outcome(&self, declared_bytes: u64, is_whole_message: bool) -> Result<(), Status> {
        match self.status_of_head() {
            Some(fault) => Err(fault),
            None if is_whole_message => Ok(()),
            None => Err(self.body_fault(declared_bytes)),
        }
    }

    fn body_fault(&self, declared_bytes: u64) -> Status {
        let whole_bytes = declared_bytes + PREFIX_BYTES as u64;
        let text = match self.body_bytes {
            0 => "the server said OK and sent no message".to_owned(),
            bytes if u64::from(bytes) == whole_bytes => match self.head {
                ResponseHead::Awaited => "the server sent a message and no head".to_owned(),
                ResponseHead::Plain | ResponseHead::Encoded => self.fault_of_flag(self.prefix[0]),
            },
            bytes if bytes < PREFIX_BYTES as u32 => {
                format!("the server sent {bytes} of the {PREFIX_BYTES} bytes before a message")
            }
            bytes => format!(
                "the server sent {bytes} bytes where one message of {declared_bytes} was declared"
            ),
        };
        Status::new(Code::Internal, text)
    }

    /// The call ended with these trailers.
    fn trailers(&self, fields: &HeaderList) -> Result<(), Status> {
        let status = final_status(stated_status(fields), self.status_of_head());
        if status.code == Code::Ok {
            return self.check_body();
        }
        Err(status)
    }

    /// The call ended without trailers: the response was not gRPC, or it was cut off.
    #[cold]
    pub fn no_trailers(&self) -> Status {
        let text = "server closed the stream without sending trailers";
        self.status_of_head().unwrap_or_else(|| Status::new(Code::Internal, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(fields: &[(&str, &str)]) -> HeaderList {
        let mut list = HeaderList::new(4096, 32);
        for (name, value) in fields {
            list.push(name.as_bytes(), value.as_bytes(), false);
        }
        list
    }

    const HEAD: [(&str, &str); 2] = [(":status", "200"), ("content-type", "application/grpc")];

    fn ended(body: &[&[u8]], trailers: &[(&str, &str)]) -> Result<(), Status> {
        let mut call = LoadCall::new(1, true);
        assert!(call.head(&list(&HEAD)));
        for data in body {
            call.body(data);
        }
        call.trailers(&list(trailers))
    }

    #[test]
    fn one_whole_message_is_ok_however_it_is_cut() {
        let body = b"\0\0\0\0\x03abc";
        for cut in 0..=body.len() {
            assert_eq!(ended(&[&body[..cut], &body[cut..]], &[("grpc-status", "0")]), Ok(()));
        }
    }

    #[test]
    fn the_windows_are_opened_however_small_the_pieces_are() {
        for piece_bytes in [1, 5, 8_191, 8_192, 10_000] {
            let mut call = LoadCall::new(1, true);
            let piece = vec![0; piece_bytes];
            let mut waiting_bytes = 0;
            for _ in 0..100_000 / piece_bytes {
                waiting_bytes += piece_bytes;
                if call.body(&piece) {
                    waiting_bytes = 0;
                }
                assert!(waiting_bytes < RELEASE_BYTES as usize);
            }
        }
    }

    #[test]
    fn progress_says_how_far_a_response_had_come() {
        let mut call = LoadCall::new(1, true);
        assert_eq!(call.progress(), "");
        call.head(&list(&HEAD));
        assert!(call.progress().contains("after the head"));
        for part in [&b"\0\0\0"[..], b"\0\x02", b"a"] {
            call.body(part);
            assert!(call.progress().contains("in the middle"), "{part:?}");
        }
        call.body(b"b");
        assert!(call.progress().contains("before the trailers"));
    }

    #[test]
    fn no_message_a_cut_one_and_two_of_them_are_faults_of_the_server() {
        for body in [&b""[..], b"\0\0", b"\0\0\0\0\x03ab", b"\0\0\0\0\0\0\0\0\0\0"] {
            let fault = ended(&[body], &[("grpc-status", "0")]).unwrap_err();
            assert_eq!(fault.code, Code::Internal, "{body:?}");
        }
    }

    #[test]
    fn a_message_is_compressed_only_where_the_head_says_so() {
        let encoded = [HEAD[0], HEAD[1], ("grpc-encoding", "gzip")];
        let identity = [HEAD[0], HEAD[1], ("grpc-encoding", "identity")];
        let heads = [(&HEAD[..], 0), (&identity, 0), (&encoded, 1)];
        for (head, highest) in heads {
            for flag in [0, 1, 2, 255] {
                let body = [flag, 0, 0, 0, 1, 7];
                let mut call = LoadCall::new(1, true);
                let (token, _) = call.headers(&list(head), false);
                call.body(&body);
                let outcome = call.trailers(&list(&[("grpc-status", "0")]));
                assert_eq!(outcome.is_ok(), flag <= highest, "{head:?} {flag}");
                let text = outcome.err().map(|status| status.message).unwrap_or_default();
                assert_eq!(text.contains("compressed"), flag > highest, "{text}");
                let mut call = LoadCall::new(1, true);
                let is_plain = call.is_whole_body(token.unwrap(), &body);
                let is_ok = is_plain || call.check_whole_body(&body).is_ok();
                assert_eq!((is_plain, is_ok), (flag == 0, flag <= highest), "{head:?} {flag}");
            }
        }
    }

    #[test]
    fn a_call_of_an_open_loop_takes_time_from_when_it_was_due() {
        let mut call = LoadCall::new(1, true);
        assert_eq!((call.begin_ns(), call.latency_ns(9)), (0, 9), "about to be made");
        call.start_ns = 5;
        assert_eq!((call.begin_ns(), call.latency_ns(9)), (5, 4));
        call.intended_ns = 2;
        assert_eq!((call.begin_ns(), call.latency_ns(9)), (2, 7));
    }

    #[test]
    fn a_message_behind_what_is_no_head_is_no_answer() {
        let body = [0, 0, 0, 0, 1, 7];
        let mut call = LoadCall::new(1, true);
        assert!(!call.is_whole_body(token::TRAILERS, &body));
        let outcome = call.check_whole_body(&body);
        assert_eq!(outcome.unwrap_err().message, "the server sent a message and no head");
    }

    #[test]
    fn a_status_comes_with_its_message_decoded() {
        let trailers = [("grpc-status", "5"), ("grpc-message", "caf%C3%A9")];
        assert_eq!(ended(&[], &trailers), Err(Status::new(Code::NotFound, "café")));
        assert_eq!(ended(&[], &[("x", "y")]).unwrap_err().code, Code::Unknown);
    }

    #[test]
    fn a_response_that_is_not_grpc_is_judged_by_its_http_status() {
        let mut call = LoadCall::new(1, true);
        assert!(!call.head(&list(&[(":status", "503"), ("content-type", "text/html")])));
        assert_eq!(call.check_body().unwrap_err().code, Code::Unavailable);
        let mut call = LoadCall::new(1, true);
        call.head(&list(&[(":status", "503"), ("content-type", "text/html")]));
        call.body(b"<html>");
        assert_eq!(call.no_trailers().code, Code::Unavailable);
        let mut call = LoadCall::new(1, true);
        assert!(!call.head(&list(&[(":status", "200"), ("content-type", "text/html")])));
        assert!(call.trailers(&list(&[])).unwrap_err().message.contains("text/html"));
    }
}
