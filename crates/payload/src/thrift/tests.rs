//! From JSON to bytes and back, compared with the bytes that Thrift's library for Go writes.

use super::call::{ThriftCall, ThriftData};
use super::envelope::message_kind;
use super::reader::{Fault, Reader};
use super::reply::ThriftReply;
use super::reply_end::ReplyEnd;
use super::spoken::{ThriftProtocol, ThriftTransport};
use super::value::ThriftValue;
use super::wire_kind::WireKind;
use super::writer;
use crate::data::{DataSource, Templates};
use bookend_wire::grpc::{Code, Status};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

const IDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/thrift/everything.thrift");
const PROTOCOLS: [ThriftProtocol; 2] = [ThriftProtocol::Binary, ThriftProtocol::Compact];
const MAX_BYTES: u32 = 1 << 20;

/// A call of `echo` with a value of every type, as github.com/apache/thrift 0.25.0 writes it: made
/// field by field with its `TBinaryProtocol` and its `TCompactProtocol`, sequence id 16,384.
const GO_BINARY: &str = "80010001000000046563686f000040000c00010200010102000200030003ff060004012c\
    080005fffe79600a000600000100000000000400073ff80000000000000b000800000002c3a90b00090000000200ff\
    08000a000000030f000b020000000201000f000c080000001000000000000000010000000200000003000000040000\
    0005000000060000000700000008000000090000000a0000000b0000000c0000000d0000000e0000000f0e000d0b00\
    00000100000001610d000e0b0a00000001000000016bffffffffffffffff0d000f080b000000000c00280800010000\
    0007000f00290c000000020800010000000100080001fffffffe000c002a0b000200000005726f756e640010002b00\
    112233445566778899aabbccddeeff02012c010000";
const GO_COMPACT: &str = "8221808001046563686f1c111213ff14d80415bf9a0c1680808080804017000000000000\
    f83f1802c3a9180200ff15061921010219f51000020406080a0c0e10121416181a1c1e1a1801611b0186016b011b00\
    0c50150e00192c1502001503001c2805726f756e64001d00112233445566778899aabbccddeeff01d8040000";

/// The same value as JSON.
fn everything() -> Value {
    json!({
        "yes": true, "no": false, "tiny": -1, "small": 300, "middle": -100_000,
        "large": "1099511627776", "exact": 1.5, "text": "é", "raw": "AP8", "color": "BLUE",
        "truths": [true, false], "numbers": (0..16).collect::<Vec<_>>(), "words": ["a"],
        "counts": {"k": -1}, "names": {}, "point": {"x": 7}, "path": [{"x": 1}, {"x": -2}],
        "shape": {"name": "round"}, "id": "00112233-4455-6677-8899-aabbccddeeff", "last": true,
    })
}

fn read(
    method: &str,
    data: &str,
    protocol: ThriftProtocol,
    transport: ThriftTransport,
) -> Result<ThriftCall, String> {
    let source = DataSource::Json(data.to_owned());
    let data = ThriftData { source: &source, templates: Templates::Functions };
    let spoken = (protocol, transport);
    ThriftCall::read(Path::new(IDL), &[], method, spoken, &data, &mut io::empty())
        .map_err(|error| error.to_string().replace(env!("CARGO_MANIFEST_DIR"), ""))
}

fn call(method: &str, data: &Value, protocol: ThriftProtocol) -> ThriftCall {
    read(method, &data.to_string(), protocol, ThriftTransport::Buffered).unwrap()
}

fn refused(method: &str, data: &str) -> String {
    read(method, data, ThriftProtocol::Binary, ThriftTransport::Framed).unwrap_err()
}

fn text_of(text: &str) -> ThriftValue {
    ThriftValue::Binary(text.into())
}

fn request(call: &ThriftCall) -> Vec<u8> {
    let mut bytes = Vec::new();
    call.write(0, 16_384, &mut bytes);
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The arguments in the bytes of a request.
fn arguments(bytes: &[u8], protocol: ThriftProtocol) -> ThriftValue {
    let mut reader = Reader::new(bytes, protocol);
    reader.message_head().unwrap();
    let value = ThriftValue::read(&mut reader, WireKind::Struct, None, 0).unwrap();
    assert_eq!(reader.position(), bytes.len());
    value
}

/// A reply of that kind with that struct.
fn reply(call: &ThriftCall, kind: u8, name: &str, value: &ThriftValue) -> Vec<u8> {
    let mut bytes = Vec::new();
    match call.protocol() {
        ThriftProtocol::Binary => {
            bytes.extend([0x80, 1, 0, kind]);
            writer::write_binary(name.as_bytes(), call.protocol(), &mut bytes);
            bytes.extend(16_384_u32.to_be_bytes());
        }
        ThriftProtocol::Compact => {
            bytes.extend([0x82, kind << 5 | 1, 0x80, 0x80, 1]);
            writer::write_binary(name.as_bytes(), call.protocol(), &mut bytes);
        }
    }
    writer::write(value, call.protocol(), &mut bytes);
    bytes
}

fn ended(call: &ThriftCall, bytes: &[u8]) -> Result<(), Status> {
    match ThriftReply::read(call, bytes, MAX_BYTES).unwrap() {
        ThriftReply::Whole { bytes: whole, sequence_id, outcome } => {
            assert_eq!((whole, sequence_id), (bytes.len(), 16_384));
            outcome.map_err(|status| *status)
        }
        part @ ThriftReply::Part(_) => panic!("{part:?}"),
    }
}

#[test]
fn requests_are_the_bytes_of_the_library_for_go() {
    let data = json!({ "value": everything() });
    for (protocol, expected) in PROTOCOLS.into_iter().zip([GO_BINARY, GO_COMPACT]) {
        assert_eq!(hex(&request(&call("Everywhere.echo", &data, protocol))), expected);
    }
}

#[test]
fn what_was_written_is_read_as_it_was() {
    let data = json!({ "value": everything() });
    let mut expected = everything();
    (expected["large"], expected["raw"]) = (json!(1_099_511_627_776_u64), json!("AP8="));
    for protocol in PROTOCOLS {
        let call = call("Everywhere.echo", &data, protocol);
        let ThriftValue::Struct(fields) = arguments(&request(&call), protocol) else { panic!() };
        let value_type = &call.schema.structs[call.method.arguments].fields[0].field_type;
        assert_eq!(fields[0].1.to_json(Some(value_type), &call.schema), expected);
    }
}

#[test]
fn defaults_are_sent_where_no_value_is_given() {
    let call = call("Everywhere.fill", &json!({"value": {"name": "n"}}), ThriftProtocol::Compact);
    let ThriftValue::Struct(fields) = arguments(&request(&call), ThriftProtocol::Compact) else {
        panic!()
    };
    let value_type = &call.schema.structs[call.method.arguments].fields[0].field_type;
    let expected = json!({
        "name": "n", "count": 7, "greeting": "hello", "color": "GREEN", "unit": "METRE",
        "sizes": [1, 2], "weights": {"a": 0.5}, "origin": {"x": 1},
    });
    assert_eq!(fields[0].1.to_json(Some(value_type), &call.schema), expected);
}

#[test]
fn arguments_have_defaults_and_several_calls_are_sent_in_turn() {
    let data = json!([{"left": 1}, {"left": 2, "right": 3}]);
    let call = call("Everywhere.add", &data, ThriftProtocol::Binary);
    let sent = |number| {
        let mut bytes = Vec::new();
        call.write(number, 16_384, &mut bytes);
        arguments(&bytes, ThriftProtocol::Binary)
    };
    let pair = |left, right| {
        ThriftValue::Struct(vec![(1, ThriftValue::I32(left)), (2, ThriftValue::I32(right))])
    };
    assert_eq!([sent(0), sent(1), sent(2)], [pair(1, 2), pair(2, 3), pair(1, 2)]);
}

#[test]
fn what_is_wrong_with_data_is_said_with_its_place() {
    let echo = |value: &str| refused("Everywhere.echo", &format!("{{\"value\": {value}}}"));
    assert_eq!(
        echo("{\n \"smal\": 1}"),
        "-d, line 2 column 7, field value: Everything has no field smal; did you mean small?"
    );
    for (value, said) in [
        (r#"{"tiny": 200}"#, "field value.tiny: 200 is too large for an i8"),
        (r#"{"middle": "x"}"#, "field value.middle: \"x\" is not an i32"),
        (r#"{"middle": 1.5}"#, "field value.middle: 1.5 is not an i32"),
        (r#"{"color": "GREN"}"#, "Color has no value GREN; did you mean GREEN?"),
        (r#"{"raw": "%"}"#, "field value.raw: \"%\" is not bytes in base64"),
        (r#"{"text": 5}"#, "field value.text: 5 is not a string"),
        (r#"{"numbers": [1, true]}"#, "field value.numbers[1]: true is not an i32"),
        (r#"{"names": {"x": "y"}}"#, "\"x\" is not an i32"),
        (r#"{"shape": {}}"#, "field value.shape: Shape is a union: give one of its fields"),
        (r#"{"shape": {"edges": 1, "name": "x"}}"#, "Shape is a union"),
        (r#"{"point": {}}"#, "field value.point: Point requires x, which is missing"),
        (r#"{"point": 3}"#, "field value.point: 3 is not an object in {} with Point"),
        (r#"{"id": "12"}"#, "\"12\" is not a UUID"),
        (r#"{"yes": true, "yes": true}"#, "yes is there twice"),
    ] {
        let error = echo(value);
        assert!(error.contains(said), "{value}: {error}");
        assert!(error.starts_with("-d, line 1 column ") && error.lines().count() == 1, "{error}");
    }
    let missing = refused("Everywhere.echo", "{}");
    assert!(missing.contains("the argument value of echo is missing"), "{missing}");
    let argument = refused("Everywhere.echo", r#"{"valu": {}}"#);
    assert!(argument.contains("echo has no argument valu; did you mean value?"), "{argument}");
    assert!(refused("Everywhere.ping", "[]").ends_with("has no message: {} is the empty one"));
    let template = refused("Everywhere.note", r#"{"text": "{{.UUID}}"}"#);
    assert!(template.contains("has no templates"), "{template}");
}

/// The arguments of a method of its own with these data.
fn plain(data: &str) -> Result<ThriftValue, String> {
    let fields = "1: i64 n, 2: double x, 3: map<i64, string> m, 4: map<double, i64> d, \
                  5: set<double> s, 6: list<i64> l";
    with_fields(fields, data)
}

/// The same, where the argument has these fields.
fn with_fields(fields: &str, data: &str) -> Result<ThriftValue, String> {
    let folder = tempfile::tempdir().unwrap();
    let idl = folder.path().join("a.thrift");
    let text = format!("struct A {{ {fields} }} service S {{ void f(1: A a) }}");
    std::fs::write(&idl, text).unwrap();
    let data = format!("{{\"a\": {data}}}");
    let source = DataSource::Json(data);
    let data = ThriftData { source: &source, templates: Templates::Functions };
    let spoken = (ThriftProtocol::Binary, ThriftTransport::Buffered);
    ThriftCall::read(&idl, &[], "S.f", spoken, &data, &mut io::empty())
        .map(|call| arguments(&request(&call), ThriftProtocol::Binary))
        .map_err(|error| error.to_string())
}

#[test]
fn data_that_is_in_itself_too_deep_is_refused() {
    let nested = |levels| format!("{}{{}}{}", "{\"l\": [".repeat(levels), "]}".repeat(levels));
    assert!(with_fields("1: list<A> l", &nested(20)).is_ok());
    for levels in [50, 100_000] {
        let error = with_fields("1: list<A> l", &nested(levels)).unwrap_err();
        assert!(error.contains("in each other more than 100 deep"), "{error}");
    }
}

#[test]
fn integers_are_exact_however_they_are_written() {
    for (written, number) in [
        ("9007199254740993.0", 9_007_199_254_740_993),
        ("9223372036854775807.0", i64::MAX),
        ("-9223372036854775808e0", i64::MIN),
        ("922337203685477580.7e1", i64::MAX),
        ("1e18", 1_000_000_000_000_000_000),
        ("-0", 0),
        ("-0.0", 0),
    ] {
        let read = plain(&format!(r#"{{"x": 0.5, "n": {written}, "l": [-0, {written}, 1]}}"#));
        let ThriftValue::Struct(all) = read.unwrap() else { panic!("arguments") };
        let (_, ThriftValue::Struct(fields)) = &all[0] else { panic!("a structure") };
        assert_eq!(fields[0], (1, ThriftValue::I64(number)), "{written}");
        let list = [0, number, 1].map(ThriftValue::I64).to_vec();
        assert_eq!(fields[2], (6, ThriftValue::List(WireKind::I64, list)), "{written}");
    }
    for (written, said) in [
        ("9007199254740992.5", "field a.n: 9007199254740992.5 is not an i64"),
        ("9223372036854775808.0", "9223372036854775808 is too large for an i64"),
        ("18446744073709551616", "18446744073709551616 is too large for an i64"),
        ("1e400", "1e400 is too large for an i64"),
        ("1e300", "1e300 is too large for an i64"),
    ] {
        let error = plain(&format!("{{\"x\": -0.0, \"n\": {written}}}")).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_key_and_an_element_of_a_set_are_there_once() {
    for (data, said) in [
        (r#"{"m": {"1": "a", "01": "b"}}"#, "field a.m: the key \"01\" is there twice"),
        (r#"{"m": {"1": "a", "1": "b"}}"#, "the key \"1\" is there twice"),
        (r#"{"d": {"1.5": 1, "1.50": 2}}"#, "the key \"1.50\" is there twice"),
        (r#"{"d": {"0": 1, "-0.0": 2}}"#, "the key \"-0.0\" is there twice"),
        (r#"{"s": [1, 2, 1.0]}"#, "an element of the set is there twice"),
    ] {
        let error = plain(data).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    assert!(plain(r#"{"m": {"1": "a", "-1": "a"}, "s": [1, 2], "l": [1, 1]}"#).is_ok());
}

#[test]
fn a_method_is_found_by_its_service_and_the_services_above_that() {
    for method in ["Everywhere.ping", "Everywhere/origin", "Base.ping"] {
        assert!(read(method, "{}", PROTOCOLS[0], ThriftTransport::Framed).is_ok(), "{method}");
    }
    assert_eq!(
        refused("Everywher.ping", "{}"),
        "/tests/thrift/everything.thrift has no service Everywher; did you mean Everywhere? \
         (there is Base, Everywhere)"
    );
    let method = refused("Everywhere.pin", "{}");
    assert!(method.starts_with("Everywhere has no method pin; did you mean ping?"), "{method}");
    assert_eq!(refused("ping", "{}"), "--call ping is no method of Thrift: give Service.method");
}

#[test]
fn what_is_wrong_with_an_idl_is_said_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.thrift");
    for (text, said) in [
        ("struct A { 1: i32 }", "is not Thrift's IDL, line 1 column "),
        ("include \"b.thrift\"", "includes b.thrift, which is not next to it: add -i FOLDER"),
        ("struct Apple { 1: Aple a }", "there is no type Aple; did you mean Apple?"),
        ("struct A { 1: i32 a, 1: i32 b }", "A has two fields with the id 1"),
        ("typedef B A\ntypedef A B\nstruct C { 1: A a }", "stands for itself"),
        ("typedef list<A> A\nstruct C { 1: A a }", "stands for itself"),
        ("const i32 A = B\nconst i32 B = A\nstruct C { 1: i32 c = A }", "stands for itself"),
        ("struct C { 1: i8 c = 300 }", "the default of C.c: 300 is too large"),
        ("struct C { 1: i8 c = D.E }", "the default of C.c: there is no constant D.E"),
        ("struct C { 1: i8 c = \"x\" }", "the default of C.c: the value is of another type"),
        ("service A extends A { void a() }", "A has no method ping"),
        ("service A { void ping(1: void a) }", "void is no type of a value"),
    ] {
        std::fs::write(&file, text).unwrap();
        let data = ThriftData { source: &DataSource::Nothing, templates: Templates::Functions };
        let spoken = (ThriftProtocol::Binary, ThriftTransport::Framed);
        let read = ThriftCall::read(&file, &[], "A.ping", spoken, &data, &mut io::empty());
        let error = read.unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

/// A reply to `echo` with everything in it.
fn good_reply(call: &ThriftCall) -> Vec<u8> {
    let ThriftValue::Struct(mut fields) = arguments(&request(call), call.protocol()) else {
        panic!()
    };
    fields[0].0 = 0;
    reply(call, message_kind::REPLY, "echo", &ThriftValue::Struct(fields))
}

#[test]
fn a_whole_reply_is_ok_and_every_part_of_it_is_a_part() {
    let data = json!({ "value": everything() });
    for protocol in PROTOCOLS {
        let call = call("Everywhere.echo", &data, protocol);
        let good = good_reply(&call);
        assert_eq!(ended(&call, &good), Ok(()));
        for cut in 0..good.len() {
            match ThriftReply::read(&call, &good[..cut], MAX_BYTES).unwrap() {
                ThriftReply::Part(wanted) => assert!(wanted > cut && wanted <= good.len(), "{cut}"),
                whole @ ThriftReply::Whole { .. } => panic!("{whole:?} of {cut} bytes"),
            }
        }
        let longer = [&good[..], b"more"].concat();
        let Ok(ThriftReply::Whole { bytes, outcome, .. }) =
            ThriftReply::read(&call, &longer, MAX_BYTES)
        else {
            panic!()
        };
        assert_eq!((bytes, outcome), (good.len(), Ok(())));
    }
}

/// The same bytes but for one, and where that is.
fn with_one_byte_changed(good: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..good.len()).flat_map(move |at| {
        [0, 1, 2, 0x7f, 0x80, 0xff, good[at] ^ 0x10].map(|byte| {
            let mut bad = good.to_vec();
            bad[at] = byte;
            (at, bad)
        })
    })
}

#[test]
fn no_change_of_a_byte_makes_the_reader_panic_or_allocate_what_is_not_there() {
    let data = json!({ "value": everything() });
    for protocol in PROTOCOLS {
        let call = call("Everywhere.echo", &data, protocol);
        let good = good_reply(&call);
        for (_, bad) in with_one_byte_changed(&good) {
            let _ = ThriftReply::read(&call, &bad, MAX_BYTES);
            let mut reader = Reader::new(&bad, protocol);
            if reader.message_head().is_ok() {
                let _ = ThriftValue::read(&mut reader, WireKind::Struct, None, 0);
            }
        }
    }
}

#[test]
fn lengths_that_a_peer_claims_are_not_believed() {
    let bytes = |protocol| match protocol {
        // A list of two thousand million structs, and a string of as many bytes.
        ThriftProtocol::Binary => [&b"\x0c\x7f\xff\xff\xff"[..], b"\x7f\xff\xff\xff"],
        ThriftProtocol::Compact => [&b"\xfc\xff\xff\xff\xff\x07"[..], b"\xff\xff\xff\xff\x07"],
    };
    for protocol in PROTOCOLS {
        let [list, text] = bytes(protocol);
        let list = ThriftValue::read(&mut Reader::new(list, protocol), WireKind::List, None, 0);
        assert!(matches!(list, Err(Fault::Truncated(end)) if end > 1 << 30), "{list:?}");
        let text = ThriftValue::read(&mut Reader::new(text, protocol), WireKind::Binary, None, 0);
        assert!(matches!(text, Err(Fault::Truncated(end)) if end > 1 << 30), "{text:?}");
    }
    let negative = &b"\xff\xff\xff\xff"[..];
    let mut reader = Reader::new(negative, ThriftProtocol::Binary);
    assert_eq!(reader.binary(), Err(Fault::Malformed("a length that none can be")));
    let endless = [0xff; 11];
    let mut reader = Reader::new(&endless, ThriftProtocol::Compact);
    assert!(matches!(reader.i64(), Err(Fault::Malformed(_))));
}

#[test]
fn values_that_stand_in_each_other_too_deep_are_refused() {
    for (protocol, one_deeper) in
        [(ThriftProtocol::Binary, &b"\x0c\0\x07"[..]), (ThriftProtocol::Compact, b"\x7c")]
    {
        let deep = one_deeper.repeat(100_000);
        let skipped = Reader::new(&deep, protocol).skip(WireKind::Struct, None, 0);
        assert!(matches!(skipped, Err(Fault::Malformed(_))), "{skipped:?}");
        let read = ThriftValue::read(&mut Reader::new(&deep, protocol), WireKind::Struct, None, 0);
        assert!(matches!(read, Err(Fault::Malformed(_))), "{read:?}");
    }
}

#[test]
fn replies_that_are_not_what_was_asked_for_say_why() {
    let (data, none) = (json!({ "value": everything() }), ThriftValue::Struct(Vec::new()));
    for protocol in PROTOCOLS {
        let call = call("Everywhere.echo", &data, protocol);
        let result = |fields: Vec<(i16, ThriftValue)>| {
            let bytes = reply(&call, message_kind::REPLY, "echo", &ThriftValue::Struct(fields));
            ended(&call, &bytes).unwrap_err()
        };
        let of = |id, value| vec![(id, value)];
        let point = |fields| of(0, ThriftValue::Struct(of(40, ThriftValue::Struct(fields))));
        for (status, code, said) in [
            (result(Vec::new()), Code::Internal, "a reply without a result"),
            (result(of(0, ThriftValue::I32(5))), Code::Internal, "a i32 as echo_result.success"),
            (result(point(Vec::new())), Code::Internal, "Point without x, which is required"),
            (result(point(of(1, text_of("x")))), Code::Internal, "a string as Point.x"),
            (
                result(of(0, ThriftValue::Struct(of(42, none.clone())))),
                Code::Internal,
                "the union Shape with 0 fields",
            ),
            (
                result(of(
                    1,
                    ThriftValue::Struct(vec![(1, text_of("it")), (2, ThriftValue::I32(3))]),
                )),
                Code::Unknown,
                r#"NotFound {"color":"BLUE","what":"it"}"#,
            ),
            (
                ended(&call, &reply(&call, message_kind::REPLY, "other", &none)).unwrap_err(),
                Code::Internal,
                "the reply of other to a call of echo",
            ),
            (
                ended(&call, &reply(&call, message_kind::CALL, "echo", &none)).unwrap_err(),
                Code::Internal,
                "a message of kind 1",
            ),
        ] {
            assert_eq!(status.code, code, "{status:?}");
            assert!(status.message.contains(said), "{} instead of {said}", status.message);
        }
    }
}

/// What github.com/apache/thrift 0.25.0 writes as a `TApplicationException`.
const GO_EXCEPTIONS: [&[u8]; 2] = [
    b"\x80\x01\0\x03\0\0\0\x04echo\0\0\x40\0\x0b\0\x01\0\0\0\x15Unknown function echo\
      \x08\0\x02\0\0\0\x01\0",
    b"\x82\x61\x80\x80\x01\x04echo\x18\x15Unknown function echo\x15\x02\0",
];

#[test]
fn an_exception_of_the_library_for_go_is_a_failure_with_its_text() {
    let data = json!({ "value": everything() });
    for (protocol, bytes) in PROTOCOLS.into_iter().zip(GO_EXCEPTIONS) {
        let status = ended(&call("Everywhere.echo", &data, protocol), bytes).unwrap_err();
        let text = "TApplicationException UNKNOWN_METHOD: Unknown function echo";
        assert_eq!((status.code, &*status.message), (Code::Unimplemented, text));
    }
}

#[test]
fn an_exception_without_fields_has_no_text() {
    let data = json!({ "value": everything() });
    for protocol in PROTOCOLS {
        let call = call("Everywhere.echo", &data, protocol);
        let none = ThriftValue::Struct(Vec::new());
        let status = ended(&call, &reply(&call, message_kind::EXCEPTION, "echo", &none));
        assert_eq!(&*status.unwrap_err().message, "TApplicationException UNKNOWN");
    }
}

#[test]
fn a_large_exception_is_not_put_into_words() {
    let data = json!({ "value": everything() });
    for protocol in PROTOCOLS {
        let call = call("Everywhere.echo", &data, protocol);
        let said = |truths: usize| {
            let truths = ThriftValue::List(WireKind::Bool, vec![ThriftValue::Bool(true); truths]);
            let exception = ThriftValue::Struct(vec![(1, text_of("it")), (9, truths)]);
            let result = ThriftValue::Struct(vec![(1, exception)]);
            let bytes = reply(&call, message_kind::REPLY, "echo", &result);
            let status = ended(&call, &bytes).unwrap_err();
            assert_eq!(status.code, Code::Unknown);
            status.message.to_string()
        };
        assert!(said(10_000).starts_with("NotFound {\"9\":[true,"), "{}", said(10_000));
        let large = said(1_000_000);
        assert!(large.starts_with("NotFound of 10000") && large.ends_with(" bytes"), "{large}");
    }
}

#[test]
fn fields_that_the_idl_does_not_have_are_passed_over() {
    for protocol in PROTOCOLS {
        let call = call("Everywhere.origin", &json!({}), protocol);
        let extra = ThriftValue::List(WireKind::Bool, vec![ThriftValue::Bool(true)]);
        let point = ThriftValue::Struct(vec![(1, ThriftValue::I32(1)), (9, extra.clone())]);
        let result = ThriftValue::Struct(vec![(0, point), (77, extra)]);
        assert_eq!(ended(&call, &reply(&call, message_kind::REPLY, "origin", &result)), Ok(()));
    }
}

#[test]
fn a_server_that_speaks_otherwise_is_told_from_a_broken_one() {
    let spoken = |protocol, transport, bytes: &[u8]| {
        let call = read("Everywhere.ping", "{}", protocol, transport).unwrap();
        ThriftReply::read(&call, bytes, MAX_BYTES).unwrap_err().to_string()
    };
    use ThriftProtocol::{Binary, Compact};
    use ThriftTransport::{Buffered, Framed};
    let framed = b"\0\0\0\x20\x80\x01\0\x02";
    assert!(spoken(Binary, Buffered, framed).ends_with("add --thrift-transport framed"));
    assert!(spoken(Binary, Framed, &framed[4..]).ends_with("add --thrift-transport buffered"));
    assert!(spoken(Compact, Buffered, &framed[4..]).ends_with("add --thrift-protocol binary"));
    assert!(spoken(Binary, Buffered, b"\x82\x21\0\0").ends_with("add --thrift-protocol compact"));
    assert!(spoken(Binary, Framed, b"\x15\x03\x03\0\x02").contains("leave --insecure out"));
    assert!(spoken(Binary, Framed, b"HTTP/1.1 400 ").contains("speaks HTTP"));
    let large = spoken(Binary, Framed, b"\x01\0\0\0");
    assert_eq!(large, "the server sent a reply of 16777216 bytes, and 1048576 are allowed");
}

#[test]
fn a_frame_that_is_longer_or_shorter_than_its_reply_is_a_failure() {
    let call = read("Everywhere.ping", "{}", PROTOCOLS[0], ThriftTransport::Framed).unwrap();
    let ping = reply(&call, message_kind::REPLY, "ping", &ThriftValue::Struct(Vec::new()));
    let framed = |reply: &[u8]| [&(reply.len() as u32).to_be_bytes()[..], reply].concat();
    assert_eq!(ended(&call, &framed(&ping)), Ok(()));
    let longer = ended(&call, &framed(&[&ping[..], b"\0"].concat())).unwrap_err();
    assert!(longer.message.contains("longer than the reply in it"), "{longer:?}");
    let shorter = ended(&call, &framed(&ping[..ping.len() - 1])).unwrap_err();
    assert!(shorter.message.contains("ends in the middle"), "{shorter:?}");
    for cut in 0..framed(&ping).len() {
        let part = ThriftReply::read(&call, &framed(&ping)[..cut], MAX_BYTES);
        assert!(matches!(part, Ok(ThriftReply::Part(_))), "{cut}: {part:?}");
    }
}

#[test]
fn the_end_of_a_reply_without_a_frame_is_found_while_it_comes() {
    let data = json!({ "value": everything() });
    for protocol in PROTOCOLS {
        let good = good_reply(&call("Everywhere.echo", &data, protocol));
        for step in [1, 2, 7, 64] {
            let mut end = ReplyEnd::default();
            for cut in (0..good.len()).step_by(step) {
                let missing = end.missing(&good[..cut], protocol);
                assert!(missing.is_some_and(|wanted| wanted > cut && wanted <= good.len()));
            }
            assert_eq!(end.missing(&[&good[..], b"more"].concat(), protocol), None);
        }
    }
}

#[test]
fn whatever_is_a_whole_reply_has_its_end_found() {
    let data = json!({ "value": everything() });
    for protocol in PROTOCOLS {
        let call = call("Everywhere.echo", &data, protocol);
        let good = good_reply(&call);
        for (at, bad) in with_one_byte_changed(&good) {
            let mut end = ReplyEnd::default();
            end.missing(&bad[..at], protocol);
            let missing = end.missing(&bad, protocol);
            let is_whole =
                matches!(ThriftReply::read(&call, &bad, MAX_BYTES), Ok(ThriftReply::Whole { .. }));
            assert!(!is_whole || missing.is_none(), "{at}: {}, {missing:?}", bad[at]);
        }
    }
}

#[test]
fn no_value_of_a_reply_is_looked_at_twice() {
    for protocol in PROTOCOLS {
        let call = call("Everywhere.origin", &json!({}), protocol);
        let points = (0..1_000).map(|x| ThriftValue::Struct(vec![(1, ThriftValue::I32(x))]));
        let result =
            ThriftValue::Struct(vec![(9, ThriftValue::List(WireKind::Struct, points.collect()))]);
        let mut bytes = reply(&call, message_kind::REPLY, "origin", &result);
        let half = bytes.len() / 2;
        let mut end = ReplyEnd::default();
        assert!(end.missing(&bytes[..half], protocol).is_some());
        bytes[..half - 100].fill(0xff);
        assert_eq!(end.missing(&bytes[..bytes.len() - 1], protocol), Some(bytes.len()));
        assert_eq!(end.missing(&bytes, protocol), None);
    }
}
