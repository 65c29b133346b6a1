//! Generates the services of `bookend serve` from the definitions that all subjects share.

fn main() -> Result<(), bookend_codegen::Error> {
    let protos = [
        "../../proto/helloworld.proto",
        "../../proto/complex_proto.proto",
        "../../proto/delay.proto",
        "../../proto/echo.proto",
        "../../proto/benchmark_message.proto",
    ];
    bookend_codegen::Config::new()
        .deferred("bookend.test.v1.Delay/Wait")
        .compile(&protos, &["../../proto"])
}
