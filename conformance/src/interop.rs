//! The messages by which gRPC's implementations are tested against each other.

/// Those of `proto/interop.proto`.
#[allow(missing_docs, reason = "generated")]
pub mod messages {
    bookend_server::include_proto!("grpc.testing");
}
