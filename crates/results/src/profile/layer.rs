//! The layers of a server.

use serde::{Deserialize, Serialize};

/// A layer of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Reading from sockets, the kernel's part included.
    NetworkIn,
    /// Writing to sockets, the kernel's part included.
    NetworkOut,
    /// HTTP/2, HPACK, gRPC framing, routing.
    Protocol,
    /// Conversion between messages and bytes.
    Messages,
    /// The code of the library's user.
    Handler,
    /// Scheduling, waiting, waking, collecting garbage.
    Runtime,
}

impl Layer {
    /// All layers, in the order of the table.
    pub const ALL: [Layer; 6] = [
        Layer::NetworkIn,
        Layer::NetworkOut,
        Layer::Protocol,
        Layer::Messages,
        Layer::Handler,
        Layer::Runtime,
    ];

    /// The word for it in rule files.
    pub fn word(self) -> &'static str {
        match self {
            Layer::NetworkIn => "network-in",
            Layer::NetworkOut => "network-out",
            Layer::Protocol => "http2-grpc",
            Layer::Messages => "messages",
            Layer::Handler => "handler",
            Layer::Runtime => "runtime",
        }
    }

    /// Its name in data files, where words are joined by `_`.
    pub fn name(self) -> String {
        self.word().replace('-', "_")
    }

    /// The layer with that name.
    pub fn of_name(name: &str) -> Option<Layer> {
        Layer::ALL.into_iter().find(|layer| layer.name() == name)
    }

    /// The layer with that word.
    pub fn of_word(word: &str) -> Option<Layer> {
        Layer::ALL.into_iter().find(|layer| layer.word() == word)
    }
}
