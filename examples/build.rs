//! Generates servers and clients; a program that is only one of them chooses so.

use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), bookend_codegen::Error> {
    let protos = [
        "proto/chat.proto",
        "proto/counter.proto",
        "proto/ticker.proto",
        "proto/till.proto",
        "proto/journal.proto",
        "../proto/helloworld.proto",
    ];
    bookend_codegen::Config::new()
        .with_client()
        .deferred("ticker.Ticker/Next")
        .borrowed("till.Till/Total")
        .borrowed("journal.Journal/Stamp")
        .compile(&protos, &["proto", "../proto"])?;
    owned_journal()
}

/// The journal once more, with messages of prost: a method has either them or views.
fn owned_journal() -> Result<(), bookend_codegen::Error> {
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("owned");
    fs::create_dir_all(&folder)?;
    bookend_codegen::Config::new().out_dir(folder).compile(&["proto/journal.proto"], &["proto"])
}
