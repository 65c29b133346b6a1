//! The two greeters with messages that are read and written in place.

use bookend_server::{Context, Status};

#[allow(dead_code, reason = "of prost's messages, those of replies are not used")]
pub mod helloworld {
    include!(concat!(env!("OUT_DIR"), "/borrowed/helloworld.rs"));
}

#[allow(dead_code, reason = "of prost's messages, those of replies are not used")]
pub mod complex_proto {
    include!(concat!(env!("OUT_DIR"), "/borrowed/complex_proto.rs"));
}

use complex_proto::borrowed as complex;
use helloworld::borrowed::{HelloReplyWriter, HelloRequestView};

/// Answers as [`super::benchmarks::Benchmarks`] do.
#[derive(Debug)]
pub struct InPlace;

impl helloworld::Greeter for InPlace {
    fn say_hello(
        &self,
        request: HelloRequestView<'_>,
        reply: &mut HelloReplyWriter<'_>,
        _: &Context<'_>,
    ) -> Result<(), Status> {
        reply.message(["Hello ", request.name, "!"]);
        Ok(())
    }
}

impl complex_proto::Greeter for InPlace {
    fn say_hello(
        &self,
        request: complex::HelloRequestView<'_>,
        reply: &mut complex::HelloReplyWriter<'_>,
        _: &Context<'_>,
    ) -> Result<(), Status> {
        if let Some(hello) = request.request {
            reply.response(|response| hello.copy_to(response));
        }
        Ok(())
    }
}
