//! The authorities that the machine trusts, as two variables of the environment name them.

use super::certificates::Authority;
use bookend_io::tls::{Authorities, ClientConfig, Trust};
use std::env;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// In the environment of another process of this test, so that no other test has the variables.
const INNER: &str = "BOOKEND_TEST_ASKS_THE_STORE";

/// What comes of the machine's store with these variables: `trusted`, or what is said of it.
fn store_with(file: Option<&Path>, folders: Option<&str>) -> String {
    let mut inner = Command::new(env::current_exe().unwrap());
    inner
        .args(["--exact", "machine_store::inner", "--nocapture"])
        .env(INNER, "1")
        .env_remove("SSL_CERT_FILE")
        .env_remove("SSL_CERT_DIR");
    file.map(|file| inner.env("SSL_CERT_FILE", file));
    folders.map(|folders| inner.env("SSL_CERT_DIR", folders));
    let output = inner.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let (_, said) = said.split_once("store: ").expect(&said);
    said.lines().next().unwrap().to_owned()
}

/// Does nothing but in a process of [`store_with`].
#[test]
fn inner() {
    if env::var_os(INNER).is_none() {
        return;
    }
    let said = match Authorities::of_this_machine() {
        Ok(store) => {
            ClientConfig::new(Trust::Signed(store), None).unwrap();
            "trusted".to_owned()
        }
        Err(error) => error.to_string(),
    };
    println!("store: {said}");
}

#[test]
fn a_file_that_is_of_no_use_is_named_with_its_variable_whatever_the_folders_have() {
    let authority = Authority::new();
    let folder = authority.folder().to_str().unwrap();
    let good = authority.write("good.pem", &std::fs::read_to_string(authority.file()).unwrap());
    let one_line = authority
        .write("one.key", "-----BEGIN EC PRIVATE KEY-----MHcCAQEE-----END EC PRIVATE KEY-----");
    let empty = authority.write("empty.pem", "");
    let garbled = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    let garbled = authority.write("garbled.pem", garbled);
    let said_of_garbled = format!(
        "SSL_CERT_FILE: {}: no certificate in it can be used: make them anew",
        garbled.display()
    );
    let said_of_one_line = format!(
        "SSL_CERT_FILE: {}: it is no PEM: in line 1 something stands behind -----BEGIN EC PRIVATE \
         KEY-----",
        one_line.display()
    );
    let said_of_empty = format!(
        "SSL_CERT_FILE: {}: there is no certificate in it (-----BEGIN CERTIFICATE-----)",
        empty.display()
    );
    for (file, said) in [
        (Path::new("/dev/zero"), "SSL_CERT_FILE: /dev/zero: it has more than 16 MiB"),
        (
            Path::new("/absent.pem"),
            "SSL_CERT_FILE: cannot read /absent.pem: No such file or directory",
        ),
        (&one_line, &said_of_one_line),
        (&empty, &said_of_empty),
        (&garbled, &said_of_garbled),
        (&good, "trusted"),
    ] {
        assert_eq!(store_with(Some(file), None), said);
        assert_eq!(store_with(Some(file), Some(folder)), said);
    }
    // What cannot be read does not take the others along.
    let mixed =
        [&one_line, &garbled, &good].map(|file| std::fs::read_to_string(file).unwrap()).join("\n");
    assert_eq!(store_with(Some(&authority.write("mixed.pem", &mixed)), None), "trusted");
}

#[test]
fn folders_are_searched_for_what_is_of_use() {
    let authority = Authority::new();
    symlink("/dev/zero", authority.folder().join("zero.pem")).unwrap();
    symlink(authority.file(), authority.folder().join("0a1b2c3d.0")).unwrap();
    authority.write("README", "no certificate");
    let folder = authority.folder().to_str().unwrap();
    assert_eq!(store_with(None, Some(folder)), "trusted");
    assert_eq!(store_with(None, Some(&format!("/absent:{folder}"))), "trusted");
    assert_eq!(
        store_with(None, Some("/absent")),
        "SSL_CERT_DIR: cannot read /absent: No such file or directory"
    );
    let empty = authority.folder().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let said = store_with(None, empty.to_str());
    assert_eq!(said, "SSL_CERT_DIR: there is no certificate in it");
    assert_eq!(store_with(Some(Path::new("")), empty.to_str()), said, "as good as none");
}

#[test]
fn a_file_of_a_folder_that_is_too_large_is_read_no_further() {
    let authority = Authority::new();
    let large = std::fs::File::create(authority.folder().join("large.pem")).unwrap();
    // Of holes.
    large.set_len(1 << 40).unwrap();
    let folder = authority.folder().to_str().unwrap();
    assert_eq!(store_with(None, Some(folder)), "trusted");
}
