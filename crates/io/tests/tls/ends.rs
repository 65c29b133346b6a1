//! Two ends in memory, and the wire between them.

// Each test file uses a part of it.
#![allow(dead_code)]

use super::certificates::Authority;
use bookend_io::simulated::{End, Simulated};
use bookend_io::tls::{
    Authorities, ClientConfig, Identity, Secured, ServerConfig, TlsAdvice, Trust,
};
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Opened, Received, Shard};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

/// The time at which all these stories begin.
pub const START_NS: u64 = 1_000_000_000;

/// The token of the client's connection.
pub const TOKEN: u64 = 7;

/// What a shard was told, in words; bytes by their number.
pub type Log = Vec<String>;

/// A shard that does what its test says and remembers what it was told.
pub struct Inner {
    pub log: Log,
    pub received: Vec<u8>,
    pub id: Option<ConnectionId>,
    /// Called after what came was noted.
    pub act: Act,
    /// What it sends when it is woken.
    pub outbox: Rc<RefCell<Vec<u8>>>,
    dials: bool,
}

/// What happens to what has come. The number is how much of it is used up.
pub type Act = Box<dyn FnMut(&Event<'_>, &mut IoContext) -> (Option<usize>, AfterRead)>;

pub enum Event<'a> {
    Opened(ConnectionId),
    Received(ConnectionId, &'a [u8]),
    Writable(ConnectionId),
    Woken,
}

impl Inner {
    pub fn new(
        act: impl FnMut(&Event<'_>, &mut IoContext) -> (Option<usize>, AfterRead) + 'static,
    ) -> Self {
        Self {
            log: Vec::new(),
            received: Vec::new(),
            id: None,
            act: Box::new(act),
            outbox: Rc::default(),
            dials: false,
        }
    }

    /// One that makes a connection when it is woken for the first time.
    pub fn dialling(
        act: impl FnMut(&Event<'_>, &mut IoContext) -> (Option<usize>, AfterRead) + 'static,
    ) -> Self {
        let mut inner = Self::new(act);
        inner.dials = true;
        inner
    }
}

/// Uses everything up and says nothing.
pub fn listens(_: &Event<'_>, _: &mut IoContext) -> (Option<usize>, AfterRead) {
    (None, AfterRead::Continue)
}

/// Gives back what it is given.
pub fn echoes(event: &Event<'_>, io: &mut IoContext) -> (Option<usize>, AfterRead) {
    if let Event::Received(id, bytes) = event {
        io.output(*id).extend_from_slice(bytes);
    }
    (None, AfterRead::Continue)
}

impl Shard for Inner {
    fn opened(&mut self, id: ConnectionId, how: Opened, io: &mut IoContext) {
        self.log.push(format!("opened {how:?}"));
        self.id = Some(id);
        (self.act)(&Event::Opened(id), io);
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let (consumed, after) = (self.act)(&Event::Received(id, bytes), io);
        let consumed = consumed.unwrap_or(bytes.len());
        self.received.extend_from_slice(&bytes[..consumed]);
        Received { consumed, after }
    }

    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        self.log.push("writable".to_owned());
        (self.act)(&Event::Writable(id), io);
    }

    fn closed(&mut self, _: ConnectionId, why: Closed, _: &mut IoContext) {
        self.log.push(match why {
            Closed::Peer => "closed by the peer".to_owned(),
            Closed::Us => "closed by us".to_owned(),
            Closed::Failed(error) => format!("failed: {error}"),
            Closed::NotConnected(token, error) => format!("not connected {token}: {error}"),
        });
    }

    fn woken(&mut self, io: &mut IoContext) {
        if std::mem::take(&mut self.dials) {
            io.connect(SocketAddr::from(([127, 0, 0, 1], 1)), TOKEN);
        }
        if let Some(id) = self.id {
            io.output(id).append(&mut self.outbox.borrow_mut());
        }
        (self.act)(&Event::Woken, io);
    }

    fn next_deadline(&self) -> Option<u64> {
        None
    }
}

/// What both ends are set up with.
pub struct Setup {
    pub authority: Authority,
    pub server: ServerConfig,
    pub client: ClientConfig,
}

impl Setup {
    /// Each end has what the other one demands.
    pub fn new() -> Self {
        let authority = Authority::new();
        let files = authority.issue(&["localhost"]);
        let identity = Identity::read(&files.certificate, &files.key).unwrap();
        let server = ServerConfig::new(identity, None).unwrap();
        let client = client(trust(&authority), None);
        Self { authority, server, client }
    }

    pub fn server(&self, inner: Inner) -> Simulated<Secured<Inner>> {
        Simulated::new(Secured::accepting(inner, self.server.clone()), START_NS)
    }

    pub fn client(&self, inner: Inner) -> Simulated<Secured<Inner>> {
        let connector = self.client.connector("localhost").unwrap();
        Simulated::new(Secured::connecting(inner, connector), START_NS)
    }

    pub fn pair(&self, client: Inner, server: Inner) -> Pair {
        Pair::new(self.client(client), self.server(server))
    }
}

/// What a command calls what can be done.
static FLAGS: TlsAdvice = TlsAdvice {
    encrypt: "leave --insecure out",
    plain_text: "add --insecure",
    authorities: "--cacert FILE",
    server_name: "--cname",
    identity: "--cert FILE --key FILE",
    any_certificate: "--skipTLS",
};

/// As a command sets a client up.
pub fn client(trust: Trust, identity: Option<Identity>) -> ClientConfig {
    ClientConfig::new(trust, identity).unwrap().advice(&FLAGS)
}

pub fn trust(authority: &Authority) -> Trust {
    Trust::Signed(Authorities::read(&authority.file()).unwrap())
}

/// A client and a server with one connection between them.
pub struct Pair {
    pub client: Simulated<Secured<Inner>>,
    pub server: Simulated<Secured<Inner>>,
    pub at_client: ConnectionId,
    pub at_server: ConnectionId,
    hung_up: [bool; 2],
}

impl Pair {
    pub fn new(
        mut client: Simulated<Secured<Inner>>,
        mut server: Simulated<Secured<Inner>>,
    ) -> Self {
        let [at_client] = client.connect_all()[..] else {
            panic!("the client makes one connection");
        };
        let at_server = server.accept();
        Self { client, server, at_client, at_server, hung_up: [false; 2] }
    }

    /// Carries bytes both ways, at most `most` at a time, until there are no more, and then the
    /// ends.
    pub fn carry(&mut self, most: usize) {
        loop {
            let there = self.client.take(self.at_client, most);
            self.server.give(self.at_server, &there);
            let back = self.server.take(self.at_server, most);
            self.client.give(self.at_client, &back);
            if there.is_empty() && back.is_empty() && !self.carry_ends() {
                return;
            }
        }
    }

    fn carry_ends(&mut self) -> bool {
        let client_ended = self.client.end(self.at_client).is_some();
        let server_ended = self.server.end(self.at_server).is_some();
        let mut moved = false;
        if client_ended && !server_ended && !self.hung_up[1] {
            self.hung_up[1] = true;
            self.server.hang_up(self.at_server);
            moved = true;
        }
        if server_ended && !client_ended && !self.hung_up[0] {
            self.hung_up[0] = true;
            self.client.hang_up(self.at_client);
            moved = true;
        }
        moved
    }

    /// Has the client's shard put something out.
    pub fn send(&mut self, bytes: &[u8]) {
        self.at_client().outbox.borrow_mut().extend_from_slice(bytes);
        self.client.wake();
    }

    pub fn client_log(&self) -> &Log {
        &self.client.shard().inner().log
    }

    pub fn server_log(&self) -> &Log {
        &self.server.shard().inner().log
    }

    pub fn at_client(&self) -> &Inner {
        self.client.shard().inner()
    }

    pub fn at_server(&self) -> &Inner {
        self.server.shard().inner()
    }
}

/// Carries bytes between a client and a server until neither has more for the other.
#[allow(dead_code, reason = "written for tests of memory")]
pub fn carry<C: Shard, S: Shard>(
    (client, at_client): (&mut Simulated<C>, ConnectionId),
    (server, at_server): (&mut Simulated<S>, ConnectionId),
) {
    loop {
        let there = client.take(at_client, usize::MAX);
        server.give(at_server, &there);
        let back = server.take(at_server, usize::MAX);
        client.give(at_client, &back);
        if there.is_empty() && back.is_empty() {
            return;
        }
    }
}

/// Both ended as a connection that was closed ends.
pub fn closed_cleanly(pair: &Pair) -> bool {
    pair.client.end(pair.at_client) == Some(End::Closed)
        && pair.server.end(pair.at_server) == Some(End::Closed)
}

/// Bytes of which each says where it stands.
pub fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at % 251) as u8).collect()
}
