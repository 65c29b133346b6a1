//! The generated code that the programs in `src/bin` share.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "prost's code has no comments on what it adds")]

use std::env;

/// `proto/chat.proto`.
pub mod chat {
    bookend_server::include_proto!("chat");
}

/// `proto/ticker.proto`.
pub mod ticker {
    bookend_server::include_proto!("ticker");
}

/// `proto/till.proto`.
pub mod till {
    bookend_server::include_proto!("till");
}

/// `helloworld.proto`, as everybody has it.
pub mod helloworld {
    bookend_server::include_proto!("helloworld");
}

/// The first argument, or where the examples listen by default.
pub fn address() -> String {
    env::args().nth(1).unwrap_or_else(|| "127.0.0.1:50051".to_owned())
}
