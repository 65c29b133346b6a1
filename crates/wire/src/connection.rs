//! A connection: two halves and nothing else.

use crate::config::Config;
use crate::error::{CannotOpen, ConnectionError};
use crate::frame::PREFACE;
use crate::opening::Opening;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::settings::Settings;
use crate::streams::Stream;
use crate::visitor::Visitor;

/// Which side of a connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opens streams.
    Client,
    /// Answers them.
    Server,
}

/// One HTTP/2 connection of either role.
///
/// Call order: [`Connection::new`] puts the greeting in the output; whenever bytes have come,
/// [`Connection::receive`] handles the whole frames among them and calls the visitor; what is to be
/// written is in [`Sender::output`] afterwards. Nothing here knows a socket or a clock.
#[derive(Debug)]
pub struct Connection {
    /// The reading half.
    pub receiver: Receiver,
    /// The writing half.
    pub sender: Sender,
}

impl Connection {
    /// A new connection; the preface (of a client) and SETTINGS are in the output.
    pub fn new(role: Role, config: &Config) -> Self {
        let mut connection = Self {
            receiver: Receiver::new(role, config),
            sender: Sender::new(config, own_settings(role, config)),
        };
        connection.know_role();
        connection.greet();
        connection
    }

    /// Forgets everything, as if this were a new connection with `config`, but keeps its memory;
    /// the greeting is in the output.
    pub fn renew(&mut self, config: &Config) {
        self.forget(config);
        self.greet();
    }

    /// As [`Connection::renew`], for a client, with a whole `opening` in the output instead.
    /// Returns the stream of its call.
    ///
    /// What the opening has entered into the peer's table of header fields is older than all that
    /// this side will enter, so that both count alike from the newest on.
    ///
    /// # Errors
    /// As [`Sender::open`], where the ids end with the first.
    #[inline]
    pub fn reopen(&mut self, config: &Config, opening: &Opening) -> Result<Stream, CannotOpen> {
        self.forget(config);
        self.sender.open_with(opening)
    }

    fn forget(&mut self, config: &Config) {
        let role = self.receiver.role();
        self.receiver.renew(config);
        self.sender.renew(config, own_settings(role, config));
        self.know_role();
    }

    fn know_role(&mut self) {
        if self.receiver.role() == Role::Client {
            // RFC 9113 section 6.5.2: no server may ever say that it takes pushes.
            self.sender.peer.enable_push = false;
        }
    }

    fn greet(&mut self) {
        if self.receiver.role() == Role::Client {
            self.sender.output.extend_from_slice(PREFACE);
        }
        self.sender.greet();
    }

    /// Handles the whole frames at the front of `input` and returns their length. What is left is
    /// to be presented again with more bytes behind it.
    ///
    /// # Errors
    /// When the peer broke a rule that the connection cannot survive. A GOAWAY that says so is in
    /// the output then: write it, and close.
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

/// What that side says of itself.
fn own_settings(role: Role, config: &Config) -> Settings {
    let mut own = config.settings;
    match role {
        // Nobody pushes to us as we say so, so there is nothing to limit.
        Role::Client => own.max_concurrent_streams = None,
        // Only a client may refuse pushes; a server's default is silence.
        Role::Server => own.enable_push = true,
    }
    own
}
