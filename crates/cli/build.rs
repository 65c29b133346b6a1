//! Generates the services of `bookend serve` from the definitions that all subjects share.

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
        .compile(&protos, &["../../proto"])
}
