//! A connection: two halves and nothing else.

use crate::config::Config;
use crate::error::ConnectionError;
use crate::frame::PREFACE;
use crate::receiver::Receiver;
use crate::sender::Sender;
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
        let mut own = config.settings;
        match role {
            // Nobody pushes to us as we say so, so there is nothing to limit.
            Role::Client => own.max_concurrent_streams = None,
            // Only a client may refuse pushes; a server's default is silence.
            Role::Server => own.enable_push = true,
        }
        let mut sender = Sender::new(config, own);
        if role == Role::Client {
            // RFC 9113 section 6.5.2: no server may ever say that it takes pushes.
            sender.peer.enable_push = false;
            sender.output.extend_from_slice(PREFACE);
        }
        sender.greet();
        Self {
            receiver: Receiver::new(role, config),
            sender,
        }
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
