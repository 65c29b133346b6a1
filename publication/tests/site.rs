//! The site of all records.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn record(suite: &str) -> PathBuf {
    Path::new(ROOT).join("records").join(suite).join("full.jsonl.zst")
}

#[test]
fn a_site_has_a_page_for_each_record_and_every_link_leads_somewhere() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let site = home.path().join("site");
    let (folder, records) = (site.display().to_string(), home.path().join("records"));
    for suite in ["java-executors", "grpc-thrift-go-equal"] {
        fs::create_dir_all(records.join(suite)).expect("created");
        fs::copy(record(suite), records.join(suite).join("full.jsonl.zst")).expect("copied");
    }
    let records = records.display().to_string();
    let words = ["site", &folder, "--records", &records];
    let made =
        Command::new(env!("CARGO_BIN_EXE_publication")).args(words).current_dir(ROOT).output();
    let made = made.expect("the command starts");
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    let said = String::from_utf8_lossy(&made.stdout);
    let pages: Vec<PathBuf> =
        fs::read_dir(&site).expect("made").map(|file| file.expect("readable").path()).collect();
    assert_eq!(said.lines().count(), pages.len(), "{said}");
    for name in ["index.html", "claims.html", "grpc-thrift-go-equal.html", "java-executors.html"] {
        assert!(site.join(name).is_file(), "{name} is missing: {said}");
    }
    for page in &pages {
        let text = fs::read_to_string(page).expect("readable");
        let links = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for link in links.filter(|link| !link.starts_with('#')) {
            assert!(site.join(link).is_file(), "{}: {link}", page.display());
        }
    }
    let front = fs::read_to_string(site.join("index.html")).expect("readable");
    for part in ["go-thrift", "java-grpc/virtual", "stands behind"] {
        assert!(front.contains(part), "{part}");
    }
}
