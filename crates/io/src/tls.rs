//! TLS between a driver and a shard.
//!
//! [`Secured`] is a shard around a shard: the driver gives it ciphertext and writes ciphertext, the
//! shard inside reads and writes as if there was no TLS, and neither knows of the other. So there
//! is one copy of it for all drivers, and without it there is not a branch more. `docs/use/tls.md`
//! says how to use it from the command line.
//!
//! HTTP/2 is what it is for: both ends offer `h2` by ALPN and nothing else, and a connection is
//! opened for the shard inside once that is agreed on. A client of a protocol without a name in
//! ALPN offers nothing ([`ClientConfig::without_alpn`]).
//!
//! # Memory
//! A connection keeps no buffer of its own while nothing is under way: half records stay where the
//! driver keeps half frames, and what is decrypted or to be encrypted stands in two buffers of the
//! thread. What a connection keeps are its keys and what rustls needs to know, a few KiB
//! (`crates/io/tests/tls_memory.rs` counts it).
//!
//! Before a handshake is over, whoever sent it is unknown, and its messages are kept until they are
//! whole. A server that has limits for all its connections gives them to [`ServerConfig::limits`]:
//! then all of this is counted, and while too much is held, the oldest handshakes are given up.

mod advice;
mod certificate_fault;
mod certificate_key;
mod certificate_names;
mod config;
mod config_error;
mod engine;
mod fault;
mod handshakes;
mod held_memory;
mod identity_fault;
mod key_usage;
mod machine_store;
mod own_key;
mod pem;
mod pem_fault;
mod pem_file;
mod proof;
mod records;
mod secured;
mod shared_limits;
mod side;
mod stream;
mod trusted;
mod unverified;

pub use advice::TlsAdvice;
pub use config::{ClientConfig, Connector, Connectors, ServerConfig, Trust};
pub use config_error::{ConfigError, PemPart};
pub use fault::TlsFault;
pub use handshakes::{HANDSHAKE_TIMEOUT_NS, Handshakes};
pub use pem::{Authorities, Identity};
pub use secured::Secured;
pub use shared_limits::SharedLimits;
pub use stream::TlsStream;
