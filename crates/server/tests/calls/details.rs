//! Statuses with details, and who called.

use std::net::{SocketAddr, TcpStream};

use bookend_server::prost::Message;
use bookend_server::rpc::{DetailedStatus, ErrorInfo};
use bookend_server::{
    Code, Context, HandlerKind, InlineStream, Io, MethodDescriptor, PoolCall, Replies, Reply,
    Server, Service, Status, StreamHandler, codec,
};
use bookend_wire::ConnectionConfig;
use bookend_wire::grpc::base64;

use crate::loopback::Client;
use crate::pair::{Pair, framed, head};
use crate::shop::{Item, Money};

/// Fails with details, whichever way the call is handled.
struct Fussy;

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Inline", kind: HandlerKind::Inline },
    MethodDescriptor { name: "Deferred", kind: HandlerKind::Deferred },
    MethodDescriptor { name: "Stream", kind: HandlerKind::Stream },
];

fn refusal() -> Status {
    let info = ErrorInfo { reason: "NO_STOCK".into(), ..ErrorInfo::default() };
    DetailedStatus::new(Code::FailedPrecondition, "sold out").with(&info).into()
}

impl Service for Fussy {
    fn name(&self) -> &'static str {
        "test.Fussy"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, method: usize, _: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        match METHODS[method].kind {
            HandlerKind::Deferred => reply.defer().fail(refusal()),
            _ => reply.fail(refusal()),
        }
    }

    fn open(&self, _: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        Some(codec::stream(Box::new(Fussy)))
    }
}

impl StreamHandler<Item, Money> for Fussy {
    fn on_message(&mut self, _: Item, replies: &mut Replies<'_, '_, Money>) -> Result<(), Status> {
        replies.send(&Money { cents: 1 });
        Err(refusal())
    }
}

#[test]
fn details_come_with_the_trailers_of_every_kind_of_call() {
    for method in METHODS {
        let mut pair = Pair::over(Fussy);
        let path = format!("/test.Fussy/{}", method.name);
        let stream = pair.start(&path, "tea");
        pair.pump();
        pair.wake();
        let heard = pair.heard(stream);
        assert_eq!(heard.code(), Code::FailedPrecondition, "{}", method.name);
        let text = heard.field("grpc-status-details-bin").expect("details");
        let details = base64::decode(text.as_bytes()).unwrap();
        let status = Status::with_details(heard.code(), heard.status_message(), details);
        let read = DetailedStatus::of(&status).unwrap();
        assert_eq!(read.find::<ErrorInfo>().unwrap().reason, "NO_STOCK");
    }
}

/// Answers with the address that its client has.
struct WhoAmI;

impl Service for WhoAmI {
    fn name(&self) -> &'static str {
        "test.WhoAmI"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        &[
            MethodDescriptor { name: "Inline", kind: HandlerKind::Inline },
            MethodDescriptor { name: "Pool", kind: HandlerKind::Pool },
        ]
    }

    fn call(&self, _: usize, _: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        assert!(context.client_certificates().is_empty());
        let item = Item { name: shown(context.peer_address()) };
        reply.message(|output| item.encode_raw(output));
    }

    fn work(&self, _: usize, call: PoolCall) {
        let item = Item { name: shown(call.context().peer_address()) };
        let result = call.send(item.encode_to_vec()).map_err(Status::from);
        call.finish(result);
    }
}

fn shown(address: Option<SocketAddr>) -> String {
    address.map_or("none".to_owned(), |address| address.to_string())
}

#[test]
fn a_handler_knows_where_its_client_is() {
    for io in [Io::Blocking, Io::Epoll, Io::Uring] {
        let server = Server::builder()
            .add_service(WhoAmI)
            .bind("127.0.0.1:0")
            .unwrap()
            .io(io)
            .threads(1)
            .spawn()
            .unwrap();
        let socket = TcpStream::connect(server.local_address()).unwrap();
        let own = socket.local_addr().unwrap().to_string();
        let mut client = Client::over(socket, &ConnectionConfig::trusted());
        for path in ["/test.WhoAmI/Inline", "/test.WhoAmI/Pool"] {
            let stream = client.open(head(path));
            client.send(stream, &framed(b""), true);
            let heard = client.wait_for(stream);
            assert_eq!(Item::decode(&*heard.messages[0]).unwrap().name, own, "{io:?}");
        }
        server.stop();
        drop(client);
        server.join().unwrap();
    }
}
