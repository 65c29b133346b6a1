//! Files and bytes that are of no use are named, with what is wrong.

use super::certificates::Authority;
use bookend_io::tls::{Authorities, ClientConfig, Identity, ServerConfig, Trust};
use std::fs;
use std::path::Path;

#[test]
fn a_file_that_is_not_there_is_named() {
    let absent = Path::new("/absent.pem");
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let expected = "cannot read /absent.pem: No such file or directory (os error 2)";
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
        "there is no certificate in it (-----BEGIN CERTIFICATE-----)"
    );
    let without_key = Identity::read(&files.certificate, &files.certificate).unwrap_err();
    assert_eq!(
        told(without_key, &files.certificate),
        "there is no private key in it (-----BEGIN PRIVATE KEY-----)"
    );
    assert!(told(Authorities::read(&prose).unwrap_err(), &prose).contains("no certificate"));
    assert!(told(Authorities::read(&broken).unwrap_err(), &broken).contains("no PEM"));
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
            "the authorities given as bytes: a certificate in it is none: ",
        ),
    ] {
        let text = error.to_string();
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let authority = Authority::new();
    let (one, other) = (authority.issue(&["localhost"]), authority.issue(&["localhost"]));
    let mixed = || Identity::read(&one.certificate, &other.key).unwrap();
    let expected = "certificate and key cannot be used: the key is not the certificate's";
    assert_eq!(ServerConfig::new(mixed(), None).unwrap_err().to_string(), expected);
    let trust = Trust::Anyone;
    assert_eq!(ClientConfig::new(trust, Some(mixed())).unwrap_err().to_string(), expected);
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
fn an_invalid_name_is_refused_and_an_address_is_a_name() {
    let config = ClientConfig::new(Trust::Anyone, None).unwrap();
    for name in ["localhost", "localhost:1", "127.0.0.1:1", "::1", "[::1]:1", "a.b.example"] {
        assert!(config.connector(name).is_ok(), "{name}");
    }
    let text = config.connector("no name").unwrap_err().to_string();
    assert!(text.contains("\"no name\" is no name") && text.contains("--cname"), "{text}");
}
