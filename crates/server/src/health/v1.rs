//! The messages and the service, generated.

crate::include_proto!("grpc.health.v1");
