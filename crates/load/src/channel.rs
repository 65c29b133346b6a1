//! The client library's channel, for calls that are made one by one.

use crate::options::CallOptions;
use bookend_client::{Channel, ChannelOptions, ConnectError, Metadata};
use bookend_payload::metadata::CallMetadata;

/// A channel to the first target that has a connection.
pub(crate) fn connect(call: &CallOptions) -> Result<Channel, ConnectError> {
    let defaults = ChannelOptions::default();
    let options = ChannelOptions {
        authority: Some(call.authority()),
        tls: call.tls.clone(),
        tls_advice: call.tls_advice,
        connect_timeout: call.connect_timeout.unwrap_or(defaults.connect_timeout),
        ..defaults
    };
    let channel = Channel::connect(&call.targets.first().to_string(), options)?;
    channel.wait_for_connection()?;
    Ok(channel)
}

/// The client library's metadata. It accepts what the flags do.
pub(crate) fn metadata(fields: &CallMetadata) -> Metadata {
    let mut metadata = Metadata::new();
    for (name, value) in &fields.constant {
        metadata.push_received(name, value);
    }
    metadata
}
