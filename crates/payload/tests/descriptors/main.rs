//! Descriptor sets and answers of reflection that no compiler would have made.

mod any_field;

use bookend_payload::data;
use bookend_payload::schema::Schema;
use bookend_payload::schema::reflection::{ReflectionError, ReflectionQuery};
use fastrand::Rng;
use prost::Message as _;
use prost_reflect::DynamicMessage;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FieldOptions, FileDescriptorProto, FileDescriptorSet, MessageOptions, MethodDescriptorProto,
    OneofDescriptorProto, ServiceDescriptorProto,
    descriptor_proto::{ExtensionRange, ReservedRange},
};

fn field(name: &str, number: i32, kind: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(kind.into()),
        ..Default::default()
    }
}

fn of_type(name: &str, number: i32, kind: Type, type_name: &str) -> FieldDescriptorProto {
    FieldDescriptorProto { type_name: Some(type_name.into()), ..field(name, number, kind) }
}

fn repeated(field: FieldDescriptorProto) -> FieldDescriptorProto {
    FieldDescriptorProto { label: Some(Label::Repeated.into()), ..field }
}

fn message(name: &str, field: Vec<FieldDescriptorProto>) -> DescriptorProto {
    DescriptorProto { name: Some(name.into()), field, ..Default::default() }
}

fn map_entry(fields: Vec<FieldDescriptorProto>) -> DescriptorProto {
    let options = MessageOptions { map_entry: Some(true), ..Default::default() };
    DescriptorProto { options: Some(options), ..message("EEntry", fields) }
}

/// `a.proto` with message `M` and method `a.S/Go`.
fn file(mut messages: Vec<DescriptorProto>) -> FileDescriptorProto {
    let go = MethodDescriptorProto {
        name: Some("Go".into()),
        input_type: Some(".a.M".into()),
        output_type: Some(".a.M".into()),
        ..Default::default()
    };
    let service =
        ServiceDescriptorProto { name: Some("S".into()), method: vec![go], ..Default::default() };
    if messages.is_empty() {
        messages.push(message("M", vec![field("s", 1, Type::String)]));
    }
    FileDescriptorProto {
        name: Some("a.proto".into()),
        package: Some("a".into()),
        message_type: messages,
        service: vec![service],
        ..Default::default()
    }
}

fn decode(files: Vec<FileDescriptorProto>) -> Result<Schema, String> {
    let set = FileDescriptorSet { file: files }.encode_to_vec();
    Schema::decode(&set, "set.pb".to_owned()).map_err(|error| error.to_string())
}

/// Reads JSON with a schema, and its bytes again.
fn use_all_of(schema: &Schema) {
    let Ok(method) = schema.method("a.S/Go") else { return };
    for text in [
        "{}",
        r#"{"s": "x", "e": {"k": 1, "1": {"s": "y"}}, "n": [1, "2", {}], "[a.x]": 7, "t": null}"#,
        r#"{"e": [{"key": 1, "value": 2}], "o": "B", "p": true, "t": "2020-01-01T00:00:00Z"}"#,
    ] {
        for data in data::from_json(text, "-d", &method.input()).unwrap_or_default() {
            let read = DynamicMessage::decode(method.input(), &data[..]);
            let _ = read.map(|message| (serde_json::to_string(&message), message.encode_to_vec()));
        }
    }
    for bytes in [&b"\x0a\x02\x08\x01\x12\x01a\x38\x07\x40\x01"[..], b"\x0a\x04\x0a\x00\x12\x00"] {
        let read = DynamicMessage::decode(method.input(), bytes);
        let _ = read.map(|message| (serde_json::to_string(&message), message.encode_to_vec()));
    }
}

fn refused(files: Vec<FileDescriptorProto>) -> String {
    let error = decode(files).expect_err("it is not correct");
    assert_eq!(error.lines().count(), 1);
    assert!(!error.contains("--include_imports"), "{error}");
    error
}

#[test]
fn an_unknown_syntax_is_named() {
    let syntax = Some("<unknown:0>".into());
    let error = refused(vec![FileDescriptorProto { syntax, ..file(vec![]) }]);
    assert_eq!(
        error,
        "set.pb describes no schema that can be used: a.proto: its syntax is \"<unknown:0>\", and \
         there is proto2, proto3, editions"
    );
    let long = Some("x".repeat(1 << 20));
    let error = refused(vec![FileDescriptorProto { syntax: long, ..file(vec![]) }]);
    assert!(error.len() < 1_000);
}

/// A field that is there and empty is one that is not there, as the official readers have it.
#[test]
fn an_empty_syntax_is_none() {
    let empty = || Some(String::new());
    let alone = FileDescriptorProto { syntax: empty(), ..file(vec![]) };
    use_all_of(&decode(vec![alone.clone()]).unwrap());
    use_all_of(&by_reflection(|_| vec![alone.encode_to_vec()]).unwrap());
    let beside =
        FileDescriptorProto { name: Some("b.proto".into()), syntax: empty(), ..Default::default() };
    for imports in [vec![], vec!["b.proto".to_owned()]] {
        let main = FileDescriptorProto { dependency: imports, ..file(vec![]) };
        use_all_of(&decode(vec![beside.clone(), main.clone()]).unwrap());
        let answer = |name: &str| if name == "a.S" { &main } else { &beside }.encode_to_vec();
        use_all_of(&by_reflection(|name| vec![answer(name)]).unwrap());
    }
}

#[test]
fn what_is_wrong_in_a_set_is_said_and_where() {
    let with = |fields| file(vec![message("M", fields)]);
    let s = |number| field("s", number, Type::String);
    let in_oneof = |place| FieldDescriptorProto { oneof_index: Some(place), ..s(1) };
    for (wrong, said) in [
        (with(vec![field("m", 1, Type::Message)]), "\"m\" in \"a.M\" does not name its message or"),
        (with(vec![field("e", 1, Type::Enum)]), "\"e\" in \"a.M\" does not name its message or"),
        (with(vec![in_oneof(0)]), "a.proto: \"s\" in \"a.M\" is in a oneof that is not there"),
        (with(vec![in_oneof(-1)]), "a.proto: \"s\" in \"a.M\" is in a oneof that is not there"),
        (with(vec![s(1), field("t", 1, Type::Bool)]), "a.proto: field number '1' is already used"),
        (with(vec![s(1), s(2)]), "a.proto: name 'a.M.s' is defined twice"),
        (with(vec![s(0)]), "a.proto: invalid field number '0'"),
        (with(vec![of_type("m", 1, Type::Message, ".a.X")]), "a.proto: name '.a.X' is not defined"),
        (with(vec![field("", 1, Type::String)]), "a.proto: \"\" in \"a.M\" is not a name"),
        (with(vec![field("a b", 1, Type::String)]), "a.proto: \"a b\" in \"a.M\" is not a name"),
    ] {
        let error = refused(vec![wrong]);
        assert!(error.contains(said), "{error}\n{said}");
    }
    let twice = FileDescriptorProto { syntax: Some("proto3".into()), ..with(vec![s(1), s(2)]) };
    assert!(refused(vec![twice]).contains("a.proto: name 'a.M.s' is defined twice"));
    let other = FileDescriptorProto { package: Some("b".into()), ..file(vec![]) };
    let error = refused(vec![file(vec![]), other]);
    assert!(error.contains("it has two different files a.proto"), "{error}");
    assert!(decode(vec![file(vec![]), file(vec![])]).is_ok());
}

#[test]
fn entries_of_maps_are_entries_of_maps() {
    let key = |kind| field("key", 1, kind);
    let value = || field("value", 2, Type::Int32);
    let with_entry = |entry: Vec<FieldDescriptorProto>| {
        let e = repeated(of_type("e", 1, Type::Message, ".a.M.EEntry"));
        let mut m = message("M", vec![e]);
        m.nested_type.push(map_entry(entry));
        file(vec![m])
    };
    let good = decode(vec![with_entry(vec![key(Type::String), value()])]).unwrap();
    use_all_of(&good);
    for wrong in [
        vec![],
        vec![key(Type::String)],
        vec![value()],
        vec![key(Type::Double), value()],
        vec![key(Type::Bytes), value()],
        vec![of_type("key", 1, Type::Message, ".a.M"), value()],
        vec![repeated(key(Type::String)), value()],
        vec![key(Type::String), repeated(value())],
        vec![key(Type::String), value(), field("more", 3, Type::Int32)],
        vec![key(Type::String), of_type("value", 2, Type::Group, ".a.M")],
    ] {
        let error = refused(vec![with_entry(wrong)]);
        assert!(error.contains("a.M.EEntry is not an entry of a map"), "{error}");
    }
}

#[test]
fn extensions_do_not_share_a_number() {
    let mut m = message("M", vec![field("s", 1, Type::String)]);
    m.extension_range = vec![ExtensionRange { start: Some(2), end: Some(9), options: None }];
    let extension = |name: &str, kind| FieldDescriptorProto {
        extendee: Some(".a.M".into()),
        ..field(name, 7, kind)
    };
    let mut wrong = file(vec![m.clone()]);
    wrong.extension = vec![extension("x", Type::Int32)];
    use_all_of(&decode(vec![wrong.clone()]).unwrap());
    wrong.extension.push(extension("y", Type::String));
    assert!(refused(vec![wrong]).contains("two with number 7"));
    // A field that says that it extends something is a field all the same.
    m.field.push(extension("z", Type::String));
    assert!(refused(vec![file(vec![m])]).contains("a.proto: "));
}

#[test]
fn descriptors_of_options_are_protobufs_own() {
    let own = |label, kind| {
        let mut options = file(vec![message("MessageOptions", vec![field("map_entry", 7, kind)])]);
        options.message_type[0].field[0].label = Some(i32::from(label));
        let names = (Some("o.proto".into()), Some("google.protobuf".into()));
        (options.name, options.package) = names;
        options.service.clear();
        vec![options, file(vec![])]
    };
    decode(own(Label::Optional, Type::Bool)).unwrap();
    for (label, kind) in [(Label::Repeated, Type::Bool), (Label::Optional, Type::String)] {
        let error = refused(own(label, kind));
        assert!(error.contains("google.protobuf.MessageOptions.map_entry has another"), "{error}");
    }
}

/// With such an extension, the library writes an option that it cannot read again.
#[test]
fn extensions_of_options_have_numbers_of_their_own() {
    let mut options = message("MessageOptions", vec![]);
    let range = |start, end| ExtensionRange { start: Some(start), end: Some(end), options: None };
    options.extension_range = vec![range(7, 8)];
    let extension = FieldDescriptorProto {
        extendee: Some(".google.protobuf.MessageOptions".into()),
        options: Some(FieldOptions { packed: Some(true), ..Default::default() }),
        ..repeated(field("x", 7, Type::Int32))
    };
    let mut own = file(vec![options]);
    (own.name, own.package) = (Some("o.proto".into()), Some("google.protobuf".into()));
    (own.service, own.extension) = (vec![], vec![extension]);
    let entry = map_entry(vec![field("key", 1, Type::Int32), field("value", 2, Type::Int32)]);
    let mut m = message("M", vec![]);
    m.nested_type = vec![entry];
    let error = refused(vec![own.clone(), file(vec![m.clone()])]);
    assert!(error.contains("extensions with the number of protobuf's own map_entry"), "{error}");
    own.message_type[0].extension_range = vec![range(1_000, 2_000)];
    own.extension[0].number = Some(1_000);
    decode(vec![own, file(vec![m])]).unwrap();
}

/// A default value that is cut within a letter.
#[test]
fn defaults_are_not_read() {
    for default in ["\\xa\u{e9}", "\\777", "\\", "x"] {
        let mut s = field("s", 1, Type::Bytes);
        s.default_value = Some(default.into());
        use_all_of(&decode(vec![file(vec![message("M", vec![s])])]).unwrap());
    }
}

#[test]
fn public_imports_go_through_many_files() {
    let importing = |name: &str, imports: &[String]| FileDescriptorProto {
        name: Some(name.into()),
        dependency: imports.to_vec(),
        public_dependency: (0..imports.len()).map(|place| place as i32).collect(),
        ..Default::default()
    };
    // Each of two files in a layer imports both of the next: 2^40 ways lead to the last.
    let layer = |at: usize| [format!("{at}a.proto"), format!("{at}b.proto")];
    let mut files: Vec<_> =
        (0..40).flat_map(|at| layer(at).map(|name| importing(&name, &layer(at + 1)))).collect();
    let mut last = importing("40a.proto", &[]);
    last.package = Some("far".into());
    last.message_type = vec![message("Far", vec![])];
    files.extend([last, importing("40b.proto", &[])]);
    let mut first = file(vec![message("M", vec![of_type("f", 1, Type::Message, ".far.Far")])]);
    first.dependency = layer(0).to_vec();
    files.push(first);
    use_all_of(&decode(files).unwrap());
}

#[test]
fn files_do_not_import_themselves() {
    let importing = |name: &str, import: &str| FileDescriptorProto {
        name: Some(name.into()),
        dependency: vec![import.into()],
        public_dependency: vec![0],
        ..Default::default()
    };
    let error = refused(vec![importing("a.proto", "a.proto")]);
    assert!(error.ends_with("a.proto imports itself"), "{error}");
    let error = refused(vec![
        importing("0.proto", "a.proto"),
        importing("a.proto", "b.proto"),
        importing("b.proto", "c.proto"),
        importing("c.proto", "a.proto"),
    ]);
    assert!(error.ends_with("a.proto imports itself, by way of b.proto, c.proto"), "{error}");
}

#[test]
fn a_set_says_what_it_is_instead() {
    let said = |bytes: &[u8], place: &str| {
        Schema::decode(bytes, place.to_owned()).unwrap_err().to_string()
    };
    let set = FileDescriptorSet { file: vec![file(vec![])] }.encode_to_vec();
    let gzipped = [b"\x1f\x8b\x08\0", &set[..]].concat();
    assert_eq!(
        said(&gzipped, "set.pb.gz"),
        "set.pb.gz is compressed with gzip: give it as gunzip makes it"
    );
    let source = b"// ours\nsyntax = \"proto3\";\n";
    assert_eq!(said(source, "a.txt"), "a.txt is not compiled: give it with --proto");
    assert!(said(b"", "a.pb").contains("a.pb is not a descriptor set (it describes no file)"));
    assert!(said(b"\x89PNG", "a.png").contains("a.png is not a descriptor set"));
    let mut lacking = file(vec![]);
    lacking.dependency = vec!["b/b.proto".into(), "google/protobuf/any.proto".into()];
    let lacking = FileDescriptorSet { file: vec![lacking] }.encode_to_vec();
    assert_eq!(
        said(&lacking, "a.pb"),
        "a.pb is not complete: it lacks b/b.proto, which a.proto imports: make it with protoc \
         --include_imports --descriptor_set_out=FILE"
    );
}

#[test]
fn messages_within_messages_have_an_end() {
    let nested = |depth| {
        let mut m = message("M", vec![]);
        for _ in 0..depth {
            m = DescriptorProto { nested_type: vec![m], ..message("M", vec![]) };
        }
        decode(vec![file(vec![m])])
    };
    assert!(nested(30).is_ok());
    let error = nested(80).err().unwrap();
    assert!(error.contains("more than 64 messages within one another"), "{error}");
    // As bytes, since not even the encoder would get so deep.
    let mut bytes = Vec::new();
    for _ in 0..20_000 {
        let number = 3;
        let mut outer = Vec::with_capacity(bytes.len() + 5);
        prost::encoding::bytes::encode(number, &bytes, &mut outer);
        bytes = outer;
    }
    let mut file = Vec::new();
    prost::encoding::bytes::encode(4, &bytes, &mut file);
    let mut set = Vec::new();
    prost::encoding::bytes::encode(1, &file, &mut set);
    assert!(Schema::decode(&set, "set.pb".to_owned()).is_err());
}

#[test]
fn elements_are_counted_before_they_are_decoded() {
    let file = [&b"\x0a\x07f.proto"[..], &b"\x22\x00".repeat(1 << 20)].concat();
    let mut set = Vec::new();
    prost::encoding::bytes::encode(1, &file, &mut set);
    let error = Schema::decode(&set, "set.pb".to_owned()).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "set.pb is too large for a schema: it has messages, fields and names that take"
        ),
        "{error}"
    );
}

fn by_reflection(answer: impl Fn(&str) -> Vec<Vec<u8>>) -> Result<Schema, ReflectionError<String>> {
    Schema::by_reflection("a.S/Go", |query| match query {
        ReflectionQuery::Symbol(name) | ReflectionQuery::File(name) => Ok(answer(&name)),
        ReflectionQuery::Services(_) => Ok(vec![]),
    })
}

fn placeholder(name: &str) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some(name.into()),
        syntax: Some("<unknown:0>".into()),
        ..Default::default()
    }
}

#[test]
fn a_file_that_stands_for_one_that_is_missing_is_missing() {
    let importing = |import: &str| {
        let mut importing = file(vec![]);
        importing.dependency = vec![import.into()];
        importing.encode_to_vec()
    };
    let error = by_reflection(|name| match name {
        "a.S" => vec![importing("gone.proto"), placeholder("gone.proto").encode_to_vec()],
        _ => vec![placeholder(name).encode_to_vec()],
    });
    assert_eq!(
        error.unwrap_err().to_string(),
        "the server's reflection has no gone.proto: give the schema with --proto"
    );
    let any = "google/protobuf/any.proto";
    let schema = by_reflection(|name| match name {
        "a.S" => vec![importing(any)],
        _ => vec![placeholder(any).encode_to_vec()],
    });
    use_all_of(&schema.unwrap());
}

#[test]
fn a_server_that_describes_wrongly_is_blamed() {
    let wrong = file(vec![message("M", vec![field("s", 0, Type::String)])]);
    let error = by_reflection(|_| vec![wrong.encode_to_vec()]).unwrap_err();
    assert!(matches!(error, ReflectionError::Answer { .. }), "{error}");
    let error = error.to_string();
    assert!(error.starts_with("the server's reflection answered a.S wrongly: a.proto"), "{error}");
    assert!(error.ends_with("give the schema with --proto or --protoset"), "{error}");
}

#[test]
fn a_server_that_describes_without_end_is_given_up() {
    let next = |name: &str, body: &[u8]| {
        let at: u64 = name.strip_suffix(".proto").and_then(|it| it.parse().ok()).unwrap_or(0);
        let named = FileDescriptorProto {
            name: Some(name.into()),
            dependency: vec![format!("{}.proto", at + 1)],
            ..Default::default()
        };
        vec![[named.encode_to_vec(), body.to_vec()].concat()]
    };
    let comment = [b"\x4a\x80\x80\x80\x01".to_vec(), vec![0; 1 << 21]].concat();
    let ranges = [&b"\x0a\x01M"[..], &b"\x4a\x00".repeat(1 << 16)].concat();
    let mut two_bytes = Vec::new();
    prost::encoding::bytes::encode(4, &ranges, &mut two_bytes);
    for (body, most) in [
        (&b""[..], "more than 10000 files"),
        (&comment, "more than 64 MiB"),
        (&two_bytes, "messages, fields and names"),
    ] {
        let error = by_reflection(|name| next(name, body)).err().unwrap();
        assert!(matches!(error, ReflectionError::TooMuch { .. }), "{error}");
        assert!(error.to_string().contains(most), "{error}");
    }
}

/// A file with something of every kind.
fn everything() -> FileDescriptorProto {
    let string = |name: &str, number| field(name, number, Type::String);
    let mut m = message(
        "M",
        vec![
            string("s", 1),
            repeated(of_type("e", 2, Type::Message, ".a.M.EEntry")),
            repeated(field("n", 3, Type::Int32)),
            of_type("o", 4, Type::Enum, ".a.O"),
            of_type("t", 5, Type::Message, ".google.protobuf.Timestamp"),
            field("p", 8, Type::Bool),
        ],
    );
    m.field[2].options = Some(FieldOptions { packed: Some(true), ..Default::default() });
    m.field[5].oneof_index = Some(0);
    m.oneof_decl.push(OneofDescriptorProto { name: Some("c".into()), options: None });
    m.nested_type.push(map_entry(vec![string("key", 1), of_type("value", 2, Type::Message, "M")]));
    m.extension_range = vec![ExtensionRange { start: Some(7), end: Some(8), options: None }];
    m.reserved_range = vec![ReservedRange { start: Some(100), end: Some(200) }];
    let value = |name: &str, number| EnumValueDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        options: None,
    };
    let mut all = file(vec![m]);
    all.dependency = vec!["google/protobuf/timestamp.proto".into()];
    all.enum_type.push(EnumDescriptorProto {
        name: Some("O".into()),
        value: vec![value("A", 0), value("B", 1)],
        ..Default::default()
    });
    let extendee = Some(".a.M".into());
    all.extension.push(FieldDescriptorProto { extendee, ..field("x", 7, Type::Int32) });
    all
}

/// Bytes of a descriptor are changed, cut out and doubled at random: what is still read as a schema
/// is used.
#[test]
fn no_descriptor_ends_with_a_panic() {
    use_all_of(&decode(vec![everything()]).unwrap());
    let whole = everything().encode_to_vec();
    let mut random = Rng::with_seed(7);
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.usize(..3) {
            let at = random.usize(..bytes.len());
            match random.usize(..4) {
                0 => bytes[at] = random.u8(..),
                1 => bytes[at] = bytes[at].wrapping_add(1),
                2 => bytes[at] ^= 1 << random.usize(..8),
                _ => bytes[at] = bytes[random.usize(..at + 1)],
            }
        }
        if let Ok(schema) = by_reflection(|_| vec![bytes.clone()]) {
            use_all_of(&schema);
            read += 1;
        }
    }
    assert!(read > 1_000, "{read}");
}

/// JSON has forms of their own for messages of these names, whatever is in them.
const WELL_KNOWN: [&str; 14] = [
    "Any",
    "Timestamp",
    "Duration",
    "FieldMask",
    "Struct",
    "Value",
    "ListValue",
    "Empty",
    "Int32Value",
    "Int64Value",
    "BoolValue",
    "StringValue",
    "BytesValue",
    "DoubleValue",
];

/// A schema whose well-known messages all have these fields; `a.S/Go` takes one of each.
fn with_well_known(shape: &[FieldDescriptorProto]) -> Schema {
    let messages = WELL_KNOWN.map(|name| message(name, shape.to_vec()));
    let value = EnumValueDescriptorProto {
        name: Some("OTHER".into()),
        number: Some(0),
        ..Default::default()
    };
    let null = EnumDescriptorProto {
        name: Some("NullValue".into()),
        value: vec![value],
        ..Default::default()
    };
    let own = FileDescriptorProto {
        name: Some("o.proto".into()),
        package: Some("google.protobuf".into()),
        dependency: vec!["m.proto".into()],
        message_type: messages.to_vec(),
        enum_type: vec![null],
        ..Default::default()
    };
    let mut m = file(vec![message("M", vec![])]);
    (m.name, m.service) = (Some("m.proto".into()), vec![]);
    let field = |(name, number): (&str, i32)| {
        let kind = format!(".google.protobuf.{name}");
        of_type(&format!("f{number}"), number, Type::Message, &kind)
    };
    let mut user = file(vec![message("N", WELL_KNOWN.into_iter().zip(1..).map(field).collect())]);
    user.dependency = vec!["o.proto".into()];
    user.service[0].method[0].input_type = Some(".a.N".into());
    user.service[0].method[0].output_type = Some(".a.N".into());
    decode(vec![m, own, user]).unwrap()
}

#[test]
fn well_known_messages_may_have_another_shape() {
    let shapes = [
        vec![],
        vec![field("value", 1, Type::Bytes), field("type_url", 2, Type::String)],
        vec![repeated(field("seconds", 1, Type::Int32)), field("nanos", 2, Type::String)],
        vec![field("nanos", 1, Type::Int32), of_type("seconds", 2, Type::Message, ".a.M")],
        vec![of_type("fields", 1, Type::Message, ".a.M"), field("paths", 2, Type::Float)],
        vec![of_type("value", 1, Type::Enum, ".google.protobuf.NullValue")],
    ];
    let data = [
        "{}",
        "[]",
        "7",
        "true",
        "null",
        "\"\"",
        "\"1s\"",
        "\"a.b\"",
        "\"2020-01-01T00:00:00Z\"",
        r#"{"a": 1}"#,
        r#"[{}, 2, "x"]"#,
        r#"{"@type": "x/a.M"}"#,
        r#"{"@type": "x/google.protobuf.Duration", "value": "1s"}"#,
    ];
    for shape in shapes {
        let kind = with_well_known(&shape).method("a.S/Go").unwrap().input();
        for (number, data) in (1..=WELL_KNOWN.len()).flat_map(|it| data.map(|data| (it, data))) {
            let json = format!(r#"{{"f{number}": {data}}}"#);
            for bytes in data::from_json(&json, "-d", &kind).unwrap_or_default() {
                let read = DynamicMessage::decode(kind.clone(), &bytes[..]);
                let _ = read.map(|message| serde_json::to_string(&message));
            }
        }
    }
}
