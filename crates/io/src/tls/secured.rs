//! A shard whose connections are encrypted, around one that does not know it.

mod sessions;

use super::config::{Connector, H2, ServerConfig};
use super::connectors::Connectors;
use super::engine::Engine;
use super::fault::{Fault, Side};
use super::handshakes::Tally;
use super::records;
use crate::RECEIVE_BUFFER_BYTES;
use crate::shard::{Closed, Opened, Received, Session, Shard, Then};
use crate::socket;
use crate::turn::Turn;
use rustls::{Error, HandshakeKind};
use sessions::{Entry, Phase, Secure, Sessions};
use std::io;

/// Records that are decrypted before the shard is called: as many bytes as one record may have.
/// What the shard answers to them is written while the peer goes on.
const STEP_BYTES: usize = 16 << 10;

/// A buffer of the thread that has grown larger than this is given back to the allocator.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// The start of the preface of HTTP/2 (RFC 9113, section 3.4): 5 bytes are what TLS takes for a
/// header.
const PREFACE_START: &[u8] = b"PRI *";

/// A shard around a shard, with TLS between them.
///
/// - `opened` comes once the handshake is over and both ends have agreed on HTTP/2.
/// - A handshake that fails ends a connect with [`Closed::NotConnected`]; of an accepted connection
///   the shard inside hears nothing, and [`ServerConfig::handshakes`] counts it.
/// - A session that is closed says so in TLS first. A peer that closes without a word is
///   [`Closed::Peer`] as well: whoever cuts an HTTP/2 connection short can hide no part of a
///   message by it, since frames say how long they are and a stream ends with END_STREAM, and
///   nowhere else.
/// - [`Turn::backlog`] and [`Turn::sent_bytes`] count what is encrypted. What is put out before the
///   handshake is over waits for it, and is no backlog.
#[derive(Debug)]
pub struct Secured<S> {
    shard: S,
    role: Role<S>,
    sessions: Sessions,
    /// What was decrypted, and what is to be encrypted; one of each a thread.
    plaintext: Vec<u8>,
    put_out: Vec<u8>,
    /// Sessions that the shard goes on reading, and of which something decrypted is left.
    to_resume: Vec<Session>,
}

/// Which server a connection is for, as the shard knows it that has asked for it with that token.
type Which<S> = fn(&S, u64) -> usize;

#[derive(Debug)]
enum Role<S> {
    Accepting(ServerConfig),
    Connecting {
        connectors: Connectors,
        which: Which<S>,
    },
}

impl<S> Role<S> {
    fn side(&self) -> Side {
        match self {
            Self::Accepting(_) => Side::Server,
            Self::Connecting { .. } => Side::Client,
        }
    }

    fn tally(&self) -> &Tally {
        match self {
            Self::Accepting(config) => config.tally(),
            Self::Connecting { connectors, .. } => connectors.any().tally(),
        }
    }

    fn timeout_ns(&self) -> u64 {
        match self {
            Self::Accepting(config) => config.handshake_timeout_ns,
            Self::Connecting { connectors, .. } => connectors.any().timeout_ns(),
        }
    }

    fn engine(&self, shard: &S, how: Opened) -> Result<Engine, Error> {
        match (self, how) {
            (Self::Accepting(config), _) => config.engine(),
            (Self::Connecting { connectors, which }, Opened::Connected(token)) => {
                connectors.of(which(shard, token)).engine()
            }
            (Self::Connecting { connectors, .. }, Opened::Accepted) => connectors.any().engine(),
        }
    }
}

impl<S: Shard> Secured<S> {
    /// The server's end: `shard` is given connections that are accepted.
    pub fn accepting(shard: S, config: ServerConfig) -> Self {
        Self::new(shard, Role::Accepting(config))
    }

    /// The client's end: `shard` makes its connections with [`Turn::connect`], all of them to
    /// servers of one name.
    pub fn connecting(shard: S, connector: Connector) -> Self {
        Self::connecting_each(shard, Connectors::for_all(connector), |_, _| 0)
    }

    /// The client's end, where servers have names of their own. `which` is asked when the transport
    /// of a connection is there, with the token of its [`Turn::connect`], for the number of its
    /// server among the `connectors`.
    pub fn connecting_each(shard: S, connectors: Connectors, which: fn(&S, u64) -> usize) -> Self {
        Self::new(shard, Role::Connecting { connectors, which })
    }

    fn new(shard: S, role: Role<S>) -> Self {
        Self {
            shard,
            role,
            sessions: Sessions::default(),
            plaintext: Vec::new(),
            put_out: Vec::new(),
            to_resume: Vec::new(),
        }
    }

    /// The shard inside.
    pub fn into_inner(self) -> S {
        self.shard
    }

    /// The shard inside.
    pub fn inner(&self) -> &S {
        &self.shard
    }
}

/// Handshakes.
impl<S: Shard> Secured<S> {
    fn begin(&mut self, session: Session, how: Opened, turn: &mut Turn) -> Result<(), Error> {
        let mut engine = self.role.engine(&self.shard, how)?;
        engine.begin(turn.output_below(session))?;
        let due_ns = turn.now_ns().saturating_add(self.role.timeout_ns());
        self.sessions.begin(session, how, engine, due_ns);
        Ok(())
    }

    /// The handshake is over: now the shard inside hears of the session.
    fn open(&mut self, session: Session, turn: &mut Turn) -> Result<(), Fault> {
        let Some(secure) = self.sessions.find(session) else {
            return Ok(());
        };
        if secure.engine.protocol() != Some(H2) {
            return Err(Fault::no_protocol(self.role.side()));
        }
        let resumed = secure.engine.handshake_kind() == Some(HandshakeKind::Resumed);
        self.role.tally().succeeded(resumed);
        let (how, early, owes_writable) = secure.open();
        let Some(how) = how else {
            return Ok(());
        };
        if !early.is_empty() {
            let sealed = secure.engine.seal(&early, turn.output_below(session));
            sealed.map_err(|error| Fault::of(self.role.side(), error))?;
        }
        self.sessions.forget_ended();
        // A session opens with an empty output, which a shard may exchange for its own.
        let below = turn.set_aside(session);
        self.call(turn, |shard, turn| shard.opened(session, how, turn));
        turn.put_before(session, below);
        if owes_writable {
            match turn.unwritten(session) {
                [] => self.call(turn, |shard, turn| shard.writable(session, turn)),
                _ => turn.promise_writable(session),
            }
        }
        Ok(())
    }

    /// A handshake that has gone wrong, or a session that cannot go on. What is in the output is
    /// the alert that tells the peer.
    #[cold]
    fn fail(&mut self, session: Session, fault: Fault) {
        if let Some(secure) = self.sessions.find(session)
            && secure.fault.is_none()
        {
            if matches!(secure.phase, Phase::Handshake(_)) {
                self.role.tally().failed(&fault);
            }
            secure.fault = Some(fault);
        }
    }

    fn give_up_late_handshakes(&mut self, turn: &mut Turn) {
        if self.sessions.next_late_ns().is_none() {
            return;
        }
        while let Some(session) = self.sessions.take_late(turn.now_ns()) {
            let fault = Fault::timed_out(self.role.side(), self.role.timeout_ns());
            self.fail(session, fault);
            turn.wish_below(session, |wishes| wishes.abort = true);
        }
    }
}

/// Bytes on their way in.
impl<S: Shard> Secured<S> {
    /// Decrypts whole records and hands over what they hold.
    fn take_records(
        &mut self,
        session: Session,
        records: &[u8],
        turn: &mut Turn,
    ) -> Result<Then, Fault> {
        let side = self.role.side();
        let Some(secure) = self.sessions.find(session) else {
            return Ok(Then::Close);
        };
        let mut plaintext = std::mem::take(&mut self.plaintext);
        plaintext.append(&mut secure.leftover);
        let kept_bytes = plaintext.len();
        let output = turn.output_below(session);
        let received = secure.engine.receive(records, output, &mut plaintext);
        let is_new = matches!(secure.phase, Phase::Handshake(_));
        let result = match received {
            Err(_) if is_new && records.starts_with(PREFACE_START) => Err(Fault::plain_http2(side)),
            Err(error) => Err(Fault::of(side, error)),
            Ok(()) if is_new && !secure.engine.is_handshaking() => self.open(session, turn),
            Ok(()) => Ok(()),
        };
        if let Err(fault) = &result {
            self.fail(session, fault.clone());
        }
        // What came before an error is heard, too: it may say why.
        let is_open = !is_new || result.is_ok();
        let then = if is_open && plaintext.len() > kept_bytes {
            self.present(session, &plaintext, turn)
        } else {
            self.keep(session, &plaintext);
            Ok(Then::Continue)
        };
        let then = result.and(then);
        plaintext.clear();
        self.plaintext = bounded(plaintext);
        then
    }

    /// Calls the shard with plaintext until it wants no more of it, and keeps the rest.
    fn present(
        &mut self,
        session: Session,
        plaintext: &[u8],
        turn: &mut Turn,
    ) -> Result<Then, Fault> {
        let mut rest = plaintext;
        let then = loop {
            let received = self.call(turn, |shard, turn| shard.received(session, rest, turn));
            rest = &rest[received.consumed.min(rest.len())..];
            let goes_on = received.consumed > 0 && !rest.is_empty();
            if received.then != Then::Again || !goes_on {
                break received.then;
            }
        };
        self.keep(session, rest);
        if then == Then::Pause && !rest.is_empty() {
            // It may have changed its mind in the same call.
            self.note_wishes(session, turn);
        }
        match then {
            Then::Continue | Then::Again if rest.len() >= RECEIVE_BUFFER_BYTES => {
                Err(Fault::stuck(self.role.side()))
            }
            Then::Again => Ok(Then::Continue),
            then => Ok(then),
        }
    }

    fn keep(&mut self, session: Session, rest: &[u8]) {
        if !rest.is_empty()
            && let Some(secure) = self.sessions.find(session)
        {
            secure.leftover.extend_from_slice(rest);
        }
    }

    /// Presents again what was left over when the shard paused. The driver resumes reading only
    /// where the shard then wants more.
    fn resume_all(&mut self, turn: &mut Turn) {
        while let Some(session) = self.to_resume.pop() {
            let Some(secure) = self.sessions.find(session) else {
                continue;
            };
            let leftover = std::mem::take(&mut secure.leftover);
            match self.present(session, &leftover, turn) {
                Ok(Then::Pause) => {}
                Ok(Then::Continue | Then::Again) => {
                    turn.wish_below(session, |wishes| wishes.resume = true);
                }
                Ok(Then::Close | Then::BreakOff) => self.close(session, turn),
                Err(fault) => {
                    self.fail(session, fault);
                    turn.wish_below(session, |wishes| wishes.abort = true);
                }
            }
        }
    }
}

/// Bytes on their way out.
impl<S: Shard> Secured<S> {
    /// Calls the shard inside, and encrypts what it has put out.
    fn call<R>(&mut self, turn: &mut Turn, call: impl FnOnce(&mut S, &mut Turn) -> R) -> R {
        let mark = turn.layer_mark();
        let result = call(&mut self.shard, turn);
        self.seal_from(mark, turn);
        result
    }

    fn seal_from(&mut self, mut mark: usize, turn: &mut Turn) {
        while let Some(session) = turn.next_put_out(&mut mark) {
            self.seal(session, turn);
            self.note_wishes(session, turn);
        }
    }

    fn seal(&mut self, session: Session, turn: &mut Turn) {
        let mut put_out = std::mem::take(&mut self.put_out);
        let output = turn.take_put_out(session, &mut put_out);
        if !put_out.is_empty() {
            match self.sessions.find(session) {
                Some(secure) if secure.phase == Phase::Open => {
                    if let Err(error) = secure.engine.seal(&put_out, output) {
                        self.fail(session, Fault::of(self.role.side(), error));
                        turn.wish_below(session, |wishes| wishes.abort = true);
                    }
                }
                _ => self.sessions.put_off(session, &put_out),
            }
        }
        put_out.clear();
        self.put_out = bounded(put_out);
    }

    /// What the shard wishes of a session may be the business of this layer first.
    fn note_wishes(&mut self, session: Session, turn: &mut Turn) {
        let Some(secure) = self.sessions.find(session) else {
            return;
        };
        let has_leftover = !secure.leftover.is_empty();
        let Some(wishes) = turn.wishes_of(session) else {
            return;
        };
        if wishes.resume && has_leftover {
            wishes.resume = false;
            self.to_resume.push(session);
        }
        if wishes.close {
            secure.engine.close(turn.output_below(session));
        }
    }

    fn close(&mut self, session: Session, turn: &mut Turn) {
        self.say_goodbye(session, turn);
        turn.wish_below(session, |wishes| wishes.close = true);
    }

    fn say_goodbye(&mut self, session: Session, turn: &mut Turn) {
        if let Some(secure) = self.sessions.find(session) {
            secure.engine.close(turn.output_below(session));
        }
    }
}

impl<S: Shard> Shard for Secured<S> {
    fn opened(&mut self, session: Session, how: Opened, turn: &mut Turn) {
        turn.transport_opened(session);
        if let Err(error) = self.begin(session, how, turn) {
            let fault = Fault::of(self.role.side(), error);
            self.sessions.refuse(session, how, fault);
            turn.wish_below(session, |wishes| wishes.abort = true);
        }
    }

    fn received(&mut self, session: Session, bytes: &[u8], turn: &mut Turn) -> Received {
        let consumed = records::whole_bytes(bytes, STEP_BYTES);
        if consumed == 0 {
            return Received {
                consumed,
                then: Then::Continue,
            };
        }
        let taken = self.take_records(session, &bytes[..consumed], turn);
        self.resume_all(turn);
        let then = match taken {
            Ok(Then::Continue) if self.sessions.peer_has_ended(session) => Then::Close,
            // Without more, it is as good as going on.
            Ok(Then::Continue) => Then::Again,
            Ok(then) => then,
            Err(fault) => {
                self.fail(session, fault);
                Then::BreakOff
            }
        };
        if matches!(then, Then::Close | Then::BreakOff) {
            self.say_goodbye(session, turn);
        }
        Received { consumed, then }
    }

    fn writable(&mut self, session: Session, turn: &mut Turn) {
        match self.sessions.find(session) {
            Some(secure) if secure.phase == Phase::Open => {
                self.call(turn, |shard, turn| shard.writable(session, turn));
                self.resume_all(turn);
            }
            Some(secure) => secure.owes_writable = true,
            None => {}
        }
    }

    fn closed(&mut self, session: Session, why: Closed, turn: &mut Turn) {
        let told = match self.sessions.take(session) {
            Some(Entry::Secure(secure)) => self.told(*secure, why),
            Some(Entry::Waiting(waiting)) => match waiting.refused {
                None => Some(why),
                Some((Opened::Connected(token), fault)) => {
                    Some(Closed::NotConnected(token, fault.into()))
                }
                Some((Opened::Accepted, _)) => None,
            },
            None => Some(why),
        };
        if let Some(why) = told {
            self.call(turn, |shard, turn| shard.closed(session, why, turn));
        }
        self.resume_all(turn);
    }

    fn woken(&mut self, turn: &mut Turn) {
        self.give_up_late_handshakes(turn);
        self.call(turn, |shard, turn| shard.woken(turn));
        self.resume_all(turn);
    }

    fn next_deadline(&self) -> Option<u64> {
        let own = self.sessions.next_late_ns();
        [own, self.shard.next_deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    fn awaits_others(&self) -> bool {
        self.shard.awaits_others()
    }
}

impl<S: Shard> Secured<S> {
    /// What the shard inside is told of a session that is gone; nothing where it never heard of it.
    fn told(&self, secure: Secure, why: Closed) -> Option<Closed> {
        let is_ended = secure.engine.has_ended();
        match (secure.phase, secure.fault) {
            (Phase::Open, Some(fault)) => Some(Closed::Failed(fault.into())),
            (Phase::Open, None) if is_ended && matches!(why, Closed::Us) => Some(Closed::Peer),
            (Phase::Open, None) => Some(why),
            (Phase::Handshake(Opened::Connected(token)), fault) => {
                Some(Closed::NotConnected(token, self.why_not(fault, why)))
            }
            (Phase::Handshake(Opened::Accepted), Some(_)) => None,
            (Phase::Handshake(Opened::Accepted), None) => {
                self.note_unfinished(&why);
                None
            }
        }
    }

    /// Why a connect that got as far as its handshake has come to nothing.
    fn why_not(&self, fault: Option<Fault>, why: Closed) -> io::Error {
        if let Some(fault) = fault {
            return fault.into();
        }
        self.note_unfinished(&why);
        match why {
            Closed::Us => socket::given_up(),
            Closed::Failed(error) if !is_reset(&error) => error,
            _ => Fault::closed(self.role.side()).into(),
        }
    }

    fn note_unfinished(&self, why: &Closed) {
        if !matches!(why, Closed::Us) {
            self.role.tally().failed(&Fault::closed(self.role.side()));
        }
    }
}

/// A reset is a close by a peer that had not read everything.
fn is_reset(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted
    )
}

/// An empty buffer to go on with.
fn bounded(buffer: Vec<u8>) -> Vec<u8> {
    match buffer.capacity() <= BUFFER_BYTES_KEPT {
        true => buffer,
        false => Vec::new(),
    }
}
