//! Schemas from files, descriptor sets and reflection; messages made with them.

use bookend_payload::data::{self, DataSource, Templates};
use bookend_payload::schema::reflection::{ReflectionError, ReflectionQuery};
use bookend_payload::schema::{MethodError, Schema, SchemaError, path};
use prost::Message as _;
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn proto(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto").join(name)
}

fn greeter() -> Schema {
    Schema::from_proto(&proto("helloworld.proto"), &[]).expect("the file is correct")
}

fn complex() -> Schema {
    Schema::from_proto(&proto("complex_proto.proto"), &[]).expect("the file is correct")
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("it is in the folder")).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

const SHOP: &str = r#"
    syntax = "proto3";
    package shop.v1;
    import "shop/price.proto";
    import "google/protobuf/timestamp.proto";
    message Order { Price price = 1; google.protobuf.Timestamp at = 2; }
    service Orders {
      rpc Put(Order) returns (Order);
      rpc Watch(Order) returns (stream Order);
      rpc Upload(stream Order) returns (Order);
    }
    service Stock { rpc Put(Order) returns (Order); }
"#;

const PRICE: &str = r#"
    syntax = "proto3";
    package shop.v1;
    message Price { int64 cents = 1; }
"#;

fn shop() -> (TempDir, Schema) {
    let files = folder(&[("shop/orders.proto", SHOP), ("shop/price.proto", PRICE)]);
    let file = files.path().join("shop/orders.proto");
    let schema = Schema::from_proto(&file, &[files.path().to_owned()]).unwrap();
    (files, schema)
}

#[test]
fn a_method_is_found_in_both_spellings() {
    for call in ["helloworld.Greeter/SayHello", "helloworld.Greeter.SayHello"] {
        let method = greeter().method(call).unwrap();
        assert_eq!(path(&method), "/helloworld.Greeter/SayHello");
        assert_eq!(method.input().full_name(), "helloworld.HelloRequest");
        assert_eq!(method.output().full_name(), "helloworld.HelloReply");
        assert!(!method.is_client_streaming() && !method.is_server_streaming());
    }
}

#[test]
fn imports_are_found_and_streaming_is_known() {
    let (_files, schema) = shop();
    assert_eq!(schema.services(), ["shop.v1.Orders", "shop.v1.Stock"]);
    let watch = schema.method("shop.v1.Orders/Watch").unwrap();
    assert!(!watch.is_client_streaming() && watch.is_server_streaming());
    let upload = schema.method("shop.v1.Orders/Upload").unwrap();
    assert!(upload.is_client_streaming() && !upload.is_server_streaming());
}

#[test]
fn a_wrong_call_names_the_nearest_right_word() {
    let (files, schema) = shop();
    let place = files.path().join("shop/orders.proto").display().to_string();
    for (call, said) in [
        (
            "shop.v1.Order/Put",
            format!(
                "there is no service shop.v1.Order in {place}; did you mean shop.v1.Orders? \
                 (there is shop.v1.Orders, shop.v1.Stock)"
            ),
        ),
        (
            "Stock/Put",
            format!(
                "there is no service Stock in {place}; did you mean shop.v1.Stock? \
                 (there is shop.v1.Orders, shop.v1.Stock)"
            ),
        ),
        (
            "shop.v1.Orders/Wach",
            format!(
                "there is no method Wach in shop.v1.Orders ({place}); did you mean Watch? \
                 (there is Put, Watch, Upload)"
            ),
        ),
        ("Put", "call \"Put\" is not of the form pkg.Service/Method".to_owned()),
        ("a/b/c", "call \"a/b/c\" is not of the form pkg.Service/Method".to_owned()),
        ("", "call \"\" is not of the form pkg.Service/Method".to_owned()),
    ] {
        assert_eq!(schema.method(call).unwrap_err().to_string(), said);
    }
}

#[test]
fn a_missing_file_names_its_neighbour() {
    let error = Schema::from_proto(&proto("helloword.proto"), &[]).unwrap_err().to_string();
    assert!(error.contains("no such file or folder"), "{error}");
    assert!(error.contains("did you mean"), "{error}");
    assert!(error.contains("helloworld.proto?"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn a_wrong_file_is_named_with_line_and_column() {
    let files = folder(&[
        ("broken.proto", "syntax = \"proto3\";\nmessage {}\n"),
        ("dangling.proto", "syntax = \"proto3\";\nmessage A { B b = 1; }\n"),
        ("lonely.proto", "syntax = \"proto3\";\nimport \"absent.proto\";\n"),
    ]);
    for (name, place) in
        [("broken.proto", ":2:9:"), ("dangling.proto", ":2:13:"), ("lonely.proto", ":2:")]
    {
        let error = Schema::from_proto(&files.path().join(name), &[]).unwrap_err().to_string();
        assert!(error.contains(&format!("{name}{place}")), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}

#[test]
fn folders_are_not_files_and_files_are_not_folders() {
    let error = Schema::from_proto(&proto(""), &[]).unwrap_err().to_string();
    assert!(error.ends_with("is a folder: name a file in it"), "{error}");
    let file = proto("helloworld.proto");
    let error = Schema::from_proto(&file, std::slice::from_ref(&file)).unwrap_err().to_string();
    assert!(error.ends_with("helloworld.proto is not a folder"), "{error}");
}

fn decode(set: &[u8]) -> Result<Schema, SchemaError> {
    Schema::decode(set, "the descriptor set".to_owned())
}

#[test]
fn a_compiled_set_is_the_same_schema() {
    let set = protox::compile([proto("helloworld.proto")], [proto("")]).unwrap().encode_to_vec();
    let files = folder(&[]);
    let file = files.path().join("greeter.protoset");
    fs::write(&file, &set).unwrap();
    let call = "helloworld.Greeter/SayHello";
    let path_in = |schema: Schema| path(&schema.method(call).unwrap());
    let path = path_in(greeter());
    assert_eq!(path_in(Schema::from_protoset(&file).unwrap()), path);
    assert_eq!(path_in(decode(&set).unwrap()), path);
}

#[test]
fn a_set_without_its_imports_says_how_to_make_one() {
    let (files, _) = shop();
    let mut compiler = protox::Compiler::new([files.path()]).unwrap();
    compiler.open_file("shop/orders.proto").unwrap();
    let incomplete = compiler.file_descriptor_set().encode_to_vec();
    for bytes in [incomplete.as_slice(), b"no descriptor set"] {
        let error = decode(bytes).unwrap_err().to_string();
        assert!(error.contains("--include_imports"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}

#[test]
fn a_descriptor_set_cut_anywhere_is_an_error_or_a_smaller_set() {
    let set = protox::compile([proto("complex_proto.proto")], [proto("")]).unwrap();
    let whole = set.encode_to_vec();
    for end in 0..whole.len() {
        let mut services =
            decode(&whole[..end]).map(|schema| schema.services()).unwrap_or_default();
        services.retain(|name| name != "complex_proto.Greeter");
        assert!(services.is_empty(), "cut after {end} bytes");
        let mut flipped = whole.clone();
        flipped[end] ^= 0xff;
        // Only that it returns: some of these are sets with another name in them.
        let _ = decode(&flipped);
    }
}

#[test]
fn one_file_in_two_spellings_is_one_file() {
    let file = std::path::absolute(proto("helloworld.proto")).unwrap();
    let folder = std::env::current_dir().unwrap();
    let relative = Path::new("../../proto").to_owned();
    assert!(folder.join(&relative).is_dir());
    assert!(Schema::from_proto(&file, &[relative]).is_ok());
}

#[test]
fn a_proto_file_given_as_a_compiled_set_says_so() {
    let error = Schema::from_protoset(&proto("helloworld.proto")).unwrap_err();
    assert!(error.to_string().ends_with("is not compiled: give it with --proto"), "{error}");
}

/// A server's reflection service that knows the shop's files but, like many, not Google's.
struct Server {
    files: Vec<prost_types::FileDescriptorProto>,
    asked: RefCell<Vec<String>>,
}

impl Server {
    fn with_the_shop() -> Server {
        let (files, _) = shop();
        let set = protox::compile(["shop/orders.proto"], [files.path()]).unwrap();
        let own = set.file.into_iter().filter(|file| !file.name().starts_with("google/"));
        Server { files: own.collect(), asked: RefCell::default() }
    }

    fn answer(&self, query: ReflectionQuery) -> Result<Vec<Vec<u8>>, String> {
        let (ReflectionQuery::Services(name)
        | ReflectionQuery::Symbol(name)
        | ReflectionQuery::File(name)) = &query;
        self.asked.borrow_mut().push(name.clone());
        let file = match &query {
            ReflectionQuery::Services(_) => return Ok(vec![b"shop.v1.Orders".to_vec()]),
            ReflectionQuery::Symbol(name) if name == "shop.v1.Orders" => "shop/orders.proto",
            ReflectionQuery::Symbol(_) => return Err("NOT_FOUND".to_owned()),
            ReflectionQuery::File(name) => name,
        };
        let found = self.files.iter().find(|known| known.name() == file).ok_or("NOT_FOUND")?;
        Ok(vec![found.encode_to_vec()])
    }
}

#[test]
fn reflection_fetches_every_import_once() {
    let server = Server::with_the_shop();
    let call = "shop.v1.Orders/Put";
    let schema = Schema::by_reflection(call, |query| server.answer(query)).unwrap();
    assert_eq!(path(&schema.method(call).unwrap()), "/shop.v1.Orders/Put");
    let mut asked = server.asked.into_inner();
    asked.sort();
    let expected = ["google/protobuf/timestamp.proto", "shop.v1.Orders", "shop/price.proto"];
    assert_eq!(asked, expected);
}

#[test]
fn reflection_names_the_service_that_was_meant() {
    let server = Server::with_the_shop();
    let error =
        Schema::by_reflection("shop.v1.Order/Put", |query| server.answer(query)).unwrap_err();
    assert!(matches!(error, ReflectionError::Call(MethodError::ServiceUnknown { .. })));
    assert_eq!(
        error.to_string(),
        "there is no service shop.v1.Order in the server's reflection; did you mean \
         shop.v1.Orders?"
    );
}

#[test]
fn a_server_without_reflection_is_told_apart_from_a_wrong_name() {
    let error = Schema::by_reflection("a.B/C", |_| Err("UNIMPLEMENTED")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server's reflection did not describe a.B (UNIMPLEMENTED): give the schema with \
         --proto or --protoset"
    );
}

#[test]
fn a_server_that_answers_nonsense_is_blamed() {
    let nonsense = |_: ReflectionQuery| Ok::<_, String>(vec![b"\xff\xff".to_vec()]);
    let error = Schema::by_reflection("a.B/C", nonsense).unwrap_err();
    assert!(matches!(error, ReflectionError::Answer { .. }), "{error}");
    let elsewhere = |_: ReflectionQuery| {
        let file = prost_types::FileDescriptorProto {
            name: Some("a.proto".to_owned()),
            dependency: vec!["b.proto".to_owned()],
            ..Default::default()
        };
        Ok::<_, String>(vec![file.encode_to_vec()])
    };
    let error = Schema::by_reflection("a.B/C", elsewhere).unwrap_err();
    assert!(error.to_string().contains("b.proto wrongly"), "{error}");
}

fn json(schema: &Schema, call: &str, text: &str) -> Result<Vec<Vec<u8>>, String> {
    let message = schema.method(call).unwrap().input();
    let messages = data::from_json(text, "-d", &message);
    messages.map_err(|error| error.to_string())
}

const COMPLEX_CALL: &str = "complex_proto.Greeter/SayHello";

#[test]
fn the_complex_message_has_the_published_size() {
    let text = fs::read_to_string(proto("complex_proto.json")).unwrap();
    let messages = json(&complex(), COMPLEX_CALL, &text).unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].len(), 78);
    const GRPC_PREFIX_BYTES: usize = 5;
    assert_eq!(messages[0].len() + GRPC_PREFIX_BYTES, 83);
}

#[test]
fn an_array_is_several_messages_in_its_order() {
    let text = r#"[{"name": "a"}, {"name": "bc"}]"#;
    let messages = json(&greeter(), "helloworld.Greeter/SayHello", text).unwrap();
    assert_eq!(messages, [b"\x0a\x01a".to_vec(), b"\x0a\x02bc".to_vec()]);
}

#[test]
fn wrong_data_is_named_by_line_column_and_field() {
    for (text, said) in [
        (
            r#"{"request": {"nmae": "x"}}"#,
            "-d, line 1 column 19: complex_proto.Hello has no field nmae; did you mean name?",
        ),
        (
            r#"{"request": {"pets": [{"color": "BLEU"}]}}"#,
            "-d, line 1 column 38: complex_proto.Pet.Color has no value BLEU; did you mean BLUE? \
             (there is BLACK, WHITE, BLUE, RED, YELLOW, GREEN)",
        ),
        (
            "{\"request\":\n  {\"n\": \"many\"}}",
            "-d, line 2 column 14, field request.n: invalid digit found in string",
        ),
        (
            r#"{"request": {"pets": [{}, {"name": 5}]}}"#,
            "-d, line 1 column 36, field request.pets[1].name: invalid type: integer `5`, \
             expected a string",
        ),
        (r#"{"request": "#, "-d, line 1 column 12, field request: EOF while parsing a value"),
        ("{} {}", "-d, line 1 column 4: trailing characters"),
        ("[]", "-d has no message: {} is the empty one"),
        ("", "-d, line 1 column 0: EOF while parsing a value"),
        ("7", "-d, line 1 column 1: invalid type: integer `7`, expected an object in {}"),
    ] {
        let error = json(&complex(), COMPLEX_CALL, text).unwrap_err();
        assert!(error.starts_with(said), "{text}\n{error}\n{said}");
        assert_eq!(error.lines().count(), 1);
    }
}

#[test]
fn nesting_without_end_is_an_error() {
    let text = "[".repeat(100_000);
    assert!(json(&complex(), COMPLEX_CALL, &text).is_err());
    let text = r#"{"request":"#.repeat(100_000);
    assert!(json(&complex(), COMPLEX_CALL, &text).is_err());
}

#[test]
fn lists_of_numbers_are_packed_where_the_schema_says_so() {
    let proto = |syntax: &str, packed: bool| {
        let text = format!(
            "syntax = \"{syntax}\"; package a; service S {{ rpc Do(M) returns (M); }}
            message M {{ repeated int32 n = 1 [packed = {packed}]; }}"
        );
        let files = folder(&[("a.proto", &text)]);
        let schema = Schema::from_proto(&files.path().join("a.proto"), &[]).unwrap();
        json(&schema, "a.S/Do", r#"{"n": [1, 2]}"#)
    };
    for syntax in ["proto2", "proto3"] {
        assert_eq!(proto(syntax, true), Ok(vec![b"\x0a\x02\x01\x02".to_vec()]), "{syntax}");
        assert_eq!(proto(syntax, false), Ok(vec![b"\x08\x01\x08\x02".to_vec()]), "{syntax}");
    }
}

#[test]
fn templates_may_be_literal_text() {
    let text = r#"{"name": "call {{.RequestNumber}}"}"#.to_owned();
    let method = greeter().method("helloworld.Greeter/SayHello").unwrap();
    let source = DataSource::Json(text);
    let data = data::read(&source, &method, Templates::Literal, &mut &b""[..]).unwrap();
    assert_eq!(data.messages, [b"\x0a\x17call {{.RequestNumber}}"]);
    assert!(data.template.is_none());
}

#[test]
fn data_comes_from_files_and_from_standard_input() {
    let method = greeter().method("helloworld.Greeter/SayHello").unwrap();
    let files = folder(&[("data.json", r#"{"name": "a"}"#), ("data.bin", "\x0a\x01a")]);
    let read = |source: DataSource, mut input: &[u8]| {
        data::read(&source, &method, Templates::Functions, &mut input)
            .map(|data| data.messages)
            .map_err(|error| error.to_string())
    };
    let one = Ok(vec![b"\x0a\x01a".to_vec()]);
    assert_eq!(read(DataSource::JsonFile(files.path().join("data.json")), b""), one);
    assert_eq!(read(DataSource::BinaryFile(files.path().join("data.bin")), b""), one);
    assert_eq!(read(DataSource::JsonInput, br#"{"name": "a"}"#), one);
    assert_eq!(read(DataSource::BinaryInput, b"\x0a\x01a"), one);
    assert_eq!(read(DataSource::Json(r#"{"name": "a"}"#.to_owned()), b""), one);
    assert_eq!(read(DataSource::Nothing, b""), Ok(vec![vec![]]));
    let missing = read(DataSource::JsonFile(files.path().join("absent.json")), b"").unwrap_err();
    assert!(missing.contains("absent.json: no such file or folder"), "{missing}");
    let binary = read(DataSource::JsonInput, b"\xff").unwrap_err();
    assert!(binary.contains("-B"), "{binary}");
}

#[test]
fn serialized_messages_come_alone_or_with_their_lengths() {
    let message = greeter().method("helloworld.Greeter/SayHello").unwrap().input();
    let read = |bytes: &[u8]| data::from_binary(bytes, "-B", &message);
    let one = read(b"\x0a\x01a").unwrap();
    assert_eq!(one, [b"\x0a\x01a".to_vec()]);
    let two = read(b"\x03\x0a\x01a\x04\x0a\x02bc").unwrap();
    assert_eq!(two, [b"\x0a\x01a".to_vec(), b"\x0a\x02bc".to_vec()]);
    for cut in
        [b"\x03\x0a\x01".as_slice(), b"\x0a\x05a", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"]
    {
        let error = read(cut).unwrap_err().to_string();
        assert!(error.contains("helloworld.HelloRequest"), "{error}");
    }
}

#[test]
fn imports_of_imports_have_an_end() {
    let long = "x".repeat(400);
    let name = |place: usize| format!("{long}{place}.proto");
    let files: Vec<_> = (0..400)
        .map(|place| FileDescriptorProto {
            name: Some(name(place)),
            dependency: (0..place).map(name).collect(),
            public_dependency: (0..place).map(|place| place as i32).collect(),
            ..Default::default()
        })
        .collect();
    let answer: Vec<_> = files.iter().map(|file| file.encode_to_vec()).collect();
    let error = decode(&FileDescriptorSet { file: files }.encode_to_vec()).unwrap_err();
    assert!(error.to_string().contains("is too large for a schema: it has imports"));
    let error = Schema::by_reflection("a.S/Go", |_| Ok::<_, String>(answer.clone())).unwrap_err();
    assert!(error.to_string().contains("describes too much (imports"), "{error}");
}
