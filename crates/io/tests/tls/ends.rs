//! Two ends in memory, and the wire between them.

// Each test file uses a part of it.
#![allow(dead_code)]

use super::certificates::Authority;
use bookend_io::simulated::{End, Simulated};
use bookend_io::tls::{Authorities, ClientConfig, Identity, Secured, ServerConfig, Trust};
use bookend_io::{Closed, Opened, Received, Session, Shard, Then, Turn};
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
    pub session: Option<Session>,
    /// Called after what came was noted.
    pub act: Act,
    /// What it sends when it is woken.
    pub outbox: Rc<RefCell<Vec<u8>>>,
    dials: bool,
}

/// What happens to what has come. The number is how much of it is used up.
pub type Act = Box<dyn FnMut(&Event<'_>, &mut Turn) -> (Option<usize>, Then)>;

pub enum Event<'a> {
    Opened(Session),
    Received(Session, &'a [u8]),
    Writable(Session),
    Woken,
}

impl Inner {
    pub fn new(act: impl FnMut(&Event<'_>, &mut Turn) -> (Option<usize>, Then) + 'static) -> Self {
        Self {
            log: Vec::new(),
            received: Vec::new(),
            session: None,
            act: Box::new(act),
            outbox: Rc::default(),
            dials: false,
        }
    }

    /// One that makes a connection when it is woken for the first time.
    pub fn dialling(
        act: impl FnMut(&Event<'_>, &mut Turn) -> (Option<usize>, Then) + 'static,
    ) -> Self {
        let mut inner = Self::new(act);
        inner.dials = true;
        inner
    }
}

/// Uses everything up and says nothing.
pub fn listens(_: &Event<'_>, _: &mut Turn) -> (Option<usize>, Then) {
    (None, Then::Continue)
}

/// Gives back what it is given.
pub fn echoes(event: &Event<'_>, turn: &mut Turn) -> (Option<usize>, Then) {
    if let Event::Received(session, bytes) = event {
        turn.output(*session).extend_from_slice(bytes);
    }
    (None, Then::Continue)
}

impl Shard for Inner {
    fn opened(&mut self, session: Session, how: Opened, turn: &mut Turn) {
        self.log.push(format!("opened {how:?}"));
        self.session = Some(session);
        (self.act)(&Event::Opened(session), turn);
    }

    fn received(&mut self, session: Session, bytes: &[u8], turn: &mut Turn) -> Received {
        let (consumed, then) = (self.act)(&Event::Received(session, bytes), turn);
        let consumed = consumed.unwrap_or(bytes.len());
        self.received.extend_from_slice(&bytes[..consumed]);
        Received { consumed, then }
    }

    fn writable(&mut self, session: Session, turn: &mut Turn) {
        self.log.push("writable".to_owned());
        (self.act)(&Event::Writable(session), turn);
    }

    fn closed(&mut self, _: Session, why: Closed, _: &mut Turn) {
        self.log.push(match why {
            Closed::Peer => "closed by the peer".to_owned(),
            Closed::Us => "closed by us".to_owned(),
            Closed::Failed(error) => format!("failed: {error}"),
            Closed::NotConnected(token, error) => format!("not connected {token}: {error}"),
        });
    }

    fn woken(&mut self, turn: &mut Turn) {
        if std::mem::take(&mut self.dials) {
            turn.connect(SocketAddr::from(([127, 0, 0, 1], 1)), TOKEN);
        }
        if let Some(session) = self.session {
            turn.output(session).append(&mut self.outbox.borrow_mut());
        }
        (self.act)(&Event::Woken, turn);
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
        let client = ClientConfig::new(trust(&authority), None).unwrap();
        Self {
            authority,
            server,
            client,
        }
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

pub fn trust(authority: &Authority) -> Trust {
    Trust::Signed(Authorities::read(&authority.file()).unwrap())
}

/// A client and a server with one connection between them.
pub struct Pair {
    pub client: Simulated<Secured<Inner>>,
    pub server: Simulated<Secured<Inner>>,
    pub at_client: Session,
    pub at_server: Session,
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
        Self {
            client,
            server,
            at_client,
            at_server,
            hung_up: [false; 2],
        }
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
        self.at_client()
            .outbox
            .borrow_mut()
            .extend_from_slice(bytes);
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

/// Both ended as a session that was closed ends.
pub fn closed_cleanly(pair: &Pair) -> bool {
    pair.client.end(pair.at_client) == Some(End::Closed)
        && pair.server.end(pair.at_server) == Some(End::Closed)
}

/// Bytes of which each says where it stands.
pub fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at % 251) as u8).collect()
}
