//! What is committed can be made again: every new record is of a revision, and whatever is made of
//! records is on the list of what no revision depends on.

use bookend_results::provenance::doubts;
use bookend_results::record::{Facts, Record, file_of};
use bookend_results::suite::Extent;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Records made before revisions were kept: the folder, the extent, and when the run began, so that
/// another run in their place has to be of a revision. It can only shrink.
const MADE_BEFORE: [(&str, Extent, i64); 15] = [
    ("history/clients-of-servers", Extent::Full, 1_795_569_589_873),
    ("history/drivers-load", Extent::Full, 1_795_339_343_362),
    ("history/drivers", Extent::Full, 1_795_642_381_816),
    ("history/grpc-thrift-go-equal", Extent::Full, 1_795_319_346_377),
    ("history/grpc-thrift-go", Extent::Full, 1_795_386_687_458),
    ("history/helloworld-profile", Extent::Full, 1_795_389_870_656),
    ("history/instruments", Extent::Quick, 1_795_343_840_141),
    ("history/java-executors-bookend-backend", Extent::Full, 1_795_309_244_597),
    ("history/java-executors", Extent::Full, 1_795_425_132_339),
    ("history/pajamax-tonic", Extent::Full, 1_795_399_137_942),
    ("history/python-clients", Extent::Full, 1_795_413_519_389),
    ("history/repeated/helloworld-profile", Extent::Full, 1_795_483_069_581),
    ("history/repeated/java-executors", Extent::Full, 1_795_492_103_596),
    ("history/repeated/python-clients", Extent::Full, 1_795_480_884_762),
    ("history/transports", Extent::Full, 1_795_343_949_121),
];

/// Nothing that began later can be on the list.
const CUT_OFF_MS: i64 = 1_795_737_600_000;

fn root() -> PathBuf {
    PathBuf::from(ROOT)
}

/// Every committed record: of every host, and those of suites that were run again too.
fn records(records: &Path) -> Vec<(String, Facts)> {
    let hosts = fs::read_dir(records).into_iter().flatten();
    let hosts = hosts.map(|host| host.expect("readable").path());
    let hosts = hosts.flat_map(|host| [host.clone(), host.join("repeated")]);
    let folders: Vec<PathBuf> = [records.to_owned()].into_iter().chain(hosts).collect();
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let mut found = Vec::new();
    for folder in entries.map(|entry| entry.expect("readable").path()) {
        let suite = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let parent = folder.parent().expect("a folder");
        for extent in [Extent::Full, Extent::Quick] {
            let file = file_of(parent, &suite, extent);
            if file.is_file() {
                let name = folder.strip_prefix(records).expect("in it").display().to_string();
                let record = Record::read(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
                found.push((name, record.facts));
            }
        }
    }
    found
}

/// What is wrong with a record, or with the list.
fn offences(records: &[(String, Facts)], made_before: &[(&str, Extent, i64)]) -> Vec<String> {
    let said = |facts: &Facts| doubts(facts.revision.as_deref(), facts.provenance.as_ref());
    let is_listed = |(name, facts): &(String, Facts), listed: &(&str, Extent, i64)| {
        *listed == (name.as_str(), facts.extent, facts.started.unix_ms())
    };
    let of_records = records.iter().filter_map(|record| {
        let doubts = said(&record.1).join("; ");
        let is_old = made_before.iter().any(|listed| is_listed(record, listed));
        (!doubts.is_empty() && !is_old).then(|| format!("{}: {doubts}", record.0))
    });
    let of_list = made_before.iter().filter_map(|listed| {
        let mut own = records.iter().filter(|record| is_listed(record, listed));
        let is_needed = own.any(|record| !said(&record.1).is_empty());
        let is_old = listed.2 < CUT_OFF_MS;
        (!is_needed || !is_old).then(|| format!("{} is on the list, and need not be", listed.0))
    });
    of_records.chain(of_list).collect()
}

#[test]
fn every_record_is_of_a_revision_or_was_made_before_revisions_were_kept() {
    let records = records(&root().join("records"));
    assert!(records.len() > 10, "the rule looked at {} records", records.len());
    assert_eq!(offences(&records, &MADE_BEFORE), [""; 0]);
}

#[test]
fn a_new_record_without_a_revision_is_an_offence_and_so_is_a_list_that_is_too_long() {
    let all = records(&root().join("records"));
    let old =
        all.iter().find(|(name, _)| name == "history/grpc-thrift-go-equal").expect("it is there");
    let listed = (old.0.as_str(), old.1.extent, old.1.started.unix_ms());
    let one = std::slice::from_ref(old);
    assert_eq!(offences(one, &[listed]), [""; 0]);
    assert_eq!(offences(one, &[]).len(), 1, "it is on no list");
    let another = (listed.0, listed.1, listed.2 + 1);
    assert_eq!(offences(one, &[another]).len(), 2, "another run took its place");
    assert_eq!(offences(&[], &[listed]).len(), 1, "it is gone");
    let mut later = old.clone();
    later.1.started = bookend_results::store::Timestamp::from_unix_ms(CUT_OFF_MS);
    let listed = (later.0.as_str(), later.1.extent, CUT_OFF_MS);
    assert_eq!(offences(std::slice::from_ref(&later), &[listed]).len(), 1, "it is too young");
}

fn publication(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_publication"));
    let output = command.current_dir(ROOT).args(words).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The paths that git, by that list, takes for generated.
fn generated<'a>(list: &str, paths: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    let home = tempfile::tempdir().expect("a temporary folder");
    let git = |words: &[&str]| {
        let output = Command::new("git").current_dir(home.path()).args(words).output();
        let output = output.expect("git");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    git(&["init", "--quiet"]);
    fs::write(home.path().join(".gitattributes"), list).expect("written");
    let paths = paths.map(String::as_str);
    let asked: Vec<&str> =
        ["check-attr", "linguist-generated", "--"].into_iter().chain(paths).collect();
    let told = git(&asked);
    let set = told.lines().filter_map(|line| line.strip_suffix(": linguist-generated: set"));
    set.map(str::to_owned).collect()
}

/// Everything that `publication` writes into the tree, and what it writes it to.
fn written() -> BTreeSet<String> {
    let home = tempfile::tempdir().expect("a temporary folder");
    publication(&["claims", "-o", &home.path().display().to_string()]);
    let claims = ["docs/measure", "records/pages"].into_iter().flat_map(|folder| {
        let pages = fs::read_dir(home.path().join(folder)).expect("made");
        let names = pages.map(|page| page.expect("readable").file_name());
        names.map(move |name| format!("{folder}/{}", name.to_string_lossy()))
    });
    // What kept checks and comparisons are made into (kept_pages.rs).
    let kept =
        ["calibration.md", "power.md", "races.md"].map(|name| format!("records/pages/{name}"));
    let of_suites = fs::read_dir(root().join("suites")).expect("suites").flat_map(|suite| {
        let folder = suite.expect("readable").file_name().to_string_lossy().into_owned();
        ["RESULTS.md", "RESULTS.svg"].map(|page| format!("suites/{folder}/{page}"))
    });
    let all = claims.chain(kept).chain(of_suites);
    all.filter(|path| root().join(path).is_file()).collect()
}

#[test]
fn every_page_that_is_written_is_on_the_list_of_what_is_generated() {
    let list = fs::read_to_string(root().join(".gitattributes")).expect("the list");
    let written = written();
    assert!(written.len() > 20, "{written:?}");
    assert_eq!(generated(&list, written.iter()), written);
    let sources = ["README.md", "docs/measure/metrics.md", "suites/transports/suite.toml"];
    let sources = sources.map(str::to_owned);
    assert!(generated(&list, sources.iter()).is_empty(), "somebody wrote these");
    // The offender.
    let others = list.lines().filter(|line| !line.contains("claims.md"));
    let shorter = others.collect::<Vec<_>>().join("\n");
    assert_ne!(generated(&shorter, written.iter()), written);
}
