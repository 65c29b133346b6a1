//! Which call a run makes: by gRPC over HTTP/2, or by Thrift.

use super::Streaming;
use bookend_payload::data::DataTemplate;
use bookend_payload::template::MetadataTemplate;
use bookend_payload::thrift::ThriftCall;
use bookend_wire::{ConnectionConfig, Keepalive};
use std::sync::Arc;

/// The call that a run makes again and again.
#[derive(Clone, Debug)]
pub enum Call {
    /// Over HTTP/2.
    Grpc(Arc<GrpcCall>),
    /// By Thrift, which has nothing of HTTP/2.
    Thrift(ThriftRun),
}

impl Call {
    /// The call by gRPC, if it is one.
    pub fn grpc(&self) -> Option<&GrpcCall> {
        match self {
            Self::Grpc(call) => Some(call),
            Self::Thrift(_) => None,
        }
    }

    /// The call by Thrift, if it is one.
    pub fn thrift(&self) -> Option<&ThriftRun> {
        match self {
            Self::Grpc(_) => None,
            Self::Thrift(run) => Some(run),
        }
    }
}

/// What each call by gRPC sends, and what its connection is.
#[derive(Clone, Debug)]
pub struct GrpcCall {
    /// `/pkg.Service/Method`.
    pub path: String,
    /// `:authority`, where the targets have none of their own.
    pub authority: String,
    /// Request messages, drawn in turn. Never empty, unless requests are streams. With a template,
    /// those of the first call.
    pub messages: Vec<Vec<u8>>,
    /// Where messages differ from call to call.
    pub template: Option<DataTemplate>,
    /// Whether request messages are compressed by gzip; those above are.
    pub is_compressed: bool,
    /// What makes calls streams of messages; `None` for a unary method.
    pub streaming: Option<Streaming>,
    /// A call fails whose response message is larger.
    pub response_max_bytes: u32,
    /// Metadata of every call.
    pub metadata: Vec<(Vec<u8>, Vec<u8>)>,
    /// Name of a metadata field whose value differs from call to call.
    pub varying_metadata: Option<Vec<u8>>,
    /// Metadata whose values differ from call to call by templates.
    pub metadata_templates: Vec<MetadataTemplate>,
    /// `--name` as it was typed, for templates. It is shown nowhere.
    pub run_name: String,
    /// When to send a PING to a server that is silent while calls wait for it; `None` is never.
    pub keepalive: Option<Keepalive>,
    /// The HTTP/2 limits.
    pub config: ConnectionConfig,
}

/// What each call by Thrift sends, and what its reply may take.
#[derive(Clone, Debug)]
pub struct ThriftRun {
    /// The method, with its requests.
    pub call: Arc<ThriftCall>,
    /// A connection ends whose reply is larger.
    pub reply_max_bytes: u32,
    /// What replies of which a part has come may take together, where they have to be kept until
    /// they are whole: over all connections.
    pub replies_max_bytes: u64,
}
