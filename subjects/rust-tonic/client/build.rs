use std::{error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=../../../proto");
    let descriptors = protox::compile(["helloworld.proto"], ["../../../proto"])?;
    tonic_prost_build::configure().build_server(false).compile_fds(descriptors)?;

    println!("cargo:rerun-if-changed=Cargo.lock");
    println!("cargo:rustc-env=LIBRARY_VERSION={}", locked_version("tonic")?);
    Ok(())
}

/// The version that is built in, not the one that was asked for.
fn locked_version(package: &str) -> Result<String, Box<dyn Error>> {
    let lockfile = fs::read_to_string("Cargo.lock")?;
    let (_, entry) = lockfile
        .split_once(&format!("name = \"{package}\"\nversion = \""))
        .ok_or_else(|| format!("Cargo.lock names no package {package}"))?;
    let (version, _) = entry.split_once('"').ok_or("Cargo.lock breaks off in a version")?;
    Ok(version.to_owned())
}
