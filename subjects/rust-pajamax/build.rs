use std::{error::Error, fs};

use pajamax_build::PajamaxGen;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=../../proto");
    let descriptors =
        protox::compile(["helloworld.proto", "complex_proto.proto"], ["../../proto"])?;
    prost_build::Config::new()
        .service_generator(Box::new(PajamaxGen::Local))
        .compile_fds(descriptors)?;

    println!("cargo:rerun-if-changed=Cargo.lock");
    for beginning in ["0.2.", "0.3.", "0.4."] {
        let version = locked_version("pajamax", beginning)?;
        let name = beginning.trim_end_matches('.').replace('.', "_");
        println!("cargo:rustc-env=LIBRARY_VERSION_{name}={version}");
    }
    Ok(())
}

/// The version that is built in, not the one that was asked for.
fn locked_version(package: &str, beginning: &str) -> Result<String, Box<dyn Error>> {
    let lockfile = fs::read_to_string("Cargo.lock")?;
    let entry = format!("name = \"{package}\"\nversion = \"{beginning}");
    let (_, rest) = lockfile
        .split_once(&entry)
        .ok_or_else(|| format!("Cargo.lock names no package {package} {beginning}"))?;
    let (rest, _) = rest.split_once('"').ok_or("Cargo.lock breaks off in a version")?;
    Ok(format!("{beginning}{rest}"))
}
