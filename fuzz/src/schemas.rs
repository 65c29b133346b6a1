//! What describes messages, and messages as people write them: descriptor sets, Thrift's IDL, JSON,
//! and templates in it.

use crate::bounds::{assert_line, assert_memory, assert_work};
use bookend_payload::data::{self, DataSource, Templates};
use bookend_payload::schema::Schema;
use bookend_payload::template::CallFacts;
use bookend_payload::thrift;
use prost_reflect::MethodDescriptor;
use std::sync::LazyLock;

/// A type with a field of every kind, as protoc describes it.
const EVERY_KIND: &[u8] = include_bytes!("../seeds/descriptors/rich");

/// The files of `google/protobuf`, which every pool has.
const SCHEMA_BYTES: u64 = 16 << 20;
/// The smallest descriptors there are have a few bytes, and become entries of several maps.
const SCHEMA_BYTES_PER_BYTE: u64 = 4_096;

/// A `FileDescriptorSet`; the empty message of each method's request is made of JSON and of bytes.
pub fn descriptors(input: &[u8]) {
    assert_memory(input, SCHEMA_BYTES, SCHEMA_BYTES_PER_BYTE, || {
        let schema = match Schema::decode(input, "the set".to_owned()) {
            Ok(schema) => schema,
            Err(error) => return assert_line(&error),
        };
        let services = schema.services();
        assert_work("services", services.len(), 0, 1, input);
        for service in services {
            match schema.method(&format!("{service}/Unary")) {
                Ok(method) => read_empty(&method),
                Err(error) => assert_line(&error),
            }
        }
    });
}

fn read_empty(method: &MethodDescriptor) {
    let message = method.input();
    // A message may have required fields, so not all of this is read.
    for json in ["{}", r#"{"nope": 1}"#, r#"[{}, {"name": "x", "value": null}]"#] {
        if let Err(error) = data::from_json(json, "data", &message) {
            assert_line(&error);
        }
    }
    for bytes in [&b""[..], b"\x0a\x01x", b"\x08\x01\x12\0"] {
        if let Err(error) = data::from_binary(bytes, "data", &message) {
            assert_line(&error);
        }
    }
}

fn every_kind() -> &'static MethodDescriptor {
    static METHOD: LazyLock<MethodDescriptor> = LazyLock::new(|| {
        let schema = Schema::decode(EVERY_KIND, "the set".to_owned()).expect("as protoc made it");
        schema.method("r.S/Unary").expect("a method of it")
    });
    &METHOD
}

/// Bytes that a dynamic message of one field takes.
const JSON_BYTES_PER_BYTE: u64 = 2_048;

/// JSON for a type with fields of every kind. What is read is a message, and the same each time.
pub fn json(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let message = every_kind().input();
    assert_memory(input, 1 << 20, JSON_BYTES_PER_BYTE, || {
        match data::from_json(text, "data", &message) {
            Ok(messages) => {
                let sizes: usize = messages.iter().map(Vec::len).sum();
                assert_work("bytes of messages", sizes, 64, 16, input);
                for one in &messages {
                    data::from_binary(one, "data", &message).expect("a message of the type");
                }
                assert_eq!(data::from_json(text, "data", &message), Ok(messages));
            }
            Err(error) => assert_line(&error),
        }
    });
}

/// What templates may make, and several copies of the longest text.
const TEMPLATE_BYTES: u64 = 1 << 30;

/// JSON with templates in it, rendered for two calls.
pub fn templates(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    assert_memory(input, TEMPLATE_BYTES, JSON_BYTES_PER_BYTE, || {
        let source = DataSource::Json(text.to_owned());
        let read = data::read(&source, every_kind(), Templates::Functions, &mut &b""[..]);
        let template = match read {
            Ok(data) => data.template,
            Err(error) => return assert_line(&error),
        };
        let facts = CallFacts { number: u64::MAX, run_name: "a \"run\"", connection: 7, place: 3 };
        if let Some(Err(error)) = template.map(|template| template.messages(&facts)) {
            assert_line(&error);
        }
    });
}

/// Definitions of a byte or two become strings in several maps.
const IDL_BYTES_PER_BYTE: u64 = 4_096;

/// Thrift's IDL, all of whose types and methods are resolved.
pub fn thrift_idl(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    assert_memory(input, 1 << 20, IDL_BYTES_PER_BYTE, || {
        if let Err(error) = thrift::check_idl("a.thrift", text) {
            assert_line(&error);
        }
    });
}
