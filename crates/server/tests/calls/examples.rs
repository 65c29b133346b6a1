//! The two ways to write a stream, as docs/use/server.md quotes them: each range that comes is
//! answered with its numbers.

use bookend_server::prost::Message;
use bookend_server::{
    Code, Context, HandlerKind, InlineStream, Io, MethodDescriptor, PoolCall, PoolContext, Replies,
    Reply, ReplySender, RequestReceiver, Server, Service, Status, StreamHandler, codec,
};
use bookend_wire::ConnectionConfig;

use crate::loopback::Client;
use crate::pair::{framed, head};

#[derive(Clone, PartialEq, Message)]
struct Range {
    #[prost(uint64, tag = "1")]
    end: u64,
}

#[derive(Clone, PartialEq, Message)]
struct Number {
    #[prost(uint64, tag = "1")]
    number: u64,
}

#[derive(Default)]
struct Counting {
    next: u64,
    end: u64,
}

impl StreamHandler<Range, Number> for Counting {
    fn on_message(
        &mut self,
        range: Range,
        replies: &mut Replies<'_, '_, Number>,
    ) -> Result<(), Status> {
        (self.next, self.end) = (0, range.end);
        self.on_ready(replies)
    }

    fn on_ready(&mut self, replies: &mut Replies<'_, '_, Number>) -> Result<(), Status> {
        while self.next < self.end && !replies.is_full() {
            replies.send(&Number { number: self.next });
            self.next += 1;
        }
        Ok(())
    }
}

struct Counter;

impl Counter {
    fn count(
        &self,
        requests: RequestReceiver<Range>,
        replies: ReplySender<Number>,
        _: &PoolContext,
    ) -> Result<(), Status> {
        for range in requests {
            for number in 0..range?.end {
                replies.send(&Number { number })?;
            }
        }
        Ok(())
    }
}

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Inline", kind: HandlerKind::Stream },
    MethodDescriptor { name: "Pool", kind: HandlerKind::PoolStream },
];

impl Service for Counter {
    fn name(&self) -> &'static str {
        "test.Counter"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, _: usize, _: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        reply.no_such_method();
    }

    fn open(&self, _: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        Some(codec::stream(Box::new(Counting::default())))
    }

    fn work(&self, _: usize, call: PoolCall) {
        codec::pool_stream(call, |requests, replies, context| {
            self.count(requests, replies, context)
        });
    }
}

#[test]
fn both_ways_count_as_far_as_they_are_told() {
    for io in [Io::Blocking, Io::Epoll, Io::Uring] {
        let builder = Server::builder().add_service(Counter);
        let bound = builder.bind("127.0.0.1:0").unwrap().io(io).threads(1);
        let server = bound.spawn().unwrap();
        let mut client =
            Client::connect_with(server.local_address(), &ConnectionConfig::internet());
        for method in ["Inline", "Pool"] {
            let stream = client.open(head(&format!("/test.Counter/{method}")));
            for end in [3, 0, 50_000] {
                client.send(stream, &framed(&Range { end }.encode_to_vec()), false);
            }
            client.send(stream, b"", true);
            let heard = client.wait_for(stream);
            assert_eq!(heard.code(), Code::Ok, "{method}");
            let numbers =
                heard.messages.iter().map(|message| Number::decode(&**message).unwrap().number);
            assert!(numbers.eq((0..3).chain(0..50_000)), "{method}");
        }
        drop(client);
        server.stop();
        server.join().unwrap();
    }
}
