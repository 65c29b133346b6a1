//! What must not be in any file: a machine's paths, a registry's hosts, more bytes than a text has.

use crate::offence::{Offence, by_line};
use crate::tree::File;

/// Above this a file is data, and history keeps data for ever.
const BLOB_BYTES: usize = 256 * 1024;

/// Records, and what instruments printed, are data and kept on purpose: compressed, as large as
/// `publication record` makes them at most.
const RECORD_BYTES: usize = 2 << 20;

/// Files too large to be a text that somebody reads, and records larger than they need be.
pub fn blob(file: &File) -> Option<Offence> {
    let bytes = file.bytes.len();
    let is_record = file.path.starts_with("records/") && file.path.ends_with(".zst");
    let most = if is_record { RECORD_BYTES } else { BLOB_BYTES };
    (bytes > most).then(|| Offence::of_file(&file.path, format!("{bytes} bytes")))
}

/// Records that are not compressed: they take four times as much, and those of large suites are
/// over the limit.
pub fn plain_record(file: &File) -> Option<Offence> {
    let is_plain = ["/full.jsonl", "/quick.jsonl"].iter().any(|name| file.path.ends_with(name));
    let is_record = file.path.starts_with("records/") && is_plain;
    is_record.then(|| Offence::of_file(&file.path, "a record that is not under zstd"))
}

/// Absolute paths into somebody's home: they say who worked where, and lead nowhere for others.
pub fn machine_paths(path: &str, text: &str) -> Vec<Offence> {
    // In halves, so that this file does not offend.
    const FOLDERS: [&str; 4] = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("/Us", "ers/"),
    ];
    by_line(path, text, |line| {
        let folder = FOLDERS.into_iter().find(|folder| begins_a_path(line, folder))?;
        Some(format!("a path of one machine: {folder}"))
    })
}

/// Hosts of package registries: which one a build asks is its reader's to set.
pub fn registry_hosts(path: &str, text: &str) -> Vec<Offence> {
    const HOSTS: [&str; 8] = [
        concat!("crates", ".io"),
        concat!("deb.debian", ".org"),
        concat!("files.pythonhosted", ".org"),
        concat!("proxy.golang", ".org"),
        concat!("pypi", ".org"),
        concat!("registry.npmjs", ".org"),
        concat!("repo.maven.apache", ".org"),
        concat!("repo1.maven", ".org"),
    ];
    by_line(path, text, |line| {
        let host = HOSTS.into_iter().find(|host| line.contains(host))?;
        Some(format!("a package registry's host: {host}"))
    })
}

/// Whether `folder` stands in `line` at the beginning of a path and not in the middle of one.
fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(start, _)| {
        let inside = |c: char| c.is_alphanumeric() || "_-.~}*$)".contains(c);
        !line[..start].ends_with(inside)
    })
}

#[test]
fn a_blob_is_found() {
    let file = |length| File { path: "a.bin".to_owned(), bytes: vec![0; length] };
    assert_eq!(blob(&file(BLOB_BYTES)), None);
    assert!(blob(&file(BLOB_BYTES + 1)).is_some());
}

#[test]
fn a_record_may_be_larger_but_not_by_much() {
    let record = |name: &str, length| File { path: name.to_owned(), bytes: vec![0; length] };
    for name in ["records/a/full.jsonl.zst", "records/a/raw/b.ghz.json.zst"] {
        assert_eq!(blob(&record(name, RECORD_BYTES)), None);
        assert!(blob(&record(name, RECORD_BYTES + 1)).is_some());
        assert_eq!(plain_record(&record(name, 1)), None);
    }
    let plain = "records/repeated/a/full.jsonl";
    assert!(blob(&record(plain, BLOB_BYTES + 1)).is_some());
    assert!(plain_record(&record(plain, 1)).is_some());
    assert_eq!(plain_record(&record("records/check.jsonl", 1)), None);
}

#[test]
fn a_home_is_found_and_a_folder_of_that_name_is_not() {
    let home = concat!("/ho", "me/");
    assert_eq!(machine_paths("a", &format!("cd {home}me")).len(), 1);
    assert_eq!(machine_paths("a", &format!("file://{home}me")).len(), 1);
    assert_eq!(machine_paths("a", &format!("cd www{home}index.html")), []);
}

#[test]
fn a_registrys_host_is_found() {
    let host = concat!("pypi", ".org");
    assert_eq!(registry_hosts("a", &format!("index = https://{host}/simple")).len(), 1);
    assert_eq!(registry_hosts("a", "https://docs.rs/prost"), []);
}
