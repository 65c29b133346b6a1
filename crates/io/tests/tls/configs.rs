//! Files and bytes that are of no use are named, with what is wrong. What both ends say of
//! themselves in the handshake is what HTTP/2 wants.

use super::certificates::Authority;
use super::ends::{Inner, Setup, client, listens};
use super::peers;
use bookend_io::tls::{Authorities, ClientConfig, Identity, ServerConfig, Trust};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[test]
fn a_file_that_is_not_there_is_named() {
    let absent = Path::new("/absent.pem");
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let expected = "cannot read /absent.pem: No such file or directory";
    for error in [
        Identity::read(absent, &files.key).unwrap_err(),
        Identity::read(&files.certificate, absent).unwrap_err(),
        Authorities::read(absent).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_file_without_what_it_should_have_is_named() {
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let prose = authority.write("prose.pem", "no PEM at all");
    let broken = authority.write("broken.pem", "-----BEGIN CERTIFICATE-----\nMII");
    let told = |error: bookend_io::tls::ConfigError, file: &Path| {
        let text = error.to_string();
        let prefix = format!("{}: ", file.display());
        text.strip_prefix(&prefix).expect(&text).to_owned()
    };
    assert_eq!(
        told(Identity::read(&files.key, &files.key).unwrap_err(), &files.key),
        "there is no certificate in it (-----BEGIN CERTIFICATE-----): it has -----BEGIN PRIVATE \
         KEY-----"
    );
    let without_key = Identity::read(&files.certificate, &files.certificate).unwrap_err();
    assert_eq!(
        told(without_key, &files.certificate),
        "there is no private key in it (-----BEGIN PRIVATE KEY-----): it has -----BEGIN \
         CERTIFICATE-----"
    );
    assert!(told(Authorities::read(&prose).unwrap_err(), &prose).contains("no certificate"));
    assert!(told(Authorities::read(&broken).unwrap_err(), &broken).contains("no PEM"));
}

#[test]
fn a_file_that_an_editor_has_marked_is_read_like_others() {
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let marked = |file: &Path, name: &str| {
        let text = fs::read_to_string(file).unwrap();
        authority.write(name, &format!("\u{feff}{}", text.replace('\n', "\r\n")))
    };
    let certificate = marked(&files.certificate, "marked.pem");
    let key = marked(&files.key, "marked.key");
    Identity::read(&certificate, &key).unwrap();
    let bytes = |file: &Path| fs::read(file).unwrap();
    Identity::from_pem(&bytes(&certificate), &bytes(&key)).unwrap();
    Authorities::read(&marked(&authority.file(), "marked-authority.pem")).unwrap();
    let wide = b"\xff\xfe-\0-\0";
    let error = Authorities::from_pem(wide).unwrap_err().to_string();
    assert!(error.ends_with("it is text in UTF-16: save it in UTF-8"), "{error}");
    let endless = Authorities::read(Path::new("/dev/zero")).unwrap_err().to_string();
    assert_eq!(endless, "/dev/zero: it has more than 16 MiB");
}

#[test]
fn bytes_without_what_they_should_have_are_named_as_what_they_were_given() {
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let [certificate, key] = [&files.certificate, &files.key].map(|file| fs::read(file).unwrap());
    let broken = b"-----BEGIN CERTIFICATE-----\nMII";
    let none = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    for (error, expected) in [
        (
            Identity::from_pem(&key, &key).unwrap_err(),
            "the certificate given as bytes: there is no certificate in it (-----BEGIN \
             CERTIFICATE-----)",
        ),
        (
            Identity::from_pem(&certificate, &certificate).unwrap_err(),
            "the key given as bytes: there is no private key in it (-----BEGIN PRIVATE KEY-----)",
        ),
        (
            Identity::from_pem(broken, &key).unwrap_err(),
            "the certificate given as bytes: it is no PEM: ",
        ),
        (
            Authorities::from_pem(b"").unwrap_err(),
            "the authorities given as bytes: there is no certificate in it",
        ),
        (
            Authorities::from_pem(none).unwrap_err(),
            "the authorities given as bytes: a certificate in it is not valid: ",
        ),
    ] {
        let text = error.to_string();
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn pem_that_cannot_be_read_is_told_without_numbers_of_bytes() {
    let key = |pem: &str| {
        let certificate = fs::read(Authority::new().issue(&["localhost"]).certificate).unwrap();
        Identity::from_pem(&certificate, pem.as_bytes()).unwrap_err().to_string()
    };
    let encrypted = "its private key is encrypted: write it without a password";
    for pem in [
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n\
         MIIB\n-----END RSA PRIVATE KEY-----\n",
    ] {
        let text = key(pem);
        assert!(text.contains(encrypted), "{text}");
    }
    let text = key("-----BEGIN PRIVATE KEY-----\nMIIB\n");
    assert!(
        text.ends_with(
            "it is no PEM: line 1 begins a section, and the line -----END PRIVATE KEY----- is \
             missing"
        ),
        "{text}"
    );
    let text = key("-----BEGIN PRIVATE KEY-----\n!!!!\n-----END PRIVATE KEY-----\n");
    assert!(
        text.ends_with("it is no PEM: line 2, behind -----BEGIN PRIVATE KEY-----, is not base64"),
        "{text}"
    );
}

/// Letters of a key: no error may show them.
const SECRET: &str = "MHcCAQEEIS3cr3tCanary0123456789abcdefABCDEF";

#[test]
fn no_error_shows_what_stands_in_a_file() {
    let label = "EC PRIVATE KEY";
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let files = [
        format!("{begin}{SECRET}{end}"),
        format!("{begin}{SECRET}{end}\n"),
        format!("{begin}\\n{SECRET}\\n{end}\\n"),
        format!("{begin} {SECRET}\n{end}\n"),
        format!("{begin}\n{SECRET}"),
        format!("{begin}\n{SECRET}{end}\n"),
        format!("{begin}\n{SECRET}!\n{end}\n"),
        format!("{begin}\n{SECRET}=====\n{end}\n"),
        format!("-----BEGIN {SECRET}-----"),
        format!("-----BEGIN {SECRET}"),
        format!("-----BEGIN {SECRET}-----\n!\n-----END {SECRET}-----\n"),
        format!("\r-----BEGIN {SECRET}\r{SECRET}"),
        format!("key: {begin}\n{SECRET}\n{end}\n"),
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}\n-----END OPENSSH PRIVATE KEY-----"),
        SECRET.to_owned(),
    ];
    let certificate = fs::read(Authority::new().issue(&["localhost"]).certificate).unwrap();
    for pem in files {
        let pem = pem.as_bytes();
        let errors = [
            Identity::from_pem(&certificate, pem).unwrap_err(),
            Identity::from_pem(pem, pem).unwrap_err(),
            Authorities::from_pem(pem).unwrap_err(),
        ];
        for error in errors {
            let (text, debug) = (error.to_string(), format!("{error:?}"));
            for part in [&SECRET[..6], &SECRET[8..16], &SECRET[20..], "77, 72, 99"] {
                assert!(!text.contains(part) && !debug.contains(part), "{text}");
            }
        }
    }
}

#[test]
fn a_marker_that_cannot_be_read_is_named_with_its_line() {
    let key = |pem: &str| {
        let certificate = fs::read(Authority::new().issue(&["localhost"]).certificate).unwrap();
        Identity::from_pem(&certificate, pem.as_bytes()).unwrap_err().to_string()
    };
    let begin = "-----BEGIN EC PRIVATE KEY-----";
    for (pem, said) in [
        (
            format!("#\r\n\r\n{begin}{SECRET}-----END EC PRIVATE KEY-----"),
            format!("it is no PEM: in line 3 something stands behind {begin}"),
        ),
        (
            format!("#\r{begin}\\n{SECRET}"),
            format!("it is no PEM: in line 2 something stands behind {begin}"),
        ),
        (
            format!("\n{begin}-\n{SECRET}\n"),
            format!("it is no PEM: in line 2 something stands behind {begin}"),
        ),
        (
            format!("-----BEGIN {SECRET}\n"),
            "it is no PEM: line 1 begins a section with a marker that is incomplete".to_owned(),
        ),
        (
            format!("-----BEGIN {SECRET}-----\n"),
            "it is no PEM: line 1 begins a section, and its end is missing".to_owned(),
        ),
        (
            format!("\n  {begin}\n{SECRET}\n-----END EC PRIVATE KEY-----\n"),
            format!(
                "there is no private key in it (-----BEGIN PRIVATE KEY-----): in line 2 something \
                 stands before {begin}"
            ),
        ),
    ] {
        assert_eq!(key(&pem), format!("the key given as bytes: {said}"));
    }
}

#[test]
fn another_format_is_named_with_what_makes_pem_of_it() {
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let pem = fs::read(&files.certificate).unwrap();
    let der = CertificateDer::from_pem_slice(&pem).unwrap();
    let pkcs12 = b"\x30\x05\x02\x01\x03\x30\x00";
    let section = |label| format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n");
    let [trusted, openssh, request] =
        ["TRUSTED CERTIFICATE", "OPENSSH PRIVATE KEY", "CERTIFICATE REQUEST"].map(section);
    let x509 = "write it in PEM (openssl x509 -inform DER -in FILE -out NEW)";
    for (bytes, said) in [
        (&der[..], format!("it is DER: {x509}")),
        (
            pkcs12,
            "it is PKCS #12: write it in PEM (openssl pkcs12 -in FILE -nokeys -out NEW)".to_owned(),
        ),
        (
            b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\x05\x00",
            "it is PKCS #7: write it in PEM (openssl pkcs7 -inform DER -print_certs -in FILE -out \
             NEW)"
                .to_owned(),
        ),
        (
            trusted.as_bytes(),
            "it has -----BEGIN TRUSTED CERTIFICATE-----: write it anew (openssl x509 -in FILE -out \
             NEW)"
                .to_owned(),
        ),
        (request.as_bytes(), "it has -----BEGIN CERTIFICATE REQUEST-----".to_owned()),
        (b"\x7fELF\0\0", "it is not text".to_owned()),
    ] {
        let text = Authorities::from_pem(bytes).unwrap_err().to_string();
        assert!(text.ends_with(&format!("(-----BEGIN CERTIFICATE-----): {said}")), "{text}");
    }
    for (bytes, said) in [
        (&der[..], "it is DER: write it in PEM (openssl pkey -inform DER -in FILE -out NEW)"),
        (
            pkcs12,
            "it is PKCS #12: write it in PEM (openssl pkcs12 -in FILE -nocerts -nodes -out NEW)",
        ),
        (
            openssh.as_bytes(),
            "it has -----BEGIN OPENSSH PRIVATE KEY-----: write it in PKCS #8 (ssh-keygen -p -m \
             PKCS8 -f COPY)",
        ),
    ] {
        let text = Identity::from_pem(&pem, bytes).unwrap_err().to_string();
        assert!(text.ends_with(&format!("(-----BEGIN PRIVATE KEY-----): {said}")), "{text}");
    }
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let authority = Authority::new();
    let (one, other) = (authority.issue(&["localhost"]), authority.issue(&["localhost"]));
    let mixed = || Identity::read(&one.certificate, &other.key).unwrap();
    let unfit = |identity| ServerConfig::new(identity, None).unwrap_err().to_string();
    let reason = "cannot be used: the key is not the certificate's";
    let files =
        format!("certificate {} and key {}", one.certificate.display(), other.key.display());
    let expected = format!("{files} {reason}");
    assert_eq!(unfit(mixed()), expected);
    let trust = Trust::Anyone;
    assert_eq!(ClientConfig::new(trust, Some(mixed())).unwrap_err().to_string(), expected);
    let [certificate, key] = [&one.certificate, &other.key].map(|file| fs::read(file).unwrap());
    let of_bytes = Identity::from_pem(&certificate, &key).unwrap();
    assert_eq!(unfit(of_bytes), format!("certificate and key {reason}"));
}

#[test]
fn a_chain_in_the_wrong_order_is_called_so() {
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let [signer, own] =
        [&authority.file(), &files.certificate].map(|file| fs::read_to_string(file).unwrap());
    let chain = authority.write("chain.pem", &(signer + &own));
    let identity = || Identity::read(&chain, &files.key).unwrap();
    for error in [
        ServerConfig::new(identity(), None).unwrap_err(),
        ClientConfig::new(Trust::Anyone, Some(identity())).unwrap_err(),
    ] {
        let text = error.to_string();
        let said =
            "the key is that of certificate 2 of the chain: the own certificate stands first";
        assert!(text.contains(said), "{text}");
    }
}

/// Made by OpenSSL, of 2048 bits, and used for nothing.
const RSA_KEY: &str = "\
-----BEGIN PRIVATE KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCUnn2DnyYIKvaz
S+09AeUXncWTrJgR/qjniqGRwzWR6mbbY8JpUm189TPQqENN3TNQMjnqYHZ7WGkP
blrCIqsg/nbZbMwLO0FJ8PjMrZkVFIJgh1gppq++KW6l/2qHMe6Hu77nFx4RNgnq
4U/+aSKmoRjMGzmMOW02SsL2FLz1/IilC2nh5B0fYsPapbfs7N6z5MHcsxiAEA0e
6q7XeMLw6KlFFmACUdrU4+Jz3ar9m31nN+ZY0madxZvLLAVK67bfU27+8B/AYyqA
0UtK0NY6cOtpAl4nYDeMjygIwC1DCDu/6YVoetZHRwfAsgDhRm+M1NmDPozhlh3I
1xoJ1StZAgMBAAECggEAHGhbF4ChNWh49Xaq50Fod+YpcPvJqY7i3DdMgN8uazDB
7meYLqeZ1AvOlrDDBKwmdcrT9S/xFcylcFSotnkH+uuI7jB0pCT0atzLwdvg6f2c
mjTkrjl1WET1KHe09hiePoWtjOCHV8TbinD86GVSQUWDxufhTSNg88LAl2cJY39S
Rf9pmFFvjWnMI4SrrIJs0tnDsz1RLJ8og1jQ3FpfShP2dkEmsZwJ1MQuT73i+HqR
b0+pTDcYdQxlyFM6A01Z3nDA7/oSRfDWJf9DvSXXMjcirMVoufb7KOrUJ0R1hbF/
PE1JsJPiwYAklvWMmFhhkAmarP+j1kuToub/QNER8QKBgQDKAYos+NjGDnRO/AlT
W5NaBUxX6cDjh2Qq2JpiYkGegTGKrkQ/a6R0Oh0Kp3IYTzjkNjmvjRR7BSpxDXzu
UVGgZ/ZReWphX/I8oFDJ30ssgGSz1r2lN1HQcffNdDXcprW8xh7dBVHF6BmFMvdB
OEmFWb5M2mr9n0xFaWxhn/WYZQKBgQC8V+YJMVNG54qtaL2jV9Iafd1AQoCoJizf
TRd2WRIJwiX+UQUTMANYUuyLp/Vl9cbrd/b83NvtRNeuVUbmnOr4KgWPdP1ZgUy8
SFQAa6IFXCiaz08DDQpQItO9h1i95gN41CNZfLv9r34l5TZqR//2L9Xa+lFypmpr
3nQjW7Rl5QKBgHHRWEdqlslRT5tJSv/aszWfkppeLL6GhJvXm3Ufo5Vpeb6H3hBV
2D1cmQxtuE2WJZoAK5SMSyPdj0JPtTqaOwHEUfcqEBR5eQVL1vlHhRW36gWiUwyK
FOD7tgHfHpIKpI+OmckyvBZkZiy0wLfQvSwTmrO2xV3Nqa3abqS6+ig5AoGBAJRJ
pG0Sb93AiXgUolKL33lKJbvlYESDogrCOLnOURxrxtwf0B4WTFvrFiCywcxgIRjd
oBHgliuOaz3wGF2TqJBxDWWwl5Qz8EXBsJmQJMWRlMqmdDATwU3szcdIW/9PrOYi
KB7ZzW1kEa8mc5xkScv8R6UcNqpNCjcZs1jvZ+5dAoGBALz7IlaycTr+bWPLAxqZ
VPnN+9qrAPqxzd9Gletca+FMe8xswtUMrF1kRxIHJ3HteG8XDSjemvALf4zRSYDC
T9jqJ4zWOcSeGBepdm57qUwlpTGH3wfdMW6XyCdCSBzIhXDe0L44ImPufpojg1GY
0jSDJoj6jf2DgSuIFrErpfGB
-----END PRIVATE KEY-----
";

const ED448_KEY: &str = "\
-----BEGIN PRIVATE KEY-----
MEcCAQAwBQYDK2VxBDsEOXnNJvgp9ivkxqfwEWcDXqR0IKgipg7/nJj/uXWhwL3V
h0PHSPLccjHR8qfMZS2TZq2vT1huMj/Fyw==
-----END PRIVATE KEY-----
";

/// The text between its markers, changed at a byte.
fn flipped(pem: &str, at: usize) -> String {
    let mut lines: Vec<String> = pem.lines().map(str::to_owned).collect();
    let letter = &lines[1 + at / 64][at % 64..=at % 64];
    let other = if letter == "A" { "B" } else { "A" };
    lines[1 + at / 64].replace_range(at % 64..=at % 64, other);
    lines.join("\n") + "\n"
}

#[test]
fn a_key_that_is_damaged_is_not_called_one_of_another_kind() {
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let certificate = fs::read(&files.certificate).unwrap();
    let unfit = |key: &str| {
        let identity = Identity::from_pem(&certificate, key.as_bytes()).unwrap();
        ServerConfig::new(identity, None).unwrap_err().to_string()
    };
    let damaged = "certificate and key cannot be used: the key is damaged, or made in an unusual \
         way, though of a kind that is supported: make it anew";
    let p256 = fs::read_to_string(&files.key).unwrap();
    // Of the public key, which stands last.
    assert_eq!(unfit(&flipped(&p256, 150)), damaged);
    for at in [200, 850, 1050] {
        assert_eq!(unfit(&flipped(RSA_KEY, at)), damaged, "{at}");
    }
    let malformed = "the key is not well formed: make it anew";
    assert!(unfit(&flipped(&p256, 0)).ends_with(malformed));
    let cut = |pem: &str| {
        let mut lines: Vec<&str> = pem.lines().collect();
        lines.remove(1);
        lines.join("\n")
    };
    assert!(unfit(&cut(RSA_KEY)).ends_with(malformed));
    assert!(unfit(ED448_KEY).contains("the key is of a kind that is not supported: use P-256"));
}

#[test]
fn certificate_and_key_may_stand_in_one_file() {
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let both = [files.key, files.certificate].map(|file| fs::read_to_string(file).unwrap());
    let both = authority.write("both.pem", &both.concat());
    assert!(ServerConfig::new(Identity::read(&both, &both).unwrap(), None).is_ok());
}

#[test]
fn keys_are_logged_only_where_that_is_asked_for() {
    // Another process has the variable, so that no test of this one logs keys.
    const INNER: &str = "BOOKEND_TEST_LOGS_KEYS";
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let config = || {
        let identity = Identity::read(&files.certificate, &files.key).unwrap();
        ServerConfig::new(identity, None).unwrap()
    };
    if env::var_os(INNER).is_some() {
        let keys = env::var_os("SSLKEYLOGFILE").map(PathBuf::from).unwrap();
        config();
        assert!(!keys.exists());
        config().log_keys().unwrap();
        let mode = fs::metadata(&keys).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        return;
    }
    let keys = authority.write("keys", "");
    fs::remove_file(&keys).unwrap();
    let this_test = "configs::keys_are_logged_only_where_that_is_asked_for";
    let mut inner = Command::new(env::current_exe().unwrap());
    inner.args(["--exact", this_test]).env(INNER, "1").env("SSLKEYLOGFILE", &keys);
    assert!(inner.status().unwrap().success());
}

#[test]
fn an_invalid_name_is_refused_and_an_address_is_a_name() {
    let config = ClientConfig::new(Trust::Anyone, None).unwrap();
    for name in ["localhost", "localhost:1", "127.0.0.1:1", "::1", "[::1]:1", "a.b.example"] {
        assert!(config.connector(name).is_ok(), "{name}");
    }
    for name in ["no name", "", "*.example.net", "m\u{fc}nchen.example"] {
        let said = format!("{name:?} is no name that a certificate can be for: give another with ");
        let text = config.connector(name).unwrap_err().to_string();
        assert_eq!(text, format!("{said}ChannelOptions::authority"));
        let of_command = client(Trust::Anyone, None).connector(name).unwrap_err().to_string();
        assert_eq!(of_command, format!("{said}--cname"));
    }
}

/// What a server of rustls with these protocols has heard of a client of ours, once both have said
/// what they could.
fn heard_by_a_server(setup: &Setup, protocols: &[&[u8]]) -> rustls::ServerConnection {
    let mut client = setup.client(Inner::dialling(listens));
    let id = client.connect_all()[0];
    let mut peer = peers::server(setup, protocols, &[&TLS12, &TLS13]);
    for _ in 0..3 {
        let mut there = &client.take(id, usize::MAX)[..];
        while !there.is_empty() && peer.read_tls(&mut there).is_ok() {
            let _ = peer.process_new_packets();
        }
        client.give(id, &peers::outgoing(&mut peer));
    }
    match peer {
        rustls::Connection::Server(server) => server,
        rustls::Connection::Client(_) => unreachable!("it was made as a server"),
    }
}

#[test]
fn a_client_names_the_server_that_it_means() {
    let server = heard_by_a_server(&Setup::new(), &[b"h2"]);
    assert_eq!(server.server_name(), Some("localhost"));
}

#[test]
fn h2_alone_is_offered_and_chosen() {
    let setup = Setup::new();
    // rustls chooses the first of its own that is offered.
    let chosen = |protocols: &[&[u8]]| {
        heard_by_a_server(&setup, protocols).alpn_protocol().map(<[u8]>::to_vec)
    };
    assert_eq!(chosen(&[b"h2c", b"http/1.1", b"h2"]), Some(b"h2".to_vec()));
    assert_eq!(chosen(&[b"h2c", b"http/1.1"]), None);

    let mut server = setup.server(Inner::new(listens));
    let id = server.accept();
    let mut peer = peers::client(&setup, &[b"h2c", b"http/1.1", b"h2"], &[&TLS13]);
    for _ in 0..3 {
        server.give(id, &peers::outgoing(&mut peer));
        peers::incoming(&mut peer, &server.take(id, usize::MAX));
    }
    assert_eq!(peer.alpn_protocol(), Some(&b"h2"[..]));
}
