//! A connection: two halves and nothing else.

use crate::config::ConnectionConfig;
use crate::error::ConnectionError;
use crate::frame::PREFACE;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::settings::Settings;
use crate::side::Side;
use crate::visitor::Visitor;

/// One HTTP/2 connection of either side. It performs no I/O and has no clock: its owner reads and
/// writes the bytes.
///
/// There are four families of methods:
///
/// 1. **Construction**: [`Connection::new`] makes a connection; [`Connection::renew`] and
///    [`Connection::renew_with`] reset one for reuse and keep its allocations. The connection
///    preface is in the output afterwards.
/// 2. **Input**: [`Connection::receive`] takes the bytes that were read and calls the [`Visitor`]
///    for each event in them.
/// 3. **Actions** are methods of the [`Sender`]: [`open`](Sender::open),
///    [`headers`](Sender::headers), [`data`](Sender::data), [`request`](Sender::request),
///    [`reply`](Sender::reply), [`reset`](Sender::reset), [`release`](Sender::release),
///    [`ping`](Sender::ping), [`goaway`](Sender::goaway). They may be called at any time between
///    the others, and by the visitor during input.
/// 4. **Output**: [`Sender::output`] holds the bytes to write.
///
/// After every call of the first three, the owner writes the output, in one piece or in several,
/// and removes what it has written:
///
/// ```text
/// new -> write output -> | read -> receive (the visitor acts) -> actions -> write output | ...
/// ```
///
/// An error of `receive` ends the connection: its GOAWAY is written, and nothing more is received.
#[derive(Debug)]
pub struct Connection {
    /// The reading half.
    pub receiver: Receiver,
    /// The writing half.
    pub sender: Sender,
}

impl Connection {
    /// A new connection; the preface (of a client) and SETTINGS are in the output.
    pub fn new(side: Side, config: &ConnectionConfig) -> Self {
        let mut connection = Self {
            receiver: Receiver::new(side, config),
            sender: Sender::new(config, own_settings(side, config)),
        };
        connection.apply_side();
        connection.write_preface();
        connection
    }

    /// Resets this for a new connection with `config` and keeps its allocations; the connection
    /// preface is in the output.
    pub fn renew(&mut self, config: &ConnectionConfig) {
        self.forget(config);
        self.write_preface();
    }

    pub(crate) fn forget(&mut self, config: &ConnectionConfig) {
        let side = self.receiver.side();
        self.receiver.renew(config);
        self.sender.renew(config, own_settings(side, config));
        self.apply_side();
    }

    fn apply_side(&mut self) {
        if self.receiver.side() == Side::Client {
            // RFC 9113 section 6.5.2: a server must never announce that it accepts pushes.
            self.sender.peer.enable_push = false;
        }
    }

    /// RFC 9113, sections 3.2, 3.3, 3.4 and 6.5.
    fn write_preface(&mut self) {
        if self.receiver.side() == Side::Client {
            self.sender.output.extend_from_slice(PREFACE);
        }
        self.sender.write_preface();
    }

    /// Handles the whole frames at the front of `input` and returns their length. Present the rest
    /// again once more bytes follow it.
    ///
    /// # Errors
    /// When the peer broke a rule that the connection cannot survive. A GOAWAY with the error is
    /// then in the output: write it, and close.
    /// RFC 9113, section 5.4.
    #[inline]
    pub fn receive<V: Visitor>(
        &mut self,
        input: &[u8],
        visitor: &mut V,
    ) -> Result<usize, ConnectionError> {
        let handled = self.receiver.receive(&mut self.sender, input, visitor);
        if let Err(error) = &handled {
            self.sender.goaway(error.code, error.reason.as_bytes());
        }
        handled
    }
}

/// The settings that this side announces.
/// RFC 9113, section 6.5.2.
fn own_settings(side: Side, config: &ConnectionConfig) -> Settings {
    let mut own = config.settings.announceable();
    match side {
        // Our SETTINGS forbid pushes, so there is nothing to limit.
        Side::Client => own.max_concurrent_streams = None,
        // Only a client may refuse pushes; a server does not send this setting.
        Side::Server => own.enable_push = true,
    }
    own
}
