//! The generated code that the programs in `src/bin` share.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "prost's code has no comments on what it adds")]

use std::env;

/// `proto/chat.proto`.
pub mod chat {
    bookend_server::include_proto!("chat");
}

/// `proto/counter.proto`.
pub mod counter {
    bookend_server::include_proto!("counter");
}

/// `proto/ticker.proto`.
pub mod ticker {
    bookend_server::include_proto!("ticker");
}

/// `proto/till.proto`.
pub mod till {
    bookend_server::include_proto!("till");
}

/// `proto/journal.proto`, with requests that are read in place.
pub mod journal {
    bookend_server::include_proto!("journal");
}

/// The same with messages of prost.
pub mod owned_journal {
    include!(concat!(env!("OUT_DIR"), "/owned/journal.rs"));
}

/// `helloworld.proto`, as everybody has it.
pub mod helloworld {
    bookend_server::include_proto!("helloworld");
}

/// The first argument, or where the examples listen by default.
pub fn address() -> String {
    env::args().nth(1).unwrap_or_else(|| "127.0.0.1:50051".to_owned())
}
