//! Generates servers and clients; a program that is only one of them chooses so.

fn main() -> Result<(), bookend_codegen::Error> {
    let protos =
        ["proto/chat.proto", "proto/ticker.proto", "proto/till.proto", "../proto/helloworld.proto"];
    bookend_codegen::Config::new()
        .with_client()
        .deferred("ticker.Ticker/Next")
        .borrowed("till.Till/Total")
        .compile(&protos, &["proto", "../proto"])
}
