//! A census of allocations: calls whose messages are borrowed make none.

#[path = "calls/every.rs"]
mod every;

use std::net::SocketAddr;

use bookend_server::io::{ConnectionId, IoContext, Opened, Shard, Waker};
use bookend_server::prost::Message;
use bookend_server::{Limits, Server, ServerShard};
use bookend_wire::{
    Connection, ConnectionConfig, ErrorCode, HeaderBlock, HeaderList, Initiator, Sender, Side,
    StreamKey, Visitor,
};

use every::record::Part;
use every::record::part::Leaf;
use every::{EveryServer, Mirror, Record};

/// Enough for every buffer to have its size, and for the head to be known.
const WARM_UP_CALLS: usize = 50;
const CALLS: usize = 100;

/// Output that fits without another allocation: more than all answers of a round.
const OUTPUT_BYTES: usize = 1 << 20;

/// A server without a socket, and its client.
struct Stage {
    shard: ServerShard,
    io: IoContext,
    connection: ConnectionId,
    client: Connection,
}

impl Stage {
    fn new() -> Self {
        let builder = Server::builder().add_service(EveryServer::new(Mirror));
        let services = builder.limits(Limits::trusted()).build().unwrap();
        let mut io = IoContext::default();
        let connection = io.connect(SocketAddr::from(([127, 0, 0, 1], 9)), 0);
        let mut shard = services.shard(Waker::new().unwrap());
        shard.opened(connection, Opened::Accepted, &mut io);
        let client = Connection::new(Side::Client, &ConnectionConfig::trusted());
        let mut stage = Stage { shard, io, connection, client };
        let preface = std::mem::take(&mut stage.client.sender.output);
        stage.allocations(&preface);
        stage
    }

    fn requests(&mut self, path: &str, calls: usize) -> Vec<u8> {
        let fields = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", "127.0.0.1"),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
        ]
        .map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let message = record().encode_to_vec();
        for _ in 0..calls {
            let mut head = HeaderBlock::new(&fields);
            self.client.sender.request(&mut head, &[], &message).unwrap();
        }
        std::mem::take(&mut self.client.sender.output)
    }

    /// How often this thread allocated while the server handled these requests, also what it gave
    /// back at once. Threads of the test harness allocate when they get to it, and do not count.
    fn allocations(&mut self, mut requests: &[u8]) -> u64 {
        self.io.output(self.connection).reserve(OUTPUT_BYTES);
        let counted = allocation_counter::measure(|| {
            while !requests.is_empty() {
                let received = self.shard.received(self.connection, requests, &mut self.io);
                requests = &requests[received.consumed..];
            }
        });
        let answered = std::mem::take(self.io.output(self.connection));
        assert_eq!(self.client.receive(&answered, &mut Listener), Ok(answered.len()));
        counted.count_total
    }
}

/// Has room for whatever comes.
struct Listener;

impl Visitor for Listener {
    fn headers(&mut self, _: &mut Sender, _: StreamKey, _: &HeaderList, _: bool) -> Option<u32> {
        None
    }

    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {}

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], _: bool) {
        sender.release(stream, data.len());
    }

    fn reset(&mut self, _: &mut Sender, _: StreamKey, code: ErrorCode, _: Initiator) {
        panic!("{code:?}");
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, code: ErrorCode, _: &[u8]) {
        panic!("{code:?}");
    }
}

/// A message with text, messages within messages, and repeated ones.
fn record() -> Record {
    let part = Part { label: "a label".into(), leaves: vec![Leaf { lifetime: 300 }; 3] };
    Record {
        r#type: "a type".into(),
        names: vec!["a name".into(); 3],
        parts: vec![part.clone(); 3],
        numbers: vec![1, -1, 1_000_000],
        by_name: [("a name".into(), part.clone())].into(),
        part: Some(part),
        ..Record::default()
    }
}

#[test]
fn calls_whose_messages_are_borrowed_allocate_nothing() {
    let mut stage = Stage::new();
    for (path, is_borrowed) in [("/every.v1.Every/Echo", true), ("/every.v1.Every/Copy", false)] {
        let warm_up = stage.requests(path, WARM_UP_CALLS);
        stage.allocations(&warm_up);
        let requests = stage.requests(path, CALLS);
        let allocations = stage.allocations(&requests);
        assert_eq!(allocations == 0, is_borrowed, "{path}: {allocations} allocations");
    }
    assert_eq!(stage.shard.counts().answered_ok as usize, 2 * (WARM_UP_CALLS + CALLS));
}
