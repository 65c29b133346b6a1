//! Generates the services that come with the library, and the details of statuses.

fn main() -> Result<(), bookend_codegen::Error> {
    let protos = [
        "proto/grpc/health/v1/health.proto",
        "proto/grpc/reflection/v1/reflection.proto",
        "proto/grpc/reflection/v1alpha/reflection.proto",
    ];
    bookend_codegen::Config::new().compile(&protos, &["proto"])?;
    let details = ["proto/google/rpc/status.proto", "proto/google/rpc/error_details.proto"];
    bookend_codegen::Config::new()
        .messages(|prost| {
            prost.enable_type_names();
        })
        .compile(&details, &["proto"])
}
