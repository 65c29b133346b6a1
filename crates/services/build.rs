//! Generates the services of `bookend serve` from the definitions that all subjects share.

use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), bookend_codegen::Error> {
    let protos = [
        "../../proto/helloworld.proto",
        "../../proto/complex_proto.proto",
        "../../proto/delay.proto",
        "../../proto/echo.proto",
        "../../proto/benchmark_message.proto",
        "../../proto/interop.proto",
    ];
    bookend_codegen::Config::new()
        .pool("grpc.testing.TestService/StreamingOutputCall")
        .pool("grpc.testing.TestService/FullDuplexCall")
        .pool("grpc.testing.TestService/HalfDuplexCall")
        .deferred("bookend.test.v1.Delay/Wait")
        .compile(&protos, &["../../proto"])?;
    borrowed_greeters()
}

/// Those of `bookend serve --borrowed`, in addition to those with messages of prost.
fn borrowed_greeters() -> Result<(), bookend_codegen::Error> {
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("borrowed");
    fs::create_dir_all(&folder)?;
    let protos = ["../../proto/helloworld.proto", "../../proto/complex_proto.proto"];
    bookend_codegen::Config::new()
        .borrowed("helloworld.Greeter/SayHello")
        .borrowed("complex_proto.Greeter/SayHello")
        .out_dir(folder)
        .compile(&protos, &["../../proto"])
}
