//! Channels to the servers of the suite. Calls with the same options share one, as they do in life.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bookend_client::{Channel, ChannelError, ChannelOptions};
use bookend_conformance::connect::messages::ClientCompatRequest;

/// Channels by what they were made for.
#[derive(Default)]
pub struct Channels(Mutex<HashMap<Key, Channel>>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    target: String,
    /// 0: the default.
    max_message_bytes: u32,
}

impl Channels {
    /// The channel for such calls; a new one where there is none yet.
    pub fn to(&self, request: &ClientCompatRequest) -> Result<Channel, ChannelError> {
        let key = Key {
            target: format!("{}:{}", request.host, request.port),
            max_message_bytes: request.message_receive_limit,
        };
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channels.get(&key) {
            return Ok(channel.clone());
        }
        let channel = Channel::connect(&key.target, options(key.max_message_bytes))?;
        channels.insert(key, channel.clone());
        Ok(channel)
    }
}

fn options(max_message_bytes: u32) -> ChannelOptions {
    let mut options = ChannelOptions::default();
    if max_message_bytes != 0 {
        options.connection.max_message_bytes = max_message_bytes as usize;
    }
    options
}
