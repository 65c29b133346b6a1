//! However the bytes of calls are cut, they are answered alike: a call that lies whole in what was
//! read, which is in no table, and one that comes byte by byte.

use bookend_server::{
    Code, Context, Counts, HandlerKind, MethodDescriptor, Reply, Service, Status,
};
use bookend_wire::ConnectionConfig;

use crate::pair::{Pair, head};

/// Every way in which a handler can end a call, and some in which it should not.
const METHODS: &[MethodDescriptor] = &[
    inline("Echo"),
    inline("Large"),
    inline("Add"),
    inline("AddLate"),
    inline("Compress"),
    inline("Fail"),
    inline("FailWith"),
    inline("Defer"),
    inline("DeferWith"),
    inline("DeferAndPanic"),
    inline("Drop"),
    inline("Forget"),
    inline("Panic"),
    inline("Break"),
    inline("BreakWith"),
    inline("PanicLate"),
    MethodDescriptor { name: "Deferred", kind: HandlerKind::Deferred },
];

const fn inline(name: &'static str) -> MethodDescriptor {
    MethodDescriptor { name, kind: HandlerKind::Inline }
}

struct Endings;

impl Service for Endings {
    fn name(&self) -> &'static str {
        "test.Endings"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        let name = METHODS[method].name;
        if name.ends_with("With") || matches!(name, "Add" | "Forget") {
            context.add_header("x-header", b"1");
            context.add_trailer("x-trailer", b"2");
        }
        match name {
            "Large" => reply.message(|output| output.resize(output.len() + 20_000, 7)),
            "Fail" | "FailWith" => reply.fail(Status::new(Code::NotFound, "no such thing")),
            "Defer" | "DeferWith" | "Deferred" => reply.defer().message(request.to_vec()),
            "DeferAndPanic" => {
                let _answer = reply.defer();
                panic!("a handler that defers and panics");
            }
            "Drop" | "Forget" => {}
            "Panic" => panic!("a handler that panics"),
            "Break" | "BreakWith" => reply.message(|output| {
                output.extend_from_slice(b"the beginning of ");
                panic!("an encoder that breaks off");
            }),
            _ => {
                if name == "Compress" {
                    context.compress_replies();
                }
                reply.message(|output| output.extend_from_slice(request));
                assert_ne!(name, "PanicLate", "a handler that panics behind its answer");
                if name == "AddLate" {
                    context.add_header("x-header", b"late");
                }
            }
        }
    }
}

/// Longer than the narrow windows below.
const MESSAGE: [u8; 100] = [b'm'; 100];

/// Some calls of a method in one write of the client, which reaches the server in pieces: what the
/// client hears, what the server wrote, and what it counts.
fn outcome(
    method: &str,
    more: &[(&str, &str)],
    client: &ConnectionConfig,
    piece: usize,
) -> (String, Vec<u8>, Counts) {
    let mut pair = Pair::over_with(Endings, client);
    let mut head = head(&format!("/test.Endings/{method}"));
    more.iter().for_each(|(name, value)| head.push(name.as_bytes(), value.as_bytes()));
    for _ in 0..8 {
        pair.client.sender.request(&mut head, &[], &MESSAGE).unwrap();
    }
    pair.pump_in_pieces(piece);
    pair.wake();
    // The connection goes on, and counts streams as before.
    let stream = pair.client.sender.request(&mut head, &[], &MESSAGE).unwrap();
    pair.pump();
    pair.wake();
    assert!(pair.heard(stream).ended, "{method}");
    let heard = format!("{:?}", pair.listener.calls);
    (heard, pair.written, pair.shard.counts())
}

#[test]
fn calls_are_answered_alike_however_their_bytes_are_cut() {
    let mut narrow = ConnectionConfig::trusted();
    narrow.settings.initial_window_bytes = 64;
    for client in [ConnectionConfig::trusted(), narrow] {
        for method in METHODS {
            for more in [&[][..], &[("grpc-timeout", "1H"), ("content-length", "105")]] {
                let whole = outcome(method.name, more, &client, usize::MAX);
                for piece in [1, 7, 60] {
                    assert_eq!(
                        outcome(method.name, more, &client, piece),
                        whole,
                        "{}",
                        method.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_deadline_that_has_passed_is_noticed_in_a_call_that_comes_whole() {
    let client = ConnectionConfig::trusted();
    let more = [("grpc-timeout", "0n")];
    let whole = outcome("Echo", &more, &client, usize::MAX);
    assert_eq!(whole.2, Counts { answered_error: 9, ..Counts::default() });
    assert_eq!(outcome("Echo", &more, &client, 1), whole);
}

#[test]
fn compressed_and_broken_requests_are_the_same_errors_in_a_call_that_comes_whole() {
    for body in [&b""[..], b"\x01\0\0\0\0", b"\0\0\0\0\x09hello", b"\0\0\0\0\x01hello", b"\0\0"] {
        let told = |piece| {
            let mut pair = Pair::over(Endings);
            let mut head = head("/test.Endings/Echo");
            for _ in 0..5 {
                let stream = pair.client.sender.open().unwrap();
                pair.client.sender.headers(stream, &mut head, false);
                pair.client.sender.data(stream, body, true);
            }
            pair.pump_in_pieces(piece);
            assert_eq!(pair.shard.counts().answered_error, 5);
            (format!("{:?}", pair.listener.calls), pair.written)
        };
        assert_eq!(told(usize::MAX), told(1), "{body:?}");
    }
}
