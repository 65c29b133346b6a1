//! One connection, and the calls on it.

use crate::{
    Server, clock,
    order::Order,
    record::Outcome,
    socket::{StampedSocket, Stamps},
};
use bytes::Bytes;
use h2::{Reason, RecvStream, server::SendResponse};
use http::{HeaderMap, HeaderValue, Request, Response};
use std::{
    cell::{Cell, OnceCell, RefCell},
    env,
    process::Command,
    rc::Rc,
    thread,
    time::Duration,
};
use tokio::{
    net::TcpStream,
    task::{AbortHandle, spawn_local},
    time::sleep,
};

/// No fewer than any check has in flight.
const STREAMS: u32 = 100_000;

#[derive(Clone)]
pub struct Connection {
    server: Rc<Server>,
    stamps: Rc<Stamps>,
    /// Ends it without a word.
    end: Rc<OnceCell<AbortHandle>>,
}

impl Connection {
    /// Serves what comes on `socket`.
    pub fn start(server: &Rc<Server>, socket: TcpStream) {
        let stamps = Stamps {
            server: Rc::clone(server),
            read_ns: Cell::new(0),
            leaving: RefCell::default(),
        };
        let connection =
            Connection { server: Rc::clone(server), stamps: Rc::new(stamps), end: Rc::default() };
        let task = spawn_local(connection.clone().run(socket));
        let _ = connection.end.set(task.abort_handle());
    }

    async fn run(self, socket: TcpStream) {
        let socket = StampedSocket { socket, stamps: Rc::clone(&self.stamps) };
        let mut builder = h2::server::Builder::new();
        let Ok(mut http) = builder.max_concurrent_streams(STREAMS).handshake(socket).await else {
            return;
        };
        while let Some(Ok((request, respond))) = http.accept().await {
            spawn_local(self.clone().call(request, respond));
        }
    }

    async fn call(self, request: Request<RecvStream>, respond: SendResponse<Bytes>) {
        let streams = request.uri().path().ends_with("/Stream");
        let Some(order) = read(request.into_body()).await else {
            return;
        };
        let arrival_ns = self.stamps.read_ns.get();
        let place = self.server.record.borrow_mut().arrived(arrival_ns);
        let call = place as u64 + 1;
        let frozen_ns = order.freeze_ns(call);
        clock::stop_until(clock::now_ns() + frozen_ns);
        self.server.record.borrow_mut().frozen_ns += frozen_ns;
        self.server.work(&order);
        let begin_ns = arrival_ns + order.delay_ns(call);
        self.wait_until(begin_ns).await;
        if order.is_dropped(call) {
            self.server.record.borrow_mut().decided(place, Outcome::Dropped);
            if let Some(end) = self.end.get() {
                end.abort();
            }
            return;
        }
        let (messages, gap_ns) = if streams { order.messages() } else { (1, 0) };
        // An error on the way is the caller's, who has gone: then the record has no answer.
        let _ = self.answer(respond, &order, place, (begin_ns, messages, gap_ns)).await;
    }

    async fn answer(
        &self,
        mut respond: SendResponse<Bytes>,
        order: &Order,
        place: usize,
        (begin_ns, messages, gap_ns): (u64, u64, u64),
    ) -> Result<(), h2::Error> {
        let call = place as u64 + 1;
        if order.is_reset(call) {
            self.leave(place, Outcome::Reset);
            respond.send_reset(Reason::CANCEL);
            return Ok(());
        }
        let mut head = Response::new(());
        head.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
        let status = order.status(call);
        if status != 0 {
            head.headers_mut().insert("grpc-status", HeaderValue::from(status));
            respond.send_response(head, true)?;
            self.leave(place, Outcome::Status);
            return Ok(());
        }
        let mut stream = respond.send_response(head, false)?;
        let mut last_ns = 0;
        for message in 0..messages {
            self.wait_until(begin_ns + message * gap_ns).await;
            stream.send_data(reply(call), false)?;
            let now_ns = clock::now_ns();
            let mut record = self.server.record.borrow_mut();
            record.messages += 1;
            if message > 0 {
                record.message_gaps_ns.push(now_ns - last_ns);
            }
            last_ns = now_ns;
        }
        let ok = ("grpc-status".parse().expect("a name"), HeaderValue::from_static("0"));
        stream.send_trailers(HeaderMap::from_iter([ok]))?;
        self.leave(place, Outcome::Ok);
        Ok(())
    }

    /// What was handed over leaves with the connection's next write.
    fn leave(&self, place: usize, outcome: Outcome) {
        self.server.record.borrow_mut().decided(place, outcome);
        self.stamps.leaving.borrow_mut().push(place);
    }

    async fn wait_until(&self, due_ns: u64) {
        if self.server.spins {
            return self.server.schedule.wait_until(due_ns).await;
        }
        while let left_ns @ 1.. = due_ns.saturating_sub(clock::now_ns()) {
            sleep(Duration::from_nanos(left_ns)).await;
        }
    }
}

impl Server {
    /// What a call does besides waiting.
    fn work(&self, order: &Order) {
        if let Some(bytes) = order.hold() {
            // Written to, so that the kernel has to give it.
            self.held.replace(vec![1; bytes]);
        }
        let (burn_ns, by) = order.burn();
        self.ordered_ns.set(self.ordered_ns.get() + burn_ns);
        match by {
            _ if burn_ns == 0 => {}
            0 => clock::burn(burn_ns),
            1 => thread::spawn(move || clock::burn(burn_ns)).join().expect("it only burns"),
            _ => burn_in_child(burn_ns),
        }
    }
}

fn burn_in_child(burn_ns: u64) {
    let ended = env::current_exe().and_then(|program| {
        Command::new(program).args(["--burn-ns", &burn_ns.to_string()]).status()
    });
    if !ended.is_ok_and(|status| status.success()) {
        eprintln!("a child that was to burn CPU time did not");
    }
}

async fn read(mut body: RecvStream) -> Option<Order> {
    let mut message = Vec::new();
    while let Some(part) = body.data().await {
        let part = part.ok()?;
        body.flow_control().release_capacity(part.len()).ok()?;
        message.extend_from_slice(&part);
    }
    Order::read(&message)
}

/// A gRPC message: `Reply` with the number of the call.
fn reply(mut call: u64) -> Bytes {
    let mut varint = vec![0x08];
    while call >= 0x80 {
        varint.push(call as u8 | 0x80);
        call >>= 7;
    }
    varint.push(call as u8);
    Bytes::from([&[0, 0, 0, 0, varint.len() as u8], &varint[..]].concat())
}
