//! An error on the command line is reported in one line that names it, with status 2.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the command in the root of the repository, with `input` on standard input.
fn refused_with_input(words: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bookend"))
        .args(words)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built");
    let mut standard_input = child.stdin.take().expect("it is a pipe");
    // A command that has complained already does not read.
    let _ = standard_input.write_all(input.as_bytes());
    drop(standard_input);
    let output = child.wait_with_output().expect("the command ends");
    let line = String::from_utf8(output.stderr).expect("complaints are text");
    assert_eq!(output.status.code(), Some(2), "{words:?}: {line}");
    assert_eq!(line.lines().count(), 1, "{words:?}: {line}");
    assert!(output.stdout.is_empty(), "{words:?}");
    line.trim_end().to_owned()
}

fn refused(words: &[&str]) -> String {
    refused_with_input(words, "")
}

/// A `bookend load` of the complex message where only `more` can be wrong.
fn load(more: &[&str]) -> String {
    let right = [
        "load",
        "127.0.0.1:1",
        "--insecure",
        "--proto=proto/complex_proto.proto",
        "--call=complex_proto.Greeter/SayHello",
    ];
    refused(&[&right[..], more].concat())
}

#[test]
fn a_misspelt_word_comes_with_the_right_one() {
    for (words, said) in [
        (&["laod"][..], "bookend: unknown command laod; did you mean load?"),
        (
            &["load", "--conections", "4"],
            "bookend load: unknown flag --conections; did you mean --connections?",
        ),
        (&["load", "--skiptls"], "bookend load: unknown flag --skiptls; did you mean --skipTLS?"),
        (
            &["load", "--io", "epol"],
            "bookend load: --io epol: did you mean epoll? (there is auto, blocking, epoll, uring)",
        ),
        (
            &["load", "-O", "prety"],
            "bookend load: --format prety: did you mean pretty? (there is summary, csv, json, pretty,",
        ),
        (&["report", "--format", "cvs"], "bookend report: --format cvs: did you mean csv?"),
        (
            &["run", "pajamax-tonik"],
            "bookend run: there is no suite pajamax-tonik in suites; did you mean pajamax-tonic?",
        ),
        (
            &["run", "pajamax-tonic", "--quick", "--fail-if", "rust-tonik<1"],
            "bookend run: --fail-if rust-tonik<1: `rust-tonik` is not compared: there is rust-",
        ),
    ] {
        let line = refused(words);
        assert!(line.starts_with(said), "{line}");
    }
}

#[test]
fn a_word_like_no_other_is_named_with_the_place_to_look() {
    assert_eq!(
        refused(&["load", "--weather"]),
        "bookend load: unknown flag --weather; see bookend load --help"
    );
    assert_eq!(
        refused(&["load", "-q", "4"]),
        "bookend load: unknown flag -q; see bookend load --help"
    );
    assert!(refused(&["weather"]).starts_with("bookend: unknown command weather; there is load,"));
}

#[test]
fn a_wrong_value_is_named_with_its_flag() {
    for (words, said) in [
        (&["-c", "many"][..], "--concurrency many: not a whole number"),
        (&["-c", "-1"], "--concurrency -1: it is below zero"),
        (&["-n", "99999999999999999999"], "--total 99999999999999999999: too large"),
        (&["-z", "10"], "--duration 10: the unit is missing after 10: write 10s or 10ms"),
        (&["-t", "fast"], "--timeout fast: \"fast\" is not a duration"),
        (&["-O", "xml"], "--format xml: there is summary, csv, json"),
        (&["-r", "-1"], "--rps -1: a rate is not below zero"),
        (&["-t", "-1s"], "--timeout -1s: \"-1s\" is below zero"),
        (&["--seed", "-1"], "--seed -1: it is below zero"),
        (&["--slo", "p99"], "--slo p99: \"p99\" compares nothing"),
        (&["--name"], "--name needs a value"),
        (&["-c", "2", "-c", "3"], "--concurrency is given twice"),
        (&["--insecure=yes"], "--insecure takes no value"),
        (&["a:1", "b"], "target b has no port: write b:50051"),
    ] {
        let line = refused(&[&["load"], words].concat());
        assert!(line.starts_with(&format!("bookend load: {said}")), "{line}");
    }
}

#[test]
fn one_server_is_probed_at_a_time() {
    for (words, said) in [
        (&["a:1", "b:2"][..], "\"b:2\" is one word too many"),
        (&["a:1,b:2", "--call", "a.B/C"], "one server is looked at: give one target"),
    ] {
        let line = refused(&[&["probe"], words].concat());
        assert!(line.starts_with(&format!("bookend probe: {said}")), "{line}");
    }
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(refused(&["load"]), "bookend load: the target is missing: add HOST:PORT");
    assert_eq!(
        refused(&["load", "localhost", "--insecure"]),
        "bookend load: target localhost has no port: write localhost:50051"
    );
    let call = ["load", "localhost:1", "--call=a.B/C"];
    for (words, said) in [
        (&["--cert=x"][..], "--cert is of no use without --key: give both"),
        (&["--key=x"], "--key is of no use without --cert: give both"),
        (&["--cacert=/absent"], "cannot read /absent: No such file or directory"),
        (
            &["--authority=a", "--cname=b"],
            "--authority a and --cname b differ: the server's certificate is for the name that \
             requests ask for, so give one of them",
        ),
    ] {
        let line = refused(&[&call[..], words].concat());
        assert_eq!(line, format!("bookend load: {said}"));
    }
    assert_eq!(
        refused(&["load", "localhost:1", "--insecure"]),
        "bookend load: the method is missing: add --call pkg.Service/Method"
    );
    assert!(refused(&["compare", "a"]).contains("<B> is missing"));
}

#[test]
fn a_wrong_file_service_or_method_comes_with_the_right_one() {
    let call = |proto: &str, call: &str| {
        refused(&["load", "127.0.0.1:1", "--insecure", "--proto", proto, "--call", call])
    };
    let line = call("proto/helloword.proto", "helloworld.Greeter/SayHello");
    let said = "bookend load: cannot read proto/helloword.proto: no such file or folder; did you \
                mean proto/helloworld.proto?";
    assert!(line.starts_with(said), "{line}");
    assert_eq!(
        call("proto/helloworld.proto", "helloworld.Greter/SayHello"),
        "bookend load: there is no service helloworld.Greter in proto/helloworld.proto; did you \
         mean helloworld.Greeter?"
    );
    assert_eq!(
        call("proto/helloworld.proto", "helloworld.Greeter/SayHelo"),
        "bookend load: there is no method SayHelo in helloworld.Greeter \
         (proto/helloworld.proto); did you mean SayHello?"
    );
}

#[test]
fn wrong_data_is_named_by_its_place() {
    assert_eq!(
        load(&["-d", r#"{"request": {"nmae": "x"}}"#]),
        "bookend load: -d, line 1 column 19: complex_proto.Hello has no field nmae; did you mean \
         name?"
    );
    assert_eq!(
        load(&["-d", "{\"request\":\n {\"name\": \"{{.Nmae}}\"}}"]),
        "bookend load: -d, line 2 of its template: there is no variable Nmae"
    );
    assert_eq!(
        load(&["-d", r#"{"request": {"name": "{{newUUIDs}}"}}"#]),
        "bookend load: -d, line 1 of its template: there is no function newUUIDs"
    );
    assert!(
        load(&["-d", r#"{"request": {"name": "{{.UUID"}}"#]).contains("line 1 of its template")
    );
    let metadata = load(&["-m", r#"{"trace": "{{.Nmae}}"}"#]);
    assert!(metadata.contains("metadata \"trace\", line 1 of its template: "), "{metadata}");
    assert!(load(&["-D", "absent.json"]).contains("cannot read absent.json: no such file"));
    assert!(load(&["-m", r#"{"grpc-timeout": "1S"}"#]).contains("\"grpc-timeout\""));
    let line = refused_with_input(
        &[
            "load",
            "127.0.0.1:1",
            "--insecure",
            "--proto=proto/helloworld.proto",
            "--call=helloworld.Greeter/SayHello",
            "-d@",
        ],
        "{\n  \"name\": 5}",
    );
    assert_eq!(
        line,
        "bookend load: standard input, line 2 column 11, field name: invalid type: integer `5`, \
         expected a string"
    );
}

#[test]
fn a_wrong_subject_comes_with_the_right_one() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    std::fs::create_dir(folder.path().join("rust-tonic")).unwrap();
    std::fs::write(folder.path().join("rust-tonic/subject.toml"), "").unwrap();
    let subjects = folder.path().to_str().expect("it is text");
    let line = refused(&["run", "--subjects-dir", subjects, "--subjects", "rust-tonik/one"]);
    assert_eq!(
        line,
        format!(
            "bookend run: there is no subject rust-tonik in {subjects}; did you mean rust-tonic?"
        )
    );
    let line = refused(&["list", "--suites", "absent"]);
    assert_eq!(
        line,
        "bookend list: cannot read absent: no such file or folder; say where with --suites DIR, or \
         make one with bookend init"
    );
}

/// The same where words need not be text.
fn refused_bytes(words: &[&[u8]]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_bookend"))
        .args(words.iter().map(|word| OsStr::from_bytes(word)))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .expect("the command was built");
    let line = String::from_utf8(output.stderr).expect("complaints are text");
    assert_eq!(output.status.code(), Some(2), "{words:?}: {line}");
    assert_eq!(line.lines().count(), 1, "{words:?}: {line}");
    line.trim_end().to_owned()
}

#[test]
fn a_word_that_is_no_text_is_named_and_names_of_files_may_be_none() {
    let proto = b"--proto=absent-\xff";
    for (word, said) in [
        (&[&b"--data"[..], b"a\xff"][..], "--data a\u{fffd}"),
        (&[b"-d", b"\xff"], "-d \u{fffd}"),
        (&[b"--name=\xff"], "--name=\u{fffd}"),
        (&[b"--insecure", b"host\xff:1"], "host\u{fffd}:1"),
    ] {
        let line = refused_bytes(&[&[&b"load"[..], proto], word].concat());
        assert_eq!(line, format!("bookend load: {said}: it is not text in UTF-8"));
    }
    let target = b"127.0.0.1:1";
    let line = refused_bytes(&[b"load", target, b"--call=a.B/C", b"--insecure", proto]);
    assert!(line.contains("cannot read absent-\u{fffd}: no such file or folder"), "{line}");
    let line = refused_bytes(&[b"report", b"absent-\xff"]);
    assert!(line.contains("absent-\u{fffd}: there is no such file"), "{line}");
}

#[test]
fn what_has_no_end_is_not_read_to_its_end() {
    for words in [&["-D", "/dev/zero"][..], &["-B", "/dev/zero"]] {
        let line = load(words);
        assert_eq!(line, "bookend load: cannot read /dev/zero: it has more than 256 MiB");
    }
    for words in
        [&["-M", "/dev/zero"][..], &["--config", "/dev/zero"], &["--rate-file", "/dev/zero"]]
    {
        let line = load(words);
        assert_eq!(line, "bookend load: cannot read /dev/zero: it has more than 64 MiB");
    }
}

#[test]
fn the_name_of_a_file_in_the_place_of_its_content_is_said() {
    let file = "proto/helloworld.json";
    for (flag, name, instead) in
        [("-d", file, "-D"), ("-d", "@proto/helloworld.json", "-D"), ("-m", file, "-M")]
    {
        let line = load(&[flag, name]);
        let said = format!("{flag} {file} is the name of a file: {instead} {file} reads it");
        assert_eq!(line, format!("bookend load: {said}"));
    }
    assert!(load(&["-d", "absent.json"]).contains("-d, line 1 column 1"));
}

#[test]
fn an_ending_of_no_format_is_refused_before_the_run() {
    let line = load(&["-o", "result.pdf"]);
    assert!(
        line.contains("result.pdf: no format here has the ending .pdf: there is .json"),
        "{line}"
    );
    assert!(load(&["-o", "result.md"]).contains("bookend report FILE.json -o FILE.md"));
    let line = load(&["-o", "result.csv", "--find-capacity", "p99<5ms"]);
    assert!(line.contains("--find-capacity is printed as a summary or as JSON"), "{line}");
    let line =
        refused(&["report", "records/intel-xeon-processor-2-cpus/java-executors", "-o", "x.pdf"]);
    assert!(line.contains("x.pdf: no format here has the ending .pdf: there is .html"), "{line}");
}

#[test]
fn contradictions_name_both_flags() {
    assert!(
        load(&["--connections=3", "-c2"]).contains("--connections 3 is more than --concurrency 2")
    );
    assert!(load(&["-d{}", "-b"]).contains("--data and --binary exclude each other"));
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_the_run() {
    let line = load(&["-o", "absent-folder/result.json"]);
    assert!(line.contains("cannot write absent-folder/result.json: its folder:"), "{line}");
    assert!(load(&["-o", "proto"]).contains("cannot write proto: it is a folder"));
}

#[test]
fn a_file_that_the_system_does_not_read_is_said_with_the_systems_words() {
    let file = "/proc/self/mem";
    let said = "cannot read /proc/self/mem: input/output error";
    for flag in ["-D", "-B", "--config", "--rate-file", "-M"] {
        let line = load(&[flag, file]);
        assert!(line.contains(said), "{flag}: {line}");
    }
    assert!(refused(&["report", file]).contains(said));
}

#[test]
fn a_folder_that_is_not_there_is_said_with_its_flag() {
    let line = refused(&["list", "--suites", "absent"]);
    let said = "cannot read absent: no such file or folder; say where with --suites DIR";
    assert!(line.contains(said), "{line}");
    let line = refused(&[
        "report",
        "records/intel-xeon-processor-2-cpus/java-executors",
        "-o",
        "absent/x.md",
    ]);
    assert!(line.contains("cannot write absent/x.md: its folder: no such file"), "{line}");
}

#[test]
fn control_characters_do_not_break_the_line() {
    assert!(load(&["-D", "two\nlines"]).contains("cannot read two lines"));
    assert!(refused(&["load", "--two\nlines"]).contains("unknown flag --two lines"));
}

#[test]
fn a_switch_is_not_both_on_and_off() {
    for words in [
        &["--show-secrets", "--no-show-secrets"][..],
        &["--no-show-secrets", "--show-secrets"],
        &["--no-insecure"],
        &["--insecure=false"],
        &["-e", "--no-enable-compression"],
    ] {
        let line = load(words);
        assert!(line.ends_with("exclude each other: give one of them"), "{words:?}: {line}");
    }
}

#[test]
fn a_switch_that_is_off_holds_against_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("config.json");
    std::fs::write(&file, r#"{"insecure": true, "host": "127.0.0.1:1"}"#).expect("it is written");
    let config = format!("--config={}", file.display());
    for off in ["--no-insecure", "--insecure=false"] {
        let absent = "--cacert=absent.pem";
        let line = refused(&["load", &config, off, absent, "--call=a.B/C"]);
        assert!(line.contains("absent.pem"), "TLS was not asked for: {line}");
    }
}

#[test]
fn no_file_is_written_that_is_read_or_written_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (input, other) = (file("input.json"), file("./input.json"));
    std::fs::write(&input, r#"{"name": "kept"}"#).expect("it is written");
    let (result, second) = (file("s.json"), file("./s.json"));
    for words in [
        &["-D", &input, "-o", &other][..],
        &["-M", &input, "--hdr", &input],
        &["--config", &input, "--debug", &other],
        &["--rate-file", &input, "--debug", &input],
        &["-o", &result, "--debug", &second],
        &["-o", &result, "--hdr", &result],
        &["-o", &result, "--hdr", &result, "--debug", &result],
    ] {
        let line = load(words);
        assert!(line.contains("would overwrite what"), "{words:?}: {line}");
    }
    let call = "--call=helloworld.Greeter/SayHello";
    let race = ["race", call, "--save", &input, "--against", &other, "a=./a {port}"];
    for words in [
        &["report", &input, "-o", &other][..],
        &["report", &input, "a.json", "-o", &input],
        &race,
        &["race", call, "-D", &input, "--save", &input, "a=./a {port}"],
    ] {
        let line = refused(words);
        assert!(line.contains("would overwrite what"), "{words:?}: {line}");
    }
    let kept = std::fs::read_to_string(&input).expect("it is there");
    assert_eq!(kept, r#"{"name": "kept"}"#);
}
