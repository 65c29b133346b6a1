//! Templates in data and metadata.

use bookend_payload::data::{self, DataSource, DataTemplate, RequestData, Templates};
use bookend_payload::metadata::CallMetadata;
use bookend_payload::schema::Schema;
use bookend_payload::template::CallFacts;
use prost_reflect::{DynamicMessage, MethodDescriptor, Value};
use std::fs;

const PROTO: &str = r#"
syntax = "proto3";
package test;
message Inner { string name = 1; sint64 zigzag = 2; }
message Request {
    string name = 1;
    uint64 number = 2;
    int32 small = 3;
    Inner inner = 4;
    repeated string names = 5;
    repeated Inner inners = 6;
    map<string, string> labels = 7;
    double real = 8;
    bool flag = 9;
}
service Test { rpc Unary(Request) returns (Inner); rpc Talk(stream Request) returns (stream Inner); }
"#;

fn method(name: &str) -> MethodDescriptor {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("test.proto");
    fs::write(&file, PROTO).unwrap();
    Schema::from_proto(&file, &[]).unwrap().method(&format!("test.Test/{name}")).unwrap()
}

fn read(text: &str, templates: Templates) -> Result<RequestData, String> {
    let source = DataSource::Json(text.to_owned());
    let data = data::read(&source, &method("Unary"), templates, &mut &b""[..]);
    data.map_err(|error| error.to_string())
}

fn template(text: &str) -> DataTemplate {
    read(text, Templates::Functions).unwrap().template.expect("it depends on the call")
}

const FACTS: CallFacts<'static> =
    CallFacts { number: 300, run_name: "night", connection: 2, place: 1 };

/// The one message of a call, as the server reads it.
fn message(template: &DataTemplate, facts: &CallFacts<'_>) -> DynamicMessage {
    let messages = template.messages(facts).unwrap();
    assert_eq!(messages.len(), 1);
    DynamicMessage::decode(method("Unary").input(), &messages[0][..]).unwrap()
}

fn field(message: &DynamicMessage, name: &str) -> Value {
    message.get_field_by_name(name).unwrap().into_owned()
}

#[test]
fn variables_are_written_into_every_kind_of_field_without_rendering_json() {
    let compiled = template(
        r#"{"number": {{.RequestNumber}}, "small": "{{.RequestNumber}}", "real": 1.5,
            "name": "{{.WorkerID}} in {{.MethodName}}", "flag": {{.IsClientStreaming}},
            "inner": {"zigzag": {{randomInt -5 -4}}, "name": "n{{.RequestNumber}}"},
            "names": ["first", "{{.RequestNumber}}", "last"], "labels": {"a": "b"},
            "inners": [{"name": "x"}, {"name": "{{.RequestNumber}}"}]}"#,
    );
    assert!(compiled.is_compiled());
    let message = message(&compiled, &FACTS);
    assert_eq!(field(&message, "number"), Value::U64(300));
    assert_eq!(field(&message, "small"), Value::I32(300));
    assert_eq!(field(&message, "real"), Value::F64(1.5));
    assert_eq!(field(&message, "name"), Value::String("night:g1c2 in Unary".to_owned()));
    let names = ["first", "300", "last"].map(|name| Value::String(name.to_owned()));
    assert_eq!(field(&message, "names"), Value::List(names.to_vec()));
    let inner = field(&message, "inner");
    let inner = inner.as_message().unwrap();
    assert_eq!(field(inner, "zigzag"), Value::I64(-5));
    assert_eq!(field(inner, "name"), Value::String("n300".to_owned()));
    let inners = field(&message, "inners");
    let names =
        inners.as_list().unwrap().iter().map(|one| field(one.as_message().unwrap(), "name"));
    assert_eq!(names.collect::<Vec<_>>(), ["x", "300"].map(|name| Value::String(name.to_owned())));
}

#[test]
fn a_long_value_has_its_length_in_as_many_bytes_as_it_takes() {
    let compiled = template(r#"{"inner": {"name": "{{randomString 20000}}"}}"#);
    assert!(compiled.is_compiled());
    let inner = field(&message(&compiled, &FACTS), "inner");
    let name = field(inner.as_message().unwrap(), "name");
    assert_eq!(name.as_str().unwrap().len(), 20_000);
}

#[test]
fn anything_that_go_can_say_is_rendered_for_each_call() {
    for (text, name) in [
        (r#"{"name": "{{if eq .RequestNumber 300}}yes{{else}}no{{end}}"}"#, "yes"),
        (r#"{"name": "{{ printf \"%04d\" .RequestNumber }}"}"#, "0300"),
        (r#"{"name": "{{.MethodName | lower}}{{.RequestNumber}}"}"#, "unary300"),
        (r#"{{$n := .RequestNumber}}{"name": "{{$n}}"}"#, "300"),
        (r#"{"name": "{{range until 3}}{{.}}{{end}}{{.RequestNumber}}"}"#, "012300"),
    ] {
        // Within JSON quotes are escaped, within a template they are not.
        let text = text.replace("\\\"", "\"");
        let rendered = template(&text);
        assert!(!rendered.is_compiled(), "{text}");
        assert_eq!(field(&message(&rendered, &FACTS), "name"), Value::String(name.to_owned()));
    }
}

#[test]
fn compiled_and_rendered_templates_give_the_same_message() {
    let compiled =
        template(r#"{"name": "a{{.RequestNumber}}", "labels": {"k": "v"}, "flag": true}"#);
    let rendered =
        template(r#"{"name": "{{print "a" .RequestNumber}}", "labels": {"k": "v"}, "flag": true}"#);
    assert!(compiled.is_compiled() && !rendered.is_compiled());
    for number in [0, 1, 127, 128, 1 << 40] {
        let facts = CallFacts { number, ..FACTS };
        let json = |template| serde_json::to_value(message(template, &facts)).unwrap();
        assert_eq!(json(&compiled), json(&rendered));
    }
}

#[test]
fn messages_of_an_array_are_taken_in_turn_and_each_has_its_own_values() {
    let data = read(r#"[{"name": "a{{.RequestNumber}}"}, {"name": "b"}]"#, Templates::Functions);
    let template = data.unwrap().template.unwrap();
    let messages = template.messages(&CallFacts { number: 7, ..FACTS }).unwrap();
    assert_eq!(messages, [b"\x0a\x02a7".to_vec(), b"\x0a\x01b".to_vec()]);
}

#[test]
fn what_does_not_depend_on_the_call_is_rendered_once() {
    for text in [
        r#"{"name": "{{.FullyQualifiedName}}"}"#,
        r#"{"name": "{{.FullyQualifiedName | trim}}"}"#,
        r#"{"name": "{{"test.Test.Unary"}}"}"#,
    ] {
        let data = read(text, Templates::Functions).unwrap();
        assert!(data.template.is_none(), "{text}");
        assert_eq!(data.messages, [b"\x0a\x0ftest.Test.Unary".to_vec()], "{text}");
    }
}

#[test]
fn what_is_wrong_with_a_template_is_said_with_its_line() {
    for (text, expected) in [
        ("{\"name\":\n\"{{.Nmae}}\"}", "-d, line 2 of its template: there is no variable Nmae"),
        (r#"{"name": "{{nope}}"}"#, "-d, line 1 of its template: there is no function nope"),
        (r#"{"small": "{{.TimestampUnixNano}}"}"#, " does not fit its field"),
        (r#"{"name": {{.UUID}}"}"#, "-d, line 1 column "),
        (r#"{"nmae": "{{.UUID}}"}"#, "test.Request has no field nmae; did you mean name?"),
    ] {
        let error = read(text, Templates::Functions).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let unclosed = read("{\"name\":\n\"{{.UUID\"}", Templates::Functions).unwrap_err();
    assert!(unclosed.starts_with("-d, line 2 of its template: "), "{unclosed}");
}

#[test]
fn nothing_is_dropped_behind_an_end_or_an_else_without_its_block() {
    for (text, said) in [
        ("{\"name\":\n\"a\"}{{end}}, garbage ]", "line 2 of its template: unexpected {{end}}"),
        ("{\"name\": \"a\"}\n{{else}}xxx{{end}}", "line 2 of its template: unexpected {{else}}"),
        ("{\"name\": \"a\"}{{end}}{{nosuch}}", "line 1 of its template: unexpected {{end}}"),
        ("{\"name\": \"{{if 1}}a\"}", "line 1 of its template: {{if}} has no {{end}}"),
        ("{\"name\": \"{{.UUID}}{{end}}\"}", "line 1 of its template: unexpected {{end}}"),
    ] {
        for templates in [Templates::Functions, Templates::Variables] {
            assert_eq!(read(text, templates).unwrap_err(), format!("-d, {said}"), "{text}");
        }
    }
    let metadata = CallMetadata::from_json(r#"{"x": "{{end}}"}"#, "-m", Templates::Functions);
    let error = metadata.unwrap().compile(&method("Talk"), true).unwrap_err().to_string();
    assert_eq!(error, "metadata \"x\", line 1 of its template: unexpected {{end}}");
}

#[test]
fn functions_can_be_forbidden_and_variables_stay() {
    let error = read(r#"{"name": "{{newUUID}}"}"#, Templates::Variables).unwrap_err();
    assert!(error.contains("newUUID"), "{error}");
    assert!(read(r#"{"name": "{{.UUID}}"}"#, Templates::Variables).unwrap().template.is_some());
}

#[test]
fn metadata_has_templates_too() {
    let text = r#"{"trace": "{{.RequestNumber}}", "method": "{{.MethodName}}", "same": "x"}"#;
    let metadata = CallMetadata::from_json(text, "-m", Templates::Functions).unwrap();
    assert_eq!(metadata.constant.len(), 1);
    let compiled = metadata.compile(&method("Talk"), true).unwrap();
    assert_eq!(compiled.templates.len(), 1);
    let first = compiled.of_first_call().unwrap();
    assert!(first.contains(&(b"trace".to_vec(), b"0".to_vec())), "{first:?}");
    assert!(first.contains(&(b"method".to_vec(), b"Talk".to_vec())), "{first:?}");
    let refused = |text: &str| {
        let metadata = CallMetadata::from_json(text, "-m", Templates::Functions).unwrap();
        metadata.compile(&method("Talk"), true).unwrap_err().to_string()
    };
    let unknown = refused(r#"{"trace": "{{.Nmae}}"}"#);
    assert!(unknown.starts_with("metadata \"trace\", line 1 of its template: "), "{unknown}");
    assert!(refused(r#"{"key-bin": "{{.UUID}}"}"#).contains("base64"));
}

/// Templates that would take all memory or all time, and what is said of each.
const BOUNDLESS: [(&str, &str); 33] = [
    ("{{randomString 2147483647}}", "randomString gives more than 64 MiB"),
    ("{{repeat 60000000 \"a\"}}{{repeat 60000000 \"a\"}}", "it gives more than 64 MiB"),
    (
        "{{randomString .RequestNumber | len | randAlpha | len | mul 99999999 | randAlpha}}",
        "64 MiB",
    ),
    ("{{randAlphaNum 9223372036854775807}}", "randAlphaNum gives more than 64 MiB"),
    ("{{randomInt 5 4}}", "randomInt 5 4 has nothing to choose from"),
    ("{{randInt 9223372036854775807 -9223372036854775807}}", "has nothing to choose from"),
    ("{{randInt 1 1}}", "randInt 1 1 has nothing to choose from"),
    ("{{repeat 9223372036854775807 \"ab\"}}", "repeat gives more than 64 MiB"),
    ("{{range until 99999999}}{{end}}", "until gives more than 1000000 values"),
    ("{{range until 1000000}}{{range until 1000000}}{{end}}{{end}}", "more than 2000000 steps"),
    ("{{range 9223372036854775807}}{{end}}", "it takes more than 2000000 steps"),
    ("{{define \"a\"}}{{template \"a\"}}{{end}}{{template \"a\"}}", "too deeply"),
    (
        "{{$x := \"aaaaaaaa\"}}{{range until 60}}{{$x = print $x $x}}{{end}}",
        "print gives more than",
    ),
    ("{{$x := \"aaaaaaaa\"}}{{range until 60}}{{$x = printf \"%s%s\" $x $x}}{{end}}", "MiB"),
    ("{{range until 9}}{{repeat 60000000 \"a\" | len}}{{end}}", "its functions make more than 256"),
    ("{{$x := \"\\\\\"}}{{range until 60}}{{$x = js $x}}{{end}}", "js gives more than 64 MiB"),
    ("{{$l := list 1}}{{range until 60}}{{$l = list $l $l}}{{end}}{{$l}}", "lists within it"),
    ("{{$l := list 1}}{{range until 1000000}}{{$l = list $l}}{{end}}", "lists within it"),
    ("{{$x := repeat 10000 \"a\"}}{{replace \"a\" $x $x}}", "replace gives more than 64 MiB"),
    ("{{$x := repeat 1000000 \"a\"}}{{join $x (until 1000)}}", "join gives more than 64 MiB"),
    ("{{$x := repeat 60000000 \"a\"}}{{cat $x $x}}", "cat gives more than 64 MiB"),
    ("{{$x := repeat 1000001 \"a\"}}{{splitList \"\" $x}}", "splitList gives more than 1000000"),
    ("{{$x := repeat 1000 \"a\"}}{{add $x}}", "add takes a number, and has aaaa"),
    ("{{printf \"%65000d\" 7 | repeat 9999}}", "repeat gives more than 64 MiB"),
    ("{{printf \"%1000000000d\" 7 | repeat 9999}}", "printf does not know %1000000000d"),
    ("{{range 1000000}}{{if eq . -1}}{{end}}{{end}}", "it takes more than 2000000 steps"),
    ("{{range 900000}}{{$x := and 1 (or 0 (not (eq . 1)))}}{{end}}", "more than 2000000 steps"),
    (
        "{{$x := repeat 60000000 \"a\"}}{{list (slice $x 1) (slice $x 2) (slice $x 3) (slice $x 4)}}",
        "its functions make more than 256",
    ),
    ("{{$x := until 1000000}}{{range until 60}}{{$x = slice $x 1}}{{end}}", "more than 256"),
    ("{{first 5}}", "first takes a list, and has 5"),
    ("{{sub -9223372036854775807 2}}", "sub -9223372036854775807 2 has no value"),
    ("{{div (sub -9223372036854775807 1) -1}}", "div -9223372036854775808 -1 has no value"),
    ("{{fail (repeat 1000 \"a\")}}", "aaaa"),
];

#[test]
fn no_template_takes_all_memory_or_all_time() {
    for (text, expected) in BOUNDLESS {
        let data = format!("{{\"name\":\n\"{text}\"}}");
        let error = read(&data, Templates::Functions).unwrap_err();
        assert!(error.starts_with("-d, line 2 of its template: "), "{text}: {error}");
        // A machine that is busy may get to the other end of it.
        let is_late = expected.ends_with(" steps") && error.contains("it takes longer than");
        assert!(error.contains(expected) || is_late, "{text}: {error}");
        assert!(error.len() < 400 && error.lines().count() == 1, "{text}: {error}");
    }
}

#[test]
fn thirty_templates_that_call_the_next_one_twice_come_to_an_end() {
    let twice = |number| {
        let next = number + 1;
        format!(
            "{{{{define \"t{number}\"}}}}{{{{template \"t{next}\"}}}}{{{{template \"t{next}\"}}}}{{{{end}}}}"
        )
    };
    let all: String = (0..30).map(twice).collect();
    let data = format!("{all}{{{{define \"t30\"}}}}{{{{end}}}}{{{{template \"t0\"}}}}");
    for templates in [Templates::Functions, Templates::Variables] {
        let error = read(&data, templates).unwrap_err();
        assert!(error.contains(": it takes "), "{error}");
    }
}

#[test]
fn templates_that_are_deep_are_refused_before_they_are_read() {
    let alternatives = format!("{{{{if 0}}}}{}{{{{end}}}}", "{{else if 0}}".repeat(100_000));
    let error = read(&alternatives, Templates::Functions).unwrap_err();
    assert!(error.contains("line 1 of its template: there are more than 200 of"), "{error}");
    let few = format!("{{{{if 0}}}}{}{{{{end}}}}{{}}", "{{- else if 0}}".repeat(150));
    assert!(read(&few, Templates::Functions).is_ok());
    for deep in ["{{if 1}}".repeat(100_000), format!("{{{{{}", "(".repeat(100_000))] {
        let error = read(&deep, Templates::Functions).unwrap_err();
        assert!(error.starts_with("-d, line 1 of its template: ") && error.len() < 400, "{error}");
    }
}

#[test]
fn what_go_prints_is_printed_within_its_limit() {
    for (text, expected) in [
        (r#"{{print "a" 1 2 "b" 3 nil true}}"#, "a1 2b3 <nil> true"),
        (r#"{{len (println "a" 1)}}|{{print}}|{{len (println)}}"#, "4||1"),
        (
            r#"{{printf "%s %d %5.2f %q %v %%" "x" 7 1.5 "y" (list 1 "z")}}"#,
            "x 7  1.50 \"y\" [1 z] %",
        ),
        (r#"{{printf "%[2]d %[1]d" 1 2}} {{printf "%d"}}"#, "2 1 %!d(MISSING)"),
        (r#"{{html "<a&b>"}} {{js "'"}} {{urlquery "a b&"}}"#, r"&lt;a&amp;b&gt; \' a+b%26"),
        (
            r#"{{range $i := until 3}}{{template "t" $i}}{{end}}{{define "t"}}<{{.}}>{{end}}"#,
            "<0><1><2>",
        ),
        (
            r#"{{range 5}}{{if eq . 1}}{{continue}}{{else if eq . 3}}{{break}}{{end}}{{.}}{{end}}"#,
            "02",
        ),
    ] {
        let data = format!("{{{{with .RequestNumber}}}}{{{{end}}}}{text}");
        let metadata = serde_json::json!({ "trace": data }).to_string();
        let metadata = CallMetadata::from_json(&metadata, "-m", Templates::Functions).unwrap();
        let compiled = metadata.compile(&method("Talk"), true);
        let fields = compiled.and_then(|compiled| compiled.of_first_call());
        let printed = match fields {
            Ok(fields) => String::from_utf8(fields[0].1.clone()).unwrap(),
            Err(error) => error.to_string(),
        };
        let is_sendable = !expected.contains('\n');
        assert!(!is_sendable || printed == expected, "{text}: {printed:?}");
    }
}
