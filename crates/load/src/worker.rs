//! One thread of a run. A worker is a [`bookend_io::Shard`] with connections of its own; the run
//! adds up what each has measured.
//!
//! - `state`: what every worker has: its phase, the pace, where calls are counted.
//! - `lifecycle`: what it does where a phase begins or ends.
//! - `worker_shard`: connections are kept, and many calls go over each.
//! - `session`: what differs between the protocols of such connections.
//! - `http2_session`: connections of HTTP/2.
//! - `stream_calls`: the messages of calls that are streams.
//! - `one_shot`: each call has a connection of its own.
//! - `thrift_session`: connections of Thrift, whose calls are answered in order.
//! - `thrift_replies`: what comes on such a connection.
//! - `connect_schedule`, `connect`: when connections are made, and made again.
//! - `laps`: runs that make calls for a while, wait until they are told to, and go on.

mod connect;
mod connect_schedule;
mod direct_output;
mod http2_session;
mod laps;
mod lifecycle;
mod one_shot;
mod phases;
mod received_goaway;
mod request;
mod response_visitor;
mod session;
mod source_addresses;
mod start_barrier;
mod start_gate;
mod state;
mod stream_calls;
mod thrift_replies;
mod thrift_session;
mod worker_shard;

pub(crate) use http2_session::{Http2Common, Http2Session};
pub use laps::LapCalls;
pub(crate) use laps::LapGate;
pub(crate) use one_shot::OneShotShard;
pub(crate) use session::Session;
pub(crate) use start_barrier::{RunStart, StartBarrier};
pub use start_gate::StartGate;
pub use state::DRAIN_NS;
pub(crate) use thrift_replies::ThriftCommon;
pub(crate) use thrift_session::ThriftSession;
pub(crate) use worker_shard::WorkerShard;
