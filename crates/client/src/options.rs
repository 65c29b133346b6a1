//! How a client connects.

use crate::call::Origin;
use crate::error::ConnectError;
use crate::targets::{TargetName, TargetNames};
use bookend_io::tls::{ClientConfig, Connector, Connectors};
use bookend_wire::ConnectionConfig;
use std::time::Duration;

/// How long a connection may take to be made: what ghz and grpc-go allow is 10 to 20 s.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the server may take to send its SETTINGS, which it owes at once (RFC 9113, section
/// 3.4). A runtime that starts slowly needs a second or two.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest message that is taken: the default of grpc-go, grpc-java and grpc C++.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// How a client connects, and what it takes.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long the connection may take to be made.
    pub connect_timeout: Duration,
    /// How long the server may then take to send its SETTINGS.
    pub greeting_timeout: Duration,
    /// The largest message that is taken; a larger one ends its call with `RESOURCE_EXHAUSTED`.
    pub max_message_bytes: usize,
    /// The `:authority` of every call; `None` is the address that is connected to.
    pub authority: Option<String>,
    /// TLS; `None` is plain text. The server's certificate has to be for the host of `authority`,
    /// or else for that of the target that is connected to.
    pub tls: Option<ClientConfig>,
    /// The limits of HTTP/2.
    pub http2: ConnectionConfig,
}

impl Options {
    /// What all calls to that address have in common.
    pub(crate) fn origin(&self, address: &TargetName) -> Origin {
        let authority = self.authority.clone();
        Origin {
            scheme: match self.tls {
                Some(_) => "https",
                None => "http",
            },
            authority: authority.unwrap_or_else(|| address.authority()),
        }
    }

    /// TLS to that address, where there is to be any.
    pub(crate) fn connector(
        &self,
        address: &TargetName,
    ) -> Result<Option<Connector>, ConnectError> {
        let Some(config) = &self.tls else {
            return Ok(None);
        };
        let connector = config.connector(&self.origin(address).authority);
        connector
            .map(Some)
            .map_err(|error| ConnectError::Unreachable {
                address: address.to_string(),
                reason: error.to_string(),
            })
    }

    /// TLS to servers of these names, in this order, where there is to be any. Each is verified by
    /// its own name, unless there is an `authority`.
    pub(crate) fn connectors(
        &self,
        names: &TargetNames,
    ) -> Result<Option<Connectors>, ConnectError> {
        let Some(first) = self.connector(names.first())? else {
            return Ok(None);
        };
        if self.authority.is_some() {
            return Ok(Some(Connectors::for_all(first)));
        }
        let others = names.iter().skip(1).map(|name| self.connector(name));
        let others: Vec<_> = others.collect::<Result<_, _>>()?;
        Ok(Some(Connectors::for_each(
            first,
            others.into_iter().flatten(),
        )))
    }
}

impl Default for Options {
    /// 10 s to connect, 5 s for the SETTINGS, messages of 4 MiB, plain text, a trusted server.
    fn default() -> Self {
        Self {
            connect_timeout: CONNECT_TIMEOUT,
            greeting_timeout: GREETING_TIMEOUT,
            max_message_bytes: MAX_MESSAGE_BYTES,
            authority: None,
            tls: None,
            http2: ConnectionConfig::trusted(),
        }
    }
}
