//! Every form that Apache Thrift's compiler takes, and what no form may do.

use super::ResolvedIdl;
use super::files::IdlFiles;
use super::resolve::check_idl;
use crate::thrift::schema::{ThriftField, ThriftMethod, ThriftSchema, ThriftStruct, ThriftType};
use bookend_contract::printable::is_printable;

fn resolved(text: &str) -> Result<ResolvedIdl, String> {
    let files = IdlFiles::of_text("a.thrift", text).and_then(ResolvedIdl::new);
    files.map_err(|error| error.to_string())
}

fn method(text: &str) -> Result<(ResolvedIdl, ThriftMethod), String> {
    let mut idl = resolved(text)?;
    let method = idl.method("S.m").map_err(|error| error.to_string())?;
    Ok((idl, method))
}

fn type_shown(shown: &ThriftType, schema: &ThriftSchema) -> String {
    match shown {
        ThriftType::List(element) => format!("list<{}>", type_shown(element, schema)),
        ThriftType::Set(element) => format!("set<{}>", type_shown(element, schema)),
        ThriftType::Map(types) => {
            format!("map<{},{}>", type_shown(&types.0, schema), type_shown(&types.1, schema))
        }
        ThriftType::I8 => "i8".to_owned(),
        ThriftType::Binary => "binary".to_owned(),
        ThriftType::String => "string".to_owned(),
        named => schema.name_of(named).to_owned(),
    }
}

fn field_shown(field: &ThriftField, schema: &ThriftSchema) -> String {
    let required = if field.is_required { "required " } else { "" };
    let written = type_shown(&field.field_type, schema);
    let default = field.default.as_ref().map(|default| {
        let json = default.to_json(Some(&field.field_type), schema);
        format!("={json}")
    });
    format!("{}:{required}{written} {}{}", field.id, field.name, default.unwrap_or_default())
}

fn struct_shown(shown: &ThriftStruct, schema: &ThriftSchema) -> String {
    let fields: Vec<_> = shown.fields.iter().map(|field| field_shown(field, schema)).collect();
    fields.join(", ")
}

/// The fields of a struct `A` as they are resolved; a service that has them is added.
fn fields(text: &str) -> Result<String, String> {
    let (idl, _) = method(&format!("{text}\nservice S {{ void m(1: A a) }}"))?;
    let known = idl.schema.structs.iter().find(|known| known.name == "A").unwrap();
    Ok(struct_shown(known, &idl.schema))
}

/// The method `S.m` as it is resolved.
fn signature(text: &str) -> Result<String, String> {
    let (idl, method) = method(text)?;
    let place = |place: usize| struct_shown(&idl.schema.structs[place], &idl.schema);
    let oneway = if method.is_oneway { "oneway " } else { "" };
    Ok(format!("{oneway}({}) -> ({})", place(method.arguments), place(method.result)))
}

const FIELD_FORMS: [(&str, &str); 59] = [
    // Fields: Field, FieldIdentifier, FieldRequiredness, FieldReference, FieldName.
    ("struct A { 1: i32 a, 2: i32 b; 3: i32 c }", "1:i32 a, 2:i32 b, 3:i32 c"),
    ("struct A { 1:i32 a 2:i32 b }", "1:i32 a, 2:i32 b"),
    ("struct A { 1: i32 a,; }", "1:i32 a"),
    ("struct A { i32 a, string b }", "-2:string b, -1:i32 a"),
    ("struct A { i32 a; 1: i32 b; i32 c; }", "-2:i32 c, -1:i32 a, 1:i32 b"),
    ("struct A { -1: i32 a, -2: i32 b }", "-2:i32 b, -1:i32 a"),
    ("struct A { 0: i32 a, 3: i32 b }", "-1:i32 a, 3:i32 b"),
    ("struct A { 0x10: i32 a, +2: i32 b }", "2:i32 b, 16:i32 a"),
    ("struct A { 2: i32 b 1: i32 a }", "1:i32 a, 2:i32 b"),
    ("struct A { 1: required i32 a, 2: optional i32 b }", "1:required i32 a, 2:i32 b"),
    ("struct A { required i32 a }", "-1:required i32 a"),
    ("struct A { 1: optional A & a, 2: A &b }", "1:A a, 2:A b"),
    ("struct A { 1: string required, 2: i32 list }", "1:string required, 2:i32 list"),
    ("struct A { 1: i32 struct 2: i32 xsd, 3: bool void }", "1:i32 struct, 2:i32 xsd, 3:bool void"),
    ("struct A { 1: i32 a xsd_optional xsd_nillable, 2: i32 b }", "1:i32 a, 2:i32 b"),
    ("struct A xsd_all { 1: i32 a xsd_attrs { 1: string x { } }, 2: i32 b }", "1:i32 a, 2:i32 b"),
    ("union A xsd_all { 1: i32 a, 2: i32 b }", "1:i32 a, 2:i32 b"),
    ("exception A { 1: string why }", "1:string why"),
    ("struct A {}", ""),
    // Types: BaseType, ContainerType, CppType, TypeAnnotations.
    ("struct A { 1: byte a, 2: i8 b, 3: i16 c, 4: i64 d }", "1:i8 a, 2:i8 b, 3:i16 c, 4:i64 d"),
    (
        "struct A { 1: bool a, 2: double b, 3: binary c, 4: uuid d }",
        "1:bool a, 2:double b, 3:binary c, 4:uuid d",
    ),
    ("struct A { 1: slist a }", "1:string a"),
    ("struct A { 1: map<i32,list<set<string>>> a }", "1:map<i32,list<set<string>>> a"),
    ("struct A { 1: list cpp_type 'std::list' <i32> a }", "1:list<i32> a"),
    ("struct A { 1: list<i32> cpp_type \"std::list\" a }", "1:list<i32> a"),
    ("struct A { 1: map cpp_type \"m<,>\" <i32, i32> a }", "1:map<i32,i32> a"),
    ("struct A { 1: set cpp_type 's' < i32 > (a = 'b') a }", "1:set<i32> a"),
    ("struct A { 1: i64 (js.type = \"Date\") a (b = \"(\", c; d = ')') }", "1:i64 a"),
    ("struct A { 1: list<string (a = 'b')> (c) a } (final, d = \"e\")", "1:list<string> a"),
    ("typedef i64 (js.type = 'Date') Date (a)\nstruct A { 1: Date a }", "1:i64 a"),
    ("typedef list<B> Bs; typedef i32 B, struct A { 1: Bs a }", "1:list<i32> a"),
    ("struct A { 1: B b } struct B { 1: A a }", "1:B b"),
    // Enums: EnumValue.
    ("enum E { X, Y }\nstruct A { 1: E e = E.Y, 2: E f = Y }", "1:E e=\"Y\", 2:E f=\"Y\""),
    (
        "enum E { X = 0x10; Y Z = -3, W } (a)\nstruct A { 1: i32 y = E.Y, 2: i32 w = E.W }",
        "1:i32 y=17, 2:i32 w=-2",
    ),
    ("enum E { X = 5 (a = 'b'), Y (c) }\nstruct A { 1: E e = 6 }", "1:E e=\"Y\""),
    ("enum E { X = 2147483647 }\nstruct A { 1: E e = E.X }", "1:E e=\"X\""),
    ("senum E { 'x', \"y\"; 'z' }\nstruct A { 1: E e = 'x' }", "1:string e=\"x\""),
    // Constants: Const, ConstValue, ConstList, ConstMap.
    ("struct A { 1: i32 a = -0x1F, 2: double b = 1e5 }", "1:i32 a=-31, 2:double b=100000.0"),
    ("struct A { 1: double a = 1, 2: double b = -.5E1 }", "1:double a=1.0, 2:double b=-5.0"),
    (
        "struct A { 1: bool a = true, 2: bool b = 0, 3: i32 c = true }",
        "1:bool a=true, 2:bool b=false, 3:i32 c=1",
    ),
    ("struct A { 1: i64 a = 9223372036854775807 }", "1:i64 a=9223372036854775807"),
    (
        "struct A { 1: string a = 'it\\'s \"\\t', 2: binary b = \"\" }",
        "1:string a=\"it's \\\"\\t\", 2:binary b=\"\"",
    ),
    ("struct A { 1: string a = 'C:\\d #//' }", "1:string a=\"C:\\\\d #//\""),
    (
        "struct A { 1: list<i32> a = [1 2; 3,], 2: set<i32> b = [] }",
        "1:list<i32> a=[1,2,3], 2:set<i32> b=[]",
    ),
    (
        "struct A { 1: map<string,i32> a = {'x': 1; 'y': 2 'z': 3}, 2: list<i32> b = {} }",
        "1:map<string,i32> a={\"x\":1,\"y\":2,\"z\":3}, 2:list<i32> b=[]",
    ),
    (
        "struct A { 1: B b = {'y': 2, 'x': [[1], []]} } struct B { 1: list<list<i8>> x, 2: i8 y }",
        "1:B b={\"x\":[[1],[]],\"y\":2}",
    ),
    ("const i32 X = Y, const i32 Y = 7; struct A { 1: i32 a = X }", "1:i32 a=7"),
    (
        "struct A { 1: uuid a = '00112233-4455-6677-8899-aabbccddeeff' }",
        "1:uuid a=\"00112233-4455-6677-8899-aabbccddeeff\"",
    ),
    // Headers: Include, Namespace and those of older versions.
    (
        "namespace * x namespace java com.x.y\nnamespace py.twisted z (a = \"b\",\n c)\n\
        struct A { 1: i32 a }",
        "1:i32 a",
    ),
    (
        "namespace smalltalk.category Thrift-Test.1\nnamespace go \"github.com/x\"\n\
        struct A { 1: i32 a }",
        "1:i32 a",
    ),
    (
        "cpp_namespace a\nphp_namespace b\npy_module c\nperl_package D\nruby_namespace E\n\
        java_package f.g\ncocoa_prefix h\ncsharp_namespace i\ndelphi_namespace j\n\
        smalltalk_category k-l\nsmalltalk_prefix m\nxsd_namespace 'http://n'\n\
        struct A { 1: i32 a }",
        "1:i32 a",
    ),
    (
        "cpp_include \"<map>\" cpp_include 'b.h'\ninclude 'nowhere.thrift'\nstruct A { 1: i32 a }",
        "1:i32 a",
    ),
    // Text.
    ("/** doc: é ☃ { */ struct A { // \"\n 1: i32 a # '\n /***/ /* \" */ }", "1:i32 a"),
    ("struct A {\r\n\t1: i32 a,\r\n}\r\n", "1:i32 a"),
    ("#!/usr/bin/thrift\nstruct A { 1: i32 a };", "1:i32 a"),
    // What is no call's: of other dialects, or such as the compiler only warns of.
    ("package 'x.y'\n@thrift.Uri{value = \"}\"}\nstruct A { 1: i32 a }", "1:i32 a"),
    ("interaction I { i32 f(1: A a); } (b)\nstruct A { 1: i32 a }", "1:i32 a"),
    ("struct B { 1: Nowhere.C c }\nconst Nowhere X = [1]\nstruct A { 1: i32 a }", "1:i32 a"),
    ("struct B { 70000: i32 b }\nstruct C { 1: i8 c = 300 }\nstruct A { 1: i32 a }", "1:i32 a"),
];

#[test]
fn every_form_of_a_definition_is_read() {
    for (text, expected) in FIELD_FORMS {
        assert_eq!(fields(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn every_form_of_a_service_is_read() {
    for (text, expected) in [
        ("service S { void m() }", "() -> ()"),
        ("service S { void m(), }", "() -> ()"),
        (
            "service S { i32 m(1: i32 a); void n() } (b = 'c')",
            "(1:required i32 a) -> (0:i32 success)",
        ),
        ("service S { oneway void m(1: i32 a) (b = \"c\"), }", "oneway (1:required i32 a) -> ()"),
        ("service S { async void m(i32 a) }", "oneway (-1:required i32 a) -> ()"),
        ("service S { i32 (a = 'b') m(i32 a = 3) }", "(-1:required i32 a=3) -> (0:i32 success)"),
        ("service S { void m(1: optional i32 a) }", "(1:i32 a) -> ()"),
        ("service S { void list() void m() }", "() -> ()"),
        ("exception E {} service S { i32 m() throws (1: E e) }", "() -> (0:i32 success, 1:E e)"),
        (
            "exception E {} service S { i32 m() throws (E e, 2: E f) (a) }",
            "() -> (-1:E e, 0:i32 success, 2:E f)",
        ),
        ("service S extends T { } service T { list<i8> m() }", "() -> (0:list<i8> success)"),
        ("service S extends T {} service T extends U {} service U { void m() }", "() -> ()"),
        ("struct S {} service S { void m(1: S s) }", "(1:required S s) -> ()"),
    ] {
        assert_eq!(signature(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn files_that_are_called_alike_are_both_included() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        (
            "a.thrift",
            "include 'x/b.thrift' include 'y/b.thrift' include 'c.d.thrift'\n\
            struct A { 1: b.X x, 2: b.Y y, 3: b.E e = b.E.TWO, 4: i32 z = c.d.Z, 5: c.d.T t }\n\
            service S extends b.Base {}",
        ),
        ("x/b.thrift", "include 'y/b.thrift' struct X {} enum E { ONE } service Base {}"),
        (
            "y/b.thrift",
            "include '../x/b.thrift' struct Y {} enum E { ONE, TWO }\n\
            include '../a.thrift' service Base { void m(1: a.A a) }",
        ),
        ("c.d.thrift", "const i32 Z = 26; typedef map<T2, T2> T; typedef i8 T2"),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let import_paths = [folder.path().to_owned()];
    let mut idl = ResolvedIdl::read(&folder.path().join("a.thrift"), &import_paths).unwrap();
    let method = idl.method("S.m").unwrap();
    let ThriftType::Struct(a) = idl.schema.structs[method.arguments].fields[0].field_type else {
        panic!()
    };
    let expected = "1:X x, 2:Y y, 3:E e=\"TWO\", 4:i32 z=26, 5:map<i8,i8> t";
    assert_eq!(struct_shown(&idl.schema.structs[a], &idl.schema), expected);
}

/// What is said of a text that is refused.
fn refused(text: &str) -> String {
    let error = method(text).map(|_| ()).unwrap_err();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.len() < 500 && error.chars().all(is_printable), "{error}");
    error
}

#[test]
fn what_is_no_idl_is_said_with_line_and_column() {
    for (text, said) in [
        ("struct A {\n 1: i32 }", "line 2 column 9: expected the name of a field, found }"),
        ("struct A {\r\n\t1 i32 a }", "line 2 column 4: expected :, found i32"),
        ("struct A { 1: é a }", "column 15: expected a type, found the character U+00E9"),
        ("struct A { 1: \u{1b}[31m }", "expected a type, found the character U+001B"),
        ("struct A { 1: i32 a", "column 20: expected a type, found the end of the file"),
        ("struct A { 1: list<i32 a }", "column 24: expected >, found a"),
        ("struct A { 1: i32 a = ; }", "column 23: expected a value, found ;"),
        ("struct A { 1: i32 a = 1e300 2e300 }", "expected a type, found 2e300"),
        ("struct A { 99999999999999999999: i32 a }", "found a number that 64 bits do not hold"),
        ("struct A { 1: string a = \"b\n\" }", "found a string that does not end on its line"),
        ("\n/* x", "line 2 column 1: expected a definition, found a comment that does not end"),
        ("struct A { } }", "column 14: expected a definition, found }"),
        ("struct A { 1: i32 a (b = 'c' }", "column 30: expected ), found }"),
        ("enum E {\n A = 2147483648,\n B }", "line 2 column 2: A is 2147483648, which 32 bits"),
        ("enum E { A = 2147483647 B }", "column 25: B is 2147483648, which 32 bits do not hold"),
        ("enum E { A = 1.5 }", "expected a whole number, found 1.5e0"),
        ("{\"a\": 1}", "line 1 column 1: expected a definition, found {"),
        (
            "\n strct A { 1: i32 a }",
            "line 2 column 2: strct begins no definition of Thrift; did you",
        ),
        (
            "syntax = \"proto3\";\nmessage M {}\nservice S { rpc m (M) returns (M); }",
            "line 1 column 1: syntax begins no definition of Thrift",
        ),
    ] {
        let error = refused(text);
        assert!(error.starts_with("a.thrift is not Thrift's IDL, line "), "{text:?}: {error}");
        assert!(error.contains(said), "{text:?}: {error}");
    }
}

#[test]
fn what_contradicts_itself_is_said_with_its_line() {
    for (text, said) in [
        ("\nstruct A { 70000: i32 a }", "line 2: the id of A.a is beyond 16 bits"),
        ("struct A { 1: i32 a,\n 1: i32 b }", "line 2: A has two fields with the id 1"),
        ("struct A { 1: i32 a,\n 2: i32 a }", "line 2: A has two fields with the name a"),
        ("struct A {}\nenum A {}", "line 2: A is defined twice"),
        ("struct Ab { 1: i32 a }\nstruct A {\n 1: Aa b }", "line 3: there is no type Aa; did you"),
        ("strct B {}\nstruct A {\n 1: B b }", "line 1 column 1: strct begins no definition"),
        ("include 'b.thrift'\nstruct A { 1: b.C c }", "line 1: it includes b.thrift, which is not"),
        ("include 'b.thrift'\nstruct A { 1: i32 c = b.C.D }", "it includes b.thrift, which is not"),
        ("include 'b\\n.thrift'\nstruct A { 1: i32 c = b }", "there is no constant b"),
        ("struct A {\n 1: uuid a = 'b' }", "line 2: the default of A.a: the value is no UUID"),
        ("struct A { 1: A a = {'b\\n': 1} }", "A has no field b\\n"),
        ("struct A { 1: i32 x 2: A a = {'x': 1, 'x': 2} }", "a field of A is there twice"),
    ] {
        let error = refused(&format!("{text}\nservice S {{ void m(1: A a) }}"));
        assert!(error.contains(said), "{text:?}: {error}");
        // The same is found where nothing asks for it.
        assert!(check_idl("a.thrift", text).is_err(), "{text:?}");
    }
    let parent = refused("service S extends\n Bas {}\nservice Base {}");
    assert_eq!(
        parent,
        "a.thrift, line 2: there is no service Bas; did you mean Base? (there is Base, S)"
    );
}

#[test]
fn nothing_is_read_deeper_than_its_bound() {
    let said = "a.thrift, line 1: brackets stand in each other more than 64 deep";
    let deep = |open: &str, close: &str, depth: usize| {
        format!("{}i8{}", open.repeat(depth), close.repeat(depth))
    };
    for depth in [65, 100_000] {
        for (before, open) in [
            ("struct A { 1: ", "list<"),
            ("struct A { 1: ", "map<i8,"),
            ("const i32 A = ", "["),
            ("const i32 A = ", "{1:"),
            ("const i32 A = ", "[{[]:"),
            ("struct A { 1: i8 a (", "("),
            ("struct A {} (", "[{"),
            ("senum A ", "{"),
            ("unknown A ", "({["),
            ("namespace a ", "("),
            ("struct A { 1: i8 a xsd_attrs ", "{"),
        ] {
            let text = format!("{before}{}", open.repeat(depth));
            assert_eq!(refused(&text), said, "{open}");
        }
    }
    let text = format!("struct A {{ 1: {} a }}", deep("list<", ">", 63));
    assert_eq!(fields(&text).unwrap().matches("list").count(), 63);
    let values = deep("[", "]", 63).replace("i8", "");
    let text = format!("struct A {{ 1: {} a = {values} }}", deep("list<", ">", 63));
    assert!(fields(&text).is_ok());
}

#[test]
fn nothing_that_stands_for_itself_is_followed_for_ever() {
    let typedefs: String = (1..=100_000).map(|n| format!("typedef T{n} T{}\n", n - 1)).collect();
    let constants: String =
        (1..=100_000).map(|n| format!("const i32 C{} = C{n}\n", n - 1)).collect();
    for (text, said) in [
        (format!("{typedefs}struct A {{ 1: T0 a }}"), "the typedef T64 stands for itself, or for"),
        ("typedef A2 T typedef T A2 struct A { 1: T a }".to_owned(), "stands for itself"),
        ("typedef map<T, T> T struct A { 1: T a }".to_owned(), "stands for itself"),
        (format!("{constants}struct A {{ 1: i32 a = C0 }}"), "the constant stands for itself"),
        ("const i32 C = [C, C] struct A { 1: A a 2: list<i32> b = C }".to_owned(), "another type"),
        (
            "const i32 C = D const i32 D = C struct A { 1: i32 a = C }".to_owned(),
            "the constant stands for itself",
        ),
    ] {
        let error = refused(&format!("{text}\nservice S {{ void m(1: A a) }}"));
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn nothing_that_is_doubled_again_and_again_is_resolved() {
    let doubled = |form: &dyn Fn(usize) -> String| (1..=25).map(form).collect::<String>();
    let typedefs = doubled(&|n| format!("typedef map<T{n}, T{n}> T{}\n", n - 1));
    let lists = doubled(&|n| format!("const i32 C{} = [C{n}, C{n}]\n", n - 1));
    let nested = format!("{}i8{}", "list<".repeat(25), ">".repeat(25));
    let long = "x".repeat(1 << 20);
    let fields: String = (1..=100).map(|n| format!("{n}: string s{n} = C\n")).collect();
    for text in [
        format!("{typedefs}typedef i8 T25\nstruct A {{ 1: T0 a }}"),
        format!("{lists}const i32 C25 = 1\nstruct A {{ 1: {nested} a = C0 }}"),
        format!("const string C = '{long}'\nstruct A {{ {fields} }}"),
    ] {
        let error = refused(&format!("{text}\nservice S {{ void m(1: A a) }}"));
        assert!(
            error.contains("types and constants stand for more than 1000000 others"),
            "{error}"
        );
    }
}

#[test]
fn a_hundred_thousand_services_that_extend_each_other_have_an_end() {
    let services: String =
        (1..=100_000).map(|n| format!("service S{} extends S{n} {{}}\n", n - 1)).collect();
    let circle = "service S extends S0 {} service S100000 extends S { void n() }";
    let error = refused(&format!("{services}{circle}"));
    assert_eq!(error, "S has no method m; did you mean n?");
    assert!(refused("service S extends S {}").starts_with("S has no method m"));
}

#[test]
fn what_there_is_much_of_is_not_looked_through_for_each_of_its_parts() {
    let values: String = (1..=100_000).map(|n| format!("V{n} ")).collect();
    let fields: String = (1..=1000).map(|n| format!("{n}: E e{n} = E.V100000 ")).collect();
    let slow = format!("enum E {{ {values} }} struct A {{ {fields} }}");
    let error = refused(&format!("{slow} service S {{ void m(1: A a) }}"));
    assert!(error.contains("types and constants stand for more than 1000000 others"), "{error}");
    let unknown = refused(&"a;".repeat(300_000));
    assert!(unknown.contains("line 1 column 1: a begins no definition of Thrift"), "{unknown}");
    let many = refused(&format!("const i32 C = [{}]", "1 ".repeat(1_000_001)));
    assert!(many.ends_with("there are more than 1000000 definitions, fields and values"));
}

/// Pieces of IDL in any order, cut anywhere, are read or refused.
#[test]
fn no_text_makes_the_parser_panic() {
    let pieces: Vec<&str> = FIELD_FORMS.iter().map(|(text, _)| *text).collect();
    let mut random = fastrand::Rng::with_seed(34);
    for text in &pieces {
        for (cut, _) in text.char_indices() {
            let other = pieces[random.usize(..pieces.len())];
            let from = random.usize(..other.len());
            let rest = other.get(from..).unwrap_or_default();
            let _ = check_idl("a.thrift", &text[..cut]);
            let _ = check_idl("a.thrift", &format!("{}{rest}", &text[..cut]));
        }
    }
}
