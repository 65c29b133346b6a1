//! What the generator writes, and what it refuses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bookend_codegen::{Config, Error};

const PROTOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proto");
const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/shop.v1.rs");
const EVERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/every.v1.rs");
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/shop.v1.client.rs");

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
    assert_recorded(services(&code), SNAPSHOT);
}

/// The server's tests compile and run what is recorded.
#[test]
fn the_code_of_borrowed_messages_is_as_recorded() {
    let out_dir = folder("borrowed");
    let proto = Path::new(PROTOS).join("every.proto");
    let config = Config::new().borrowed("every.v1.Every/Echo").out_dir(&out_dir);
    config.compile(&[proto], &[PROTOS]).unwrap();
    let code = fs::read_to_string(out_dir.join("every.v1.rs")).unwrap();
    let start = code.find("/// Sends back what came.").expect("the service's comment");
    let end = code.find("/// The encoded `FileDescriptorSet`").expect("the descriptors");
    assert_recorded(&code[start..end], EVERY);
}

/// The client's tests compile and run what is recorded.
#[test]
fn the_code_of_a_client_is_as_recorded() {
    let code = generate(Config::client(), &folder("client")).unwrap();
    let start = code.find("/// Calls the service").expect("the client's comment");
    assert_recorded(&code[start..], CLIENT);
}

fn assert_recorded(code: &str, file: &str) {
    if std::env::var_os("BOOKEND_RECORD_SNAPSHOTS").is_some() {
        fs::write(file, code).unwrap();
    }
    let recorded = fs::read_to_string(file).unwrap();
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
fn the_code_of_a_client_needs_no_server() {
    let out_dir = folder("client-paths");
    let code = generate(Config::client(), &out_dir).unwrap();
    assert!(!code.contains("bookend_server") && !code.contains("DESCRIPTOR"), "{code}");
    let paths =
        code.match_indices("::prost").filter(|(at, _)| !code[..*at].ends_with("::bookend_client"));
    assert_eq!(paths.count(), 0, "{code}");
    assert_eq!(fs::read_dir(out_dir).unwrap().count(), 1, "one file, and no descriptors");
}

#[test]
fn a_crate_may_have_both_ends() {
    let code = generate(Config::new().with_client(), &folder("both")).unwrap();
    assert!(code.contains("pub struct OrdersClient(") && code.contains("pub struct OrdersServer<"));
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

/// Why the methods of a service `S` cannot be borrowed.
fn refusal(test: &str, proto: &str) -> String {
    let out_dir = folder(test);
    let file = out_dir.join("s.proto");
    fs::write(&file, proto).unwrap();
    let config = Config::new().borrowed("p.S/M").out_dir(&out_dir);
    config.compile(&[&file], &[&out_dir]).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_borrowed_is_refused_with_the_way_out() {
    let service = "service S { rpc M(A) returns (A); }";
    let proto3 = format!("syntax = \"proto3\"; package p; {service}");
    let refusal = |test: &str, messages: &str| refusal(test, &format!("{proto3} {messages}"));
    let itself = refusal("itself", "message A { repeated B bs = 1; } message B { A a = 1; }");
    let expected = "borrowed(\"p.S/M\"): p.A contains itself; \
                    without that line it has messages of prost";
    assert_eq!(itself, expected);
    let twice = refusal("twice", "message A { Bc b = 1; ABc c = 2; message Bc {} } message ABc {}");
    assert!(twice.contains("would both have a ABcView"), "{twice}");
}

#[test]
fn messages_of_older_syntax_and_streams_are_not_borrowed() {
    let proto2 = "syntax = \"proto2\"; package p; service S { rpc M(A) returns (A); } \
                  message A { required string b = 1; }";
    let old = refusal("proto2", proto2);
    assert!(old.contains("p.A is not proto3"), "{old}");
    let stream = "syntax = \"proto3\"; package p; service S { rpc M(A) returns (stream A); } \
                  message A {}";
    let stream = refusal("streams", stream);
    assert!(stream.contains("it streams"), "{stream}");
}

#[test]
fn a_borrowed_method_must_exist_and_be_chosen_once() {
    let out_dir = folder("borrowed-choices");
    let unknown = generate(Config::new().borrowed("shop.v1.Orders/Prize"), &out_dir);
    assert!(matches!(unknown, Err(Error::UnknownMethod(_))));
    let place = "shop.v1.Orders/Place";
    for both in [Config::new().deferred(place), Config::new().pool(place)] {
        let both = generate(both.borrowed(place), &out_dir);
        assert!(matches!(both, Err(Error::ChosenTwice(name)) if name == place));
    }
}

#[test]
fn messages_of_other_packages_are_borrowed_too() {
    let out_dir = folder("other-packages");
    let file = out_dir.join("s.proto");
    let proto = "syntax = \"proto3\"; package p; import \"google/protobuf/timestamp.proto\"; \
                 service S { rpc M(A) returns (google.protobuf.Timestamp); } \
                 message A { google.protobuf.Timestamp at = 1; }";
    fs::write(&file, proto).unwrap();
    let config = Config::new().borrowed("p.S/M").out_dir(&out_dir);
    config.compile(&[&file], &[&out_dir]).unwrap();
    let code = fs::read_to_string(out_dir.join("p.rs")).unwrap();
    assert!(code.contains("pub at: ::core::option::Option<TimestampView<'a>>"), "{code}");
    assert!(code.contains("reply: &mut borrowed::TimestampWriter<'_>"), "{code}");
}

#[test]
fn a_mistake_in_a_proto_file_is_told_with_the_files_name() {
    let out_dir = folder("mistake");
    let proto = out_dir.join("bad.proto");
    fs::write(&proto, "syntax = \"proto3\"; message A { B b = 1; }").unwrap();
    let error = Config::new().out_dir(&out_dir).compile(&[&proto], &[&out_dir]).unwrap_err();
    assert!(error.to_string().starts_with("bad.proto: "), "{error}");
}
