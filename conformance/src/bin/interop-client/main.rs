//! An interop client: one case of gRPC's "Interop Test Case Descriptions" against one server,
//! through the client library. Status 0 where it passed; else the last line says why not.
//!
//! ```text
//! interop-client HOST:PORT CASE
//! ```
#![forbid(unsafe_code)]

mod compressed;
mod endings;
mod service;
mod soak;
mod streaming;
mod unary;

use std::env;
use std::process::ExitCode;

use service::Service;

/// What went wrong, in words.
type Failure = String;

type Case = fn(&Service) -> Result<(), Failure>;

/// The cases that need neither credentials nor a load balancer.
const CASES: [(&str, Case); 20] = [
    ("empty_unary", unary::empty),
    ("large_unary", unary::large),
    ("client_streaming", streaming::client),
    ("server_streaming", streaming::server),
    ("ping_pong", streaming::ping_pong),
    ("empty_stream", streaming::empty),
    ("custom_metadata", unary::custom_metadata),
    ("status_code_and_message", endings::status_code_and_message),
    ("special_status_message", endings::special_status_message),
    ("unimplemented_method", endings::unimplemented_method),
    ("unimplemented_service", endings::unimplemented_service),
    ("cancel_after_begin", endings::cancel_after_begin),
    ("cancel_after_first_response", endings::cancel_after_first_response),
    ("timeout_on_sleeping_server", endings::timeout_on_sleeping_server),
    ("client_compressed_unary", compressed::client_unary),
    ("server_compressed_unary", compressed::server_unary),
    ("client_compressed_streaming", compressed::client_streaming),
    ("server_compressed_streaming", compressed::server_streaming),
    ("rpc_soak", soak::calls),
    ("channel_soak", soak::channels),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(name) => {
            println!("passed {name}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<&str, Failure> {
    let [target, name] = arguments else {
        return Err("interop-client HOST:PORT CASE".to_owned());
    };
    let known = CASES.iter().find(|(known, _)| known == name);
    let (name, case) = known.ok_or_else(|| format!("{name}: there is no such case"))?;
    case(&Service::connect(target)?)?;
    Ok(name)
}
