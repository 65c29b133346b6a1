//! The two calls on pajamax 0.4.0, in its local mode and dispatched to threads of our own.
//!
//! No generator fits this version: pajamax-build 0.3.0 is the last, and gives `handle` a parameter
//! that the trait no longer has. So this is what it would write, by hand.

use std::{env, io, sync::mpsc, thread};

use pajamax_0_4::dispatch::{DispatchRequest, RequestTx, dispatch};
use pajamax_0_4::{Config, PajamaxService, ReplyEncode, error::Error, local_build_response};
use prost::Message;

use crate::greeters::{MAX_CONNECTIONS, Request};
use crate::greeters::{complex_proto::say_hello as echo, helloworld::say_hello as greet};

/// Calls that may wait for a thread: what a hundred connections may have open at once. pajamax
/// answers further ones with UNAVAILABLE.
const WAITING_CALLS_MAX: usize = 100_000;

/// Answers where the bytes arrive.
pub fn serve() -> io::Result<()> {
    serve_with(false, |request, stream_id| match request {
        Request::Helloworld(request) => local_build_response(stream_id, Ok(greet(request))),
        Request::ComplexProto(request) => local_build_response(stream_id, Ok(echo(request))),
    })
}

/// Has the calls answered by threads of our own, one a CPU, in turn: streams are odd.
pub fn serve_dispatched() -> io::Result<()> {
    let cpus = env::var("BOOKEND_CPUS").ok().and_then(|cpus| cpus.parse().ok());
    let threads = (0..cpus.unwrap_or(1)).map(|_| {
        let (sender, calls) = mpsc::sync_channel(WAITING_CALLS_MAX);
        thread::spawn(move || calls.into_iter().for_each(answer));
        sender
    });
    let threads: Vec<RequestTx<Request>> = threads.collect();
    serve_with(true, move |request, stream_id| {
        dispatch(&threads[stream_id as usize / 2 % threads.len()], request, stream_id)
    })
}

fn answer(call: DispatchRequest<Request>) {
    let reply: Box<dyn ReplyEncode> = match call.request {
        Request::Helloworld(request) => Box::new(greet(request)),
        Request::ComplexProto(request) => Box::new(echo(request)),
    };
    call.stream.response(Ok(reply));
}

/// Both methods as one service. `handle` gets each request with the number of its stream.
struct Greeters<H> {
    handle: H,
    is_dispatched: bool,
}

fn serve_with<H>(is_dispatched: bool, handle: H) -> io::Result<()>
where
    H: Fn(Request, u32) -> Result<(), Error> + Send + Sync + 'static,
{
    Config::new()
        .max_concurrent_connections(MAX_CONNECTIONS)
        .add_service(Greeters { handle, is_dispatched })
        .serve((crate::variable("BOOKEND_LISTEN", "127.0.0.1"), 0))
}

impl<H: Fn(Request, u32) -> Result<(), Error>> PajamaxService for Greeters<H> {
    fn route(&self, path: &[u8]) -> Option<usize> {
        match path {
            b"/helloworld.Greeter/SayHello" => Some(0),
            b"/complex_proto.Greeter/SayHello" => Some(1),
            _ => None,
        }
    }

    fn handle(&self, method: usize, bytes: &[u8], stream_id: u32) -> Result<(), Error> {
        let request = match method {
            0 => Request::Helloworld(Message::decode(bytes)?),
            _ => Request::ComplexProto(Message::decode(bytes)?),
        };
        (self.handle)(request, stream_id)
    }

    fn is_dispatch_mode(&self) -> bool {
        self.is_dispatched
    }
}
