//! The client library's channel, for calls that are made one by one.

use bookend_client::{Channel, ChannelOptions, ConnectError, Metadata};
use bookend_io::tls::ClientConfig;
use std::time::Duration;

/// A channel to `target` that has a connection.
pub(crate) fn connect(
    target: &str,
    authority: &str,
    connect_timeout: Option<Duration>,
    tls: Option<&ClientConfig>,
) -> Result<Channel, ConnectError> {
    let defaults = ChannelOptions::default();
    let options = ChannelOptions {
        authority: Some(authority.to_owned()),
        tls: tls.cloned(),
        connect_timeout: connect_timeout.unwrap_or(defaults.connect_timeout),
        ..defaults
    };
    let channel = Channel::connect(target, options)?;
    channel.wait_for_connection()?;
    Ok(channel)
}

/// The client library's metadata. It accepts what the flags do.
pub(crate) fn metadata(fields: &[(Vec<u8>, Vec<u8>)]) -> Metadata {
    let mut metadata = Metadata::new();
    for (name, value) in fields {
        metadata.push_received(name, value);
    }
    metadata
}
