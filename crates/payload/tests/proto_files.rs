//! Where `.proto` files are found, and files that are not valid ones.

use bookend_payload::schema::Schema;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const MAIN: &str = r#"
    syntax = "proto3";
    package p;
    import "sub/x.proto";
    service S { rpc Go(X) returns (X); }
"#;
const SUB: &str = r#"
    syntax = "proto3";
    package p;
    message X { string a = 1; }
"#;

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("it is in the folder")).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn services(file: impl AsRef<Path>, import_paths: &[PathBuf]) -> Result<Vec<String>, String> {
    let schema = Schema::from_proto(file.as_ref(), import_paths);
    schema.map(|schema| schema.services()).map_err(|error| {
        let text = error.to_string();
        assert_eq!(text.lines().count(), 1, "{text}");
        text
    })
}

fn error(file: impl AsRef<Path>, import_paths: &[PathBuf]) -> String {
    services(file, import_paths).expect_err("it is of no use")
}

#[test]
fn a_file_is_named_from_here_or_from_an_import_path() {
    let files = folder(&[
        ("im p/m.proto", MAIN.as_bytes()),
        ("im p/sub/x.proto", SUB.as_bytes()),
        ("other/sub/y.proto", SUB.as_bytes()),
    ]);
    let imp = files.path().join("im p");
    let other = files.path().join("other");
    let found = Ok(vec!["p.S".to_owned()]);
    assert_eq!(services("m.proto", std::slice::from_ref(&imp)), found);
    assert_eq!(services("m.proto", &[other.clone(), imp.clone()]), found);
    assert_eq!(services("./m.proto", std::slice::from_ref(&imp)), found);
    assert_eq!(services("../im p/m.proto", std::slice::from_ref(&imp)), found);
    assert_eq!(services(imp.join("m.proto"), &[]), found);
    assert_eq!(services(other.join("../im p/m.proto"), &[]), found);
    assert_eq!(services("sub/x.proto", std::slice::from_ref(&imp)), Ok(vec![]));
    assert_eq!(services("sub/y.proto", &[imp.clone(), other.clone()]), Ok(vec![]));
    assert_eq!(
        error("n.proto", &[imp.clone(), other.clone()]),
        format!(
            "cannot read n.proto: no such file or folder, nor in {}, nor in {}",
            imp.display(),
            other.display()
        )
    );
    let absolute = files.path().join("m.proto");
    assert!(error(absolute, &[imp]).contains("no such file or folder"));
}

#[test]
fn one_file_under_several_names_is_one_file() {
    let both = r#"
        syntax = "proto3";
        package p;
        import "sub/x.proto";
        import "x.proto";
        import public "link.proto";
        service S { rpc Go(X) returns (X); }
    "#;
    let files = folder(&[("m.proto", both.as_bytes()), ("sub/x.proto", SUB.as_bytes())]);
    let path = |name: &str| files.path().join(name);
    std::os::unix::fs::symlink(path("sub/x.proto"), path("link.proto")).unwrap();
    let found = Ok(vec!["p.S".to_owned()]);
    assert_eq!(services(path("m.proto"), &[path("sub"), path(".")]), found);
    // As named by the user, and as imported by another.
    let back = r#"syntax = "proto3"; package p; import "m.proto"; message X {}"#;
    fs::write(path("sub/x.proto"), back).unwrap();
    let error = error(path("m.proto"), &[path("sub"), path(".")]);
    assert!(error.contains("x.proto imports itself, by way of "), "{error}");
}

#[test]
fn a_missing_import_is_named_with_its_importer_and_the_folders() {
    let importing = "syntax = \"proto3\";\nimport \"google/api/annotations.proto\";\n";
    let main = "syntax = \"proto3\";\nimport \"sub/api.proto\";\n";
    let files =
        folder(&[("m.proto", main.as_bytes()), ("imp/sub/api.proto", importing.as_bytes())]);
    let imp = files.path().join("imp");
    assert_eq!(
        error(files.path().join("m.proto"), std::slice::from_ref(&imp)),
        format!(
            "{}/sub/api.proto:2:1: import \"google/api/annotations.proto\" is in none of these \
             folders: {}, {}, .; name the folder that it is below with -i",
            imp.display(),
            imp.display(),
            files.path().display()
        )
    );
}

#[test]
fn a_file_in_an_edition_says_what_works() {
    let edition = "// Ours.\nedition = \"2023\";\npackage ed;\nmessage M {}\n";
    let main = "syntax = \"proto3\"; import \"ed.proto\";";
    let files = folder(&[("ed.proto", edition.as_bytes()), ("m.proto", main.as_bytes())]);
    let said = format!(
        "{}/ed.proto is in an edition of Protocol Buffers, and .proto files are read in proto2 and \
         proto3: compile it with protoc --include_imports --descriptor_set_out=FILE and give FILE \
         with --protoset",
        files.path().display()
    );
    assert_eq!(error(files.path().join("ed.proto"), &[]), said);
    assert_eq!(error(files.path().join("m.proto"), &[]), said);
}

#[test]
fn text_may_begin_with_a_mark_and_has_to_be_in_utf_8() {
    let marked = [b"\xef\xbb\xbf", MAIN.as_bytes()].concat();
    let marked_too = [b"\xef\xbb\xbf", SUB.as_bytes()].concat();
    let wide: Vec<u8> =
        format!("\u{feff}{SUB}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let files =
        folder(&[("m.proto", &marked), ("sub/x.proto", &marked_too), ("wide.proto", &wide)]);
    assert_eq!(services(files.path().join("m.proto"), &[]), Ok(vec!["p.S".to_owned()]));
    let error = error(files.path().join("wide.proto"), &[]);
    assert!(error.ends_with("wide.proto: it is text in UTF-16: save it in UTF-8"), "{error}");
}

#[test]
fn what_has_no_end_is_not_read_to_its_end() {
    assert_eq!(error("/dev/zero", &[]), "cannot read /dev/zero: it has more than 8 MiB");
    let importing = b"syntax = \"proto3\"; import \"zero.proto\";";
    let large = "// It is long enough.\n".repeat(200_000);
    let importing_large = "syntax = \"proto3\"; import \"a.proto\"; import \"b.proto\";";
    let files = folder(&[
        ("m.proto", importing),
        ("a.proto", large.as_bytes()),
        ("b.proto", large.as_bytes()),
        ("n.proto", importing_large.as_bytes()),
    ]);
    let path = |name: &str| files.path().join(name);
    std::os::unix::fs::symlink("/dev/zero", path("zero.proto")).unwrap();
    let zero = error(path("m.proto"), &[]);
    assert!(zero.ends_with("zero.proto: it has more than 8 MiB"), "{zero}");
    let both = error(path("n.proto"), &[]);
    assert!(both.ends_with("it has more than 8 MiB of source text"), "{both}");
    let set = Schema::from_protoset(Path::new("/dev/zero")).unwrap_err().to_string();
    assert_eq!(set, "cannot read /dev/zero: it has more than 64 MiB");
}

#[test]
fn what_is_nested_without_end_is_an_error() {
    let messages = format!("syntax = \"proto3\"; {}", "message M { ".repeat(100_000));
    let option = format!(
        "syntax = \"proto2\"; import \"google/protobuf/descriptor.proto\";
         message M {{ optional M m = 1; }}
         extend google.protobuf.FileOptions {{ optional M m = 50000; }}
         option (m) = {{ {}{} }};",
        "m { ".repeat(100_000),
        "} ".repeat(100_000)
    );
    let files = folder(&[("m.proto", messages.as_bytes()), ("o.proto", option.as_bytes())]);
    assert!(error(files.path().join("m.proto"), &[]).contains("recursion limit"));
    // Only that it returns: nobody needs the option.
    let _ = services(files.path().join("o.proto"), &[]);
}

#[test]
fn a_compiled_set_given_as_a_proto_file_says_so() {
    let files = folder(&[("x.proto", SUB.as_bytes())]);
    let set = protox::compile(["x.proto"], [files.path()]).unwrap();
    fs::write(files.path().join("x.pb"), prost::Message::encode_to_vec(&set)).unwrap();
    let error = error(files.path().join("x.pb"), &[]);
    assert!(error.ends_with("x.pb is compiled: give it with --protoset"), "{error}");
}

#[test]
fn an_import_is_a_path_below_a_folder() {
    let files = folder(&[("b.proto", b"syntax = \"proto3\";"), ("d/b.proto", b"")]);
    let path = files.path().join("m.proto");
    let absolute = files.path().join("b.proto").display().to_string();
    let written =
        ["", "./b.proto", "d//b.proto", "d/../b.proto", "..", ".", "d\\\\b.proto", &absolute];
    for import in written {
        let text = format!("syntax = \"proto3\";\n  import \"{import}\";");
        fs::write(&path, text).unwrap();
        assert_eq!(
            error(&path, &[]),
            format!(
                "{}:2:10: import \"{import}\": an import is a path below a folder, without \
                 backslash, empty part, . and ..",
                path.display()
            )
        );
    }
    let text = "syntax = \"proto2\";\n  message M { optional group g = 1 {} }";
    fs::write(&path, text).unwrap();
    assert!(error(&path, &[]).ends_with(":2:30: invalid group name"));
    let long = format!("syntax = \"proto3\"; import \"{}\";", "b".repeat(1 << 20));
    fs::write(&path, long).unwrap();
    assert!(error(&path, &[]).len() < 1_000);
}

#[test]
fn two_fields_of_one_name_are_said_to_be_so() {
    let text = b"syntax = \"proto3\";\n  message M { int32 i = 1; int32 i = 2; }";
    let files = folder(&[("m.proto", text)]);
    let path = files.path().join("m.proto");
    let said = format!("{}:2:34: name 'M.i' is defined twice", path.display());
    assert_eq!(error(&path, &[]), said);
}

#[test]
fn lists_are_packed_as_their_option_says() {
    let source = r#"
        syntax = "proto2";
        package p;
        message X { repeated int32 a = 1 [packed = true]; repeated int32 b = 2; }
        enum E { option allow_alias = true; A = 0; B = 0; }
        service S { rpc Go(X) returns (X); }
    "#;
    let files = folder(&[("x.proto", source.as_bytes())]);
    let schema = Schema::from_proto(&files.path().join("x.proto"), &[]).unwrap();
    let message = schema.method("p.S/Go").unwrap().input();
    let data = r#"{"a": [1, 2], "b": [3, 4]}"#;
    let bytes = bookend_payload::data::from_json(data, "-d", &message).unwrap();
    assert_eq!(bytes, [b"\x0a\x02\x01\x02\x10\x03\x10\x04".to_vec()]);
}
