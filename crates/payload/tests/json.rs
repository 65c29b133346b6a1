//! JSON as protobuf defines it. That the rest of it is so, conformance/tests/protojson shows by
//! comparison with Go's; here is what users meet, and what the errors say.

use bookend_payload::data::{self, DataSource, Templates};
use bookend_payload::schema::Schema;
use prost_reflect::{DynamicMessage, MethodDescriptor};
use std::fs;

const PROTO: &str = r#"
syntax = "proto3";
package t;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Color { RED = 0; GREEN = 1; }
message M {
  double d = 1; float f = 2; int64 i = 3; string s = 4; bytes b = 5; Color c = 6;
  map<string, int32> m = 7; google.protobuf.Any any = 8; google.protobuf.NullValue nul = 9;
  google.protobuf.Timestamp ts = 10; google.protobuf.Duration dur = 11;
  google.protobuf.FieldMask fm = 12; google.protobuf.DoubleValue dv = 13;
  repeated int32 numbers = 14; M inner = 15; string long_name = 16; google.protobuf.Value v = 17;
  oneof choice { string text = 18; int32 number = 19; google.protobuf.NullValue nothing = 20; }
  optional int32 maybe = 21; uint64 u = 22; uint32 small = 23; repeated M list = 24;
  map<int32, M> by_number = 25;
}
service S { rpc Go(M) returns (M); rpc Wrapped(google.protobuf.StringValue) returns (M); }
"#;

const REQUIRED: &str = r#"
syntax = "proto2";
package rq;
message M {
  required string name = 1; optional int32 n = 2; optional M inner = 3; repeated M list = 4;
  map<string, M> by_name = 5; optional group Pair = 6 { required int32 left = 1; }
  repeated int32 numbers = 7 [packed = true];
  extensions 100 to 200;
}
extend M { optional int32 extra = 100; repeated sint32 more = 101 [packed = true]; }
service S { rpc Go(M) returns (M); }
"#;

fn method(proto: &str, call: &str) -> MethodDescriptor {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("test.proto");
    fs::write(&file, proto).unwrap();
    Schema::from_proto(&file, &[]).unwrap().method(call).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The one message in hexadecimal digits, or what is wrong.
fn sent(method: &MethodDescriptor, text: &str) -> Result<String, String> {
    let messages = data::from_json(text, "-d", &method.input());
    messages.map(|messages| hex(&messages.concat())).map_err(|error| error.to_string())
}

#[test]
fn what_is_sent_is_no_deeper_than_decoders_read() {
    let method = method(PROTO, "t.S/Go");
    for (field, open, close) in [
        ("", "{\"inner\":", "}"),
        ("", "{\"list\":[", "]}"),
        ("\"v\":", "[", "]"),
        ("\"v\":", "{\"a\":", "}"),
        ("\"v\":", "[{\"a\":", "}]"),
    ] {
        let mut was_refused = false;
        for levels in 1..130 {
            let value = format!("{}{{}}{}", open.repeat(levels), close.repeat(levels));
            let json = if field.is_empty() { value } else { format!("{{{field}{value}}}") };
            match data::from_json(&json, "-d", &method.input()) {
                Ok(messages) => {
                    let read = DynamicMessage::decode(method.input(), &messages[0][..]);
                    assert!(read.is_ok() && !was_refused, "{open} {levels}");
                }
                Err(error) => {
                    was_refused = true;
                    let said = "in each other more than 100 deep";
                    assert!(error.to_string().contains(said), "{error}");
                }
            }
        }
        assert!(was_refused, "{open}");
    }
}

#[test]
fn the_bytes_are_those_of_generated_code() {
    let method = method(PROTO, "t.S/Go");
    for (text, bytes) in [
        (r#"{"d": -0.0}"#, "090000000000000080"),
        (r#"{"f": -0, "d": 0}"#, "1500000080"),
        (r#"{"dv": -0.0}"#, "6a09090000000000000080"),
        (r#"{"f": 3.4028235e38}"#, "15ffff7f7f"),
        (r#"{"i": "1e3"}"#, "18e807"),
        (r#"{"i": 9007199254740993.0}"#, "188180808080808010"),
        (r#"{"u": 18446744073709551615}"#, "b001ffffffffffffffffff01"),
        (r#"{"any": {}}"#, "4200"),
        (r#"{"nul": 0}"#, ""),
        (r#"{"nothing": null}"#, "a00100"),
        (r#"{"nothing": 0}"#, "a00100"),
        (r#"{"nothing": "NULL_VALUE"}"#, "a00100"),
        (r#"{"s": null, "m": null, "maybe": 0}"#, "a80100"),
        (r#"{"m": {"": 0}}"#, "3a040a001000"),
        (r#"{"numbers": [1, 2], "s": "x"}"#, "22017872020102"),
        (r#"{"longName": "a"}"#, "82010161"),
        (r#"{"long_name": "a"}"#, "82010161"),
        (r#"{"s": "a\u00e9"}"#, "220361c3a9"),
        (r#"{"b": "-_8"}"#, "2a02fbff"),
        (r#"{"c": "GREEN", "v": null}"#, "30018a01020800"),
        (r#"{"v": [true, -0]}"#, "8a0111320f0a0220010a09110000000000000080"),
        (r#"{"fm": "fooBar,a"}"#, "620c0a07666f6f5f6261720a0161"),
    ] {
        assert_eq!(sent(&method, text).as_deref(), Ok(bytes), "{text}");
    }
}

#[test]
fn the_message_in_an_any_is_written_however_it_stands_in_it() {
    let method = method(PROTO, "t.S/Go");
    let url = |name: &str| hex(format!("a/{name}").as_bytes());
    let (empty, duration) = (url("google.protobuf.Empty"), url("google.protobuf.Duration"));
    for text in [
        r#"{"any": {"@type": "a/google.protobuf.Empty"}}"#,
        r#"{"any": {"value": {}, "@type": "a/google.protobuf.Empty"}}"#,
    ] {
        assert_eq!(sent(&method, text), Ok(format!("42190a17{empty}")), "{text}");
    }
    let text = r#"{"any": {"value": "1s", "@type": "a/google.protobuf.Duration"}}"#;
    assert_eq!(sent(&method, text), Ok(format!("42200a1a{duration}12020801")));
    let text = r#"{"any": {"i": "1", "@type": "a/t.M", "s": "x"}}"#;
    assert_eq!(sent(&method, text), Ok("420e0a05612f742e4d120518012201".to_owned() + "78"));
}

#[test]
fn what_no_other_reader_takes_is_refused_with_its_place() {
    let method = method(PROTO, "t.S/Go");
    for (text, said) in [
        (r#"{"s":"a","s":"b"}"#, "12, field s: it is given twice"),
        (r#"{"long_name":"a","longName":"b"}"#, "27, field longName: it is given twice"),
        (r#"{"s":null,"s":"b"}"#, "13, field s: it is given twice"),
        (r#"{"m":{"k":1,"k":2}}"#, "15, field m: the key \"k\" is given twice"),
        (r#"{"byNumber":{"1":{},"01":{}}}"#, "24, field byNumber: the key \"01\" is given twice"),
        (r#"{"v":{"k":1,"k":2}}"#, "15, field v: the key \"k\" is given twice"),
        (r#"{"text":"a","number":1}"#, "20, field number: another field of oneof choice is given"),
        (r#"{"d":"1e400"}"#, "12, field d: 1e400 does not fit its field (double)"),
        (r#"{"f":1e39}"#, "9, field f: 1e39 does not fit its field (float)"),
        (r#"{"d":"nan"}"#, "10, field d: \"nan\" is no number, NaN, Infinity or -Infinity"),
        (r#"{"d":"inf"}"#, "10, field d: \"inf\" is no number"),
        (r#"{"i":1.5}"#, "8, field i: 1.5 is no integer"),
        (r#"{"i":" 1"}"#, "9, field i: invalid digit found in string: \" 1\" is no integer"),
        (r#"{"small":-1}"#, "11, field small: -1 does not fit its field (uint32)"),
        (r#"{"ts":"2016-12-31T23:59:60Z"}"#, "28, field ts: \"2016-12-31T23:59:60Z\" is not a t"),
        (r#"{"ts":"2016-12-31T23:59:59.1234567890Z"}"#, "39, field ts: "),
        (r#"{"dur":"1.1234567890s"}"#, "22, field dur: \"1.1234567890s\" is not a duration"),
        (r#"{"fm":"a,,b"}"#, "12, field fm: \"\" in \"a,,b\" is no path"),
        (r#"{"fm":"foo_bar"}"#, "15, field fm: \"foo_bar\" in \"foo_bar\" is no path"),
        (
            r#"{"numbers":[1,null]}"#,
            "18, field numbers[1]: invalid type: null, expected an integer",
        ),
        (r#"{"numbers":{}}"#, "12, field numbers: invalid type: object, expected a list in []"),
        (r#"{"byNumber":{"a":{}}}"#, "16, field byNumber: \"a\" is no key of this map (int32)"),
        (r#"{"list":[{"m":{"k":true}}]}"#, "23, field list[0].m.k: invalid type: boolean `true`"),
        (r#"{"b":"!"}"#, "8, field b: \"!\" is not base64"),
        (r#"{"s":"\ud800"}"#, "13, field s: unexpected end of hex escape"),
        (r#"{"any":{"s":"a"}}"#, "16, field any: there is no @type"),
        (
            r#"{"any":{"@type":"a/t.Nothing"}}"#,
            "29, field any: @type \"a/t.Nothing\" is no message",
        ),
        (r#"{"any":{"@type":"a/t.M","x":1}}"#, "27: t.M has no field x"),
        (
            r#"{"any":{"@type":"a/google.protobuf.Duration"}}"#,
            "45, field any: there is no value for",
        ),
        (r#"{"s":"a",}"#, "10: trailing comma"),
        (r#"{"s":"a"}]"#, "10: trailing characters"),
        ("{\"s\":tru}", "9, field s: expected ident"),
    ] {
        let refused = sent(&method, text).unwrap_err();
        let expected = format!("-d, line 1 column {said}");
        assert!(refused.starts_with(&expected), "{text}\n{refused}\n{expected}");
    }
}

#[test]
fn messages_in_each_other_have_an_end() {
    let method = method(PROTO, "t.S/Go");
    let nested =
        |levels: usize| format!("{}{{}}{}", r#"{"inner":"#.repeat(levels), "}".repeat(levels));
    assert!(sent(&method, &nested(99)).is_ok());
    let refused = sent(&method, &nested(100)).unwrap_err();
    assert!(refused.contains("more than 100 deep"), "{refused}");
    let lists = format!(r#"{{"v":{}{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    assert!(sent(&method, &lists).unwrap_err().contains("more than 100 deep"));
}

#[test]
fn required_fields_are_missing_before_a_server_says_so() {
    let method = method(REQUIRED, "rq.S/Go");
    for (text, said) in [
        (r#"{"n":1}"#, "7: required fields missing: name"),
        (r#"{"name":null}"#, "13: required fields missing: name"),
        (r#"{"name":"a","inner":{}}"#, "22, field inner: required fields missing: name"),
        (r#"{"name":"a","list":[{"name":"b"},{}]}"#, "35, field list[1]: required fields missing"),
        (r#"{"name":"a","byName":{"k":{}}}"#, "28, field byName.k: required fields missing: name"),
        (r#"{"name":"a","pair":{}}"#, "21, field pair: required fields missing: left"),
    ] {
        let refused = sent(&method, text).unwrap_err();
        let expected = format!("-d, line 1 column {said}");
        assert!(refused.starts_with(&expected), "{text}\n{refused}\n{expected}");
    }
    for (text, bytes) in [
        (r#"{"name":""}"#, "0a00"),
        (r#"{"pair":{"left":1},"name":"a"}"#, "0a016133080134"),
        (r#"{"Pair":{"left":1},"name":"a"}"#, "0a016133080134"),
    ] {
        assert_eq!(sent(&method, text).as_deref(), Ok(bytes), "{text}");
    }
    let extended = r#"{"name":"", "[rq.extra]": 0, "[rq.more]": [1, -1], "numbers": [1]}"#;
    assert_eq!(sent(&method, extended).as_deref(), Ok("0a003a0101a00600aa06020201"));
}

#[test]
fn no_data_is_a_message_too() {
    let read = |proto, call| {
        let method = method(proto, call);
        data::read(&DataSource::Nothing, &method, Templates::Functions, &mut &b""[..])
            .map(|data| data.messages)
            .map_err(|error| error.to_string())
    };
    let said = "without -d the message is empty: required fields missing: name";
    assert_eq!(read(REQUIRED, "rq.S/Go"), Err(said.to_owned()));
    assert_eq!(read(PROTO, "t.S/Go"), Ok(vec![vec![]]));
    assert_eq!(read(PROTO, "t.S/Wrapped"), Ok(vec![vec![]]));
}

#[test]
fn required_fields_are_missed_in_serialized_messages_too() {
    let message = method(REQUIRED, "rq.S/Go").input();
    let read =
        |bytes: &[u8]| data::from_binary(bytes, "-B", &message).map_err(|error| error.to_string());
    assert!(read(b"\x0a\x01a").is_ok());
    assert_eq!(read(b"\x03\x0a\x01a\x03\x0a\x01b").map(|messages| messages.len()), Ok(2));
    for (bytes, name) in [
        (&b"\x10\x01"[..], "rq.M.name"),
        (b"\x0a\x01a\x1a\x02\x10\x01", "rq.M.name"),
        (b"\x0a\x01a\x33\x34", "rq.M.Pair.left"),
    ] {
        assert_eq!(read(bytes), Err(format!("-B: required fields missing: {name}")));
    }
}

/// The bytes are those of Go's `protojson`.
#[test]
fn of_fields_with_one_name_in_json_the_first_is_meant() {
    let service = "service S { rpc Go(M) returns (M); }";
    let allowed = "option deprecated_legacy_json_field_conflicts = true;";
    let of = |text: String| method(&format!("{text} {service}"), "a.S/Go");
    let fields = "int32 foo_bar = 1; int32 fooBar = 2; int32 foo__bar = 3; int32 foobar = 4;";
    let proto2 = fields.replace("int32", "optional int32");
    for method in [
        of(format!("syntax = \"proto2\"; package a; message M {{ {proto2} }}")),
        of(format!("syntax = \"proto3\"; package a; message M {{ {allowed} {fields} }}")),
    ] {
        for (name, bytes) in
            [("foo_bar", "0805"), ("fooBar", "0805"), ("foo__bar", "1805"), ("foobar", "2005")]
        {
            assert_eq!(sent(&method, &format!("{{\"{name}\": 5}}")).unwrap(), bytes, "{name}");
        }
        let error = sent(&method, r#"{"fooBar": 5, "foo_bar": 5}"#).unwrap_err();
        assert!(error.ends_with("it is given twice"), "{error}");
        let error = sent(&method, r#"{"FooBar": 5}"#).unwrap_err();
        assert!(error.ends_with("(there is foo_bar, fooBar, foo__bar, foobar)"), "{error}");
        let error = sent(&method, "{\"fooBar\\u00001\": 5}").unwrap_err();
        assert!(error.contains("has no field"), "{error}");
    }
    let lists = "repeated int32 foo_bar = 1; repeated int32 foo__bar = 2;";
    let proto = format!("syntax = \"proto2\"; package a; message M {{ {lists} }} {service}");
    let text = r#"{"foo__bar": [7, {{.RequestNumber}}]}"#;
    let expected = ["10071000", "10071064"].map(str::to_owned);
    assert_eq!(of_template(&proto, "a.S/Go", text), Ok(expected));
    // What an option calls a field comes before what the file calls another.
    let method =
        of("syntax = \"proto3\"; package a; message M { string a = 1 [json_name = \"b\"]; \
                     string b = 2 [json_name = \"a\"]; string A = 3 [json_name = \"c\"]; }"
            .to_owned());
    let bytes = sent(&method, r#"{"a": "x", "b": "y", "A": "z"}"#).unwrap();
    assert_eq!(bytes, "0a0179120178".to_owned() + "1a017a");
}

#[test]
fn a_message_set_is_refused_in_a_sentence() {
    let proto = r#"
        syntax = "proto2";
        package a;
        message Set { option message_set_wire_format = true; extensions 4 to max; }
        message X { extend Set { optional X x = 1000; } optional int32 v = 1; }
        message M { optional Set set = 1; }
        service S { rpc Go(M) returns (M); }
    "#;
    let method = method(proto, "a.S/Go");
    assert_eq!(sent(&method, r#"{"set": {}}"#).unwrap(), "0a00");
    let error = sent(&method, r#"{"set": {"[a.X.x]": {"v": 1}}}"#).unwrap_err();
    assert!(error.ends_with("a.Set is a MessageSet, which has no JSON"), "{error}");
    let error = sent(&method, r#"{"set": {"[a.X.y]": {"v": 1}}}"#).unwrap_err();
    assert!(error.contains("a.Set has no field [a.X.y]"), "{error}");
}

#[test]
fn a_text_that_is_cut_anywhere_is_an_error() {
    let method = method(PROTO, "t.S/Go");
    let text = r#"{"any": {"value": "1.5s", "@type": "a/google.protobuf.Duration"}, "d": -1.5e3,
        "s": "a\u00e9\"é", "m": {"k": 1}, "v": [true, null, {"x": "y"}], "numbers": [1, 2]}"#;
    assert!(sent(&method, text).is_ok(), "{:?}", sent(&method, text));
    for (end, _) in text.char_indices() {
        let refused = sent(&method, &text[..end]);
        assert!(refused.is_err_and(|error| error.lines().count() == 1), "{}", &text[..end]);
    }
}

/// The message of the first call and of the hundredth, in hexadecimal digits.
fn of_template(proto: &str, call: &str, text: &str) -> Result<[String; 2], String> {
    let method = method(proto, call);
    let source = DataSource::Json(text.to_owned());
    let data = data::read(&source, &method, Templates::Functions, &mut &b""[..])
        .map_err(|error| error.to_string())?;
    let template = data.template.expect("it depends on the call");
    Ok([0, 100].map(|number| {
        let facts = bookend_payload::template::CallFacts { number, ..Default::default() };
        hex(&template.messages(&facts).unwrap()[0])
    }))
}

#[test]
fn templates_give_the_same_messages_and_the_same_errors() {
    for (text, first, hundredth) in [
        (r#"{"i": {{.RequestNumber}}, "d": -0.0}"#, "090000000000000080", "0900000000000000801864"),
        (r#"{"maybe": {{.RequestNumber}}}"#, "a80100", "a80164"),
        (r#"{"numbers": [1, {{.RequestNumber}}, 300]}"#, "72040100ac02", "72040164ac02"),
        (r#"{"number": {{.RequestNumber}}, "f": 0.1}"#, "15cdcccc3d980100", "15cdcccc3d980164"),
    ] {
        let expected = [first, hundredth].map(str::to_owned);
        assert_eq!(of_template(PROTO, "t.S/Go", text), Ok(expected), "{text}");
    }
    for (text, said) in [
        (r#"{"i": {{.RequestNumber}}, "s": "a", "s": "b"}"#, ", field s: it is given twice"),
        (r#"{"i": {{.RequestNumber}}, "i": 1}"#, ", field i: it is given twice"),
        (r#"{"number": {{.RequestNumber}}, "text": "b"}"#, ", field text: another field of oneof"),
        (r#"{"u": {{randomInt -5 -4}}}"#, ", field u: -5 does not fit its field (uint64)"),
    ] {
        let refused = of_template(PROTO, "t.S/Go", text).unwrap_err();
        assert!(refused.contains(said), "{text}\n{refused}\n{said}");
    }
    let missing = of_template(REQUIRED, "rq.S/Go", r#"{"n": {{.RequestNumber}}}"#).unwrap_err();
    assert!(missing.contains("required fields missing: name"), "{missing}");
    let given = of_template(REQUIRED, "rq.S/Go", r#"{"name": "{{.RequestNumber}}"}"#);
    assert_eq!(given, Ok(["0a0130", "0a03313030"].map(str::to_owned)));
}
