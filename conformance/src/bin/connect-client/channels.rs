//! Channels to the servers of the suite. Calls with the same options share one, as they do in life.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Mutex, PoisonError};

use bookend_client::tls::{Authorities, ClientConfig, ConfigError, Identity, Trust};
use bookend_client::{Channel, ChannelOptions};
use bookend_conformance::connect::messages::{ClientCompatRequest, TlsCreds};

/// Channels by what they were made for.
#[derive(Default)]
pub struct Channels(Mutex<HashMap<Key, Channel>>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    target: String,
    /// 0: the default.
    max_message_bytes: u32,
    /// Whom to trust, in PEM; empty for plain text.
    server_certificate: Vec<u8>,
    /// What to show of ourselves.
    client_certificate: Option<TlsCreds>,
}

impl Channels {
    /// The channel for such calls, which is opened by the first of them.
    pub fn to(&self, request: &ClientCompatRequest) -> Result<Channel, Box<dyn Error>> {
        let key = Key {
            target: format!("{}:{}", request.host, request.port),
            max_message_bytes: request.message_receive_limit,
            server_certificate: request.server_tls_cert.clone(),
            client_certificate: request.client_tls_creds.clone(),
        };
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channels.get(&key) {
            return Ok(channel.clone());
        }
        let channel = Channel::connect(&key.target, key.options()?)?;
        channels.insert(key, channel.clone());
        Ok(channel)
    }
}

impl Key {
    fn options(&self) -> Result<ChannelOptions, ConfigError> {
        let mut options = ChannelOptions::default();
        if self.max_message_bytes != 0 {
            options.max_message_bytes = self.max_message_bytes as usize;
        }
        if !self.server_certificate.is_empty() {
            options.tls = Some(self.tls()?);
        }
        Ok(options)
    }

    fn tls(&self) -> Result<ClientConfig, ConfigError> {
        let trust = Trust::Signed(Authorities::from_pem(&self.server_certificate)?);
        let own = self.client_certificate.as_ref();
        let identity = own.map(|own| Identity::from_pem(&own.cert, &own.key));
        ClientConfig::new(trust, identity.transpose()?)
    }
}
