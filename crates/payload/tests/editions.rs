//! Schemas in an edition of Protocol Buffers: as many bytes as generated code sends.

use bookend_payload::data;
use bookend_payload::schema::Schema;
use bookend_payload::schema::reflection::ReflectionQuery;
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};
use serde_json::{Value, json};

const EDITION_2023: i32 = 1000;
const EDITION_2024: i32 = 1001;

/// A descriptor set of one file with the method `a.S/Do`, which takes `a.M`.
fn set(edition: i32, file_features: &Value, rest: &Value) -> Vec<u8> {
    let mut file = json!({
        "name": "a.proto", "package": "a", "syntax": "editions", "edition": edition,
        "options": {"features": file_features},
        "service": [{"name": "S", "method": [
            {"name": "Do", "inputType": ".a.M", "outputType": ".a.M"}
        ]}]
    });
    let members = file.as_object_mut().expect("an object");
    members.extend(rest.as_object().expect("an object").clone());
    let kind = DescriptorPool::global().get_message_by_name("google.protobuf.FileDescriptorSet");
    let json = json!({"file": [file]});
    DynamicMessage::deserialize(kind.expect("it is known"), json).unwrap().encode_to_vec()
}

fn field(name: &str, number: i32, of: &str, features: Value) -> Value {
    let mut field = json!({
        "name": name, "jsonName": name, "number": number, "label": "LABEL_OPTIONAL",
        "type": of, "options": {"features": features}
    });
    if of.starts_with('.') {
        field["typeName"] = of.into();
        field["type"] = if of == ".a.E" { "TYPE_ENUM" } else { "TYPE_MESSAGE" }.into();
    }
    field
}

fn list(mut field: Value) -> Value {
    field["label"] = "LABEL_REPEATED".into();
    field
}

/// One field of each kind; what its features come to stands in its name.
fn all_kinds(edition: i32, file_features: &Value) -> Vec<u8> {
    let numbers = json!({"repeatedFieldEncoding": "EXPANDED"});
    let implicit = json!({"fieldPresence": "IMPLICIT"});
    let delimited = json!({"messageEncoding": "DELIMITED"});
    let of_oneof = |mut field: Value| {
        field["oneofIndex"] = 0.into();
        field
    };
    let entry = json!({
        "name": "MapEntry", "options": {"mapEntry": true},
        "field": [field("key", 1, "TYPE_STRING", json!({})), field("value", 2, ".a.D", json!({}))]
    });
    let message = json!({
        "name": "M",
        "field": [
            field("explicit", 1, "TYPE_INT32", json!({})),
            field("implicit", 2, "TYPE_DOUBLE", implicit.clone()),
            field("required", 3, "TYPE_STRING", json!({"fieldPresence": "LEGACY_REQUIRED"})),
            list(field("default", 4, "TYPE_INT32", json!({}))),
            list(field("expanded", 5, "TYPE_INT32", numbers)),
            field("message", 6, ".a.D", json!({})),
            field("delimited", 7, ".a.D", delimited.clone()),
            list(field("map", 8, ".a.M.MapEntry", json!({}))),
            field("closed", 9, ".a.E", json!({})),
            of_oneof(field("chosen", 10, "TYPE_INT32", json!({}))),
            list(field("texts", 11, "TYPE_STRING", json!({}))),
            list(field("several", 12, ".a.D", delimited)),
            field("text", 13, "TYPE_STRING", implicit)
        ],
        "oneofDecl": [{"name": "choice"}],
        "nestedType": [entry],
        "extensionRange": [{"start": 100, "end": 200}]
    });
    let inner = json!({"name": "D", "field": [field("v", 1, "TYPE_INT32", json!({}))]});
    let mut extension = list(field("more", 100, "TYPE_INT32", json!({})));
    extension["extendee"] = ".a.M".into();
    let closed = json!({
        "name": "E", "value": [{"name": "ONE", "number": 1}, {"name": "TWO", "number": 2}],
        "options": {"features": {"enumType": "CLOSED"}}
    });
    let rest = json!({
        "messageType": [message, inner], "extension": [extension], "enumType": [closed]
    });
    set(edition, file_features, &rest)
}

fn method(set: &[u8]) -> MethodDescriptor {
    Schema::decode(set, "set.pb".to_owned()).unwrap().method("a.S/Do").unwrap()
}

fn sent(method: &MethodDescriptor, text: &str) -> Result<String, String> {
    let messages = data::from_json(text, "-d", &method.input());
    let messages = messages.map_err(|error| error.to_string())?;
    // As replies are read by `probe`.
    DynamicMessage::decode(method.input(), &messages[0][..]).unwrap();
    Ok(messages[0].iter().map(|byte| format!("{byte:02x}")).collect())
}

#[test]
fn each_field_is_written_as_its_features_say() {
    for edition in [EDITION_2023, EDITION_2024] {
        let method = method(&all_kinds(edition, &json!({})));
        for (text, bytes) in [
            (r#"{"required": "", "explicit": 0}"#, "08001a00"),
            (r#"{"required": "", "implicit": 0, "text": ""}"#, "1a00"),
            (r#"{"required": "", "implicit": -0.0}"#, "1100000000000000801a00"),
            (r#"{"required": "", "default": [1, 2]}"#, "1a0022020102"),
            (r#"{"required": "", "expanded": [1, 2]}"#, "1a0028012802"),
            (r#"{"required": "", "message": {"v": 1}}"#, "1a0032020801"),
            (r#"{"required": "", "delimited": {"v": 1}}"#, "1a003b08013c"),
            (r#"{"required": "", "several": [{"v": 1}, {}]}"#, "1a006308016463 64"),
            (r#"{"required": "", "map": {"k": {"v": 1}}}"#, "1a0042070a016b12020801"),
            (r#"{"required": "", "closed": "ONE"}"#, "1a004801"),
            (r#"{"required": "", "chosen": 0}"#, "1a005000"),
            (r#"{"required": "", "texts": ["a"]}"#, "1a005a0161"),
            (r#"{"required": "", "[a.more]": [1, 2]}"#, "1a00a206020102"),
        ] {
            assert_eq!(sent(&method, text), Ok(bytes.replace(' ', "")), "{text}");
        }
        let missing = sent(&method, "{}").unwrap_err();
        assert!(missing.ends_with("required fields missing: required"), "{missing}");
        let unknown = sent(&method, r#"{"required": "", "closed": "THREE"}"#).unwrap_err();
        assert!(unknown.ends_with("a.E has no value THREE; there is ONE, TWO"), "{unknown}");
        assert!(sent(&method, r#"{"required": "", "closed": "E 0"}"#).is_err());
    }
}

#[test]
fn a_file_says_it_for_all_its_fields_and_a_field_may_differ() {
    let features = json!({
        "fieldPresence": "IMPLICIT", "repeatedFieldEncoding": "EXPANDED",
        "messageEncoding": "DELIMITED"
    });
    let method = method(&all_kinds(EDITION_2023, &features));
    for (text, bytes) in [
        (r#"{"required": "", "explicit": 0}"#, "1a00"),
        (r#"{"required": "", "default": [1, 2]}"#, "1a0020012002"),
        (r#"{"required": "", "message": {"v": 1}}"#, "1a00330801 34"),
        (r#"{"required": "", "message": {"v": 0}}"#, "1a003334"),
        (r#"{"required": "", "map": {"k": {"v": 1}}}"#, "1a0042070a016b12020801"),
        (r#"{"required": "", "chosen": 0}"#, "1a005000"),
        (r#"{"required": "", "[a.more]": [1, 2]}"#, "1a00a00601a00602"),
    ] {
        assert_eq!(sent(&method, text), Ok(bytes.replace(' ', "")), "{text}");
    }
}

#[test]
fn reflection_resolves_them_too() {
    let file = first_file(&all_kinds(EDITION_2023, &json!({})));
    let answer = |_: ReflectionQuery| Ok::<_, String>(vec![file.clone()]);
    let method = Schema::by_reflection("a.S/Do", answer).unwrap().method("a.S/Do").unwrap();
    let text = r#"{"required": "", "implicit": 0, "delimited": {"v": 1}}"#;
    assert_eq!(sent(&method, text), Ok("1a003b08013c".to_owned()));
}

/// The bytes of the one file of a set.
fn first_file(set: &[u8]) -> Vec<u8> {
    let mut rest = set;
    prost::encoding::decode_key(&mut rest).unwrap();
    let length = prost::encoding::decode_varint(&mut rest).unwrap();
    assert_eq!(rest.len() as u64, length);
    rest.to_vec()
}

#[test]
fn an_edition_that_is_not_known_is_named_with_those_that_are() {
    let error = Schema::decode(&all_kinds(99_997, &json!({})), "a.pb".to_owned());
    assert_eq!(
        error.unwrap_err().to_string(),
        "a.pb: a.proto is in edition 99997, and editions 2023, 2024, 2026 are known"
    );
}

#[test]
fn two_fields_may_have_one_name_in_json() {
    let number = |name: &str, number, json_name: &str| {
        let mut number = field(name, number, "TYPE_INT32", json!({}));
        number["jsonName"] = json_name.into();
        number
    };
    let fields = [number("foo_bar", 1, "fooBar"), number("fooBar", 2, "fooBar")];
    let set = set(
        EDITION_2023,
        &json!({"json_format": "LEGACY_BEST_EFFORT"}),
        &json!({"messageType": [{"name": "M", "field": fields}]}),
    );
    for name in ["foo_bar", "fooBar"] {
        assert_eq!(sent(&method(&set), &format!("{{\"{name}\": 5}}")).unwrap(), "0805");
    }
}
