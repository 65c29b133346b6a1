//! The two calls and what they answer, whichever version of pajamax hears them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// pajamax drops connections beyond 100 unless told; the suites open up to 10,000.
pub const MAX_CONNECTIONS: usize = 100_000;

/// Calls that reached a handler.
pub static SERVED: AtomicU64 = AtomicU64::new(0);

/// A call, where both methods are one service's.
pub enum Request {
    Helloworld(helloworld::HelloRequest),
    ComplexProto(complex_proto::HelloRequest),
}

// The services that the generator writes next to the messages fit 0.3 alone.
pub mod helloworld {
    use pajamax_0_3 as pajamax;
    include!(concat!(env!("OUT_DIR"), "/helloworld.rs"));

    pub fn say_hello(request: HelloRequest) -> HelloReply {
        super::SERVED.fetch_add(1, super::Relaxed);
        HelloReply { message: format!("Hello {}!", request.name) }
    }
}

pub mod complex_proto {
    use pajamax_0_3 as pajamax;
    include!(concat!(env!("OUT_DIR"), "/complex_proto.rs"));

    pub fn say_hello(request: HelloRequest) -> HelloReply {
        super::SERVED.fetch_add(1, super::Relaxed);
        HelloReply { response: request.request }
    }
}
