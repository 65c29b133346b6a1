//! What the generator writes, and what it refuses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bookend_codegen::{Config, Error};

const PROTOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proto");
const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/shop.v1.rs");

/// An empty folder of one test of one process: a test here runs another one again.
fn folder(test: &str) -> PathBuf {
    let name = format!("{test}-{}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn generate(config: Config, out_dir: &Path) -> Result<String, Error> {
    let proto = Path::new(PROTOS).join("shop.proto");
    config.out_dir(out_dir).compile(&[proto], &[PROTOS])?;
    Ok(fs::read_to_string(out_dir.join("shop.v1.rs")).unwrap())
}

/// The services' part of a generated file: prost's part is prost's to test, and the name of the
/// descriptors' file follows their content. The server's tests compile and run what is recorded.
fn services(code: &str) -> &str {
    let start = code.find("/// Sells things.").expect("the service's comment");
    let end = code.find("/// The encoded `FileDescriptorSet`").expect("the descriptors");
    &code[start..end]
}

#[test]
fn the_code_of_a_service_is_as_recorded() {
    let config = Config::new()
        .deferred("shop.v1.Orders/Place")
        .pool("shop.v1.Orders/Appraise")
        .pool("shop.v1.Orders/Search")
        .pool("shop.v1.Orders/Import")
        .pool("shop.v1.Orders/Haggle");
    let code = generate(config, &folder("snapshot")).unwrap();
    let code = services(&code);
    if std::env::var_os("BOOKEND_RECORD_SNAPSHOTS").is_some() {
        fs::write(SNAPSHOT, code).unwrap();
    }
    let recorded = fs::read_to_string(SNAPSHOT).unwrap();
    assert_eq!(code, recorded, "set BOOKEND_RECORD_SNAPSHOTS=1 to record it anew");
}

#[test]
fn protoc_is_not_needed() {
    let this = std::env::current_exe().unwrap();
    let test = ["--exact", "the_code_of_a_service_is_as_recorded"];
    let output = Command::new(this).args(test).env("PROTOC", "/nonexistent").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn the_descriptors_stand_beside_the_code() {
    let out_dir = folder("descriptors");
    let code = generate(Config::new(), &out_dir).unwrap();
    let (_, rest) = code.split_once("include_bytes!(\"").unwrap();
    let (name, _) = rest.split_once('"').unwrap();
    let bytes = fs::read(out_dir.join(name)).unwrap();
    assert!(bytes.windows(10).any(|window| window == b"shop.proto"));
}

#[test]
fn the_code_names_no_crate_but_the_server() {
    let code = generate(Config::new(), &folder("paths")).unwrap();
    let paths =
        code.match_indices("::prost").filter(|(at, _)| !code[..*at].ends_with("::bookend_server"));
    assert_eq!(paths.count(), 0, "{code}");
}

#[test]
fn a_deferred_method_must_exist_and_be_unary() {
    let out_dir = folder("deferred");
    let unknown = generate(Config::new().deferred("shop.v1.Orders/Plaice"), &out_dir);
    assert!(matches!(&unknown, Err(Error::UnknownMethod(name)) if name.ends_with("Plaice")));
    let streams = generate(Config::new().deferred("shop.v1.Orders/Follow"), &out_dir);
    assert!(matches!(streams, Err(Error::StreamingMethod(_))));
}

#[test]
fn a_method_on_the_pool_must_exist_and_not_be_deferred_as_well() {
    let out_dir = folder("pool");
    let unknown = generate(Config::new().pool("shop.v1.Orders/Hagle"), &out_dir);
    assert!(matches!(unknown, Err(Error::UnknownMethod(_))));
    let both = Config::new().pool("shop.v1.Orders/Place").deferred("shop.v1.Orders/Place");
    let both = generate(both, &out_dir);
    assert!(matches!(both, Err(Error::ChosenTwice(name)) if name.ends_with("Place")));
}

#[test]
fn a_mistake_in_a_proto_file_is_told_with_the_files_name() {
    let out_dir = folder("mistake");
    let proto = out_dir.join("bad.proto");
    fs::write(&proto, "syntax = \"proto3\"; message A { B b = 1; }").unwrap();
    let error = Config::new().out_dir(&out_dir).compile(&[&proto], &[&out_dir]).unwrap_err();
    assert!(error.to_string().starts_with("bad.proto: "), "{error}");
}
