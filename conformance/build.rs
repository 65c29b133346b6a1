//! Generates the messages of the suites.
//!
//! Those of connectconformance are the suite's own. They lie in the module cache, where `go` has
//! put them for building the runner, and stay there.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

const RUNNER: &str = "tools/connectconformance";
const MODULE: &str = "connectrpc.com/conformance";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={RUNNER}/go.mod");
    let definitions = module_folder()?.join("proto");
    let own = PathBuf::from("proto");
    let shared = PathBuf::from("../proto");
    let protos = [
        definitions.join("connectrpc/conformance/v1/service.proto"),
        definitions.join("connectrpc/conformance/v1/server_compat.proto"),
        definitions.join("connectrpc/conformance/v1/client_compat.proto"),
        own.join("status.proto"),
        shared.join("interop.proto"),
    ];
    bookend_codegen::Config::new()
        .deferred("connectrpc.conformance.v1.ConformanceService/Unary")
        .pool("connectrpc.conformance.v1.ConformanceService/ServerStream")
        .pool("connectrpc.conformance.v1.ConformanceService/ClientStream")
        .pool("connectrpc.conformance.v1.ConformanceService/BidiStream")
        .messages(|prost| {
            // Pseudo-code in comments is no documentation test.
            prost.disable_comments(["."]);
            prost.enable_type_names();
            prost.type_name_domain(["."], "type.googleapis.com");
        })
        .compile(&protos, &[definitions, own, shared])?;
    Ok(())
}

fn module_folder() -> Result<PathBuf, Box<dyn Error>> {
    go(&["mod", "download", MODULE])?;
    let folder = go(&["list", "-m", "-f", "{{.Dir}}", MODULE])?;
    Ok(PathBuf::from(folder.trim_end()))
}

fn go(arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new("go");
    command.args(arguments).current_dir(RUNNER);
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {complaint}").into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
