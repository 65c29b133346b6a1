//! The site of all records.

use bookend_results::record::file_of;
use bookend_results::suite::Extent;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn record(suite: &str) -> PathBuf {
    file_of(&Path::new(ROOT).join("records"), suite, Extent::Full)
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
        if page.extension().is_some_and(|ending| ending == "zst") {
            continue;
        }
        let text = fs::read_to_string(page).expect("readable");
        let links = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for link in links.filter(|link| !link.starts_with('#')) {
            let file = link.split('#').next().unwrap_or(link);
            assert!(site.join(file).is_file(), "{}: {link}", page.display());
        }
        // Targets on the page itself, too.
        for target in text.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(text.contains(&format!("id=\"{target}\"")), "{}: {target}", page.display());
        }
    }
    let front = fs::read_to_string(site.join("index.html")).expect("readable");
    for part in ["go-thrift", "java-grpc/virtual", "stands behind", "; recorded on 2026-11-"] {
        assert!(front.contains(part), "{part}");
    }
}

#[test]
fn a_reader_learns_who_measured_when_and_on_what_and_gets_the_raw_rounds() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let records = home.path().join("records");
    fs::create_dir_all(records.join("transports")).expect("created");
    fs::copy(record("transports"), records.join("transports/full.jsonl.zst")).expect("copied");
    let site = home.path().join("site");
    let words = ["site".into(), site.clone(), "--records".into(), records];
    let made =
        Command::new(env!("CARGO_BIN_EXE_publication")).args(words).current_dir(ROOT).output();
    assert_eq!(made.expect("the command starts").status.code(), Some(0));
    let read = |name: &str| fs::read_to_string(site.join(name)).expect("readable");
    let front = read("index.html");
    let who = front.find("The Bookend project measured this itself, on 2026-11-28, on its own");
    let headline = front.find("class=\"answer\"").expect("a headline");
    assert!(who.expect("who measured") < headline, "it stands above the first headline");
    let beside = &front[headline..];
    let own = beside.find("the project\u{2019}s own</b>, so its authors measured themselves");
    assert!(own.expect("whose server it is") < beside.find("<table").expect("a table"));
    for page in [front, read("transports.html")] {
        for part in
            ["Intel Xeon Processor", "a virtual machine", "href=\"transports-full.jsonl.zst\""]
        {
            assert!(page.contains(part), "{part}");
        }
    }
    let raw = fs::read(site.join("transports-full.jsonl.zst")).expect("it is in the site");
    assert!(raw == fs::read(record("transports")).expect("readable"), "the same bytes");
}
