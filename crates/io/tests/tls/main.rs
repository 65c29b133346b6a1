//! TLS between a driver and a shard: what the shard inside sees is what it would see without.

#[path = "../support/certificates.rs"]
mod certificates;
mod configs;
mod ends;
mod faults;
mod flow;
mod machine_store;
mod memory;
mod peers;
mod resumption;
mod sockets;
mod splits;
#[path = "../support/mod.rs"]
mod support;
mod trusted;
mod without_data;
