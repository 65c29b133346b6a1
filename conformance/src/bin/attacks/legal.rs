//! Somebody who makes one call after the other while others attack.

use std::thread;
use std::time::{Duration, Instant};

use bookend_client::{Channel, Code, StreamCall, UnaryCall};

/// What a call may take: it then counts as failed.
const DEADLINE: Duration = Duration::from_secs(10);
/// What a call may take that asks whether the server has a method.
const ASKING: Duration = Duration::from_secs(1);

/// The method that every server here has.
pub const HELLO: &str = "/helloworld.Greeter/SayHello";
/// gRPC's service for interoperability tests: its handlers wait, so that a server may need a thread
/// for each.
pub const OUTPUT: &str = "/grpc.testing.TestService/StreamingOutputCall";
pub const INPUT: &str = "/grpc.testing.TestService/StreamingInputCall";

/// The length of an upload.
const UPLOAD_BYTES: usize = 2 << 20;

/// What somebody calls who is not an attacker.
#[derive(Clone, Copy)]
pub struct Legal {
    path: &'static str,
    message: fn() -> Vec<u8>,
    /// Between two calls: who is refused at once is not to flood the server.
    pause: Duration,
    is_inside_tls: bool,
}

impl Legal {
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// Whether the server is to have TLS.
    pub fn is_inside_tls(&self) -> bool {
        self.is_inside_tls
    }
}

/// One after the other, without a pause.
pub const SMALL_CALLS: Legal = Legal {
    path: HELLO,
    message: || b"\x0a\x05legal".to_vec(),
    pause: Duration::ZERO,
    is_inside_tls: false,
};
/// The same, to a server with TLS.
pub const SMALL_CALLS_INSIDE_TLS: Legal = Legal { is_inside_tls: true, ..SMALL_CALLS };
/// For one message of one byte, at once. Latencies are the times until the answer, of calls that
/// begin while the attack lasts.
pub const POOL_CALLS: Legal = Legal {
    path: OUTPUT,
    message: || b"\x12\x02\x08\x01".to_vec(),
    pause: Duration::from_millis(50),
    ..SMALL_CALLS
};
/// Names of 2 MiB.
pub const UPLOADS: Legal = Legal {
    path: HELLO,
    message: || field(1, &[b'x'; UPLOAD_BYTES]),
    pause: Duration::from_millis(10),
    ..SMALL_CALLS
};
/// Payloads of 2 MiB for a client-streaming method.
pub const STREAMED_UPLOADS: Legal = Legal {
    path: INPUT,
    message: || field(1, &field(2, &[0; UPLOAD_BYTES])),
    pause: Duration::from_millis(10),
    ..SMALL_CALLS
};

/// A field of bytes of a protobuf message.
pub fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend_from_slice(bytes);
    field
}

/// What became of the calls.
#[derive(Debug, Default)]
pub struct Calls {
    /// Of those that were answered.
    latencies: Vec<Duration>,
    pub failed: u64,
}

impl Calls {
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or_default()
    }

    pub fn answered(&self) -> usize {
        self.latencies.len()
    }
}

/// Calls for as long as that `goes_on`.
pub fn call_while(channel: &Channel, legal: Legal, goes_on: impl Fn() -> bool) -> Calls {
    let mut calls = Calls::default();
    let message = (legal.message)();
    while goes_on() {
        let mut call = UnaryCall::new(legal.path, message.clone());
        call.timeout = Some(DEADLINE);
        let start = Instant::now();
        if channel.unary(call).status.code == Code::Ok {
            calls.latencies.push(start.elapsed());
        } else {
            calls.failed += 1;
        }
        if !legal.pause.is_zero() {
            thread::sleep(legal.pause);
        }
    }
    calls
}

/// Whether the server can be called so, and has that method, whatever it says of an empty message.
pub fn has_method(channel: &Channel, path: &'static str) -> bool {
    // No unary call: a method may answer with any number of messages.
    let mut call = StreamCall::new(path);
    call.timeout = Some(ASKING);
    let (mut requests, mut responses) = channel.open(call);
    let _ = requests.send(&[]);
    requests.finish();
    !matches!(responses.end().status.code, Code::Unimplemented | Code::Unavailable)
}
