//! TLS on the command line: flags of ghz, rules of ghz, and one clear line where it fails.

#[path = "../../io/tests/support/certificates.rs"]
mod certificates;
#[path = "support/served.rs"]
mod served;

use certificates::{Authority, Files};
use served::Served;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn bookend(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    command
        .args(words)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env_remove("SSLKEYLOGFILE")
        .stdin(Stdio::null());
    command
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

impl Served {
    fn start(words: &[&str], key_log: Option<&Path>) -> Self {
        let mut command = bookend(&[&["serve", "--port", "0", "--threads", "1"], words].concat());
        if let Some(file) = key_log {
            command.env("SSLKEYLOGFILE", file);
        }
        Self::by(command)
    }

    fn with_tls(files: &Files, more: &[&str]) -> Self {
        let own = ["--tls-certificate", text(&files.certificate), "--tls-key", text(&files.key)];
        Self::start(&[&own[..], more].concat(), None)
    }

    fn target(&self) -> String {
        format!("localhost:{}", self.port)
    }
}

const CALL: [&str; 4] = [
    "--proto=proto/helloworld.proto",
    "--call=helloworld.Greeter/SayHello",
    "-d",
    r#"{"name": "world"}"#,
];

/// What a command printed, or the line that it complained with.
fn run(mut command: Command) -> Result<String, String> {
    let output = command.output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8(output.stderr).unwrap().trim_end().to_owned()),
    }
}

fn load(target: &str, words: &[&str]) -> Result<String, String> {
    load_with(&["-n", "200", "-c", "20"], target, words)
}

fn load_with(how_much: &[&str], target: &str, words: &[&str]) -> Result<String, String> {
    let command = ["load", target, "-O", "json"];
    run(bookend(&[&command[..], how_much, &CALL[..], words].concat()))
}

fn probe(target: &str, words: &[&str]) -> Result<String, String> {
    run(bookend(&[&["probe", target], &CALL[..], words].concat()))
}

fn count_of(report: &str) -> u64 {
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    assert_eq!(
        report["errorDistribution"].as_object().map_or(0, serde_json::Map::len),
        0,
        "{report}"
    );
    report["count"].as_u64().unwrap()
}

fn cacert(authority: &Authority) -> String {
    format!("--cacert={}", text(&authority.file()))
}

#[test]
fn load_and_probe_call_over_tls_with_every_driver() {
    let authority = Authority::new();
    let served = Served::with_tls(&authority.issue(&["localhost"]), &[]);
    let ca = cacert(&authority);
    for words in [&["--connections=1"][..], &["--connections=5", "--io=epoll"], &["--io=blocking"]]
    {
        let report = load(&served.target(), &[&[ca.as_str()], words].concat()).unwrap();
        assert_eq!(count_of(&report), 200, "{words:?}");
    }
    let found = probe(&served.target(), &[&ca, "--semantics"]).unwrap();
    assert!(!found.contains(r#""no""#), "{found}");
    let by_reflection = ["probe", &served.target(), &ca, "--call=helloworld.Greeter/SayHello"];
    run(bookend(&by_reflection)).unwrap();
    let said = served.end().errors;
    assert!(said.contains("resumed, 0 failed"), "{said}");
}

#[test]
fn whom_to_trust_and_what_to_show_follows_ghz() {
    let authority = Authority::new();
    let files = authority.issue(&["a.example"]);
    let own_ca = authority.file();
    let served = Served::with_tls(&files, &["--tls-client-ca", text(&own_ca)]);
    let client = authority.issue(&["client"]);
    let ca = cacert(&authority);
    let (cert, key) =
        (format!("--cert={}", text(&client.certificate)), format!("--key={}", text(&client.key)));
    let shown = [cert.as_str(), key.as_str()];
    for words in [
        &[ca.as_str(), "--cname=a.example"][..],
        &[&ca, "--authority=a.example:443"],
        &["--skipTLS"],
    ] {
        let report = load(&served.target(), &[words, &shown].concat()).unwrap();
        assert_eq!(count_of(&report), 200, "{words:?}");
    }
    for (words, said) in [
        (&[ca.as_str(), &cert, &key][..], "is not for localhost: it is for a.example"),
        (&["--cname=a.example", &cert, &key], "name its CA with --cacert FILE"),
        (&[&ca, "--cname=a.example"], "give one with --cert FILE --key FILE"),
        (&["--insecure"], "the server wants TLS: leave --insecure out"),
    ] {
        let line = load(&served.target(), words).unwrap_err();
        assert!(line.contains(said) && line.lines().count() == 1, "{words:?}: {line}");
    }
    served.end();
}

#[test]
fn a_certificate_that_nobody_else_has_signed_is_enough_where_it_is_named_itself() {
    let authority = Authority::new();
    let own = authority.self_signed(&["localhost"], |_| {});
    let client = authority.self_signed(&["client"], |_| {});
    let served = Served::with_tls(&own, &["--tls-client-ca", text(&client.certificate)]);
    let named = format!("--cacert={}", text(&own.certificate));
    let (cert, key) =
        (format!("--cert={}", text(&client.certificate)), format!("--key={}", text(&client.key)));
    let shown = [named.as_str(), &cert, &key];
    assert_eq!(count_of(&load(&served.target(), &shown).unwrap()), 200);
    probe(&served.target(), &shown).unwrap();
    let (certificate, of_server) =
        (format!("--cert={}", text(&own.certificate)), format!("--key={}", text(&own.key)));
    let stranger = [named.as_str(), &certificate, &of_server];
    let line = load(&served.target(), &stranger).unwrap_err();
    assert!(line.contains("the server does not accept our certificate"), "{line}");
    let told = "the server's certificate is signed by nobody who is trusted here: name its CA with \
                --cacert FILE, or the certificate itself";
    for made in [load(&served.target(), &[&cert, &key]), probe(&served.target(), &[&cert, &key])] {
        let line = made.unwrap_err();
        assert!(line.ends_with(told) && line.lines().count() == 1, "{line}");
    }
    let said = served.end().errors;
    let why = "the client's certificate is signed by nobody whom --tls-client-ca names";
    assert!(said.contains(why), "{said}");
}

#[test]
fn who_calls_in_plain_text_is_told_the_flag_by_reflection_and_without() {
    let authority = Authority::new();
    let served = Served::with_tls(&authority.issue(&["localhost"]), &[]);
    let told = "wants TLS: leave --insecure out";
    let by_reflection = "--call=helloworld.Greeter/SayHello";
    for command in ["load", "probe"] {
        let words = [command, &served.target(), "--insecure"];
        for call in [&CALL[..], &[by_reflection]] {
            let line = run(bookend(&[&words[..], call].concat())).unwrap_err();
            assert!(line.contains(told) && line.lines().count() == 1, "{line}");
        }
    }
    served.end();
}

#[test]
fn where_nobody_listens_every_command_says_so_in_the_same_words() {
    let told = "nobody listens at 127.0.0.1:1: start the server, or correct the target";
    let by_reflection = "--call=helloworld.Greeter/SayHello";
    for command in ["load", "probe"] {
        for call in [&CALL[..], &[by_reflection]] {
            for tls in ["--insecure", "--skipTLS"] {
                let words = [&[command, "127.0.0.1:1", tls], call].concat();
                let line = run(bookend(&words)).unwrap_err();
                assert_eq!(line, format!("bookend {command}: {told}"), "{words:?}");
            }
        }
    }
}

#[test]
fn each_of_several_targets_is_verified_by_its_own_name() {
    let authority = Authority::new();
    let serve = |host: &str, certified: &str| {
        let files = authority.issue(&[certified]);
        let served = Served::with_tls(&files, &["--host", host]);
        let target = format!("{host}:{}", served.port);
        (served, target)
    };
    let (one, first) = serve("127.0.0.1", "127.0.0.1");
    let (other, second) = serve("127.0.0.2", "127.0.0.2");
    let (wrong, third) = serve("127.0.0.3", "127.0.0.1");
    let ca = cacert(&authority);
    // Each thread has one of the targets.
    for io in ["--io=blocking", "--io=epoll", "--one-shot"] {
        let words = [ca.as_str(), "--threads=2", io];
        let report = load(&format!("{first},{second}"), &words).unwrap();
        assert_eq!(count_of(&report), 200, "{io}");
        // One name for all is what --cname is for.
        let named = [&words[..], &["--cname=127.0.0.1"]].concat();
        let target = format!("{first},{third}");
        let report = load(&target, &named).unwrap();
        assert_eq!(count_of(&report), 200, "{io}");
        let report = load_with(&["-n2", "-c2"], &target, &words).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let told = format!(
            "rpc error: code = Unavailable desc = {third}: connection error: the server's \
             certificate is not for 127.0.0.3: it is for 127.0.0.1; give the right name with --cname"
        );
        let errors = &report["errorDistribution"];
        assert_eq!(*errors, serde_json::json!({ told: 1 }), "{io}");
        assert_eq!(report["statusCodeDistribution"]["OK"], 1, "{io}");
    }
    for served in [one, other, wrong] {
        served.end();
    }
}

#[test]
fn a_server_without_tls_is_told_from_one_that_is_not_there() {
    let served = Served::start(&[], None);
    let authority = Authority::new();
    for made in [
        load(&served.target(), &[&cacert(&authority)]),
        probe(&served.target(), &[&cacert(&authority)]),
    ] {
        let line = made.unwrap_err();
        assert!(line.contains("add --insecure") && line.lines().count() == 1, "{line}");
    }
    served.end();
}

#[test]
fn files_that_are_of_no_use_end_the_server_before_it_listens() {
    let authority = Authority::new();
    let (one, other) = (authority.issue(&["localhost"]), authority.issue(&["localhost"]));
    for (certificate, key, said) in [
        (Path::new("/absent"), one.key.as_path(), "cannot read /absent: No such file"),
        (&one.certificate, &other.key, "the key is not the certificate's"),
    ] {
        let words =
            ["serve", "--port=0", "--tls-certificate", text(certificate), "--tls-key", text(key)];
        let output = bookend(&words).output().unwrap();
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(line.contains(said) && line.lines().count() == 1, "{line}");
    }
}

#[test]
fn a_variable_that_names_no_certificates_is_named_like_a_flag() {
    let authority = Authority::new();
    let one_line = "-----BEGIN EC PRIVATE KEY-----MHcS3cr3t-----END EC PRIVATE KEY-----";
    let one_line = authority.write("one.key", one_line);
    for (file, said) in [
        (Path::new("/dev/zero"), "/dev/zero: it has more than 16 MiB"),
        (Path::new("/absent"), "cannot read /absent: No such file or directory"),
        (&one_line, "in line 1 something stands behind -----BEGIN EC PRIVATE KEY-----"),
    ] {
        for words in [&["load", "localhost:1"][..], &["probe", "localhost:1"]] {
            let run = |words: &[&str], variable: Option<&Path>| {
                let mut command = bookend(&[words, &CALL[..]].concat());
                command.env_remove("SSL_CERT_FILE");
                variable.map(|file| command.env("SSL_CERT_FILE", file));
                let output = command.output().unwrap();
                let line = String::from_utf8(output.stderr).unwrap();
                assert_eq!(output.status.code(), Some(2), "{line}");
                assert!(line.contains(said) && !line.contains("S3cr3t"), "{words:?}: {line}");
                line
            };
            assert!(run(words, Some(file)).contains("SSL_CERT_FILE: "));
            let cacert = format!("--cacert={}", text(file));
            run(&[words, &[cacert.as_str()]].concat(), None);
        }
    }
}

#[test]
fn a_name_that_no_certificate_can_be_for_is_that_of_its_flag() {
    for name in ["", "*.example.net", "a b", "m\u{fc}nchen.example"] {
        let cname = format!("--cname={name}");
        for made in [
            load("localhost:1", &["--skipTLS", &cname]),
            probe("localhost:1", &["--skipTLS", &cname]),
            run(bookend(&["load", "localhost:1", "--skipTLS", &cname, "--call=a.B/C"])),
            run(bookend(&["probe", "localhost:1", "--skipTLS", &cname, "--call=a.B/C"])),
        ] {
            let line = made.unwrap_err();
            let said = "is no name that a certificate can be for: give another with --cname";
            assert!(line.contains(said) && line.lines().count() == 1, "{line}");
        }
    }
}

#[test]
fn a_handshake_that_fails_is_told_while_the_server_runs_and_counted_at_its_end() {
    let authority = Authority::new();
    let mut served = Served::with_tls(&authority.issue(&["localhost"]), &[]);
    let mut said = BufReader::new(served.process.stderr.take().unwrap()).lines();
    // Nothing has gone wrong yet.
    probe(&served.target(), &[&cacert(&authority)]).unwrap();
    let mut plain = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let told = "bookend serve: a TLS handshake has failed: the client speaks no TLS";
    let lines = said.by_ref().map(Result::unwrap);
    let until = lines.take_while(|line| line != told);
    assert!(!until.into_iter().any(|line| line.contains("handshake")));
    probe(&served.target(), &[&cacert(&authority)]).unwrap();
    drop(served.process.stdin.take());
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    served.process.wait().unwrap();
    let total = "1 failed, the first because the client speaks no TLS";
    let totals = rest.iter().filter(|line| line.contains("handshake"));
    assert!(totals.clone().all(|line| line.ends_with(total)), "{rest:?}");
    assert_eq!(totals.count(), 1, "{rest:?}");
}

/// The secrets in a file for keys, by what they are for and by the client's random.
fn secrets(file: &Path) -> BTreeMap<(String, String), String> {
    let lines = fs::read_to_string(file).unwrap();
    let secret = |line: &str| {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let [label, random, secret] = <[String; 3]>::try_from(words).expect("three words");
        assert_eq!(random.len(), 64, "32 bytes in hexadecimal");
        assert!(secret.len() == 64 || secret.len() == 96, "{secret}");
        ((label, random), secret)
    };
    lines.lines().map(secret).collect()
}

#[test]
fn both_ends_write_the_same_keys_and_only_where_they_are_asked_to() {
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let (at_server, at_client): (PathBuf, PathBuf) =
        (authority.folder().join("server.keys"), authority.folder().join("client.keys"));
    let own = ["--tls-certificate", text(&files.certificate), "--tls-key", text(&files.key)];
    let served = Served::start(&own, Some(&at_server));
    let (ca, target) = (cacert(&authority), served.target());
    let words = [&["probe", &target, &ca], &CALL[..]].concat();
    let mut command = bookend(&words);
    command.env("SSLKEYLOGFILE", &at_client);
    run(command).unwrap();
    let (here, there) = (secrets(&at_client), secrets(&at_server));
    assert_eq!(here, there);
    for label in [
        "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
        "SERVER_HANDSHAKE_TRAFFIC_SECRET",
        "CLIENT_TRAFFIC_SECRET_0",
        "SERVER_TRAFFIC_SECRET_0",
    ] {
        assert!(here.keys().any(|(known, _)| known == label), "{label}");
    }
    run(bookend(&words)).unwrap();
    assert_eq!(secrets(&at_client), here, "nobody asked this time");
    let mut command = bookend(&words);
    command.env("SSLKEYLOGFILE", "/absent/keys");
    let line = run(command).unwrap_err();
    assert!(line.contains("SSLKEYLOGFILE names /absent/keys, which cannot be written"), "{line}");
    served.end();
}
