//! A connection that makes calls.

use crate::answer::Answer;
use crate::call::{Call, Origin};
use crate::error::{CallError, ConnectError};
use crate::exchange::Exchange;
use crate::greeting;
use crate::options::Options;
use crate::targets::TargetName;
use crate::transport::{Event, Transport};
use bookend_wire::{Connection, ErrorCode, StreamKey};
use std::io;
use std::time::Instant;

/// One connection to a server. Dropping it closes it.
#[derive(Debug)]
pub struct Client {
    address: String,
    origin: Origin,
    transport: Transport,
    connection: Connection,
    exchange: Exchange,
    /// Why the connection is of no further use.
    failure: Option<CallError>,
}

impl Client {
    /// Connects to `host:port`, or whatever else a [`TargetName`] can be, and waits for the
    /// server's SETTINGS.
    ///
    /// # Errors
    /// [`ConnectError`], which says whose fault it is.
    pub fn connect(address: &str, options: &Options) -> Result<Self, ConnectError> {
        let name: TargetName = address.parse()?;
        let mut transport = greeting::connect(&name, options)?;
        let mut exchange = Exchange::new(options.max_message_bytes);
        let connection = greeting::greet(&mut transport, &mut exchange, address, options)?;
        Ok(Self {
            address: address.to_owned(),
            origin: options.origin(&name),
            transport,
            connection,
            exchange,
            failure: None,
        })
    }

    /// The address that it is connected to, as it was given.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Makes a call and waits for its end, or for its deadline. All messages of the answer are
    /// kept in memory.
    ///
    /// # Errors
    /// [`CallError`] where there is no answer because the connection is of no use. A call that
    /// fails has an [`Answer`] with its status.
    pub fn call(&mut self, call: &Call<'_>) -> Result<Answer, CallError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        check_path(call.path)?;
        let started = Instant::now();
        let deadline = call.timeout.and_then(|time| started.checked_add(time));
        let stream = self.start(call)?;
        self.exchange.begin(stream, deadline);
        loop {
            if let Some(answer) = self.exchange.take_answer() {
                self.end(stream);
                return Ok(answer);
            }
            match self.turn(deadline) {
                Ok(Turn::Moved) => {}
                Ok(Turn::DeadlinePassed) => self.exchange.expire(),
                Err(failure) => return self.fail(failure),
            }
        }
    }

    /// Puts the whole request in the output.
    fn start(&mut self, call: &Call<'_>) -> Result<StreamKey, CallError> {
        let sender = &mut self.connection.sender;
        let stream = sender.open().map_err(|reason| CallError::CannotOpen {
            address: self.address.clone(),
            reason,
        })?;
        let is_empty = call.messages.is_empty();
        sender.headers(stream, &mut call.head(&self.origin), is_empty);
        for (number, message) in call.messages.iter().enumerate() {
            let is_last = number + 1 == call.messages.len();
            sender.message(stream, is_last, |output| output.extend_from_slice(message));
        }
        Ok(stream)
    }

    /// Moves octets once in either direction.
    fn turn(&mut self, deadline: Option<Instant>) -> Result<Turn, CallError> {
        let output = &mut self.connection.sender.output;
        let event = match self.transport.exchange(output, deadline) {
            Ok(event) => event,
            Err(error) => return Err(self.network_failure(&error)),
        };
        match event {
            Event::TimedOut => return Ok(Turn::DeadlinePassed),
            Event::Closed => return Err(self.closed()),
            Event::Progress => {}
        }
        let inbox = self.transport.inbox();
        match self.connection.receive(inbox, &mut self.exchange) {
            Ok(consumed) => {
                self.transport.consume(consumed);
                Ok(Turn::Moved)
            }
            Err(error) => Err(CallError::Protocol {
                address: self.address.clone(),
                error,
            }),
        }
    }

    /// The call is over: what is still on its way is not wanted.
    fn end(&mut self, stream: StreamKey) {
        self.connection.sender.reset(stream, ErrorCode::CANCEL);
        // Whether the server hears of it changes nothing for this call; the next one will see.
        let _ = self.transport.write(&mut self.connection.sender.output);
    }

    fn fail(&mut self, failure: CallError) -> Result<Answer, CallError> {
        // A GOAWAY that says what the peer did wrong may be in the output.
        let _ = self.transport.write(&mut self.connection.sender.output);
        self.failure = Some(failure.clone());
        Err(failure)
    }

    fn closed(&self) -> CallError {
        CallError::Closed {
            address: self.address.clone(),
            goaway: self.exchange.goaway.clone(),
        }
    }

    /// A reset is a close by a peer that had not read everything.
    fn network_failure(&self, error: &io::Error) -> CallError {
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted => self.closed(),
            _ => CallError::Network {
                address: self.address.clone(),
                reason: error.to_string(),
            },
        }
    }
}

/// How one turn of the loop went.
enum Turn {
    Moved,
    DeadlinePassed,
}

fn check_path(path: &str) -> Result<(), CallError> {
    match is_path(path) {
        true => Ok(()),
        false => Err(CallError::Path(path.to_owned())),
    }
}

/// Whether HTTP/2 can carry it as the path of a method.
pub(crate) fn is_path(path: &str) -> bool {
    path.starts_with('/') && path.bytes().all(|octet| matches!(octet, b'!'..=b'~'))
}
