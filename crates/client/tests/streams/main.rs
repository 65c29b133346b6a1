//! Streaming calls against a server that does what the test says: what goes out and comes in, who
//! waits for whom, how a call ends, and what becomes of it when the connection does.

mod answers;
mod compression;
mod ends;
mod flow;
mod lost;
mod paced;
#[path = "../support/peer.rs"]
mod peer;
mod storm;
mod talk;
mod waiting;

use bookend_client::{Channel, ChannelOptions, Code, Requests, Responses, StreamCall};
use bookend_wire::ConnectionConfig;
use std::net::TcpListener;

const PATH: &str = "/test.Any/Talk";

/// A server that is trusted with nothing: its client's windows are HTTP/2's own.
fn careful() -> ChannelOptions {
    ChannelOptions { http2: ConnectionConfig::internet(), ..ChannelOptions::default() }
}

/// A channel with one call that waits for its connection, and that connection.
fn talking(options: ChannelOptions) -> (Requests, Responses, peer::Peer, TcpListener) {
    let (channel, peer, listener) = peer::connected(options, &ConnectionConfig::internet());
    let (requests, responses) = channel.open(StreamCall::new(PATH));
    (requests, responses, peer, listener)
}

/// A channel whose calls wait until the test accepts its connection.
fn channel_to(address: &str) -> Channel {
    Channel::connect(address, careful()).unwrap()
}

/// The code that a call ended with, after however many messages.
fn code_of(mut responses: Responses) -> Code {
    responses.end().status.code
}
