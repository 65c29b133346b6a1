//! The two calls on pajamax 0.2.0.
//!
//! A server of that version has one service, and the generator writes one for each of a `.proto`.
//! So this is what it would write for one service with both methods.

use std::io;

use pajamax_0_2::{Config, PajamaxService, ParseFn, RespEncode, Response};
use prost::{EncodeError, Message};

use crate::greeters::{MAX_CONNECTIONS, Request, complex_proto, helloworld};

pub fn serve() -> io::Result<()> {
    Config::new()
        .max_concurrent_connections(MAX_CONNECTIONS)
        .serve_local(Greeters, (crate::variable("BOOKEND_LISTEN", "127.0.0.1"), 0))
}

#[derive(Clone)]
struct Greeters;

enum Reply {
    Helloworld(helloworld::HelloReply),
    ComplexProto(complex_proto::HelloReply),
}

impl RespEncode for Reply {
    fn encode(&self, output: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Reply::Helloworld(reply) => reply.encode(output),
            Reply::ComplexProto(reply) => reply.encode(output),
        }
    }
}

impl PajamaxService for Greeters {
    type Request = Request;
    type Reply = Reply;

    fn request_parse_fn_by_path(path: &[u8]) -> Option<ParseFn<Request>> {
        match path {
            b"/helloworld.Greeter/SayHello" => {
                Some(|bytes| Message::decode(bytes).map(Request::Helloworld))
            }
            b"/complex_proto.Greeter/SayHello" => {
                Some(|bytes| Message::decode(bytes).map(Request::ComplexProto))
            }
            _ => None,
        }
    }

    fn call(&mut self, request: Request) -> Response<Reply> {
        Ok(match request {
            Request::Helloworld(request) => Reply::Helloworld(helloworld::say_hello(request)),
            Request::ComplexProto(request) => {
                Reply::ComplexProto(complex_proto::say_hello(request))
            }
        })
    }
}
