//! Requests under zstd: a feature.
#![cfg(feature = "zstd")]

use bookend_server::Code;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::compression::{Echo, call};
use crate::pair::{Pair, framed};

const SENDS: (&str, &str) = ("grpc-encoding", "zstd");

fn compressed(message: &[u8]) -> Vec<u8> {
    let mut body = framed(&compress_to_vec(message, CompressionLevel::Fastest));
    body[0] = 1;
    body
}

#[test]
fn a_request_under_zstd_is_answered_in_plain_where_nothing_else_is_accepted() {
    let mut pair = Pair::over(Echo::default());
    for length in [0, 100, 100_000, 1_000_000] {
        let message = b"0123456789".repeat(length / 10);
        let accepts = ("grpc-accept-encoding", "zstd");
        let stream = call(&mut pair, "Echo", &[SENDS, accepts], &compressed(&message));
        pair.pump_with_threads();
        let heard = pair.heard(stream);
        assert_eq!(heard.code(), Code::Ok);
        assert!(heard.messages == [message]);
        assert_eq!(heard.compressed, [false]);
    }
}

#[test]
fn a_message_under_zstd_is_bounded_and_has_to_be_one() {
    let mut pair = Pair::over(Echo::default());
    let bomb = compressed(&vec![0; (4 << 20) + 1]);
    assert!(bomb.len() < 50_000);
    let mut corrupt = framed(b"this is no zstd");
    corrupt[0] = 1;
    for method in ["Echo", "Chat"] {
        for (body, code) in [(&bomb, Code::ResourceExhausted), (&corrupt, Code::Internal)] {
            let stream = call(&mut pair, method, &[SENDS], body);
            pair.pump_with_threads();
            assert_eq!(pair.heard(stream).code(), code, "{method}");
        }
    }
}
