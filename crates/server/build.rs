//! Generates the reflection service.

fn main() -> Result<(), bookend_codegen::Error> {
    let protos = [
        "proto/grpc/reflection/v1/reflection.proto",
        "proto/grpc/reflection/v1alpha/reflection.proto",
    ];
    bookend_codegen::Config::new().compile(&protos, &["proto"])
}
