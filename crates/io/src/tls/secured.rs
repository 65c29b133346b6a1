//! A shard whose connections are encrypted, around one that does not know it.
//!
//! ```text
//! driver                         Secured                               shard inside
//! received(ciphertext)  ->  take_records: engine decrypts  ->  received(plaintext)
//! output of ciphertext  <-  seal_from: engine encrypts     <-  output of plaintext
//! ```
//!
//! The shard inside writes into the same `IoContext` as everything else: after each call of it
//! (`call`), what it has appended is taken out of the outputs, encrypted, and put back
//! (`seal_from`). Plaintext of a connection whose handshake is not over waits in its entry.
//! Requests of the shard (close, resume) pass through `note_pending`, which sends close_notify
//! first and presents leftover plaintext before the driver reads on.

mod connections;

use super::config::{Connector, Connectors, ServerConfig};
use super::engine::Engine;
use super::fault::{TlsFault, TlsFaultKind, is_reset};
use super::handshakes::HandshakePolicy;
use super::held_memory::HeldMemory;
use super::records;
use super::side::TlsSide;
use crate::RECEIVE_BUFFER_BYTES;
use crate::context::IoContext;
use crate::shard::{AfterRead, Closed, ConnectionId, Opened, Received, Shard};
use crate::socket;
use connections::{TlsConnection, TlsConnections, TlsEntry, TlsPhase};
use rustls::Error;
use std::io;
use std::time::Duration;

/// Records that are decrypted before the shard is called: as many bytes as one record may have.
/// What the shard answers to them is written while the peer goes on.
const STEP_BYTES: usize = 16 << 10;

/// The time of a handshake while memory is tight: two round trips of any line.
const TIGHT_HANDSHAKE_NS: u64 = 1_000_000_000;

/// A buffer of the thread that has grown larger than this is given back to the allocator.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// The start of the preface of HTTP/2 (RFC 9113, section 3.4): 5 bytes are what TLS takes for a
/// header.
const PREFACE_START: &[u8] = b"PRI *";

/// A shard around a shard, with TLS between them.
///
/// - `opened` comes once the handshake is over and both ends have agreed on HTTP/2.
/// - A handshake that fails ends a connect with [`Closed::NotConnected`]. The shard inside is not
///   called for an accepted connection that fails so; [`ServerConfig::handshakes`] counts it.
/// - A close sends close_notify first. A peer that closes without one is [`Closed::Peer`] as well:
///   truncating an HTTP/2 connection hides no part of a message, since frames have a length and a
///   stream ends only with END_STREAM.
/// - [`IoContext::backlog`] and [`IoContext::sent_bytes`] count ciphertext. Output from before the
///   end of the handshake waits for it and is no backlog.
#[derive(Debug)]
pub struct Secured<S> {
    shard: S,
    role: TlsEnd<S>,
    connections: TlsConnections,
    /// Buffers for what was decrypted and what is to be encrypted; one of each a thread.
    plaintext: Vec<u8>,
    put_out: Vec<u8>,
    /// Connections that the shard has resumed while decrypted bytes are left over.
    to_resume: Vec<ConnectionId>,
}

/// Maps the token of a connect to the number of its server.
type Which<S> = fn(&S, u64) -> usize;

#[derive(Debug)]
enum TlsEnd<S> {
    Accepting(ServerConfig),
    Connecting { connectors: Connectors, which: Which<S> },
}

impl<S> TlsEnd<S> {
    fn side(&self) -> TlsSide {
        match self {
            Self::Accepting(_) => TlsSide::Server,
            Self::Connecting { .. } => TlsSide::Client,
        }
    }

    fn fault(&self, kind: TlsFaultKind) -> TlsFault {
        TlsFault::new(self.side(), kind, self.handshake_policy().advice)
    }

    fn handshake_policy(&self) -> &HandshakePolicy {
        match self {
            Self::Accepting(config) => &config.handshake_policy,
            Self::Connecting { connectors, .. } => connectors.any().handshake_policy(),
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
    /// The server's end: `shard` serves accepted connections.
    pub fn accepting(shard: S, config: ServerConfig) -> Self {
        Self::new(shard, TlsEnd::Accepting(config))
    }

    /// The client's end: `shard` makes its connections with [`IoContext::connect`], all of them to
    /// servers of one name.
    pub fn connecting(shard: S, connector: Connector) -> Self {
        Self::connecting_each(shard, Connectors::for_all(connector), |_, _| 0)
    }

    /// The client's end, where servers have names of their own. `which` is asked when the transport
    /// of a connection is there, with the token of its [`IoContext::connect`], for the number of
    /// its server among the `connectors`.
    pub fn connecting_each(shard: S, connectors: Connectors, which: fn(&S, u64) -> usize) -> Self {
        Self::new(shard, TlsEnd::Connecting { connectors, which })
    }

    fn new(shard: S, role: TlsEnd<S>) -> Self {
        Self {
            shard,
            role,
            connections: TlsConnections::default(),
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
    fn begin(&mut self, id: ConnectionId, how: Opened, io: &mut IoContext) -> Result<(), TlsFault> {
        let policy = self.role.handshake_policy();
        let address = io.peer(id).address.map(|address| address.ip());
        let counted = policy.limits.begin_handshake(address);
        let counted = counted.ok_or_else(|| self.role.fault(TlsFaultKind::AddressFull))?;
        let engine = self.role.engine(&self.shard, how).and_then(|mut engine| {
            engine.begin(io.output_below(id))?;
            Ok(engine)
        });
        let engine = engine.map_err(|error| self.role.fault(TlsFaultKind::Tls(error)))?;
        let due_ns = io.now_ns().saturating_add(policy.timeout_ns);
        let held = HeldMemory::of_session(policy.limits.0.clone());
        self.connections.begin(id, how, (engine, held, counted), due_ns);
        Ok(())
    }

    /// The handshake is over: the shard inside gets its `opened`.
    fn open(&mut self, id: ConnectionId, io: &mut IoContext) -> Result<(), TlsFault> {
        let Some(secure) = self.connections.find(id) else {
            return Ok(());
        };
        if !secure.engine.has_agreed() {
            return Err(self.role.fault(TlsFaultKind::NoProtocol));
        }
        self.role.handshake_policy().counters.succeeded(secure.engine.is_resumed());
        if let Some(peer) = io.peer_mut(id) {
            peer.certificates = secure.engine.peer_certificates();
            secure.held.keep_shown(&peer.certificates);
        }
        let (how, early, owes_writable) = secure.open();
        let Some(how) = how else {
            return Ok(());
        };
        if !early.is_empty() {
            secure
                .engine
                .seal(&early, io.output_below(id))
                .map_err(|error| self.role.fault(TlsFaultKind::Tls(error)))?;
        }
        self.connections.forget_ended();
        // A connection opens with an empty output, which a shard may swap for its own.
        let below = io.set_aside(id);
        self.call(io, |shard, io| shard.opened(id, how, io));
        io.put_before(id, below);
        if owes_writable {
            match io.unwritten(id) {
                [] => self.call(io, |shard, io| shard.writable(id, io)),
                _ => io.promise_writable(id),
            }
        }
        Ok(())
    }

    /// Marks a connection as failed, in its handshake or later. The output holds the alert for the
    /// peer.
    #[cold]
    fn fail(&mut self, id: ConnectionId, fault: TlsFault) {
        if let Some(secure) = self.connections.find(id)
            && secure.fault.is_none()
        {
            if matches!(secure.phase, TlsPhase::Handshake(_)) {
                self.role.handshake_policy().counters.failed(&fault);
            }
            secure.fault = Some(fault);
        }
    }

    /// Counts what is buffered of a connection: `unread_bytes` of its ciphertext are with the
    /// driver. What is decrypted and left over, the shard inside counts.
    fn note_held(&mut self, id: ConnectionId, unread_bytes: usize, io: &mut IoContext) {
        if let Some(secure) = self.connections.find(id) {
            secure.held.note(secure.engine.held_bytes() + unread_bytes);
            if secure.phase != TlsPhase::Open {
                self.give_up_for_memory(io);
            }
        }
    }

    /// Gives up the oldest handshakes while there is too little memory. The age decides, since who
    /// sends a byte a second has not made progress.
    fn give_up_for_memory(&mut self, io: &mut IoContext) {
        if self.connections.next_late_ns().is_none() {
            return;
        }
        self.connections.forget_ended();
        let since_ns = io.now_ns().saturating_sub(TIGHT_HANDSHAKE_NS);
        while let Some(late_ns) = self.connections.next_late_ns() {
            let policy = self.role.handshake_policy();
            let began_ns = late_ns.saturating_sub(policy.timeout_ns);
            if !policy.limits.gives_up(began_ns, since_ns) {
                return;
            }
            let Some(id) = self.connections.take_late(u64::MAX) else {
                return;
            };
            self.fail(id, self.role.fault(TlsFaultKind::NoMemory));
            if let Some(secure) = self.connections.find(id) {
                secure.give_back();
            }
            io.request_below(id, |pending| pending.abort = true);
        }
    }

    fn give_up_late_handshakes(&mut self, io: &mut IoContext) {
        if self.connections.next_late_ns().is_none() {
            return;
        }
        while let Some(id) = self.connections.take_late(io.now_ns()) {
            let timeout = Duration::from_nanos(self.role.handshake_policy().timeout_ns);
            self.fail(id, self.role.fault(TlsFaultKind::TimedOut(timeout)));
            io.request_below(id, |pending| pending.abort = true);
        }
    }
}

/// Bytes on their way in.
impl<S: Shard> Secured<S> {
    /// Decrypts whole records and hands over what they hold.
    fn take_records(
        &mut self,
        id: ConnectionId,
        records: &[u8],
        io: &mut IoContext,
    ) -> Result<AfterRead, TlsFault> {
        let Some(secure) = self.connections.find(id) else {
            return Ok(AfterRead::Close);
        };
        let mut plaintext = std::mem::take(&mut self.plaintext);
        plaintext.extend_from_slice(&std::mem::take(&mut secure.leftover));
        let kept_bytes = plaintext.len();
        let output = io.output_below(id);
        let received = secure.engine.receive(records, output, &mut plaintext);
        let is_new = matches!(secure.phase, TlsPhase::Handshake(_));
        let result = match received {
            Err(_) if is_new && records.starts_with(PREFACE_START) => {
                Err(self.role.fault(TlsFaultKind::PlainHttp2))
            }
            Err(error) => Err(self.role.fault(TlsFaultKind::Tls(error))),
            Ok(()) if is_new && !secure.engine.is_handshaking() => self.open(id, io),
            Ok(()) => Ok(()),
        };
        if let Err(fault) = &result {
            self.fail(id, fault.clone());
        }
        // Plaintext from before an error is presented too: it may hold the reason (a GOAWAY).
        let is_open = !is_new || result.is_ok();
        let after = if is_open && plaintext.len() > kept_bytes {
            self.present(id, &plaintext, io)
        } else {
            self.keep(id, &plaintext);
            Ok(AfterRead::Continue)
        };
        let after = result.and(after);
        plaintext.clear();
        self.plaintext = bounded(plaintext);
        after
    }

    /// Calls the shard with plaintext until it wants no more of it, and keeps the rest.
    fn present(
        &mut self,
        id: ConnectionId,
        plaintext: &[u8],
        io: &mut IoContext,
    ) -> Result<AfterRead, TlsFault> {
        let mut rest = plaintext;
        let after = loop {
            let received = self.call(io, |shard, io| shard.received(id, rest, io));
            rest = &rest[received.consumed.min(rest.len())..];
            let goes_on = received.consumed > 0 && !rest.is_empty();
            if received.after != AfterRead::Again || !goes_on {
                break received.after;
            }
        };
        self.keep(id, rest);
        if after == AfterRead::Pause && !rest.is_empty() {
            // The shard may have paused and resumed in the same call.
            self.note_pending(id, io);
        }
        match after {
            AfterRead::Continue | AfterRead::Again if rest.len() >= RECEIVE_BUFFER_BYTES => {
                Err(self.role.fault(TlsFaultKind::Stuck))
            }
            AfterRead::Again => Ok(AfterRead::Continue),
            after => Ok(after),
        }
    }

    fn keep(&mut self, id: ConnectionId, rest: &[u8]) {
        if !rest.is_empty()
            && let Some(secure) = self.connections.find(id)
        {
            secure.leftover.extend_from_slice(rest);
        }
    }

    /// Presents again what was left over when the shard paused. The driver resumes reading only
    /// where the shard then wants more.
    fn resume_all(&mut self, io: &mut IoContext) {
        while let Some(id) = self.to_resume.pop() {
            let Some(secure) = self.connections.find(id) else {
                continue;
            };
            let leftover = std::mem::take(&mut secure.leftover);
            match self.present(id, &leftover, io) {
                Ok(AfterRead::Pause) => {}
                Ok(AfterRead::Continue | AfterRead::Again) => {
                    io.request_below(id, |pending| pending.resume = true);
                }
                Ok(AfterRead::Close | AfterRead::LingeringClose) => self.close(id, io),
                Err(fault) => {
                    self.fail(id, fault);
                    io.request_below(id, |pending| pending.abort = true);
                }
            }
        }
    }
}

/// Bytes on their way out.
impl<S: Shard> Secured<S> {
    /// Calls the shard inside, and encrypts what it has put out.
    fn call<R>(&mut self, io: &mut IoContext, call: impl FnOnce(&mut S, &mut IoContext) -> R) -> R {
        let mark = io.layer_mark();
        let result = call(&mut self.shard, io);
        self.seal_from(mark, io);
        result
    }

    fn seal_from(&mut self, mut mark: usize, io: &mut IoContext) {
        while let Some(id) = io.next_put_out(&mut mark) {
            self.seal(id, io);
            self.note_pending(id, io);
        }
    }

    fn seal(&mut self, id: ConnectionId, io: &mut IoContext) {
        let mut put_out = std::mem::take(&mut self.put_out);
        let output = io.take_put_out(id, &mut put_out);
        if !put_out.is_empty() {
            match self.connections.find(id) {
                Some(secure) if secure.phase == TlsPhase::Open => {
                    if let Err(error) = secure.engine.seal(&put_out, output) {
                        self.fail(id, self.role.fault(TlsFaultKind::Tls(error)));
                        io.request_below(id, |pending| pending.abort = true);
                    }
                }
                _ => self.connections.put_off(id, &put_out),
            }
        }
        put_out.clear();
        self.put_out = bounded(put_out);
    }

    /// Handles what the shard asked of a connection and this layer has to do first.
    fn note_pending(&mut self, id: ConnectionId, io: &mut IoContext) {
        let Some(secure) = self.connections.find(id) else {
            return;
        };
        let has_leftover = !secure.leftover.is_empty();
        let Some(pending) = io.pending_of(id) else {
            return;
        };
        if pending.resume && has_leftover {
            pending.resume = false;
            self.to_resume.push(id);
        }
        if pending.close {
            secure.engine.close(io.output_below(id));
        }
    }

    fn close(&mut self, id: ConnectionId, io: &mut IoContext) {
        self.send_close_notify(id, io);
        io.request_below(id, |pending| pending.close = true);
    }

    fn send_close_notify(&mut self, id: ConnectionId, io: &mut IoContext) {
        if let Some(secure) = self.connections.find(id) {
            secure.engine.close(io.output_below(id));
        }
    }
}

impl<S: Shard> Shard for Secured<S> {
    fn opened(&mut self, id: ConnectionId, how: Opened, io: &mut IoContext) {
        io.transport_opened(id);
        if let Err(fault) = self.begin(id, how, io) {
            self.role.handshake_policy().counters.failed(&fault);
            self.connections.refuse(id, how, fault);
            io.request_below(id, |pending| pending.abort = true);
        }
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let consumed = records::whole_bytes(bytes, STEP_BYTES);
        if consumed == 0 {
            self.note_held(id, bytes.len(), io);
            return Received { consumed, after: AfterRead::Continue };
        }
        let taken = self.take_records(id, &bytes[..consumed], io);
        self.resume_all(io);
        let after = match taken {
            Ok(AfterRead::Continue) if self.connections.peer_has_ended(id) => AfterRead::Close,
            // With no more bytes, the driver treats this as `Continue`.
            Ok(AfterRead::Continue) => AfterRead::Again,
            Ok(after) => after,
            Err(fault) => {
                self.fail(id, fault);
                AfterRead::LingeringClose
            }
        };
        let unread_bytes = if after == AfterRead::Pause { bytes.len() - consumed } else { 0 };
        self.note_held(id, unread_bytes, io);
        if matches!(after, AfterRead::Close | AfterRead::LingeringClose) {
            self.send_close_notify(id, io);
        }
        Received { consumed, after }
    }

    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        match self.connections.find(id) {
            Some(secure) if secure.phase == TlsPhase::Open => {
                self.call(io, |shard, io| shard.writable(id, io));
                self.resume_all(io);
            }
            Some(secure) => secure.owes_writable = true,
            None => {}
        }
    }

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        let reason = match self.connections.take(id) {
            Some(TlsEntry::Secure(secure)) => self.reason_inside(*secure, why),
            Some(TlsEntry::Waiting(waiting)) => match waiting.refused {
                None => Some(why),
                Some((Opened::Connected(token), fault)) => {
                    Some(Closed::NotConnected(token, fault.into()))
                }
                Some((Opened::Accepted, _)) => None,
            },
            None => Some(why),
        };
        if let Some(why) = reason {
            self.call(io, |shard, io| shard.closed(id, why, io));
        }
        self.resume_all(io);
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.give_up_late_handshakes(io);
        self.give_up_for_memory(io);
        self.call(io, |shard, io| shard.woken(io));
        self.resume_all(io);
    }

    fn next_deadline(&self) -> Option<u64> {
        let own = self.connections.next_late_ns();
        [own, self.shard.next_deadline()].into_iter().flatten().min()
    }

    fn has_outstanding(&self) -> bool {
        self.shard.has_outstanding()
    }
}

impl<S: Shard> Secured<S> {
    /// Why a connection is gone, as the shard inside gets it; `None` where it never got an
    /// `opened`.
    fn reason_inside(&self, secure: TlsConnection, why: Closed) -> Option<Closed> {
        let is_ended = secure.engine.has_ended();
        match (secure.phase, secure.fault) {
            (TlsPhase::Open, Some(fault)) => Some(Closed::Failed(fault.into())),
            (TlsPhase::Open, None) if is_ended && matches!(why, Closed::Us) => Some(Closed::Peer),
            (TlsPhase::Open, None) => Some(why),
            (TlsPhase::Handshake(Opened::Connected(token)), fault) => {
                Some(Closed::NotConnected(token, self.why_not(fault, why)))
            }
            (TlsPhase::Handshake(Opened::Accepted), Some(_)) => None,
            (TlsPhase::Handshake(Opened::Accepted), None) => {
                self.count_unfinished(&why);
                None
            }
        }
    }

    /// The error of a connect that failed in its handshake.
    fn why_not(&self, fault: Option<TlsFault>, why: Closed) -> io::Error {
        if let Some(fault) = fault {
            return fault.into();
        }
        self.count_unfinished(&why);
        match why {
            Closed::Us => socket::given_up(),
            Closed::Failed(error) if !is_reset(&error) => error,
            _ => self.role.fault(TlsFaultKind::Closed).into(),
        }
    }

    fn count_unfinished(&self, why: &Closed) {
        if !matches!(why, Closed::Us) {
            let fault = self.role.fault(TlsFaultKind::Closed);
            self.role.handshake_policy().counters.failed(&fault);
        }
    }
}

/// The buffer for reuse, unless it has grown too large.
fn bounded(buffer: Vec<u8>) -> Vec<u8> {
    if buffer.capacity() <= BUFFER_BYTES_KEPT { buffer } else { Vec::new() }
}
